"""The method `joint` from problem to prediction: reproducible, storable, honest about what it found."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import funcal
from funcal.errors import SettingsError

#: A prior of θ(x) with neither a straight line nor stretched axes.
WITHOUT_LINE = {
    "line_variance": 0.0,
    "variation_scale": 1.0,
    "stretch_mean": 0.0,
    "stretch_sd": 1e-3,
}
#: Short chains: these tests are about plumbing, not about convergence.
SHORT: dict[str, Any] = {
    "num_chains": 2,
    "warmup": 60,
    "draws": 40,
    "max_draws": 40,
    "tempering": False,
    "prediction_draws": 60,
    "ensemble_size": 4,
}


@pytest.fixture(scope="module")
def calibration(problem_one_tables: Any) -> funcal.Calibration:
    """Problem 1, calibrated once with rivals."""
    physical, runs = problem_one_tables
    problem = funcal.CalibrationProblem.from_tables(
        physical, runs, control=["x"], functional=["theta"], response="y"
    )
    with pytest.warns(funcal.errors.ConvergenceWarning):
        return funcal.calibrate(problem, method="joint", seed=3, **SHORT)


def test_same_seed_same_answer(calibration: funcal.Calibration) -> None:
    """A second fit with the same seed gives the same draws bit for bit, whatever the threads did."""
    with pytest.warns(funcal.errors.ConvergenceWarning):
        again = funcal.calibrate(calibration.problem, method="joint", seed=3, **SHORT)
    for name, values in calibration.fit.draws.items():
        assert np.array_equal(values, again.fit.draws[name]), name


def test_save_and_load_predict_alike(calibration: funcal.Calibration, tmp_path: Path) -> None:
    """A calibration read back from its file predicts exactly what it predicted before."""
    new = np.array([[1.0], [3.3]])
    loaded = funcal.load(calibration.save(tmp_path / "joint.nc"))
    for one, other in (
        (calibration.predict(new).response, loaded.predict(new).response),
        (calibration.predict(new).calibration["theta"], loaded.predict(new).calibration["theta"]),
    ):
        assert np.array_equal(one.mean, other.mean)
        assert np.array_equal(one.upper, other.upper)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.filterwarnings("ignore::funcal.errors.ConvergenceWarning")
def test_replicated_measurements_have_the_noise_of_a_mean(
    problem_one_tables: Any, tmp_path: Path, known: bool
) -> None:
    """Posterior predictive draws vary about the response by σ²/count, sampled or known, and a stored file has them."""
    physical, runs = problem_one_tables
    physical = physical.assign(times=[1, 1, 1, 4, 4, 4], sd=0.2)
    noise = {"noise_sd": "sd"} if known else {"count": "times"}
    problem = funcal.CalibrationProblem.from_tables(
        physical, runs, control=["x"], functional=["theta"], response="y", **noise
    )
    fitted = funcal.calibrate(problem, seed=3, **SHORT | {"compare": False, "draws": 200, "max_draws": 200})
    data = fitted.to_arviz()
    added = data.posterior_predictive["y"].values - data.posterior["response"].values
    if known:
        variance = np.full(6, 0.2**2)
    else:
        variance = np.mean(data.posterior["noise_sd"].values ** 2) / np.array([1, 1, 1, 4, 4, 4])
    # 400 draws: seven standard errors
    assert added.std(axis=(0, 1)) == pytest.approx(np.sqrt(variance), rel=0.25)
    stored = funcal.load(fitted.save(tmp_path / "joint.nc")).to_arviz()
    assert stored.posterior_predictive.equals(data.posterior_predictive)


@pytest.mark.filterwarnings("ignore::funcal.errors.ConvergenceWarning")
def test_progress_never_goes_back(calibration: funcal.Calibration) -> None:
    """Each stage counts up to its own total; draws beyond the first ones are a stage of their own."""
    heard: dict[str, list[tuple[int, int]]] = {}
    longer = SHORT | {"max_draws": 260, "compare": False, "target_ess": 1e9}
    funcal.calibrate(
        calibration.problem,
        method="joint",
        seed=3,
        progress=lambda done, total, label: heard.setdefault(label, []).append((done, total)),
        **longer,
    )
    assert {"sampling", "sampling on, at most"} <= set(heard)
    for label, calls in heard.items():
        done, total = np.array(calls).T
        assert np.all(np.diff(done) >= 0), label
        assert len(set(total)) == 1, label
        assert done[-1] == total[-1], label


def test_posterior_stays_in_the_box(calibration: funcal.Calibration) -> None:
    """Every draw of θ lies inside the bounds of the runs, at the sites and at new controls."""
    low, high = calibration.problem.bounds[0]
    predicted = calibration.predict(np.linspace(-1.0, 8.0, 7)[:, None]).sample.calibration
    for values in (calibration.fit.draws["theta"], predicted):
        assert np.all((values >= low) & (values <= high))


def test_report_says_what_was_found(calibration: funcal.Calibration) -> None:
    """The report has the comparison with weights that sum to one, both verdicts and the identifiability."""
    report = calibration.fit.report
    members = {row["member"] for row in report["comparison"]}
    assert members == {
        "varying",
        "constant",
        "varying+discrepancy",
        "constant+discrepancy",
        "gp",
        "linear",
    }
    assert sum(report["weights"].values()) == pytest.approx(1.0)
    assert {report["verdicts"][name]["answer"] for name in ("theta_varies", "simulator_helps")} <= {
        "yes",
        "no",
        "unclear",
    }
    assert len(report["identifiability"]["theta"]["theta"]["contraction"]) == 6


@pytest.mark.parametrize(
    ("wave", "prior", "helps", "gain", "weight"),
    [
        (0.0, WITHOUT_LINE, {"yes", "unclear"}, 0.2, 0.599),
        (0.0, {}, {"yes", "unclear"}, 0.2, 0.599),
        (1.0, {}, {"yes"}, 15.0, 0.99),
    ],
)
def test_a_true_model_with_precise_measurements_predicts(
    wave: float, prior: dict[str, float], helps: set[str], gain: float, weight: float
) -> None:
    """With a computer model that is right, measured within 1 %, θ(x) is found to vary, and the model predicts.

    Nine measurements of a smooth response nearly predict each other: leave-one-out is ahead without deciding, by 0.8 to
    2.1 in twenty-two fits, of which 1.0 is worth a verdict and 1.8 a larger weight. A wave that the runs know and the
    measurements alone cannot follow decides.
    """
    rng = np.random.default_rng(5)
    dose = np.arange(1.0, 10.0)
    absorption = np.linspace(0.2, 1.8, 5)[:, None] + rng.uniform(-0.2, 0.2, (5, dose.size))
    runs = pd.DataFrame({"dose": np.tile(dose, 5), "absorption": absorption.ravel()})
    known = np.sqrt(dose) + wave * np.sin(1.5 * dose)
    runs["y"] = runs["absorption"] * runs["dose"] + np.tile(known, 5)
    measured = (0.5 + 0.1 * dose) * dose + known + 0.05 * rng.standard_normal(dose.size)
    problem = funcal.CalibrationProblem.from_tables(
        pd.DataFrame({"dose": dose, "y": measured}),
        runs,
        control=["dose"],
        functional=["absorption"],
        response="y",
    )
    report = funcal.calibrate(
        problem, method="joint", seed=1, warmup=500, draws=400, tempering=False, prior=prior
    ).fit.report
    assert report["verdicts"]["theta_varies"]["answer"] == "yes"
    assert report["verdicts"]["simulator_helps"]["answer"] in helps
    elpd = {row["member"]: row["elpd"] for row in report["comparison"]}
    assert elpd["varying"] - elpd["gp"] > gain
    assert report["weights"]["varying"] + report["weights"]["varying+discrepancy"] > weight


def test_one_member_alone_can_predict(calibration: funcal.Calibration) -> None:
    """The prediction of a single member differs from the mixture's; another name gets a sentence."""
    new = np.array([[1.0], [3.3]])
    line = calibration.predict(new, member="linear").response.mean
    with pytest.raises(SettingsError, match=r"one of varying, .*; found 'line'"):
        calibration.predict(new, member="line")
    assert not np.allclose(line, calibration.predict(new).response.mean)


def test_weights_differ_within_and_beyond_the_runs(calibration: funcal.Calibration) -> None:
    """Each new control is predicted with the weights of its place, a mixture or one member alone."""
    new = np.array([[1.0], [30.0], [3.3], [-20.0]])
    beyond = np.array([False, True, False, True])
    report = dict(calibration.fit.report)
    report["weights"] = dict.fromkeys(report["weights"], 0.0) | {"varying": 0.3, "gp": 0.7}
    report["weights_beyond_runs"] = dict.fromkeys(report["weights"], 0.0) | {"linear": 1.0}
    fit = replace(calibration.fit, report=report)
    mixed = replace(calibration, fit=fit).predict(new)
    alone = {name: calibration.predict(new, member=name) for name in ("varying", "gp", "linear")}
    means = {name: prediction.response.mean for name, prediction in alone.items()}
    assert mixed.response.mean[beyond] == pytest.approx(means["linear"][beyond])
    expected = 0.3 * means["varying"] + 0.7 * means["gp"]
    # sixty components: the two parts are thinned draws of their members
    within = mixed.response.mean[~beyond]
    assert within == pytest.approx(expected[~beyond], abs=0.3 * mixed.response.sd[~beyond].min())
    assert mixed.sample.calibration.shape[:2] == mixed.sample.response_mean.shape


def test_a_member_with_few_draws_predicts(calibration: funcal.Calibration) -> None:
    """A prediction has as many components as the main member, whichever members it mixes."""
    with pytest.warns(funcal.errors.ConvergenceWarning):
        longer = funcal.calibrate(
            calibration.problem, method="joint", seed=3, **SHORT | {"prediction_draws": 80}
        )
    alone = longer.predict(np.array([[1.0], [30.0]]), member="constant")
    assert alone.sample.response_mean.shape == (80, 2)
    assert np.ptp(alone.sample.response_mean[:, 0]) > 0.0


def test_without_comparison(calibration: funcal.Calibration) -> None:
    """`compare=False` leaves out rivals and verdicts and predicts with the main member alone."""
    with pytest.warns(funcal.errors.ConvergenceWarning):
        alone = funcal.calibrate(calibration.problem, method="joint", seed=3, compare=False, **SHORT)
    assert "verdicts" not in alone.fit.report
    assert alone.fit.report["weights"] == {"varying": 1.0}
    assert np.array_equal(alone.fit.draws["theta"], calibration.fit.draws["theta"])


@pytest.mark.filterwarnings("ignore::funcal.errors.ConvergenceWarning")
def test_trajectories_are_no_longer_than_set(calibration: funcal.Calibration) -> None:
    """With `max_depth` 2 a trajectory has at most three steps; by itself it takes more."""
    settings = SHORT | {"compare": False, "max_depth": 2}
    shortened = funcal.calibrate(calibration.problem, method="joint", seed=3, **settings)
    assert shortened.fit.stats["num_steps"].max() <= 3
    assert calibration.fit.stats["num_steps"].max() > 3


def test_impossible_settings_get_a_sentence(calibration: funcal.Calibration) -> None:
    """Counts below the least usable are refused with what to do."""
    with pytest.raises(SettingsError, match="max_draws must be at least draws"):
        funcal.calibrate(calibration.problem, method="joint", draws=500, max_draws=100)
    with pytest.raises(SettingsError, match="max_depth must be at most 9"):
        funcal.calibrate(calibration.problem, method="joint", max_depth=10)

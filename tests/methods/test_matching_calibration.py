"""The paper's method end to end: fit, predict, settings, reproducibility."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import funcal
from funcal.errors import DataWarning, ImproperPriorWarning, ProblemError, SettingsError
from funcal.matching import MatchingSettings
from funcal.methods.matching_calibration import ShortestPathCalibration, SpanningTreeCalibration
from funcal.methods.matching_calibration_settings import MatchingCalibrationSettings

SHORT = {"num_chains": 2, "warmup": 1000, "draws": 1000}


def fitted(problem, method=SpanningTreeCalibration, seed=1, **settings):
    chosen = method()
    return chosen.fit(
        problem, MatchingCalibrationSettings(**{**SHORT, **settings}), seed=np.random.SeedSequence(seed)
    )


def predicted(problem, fit, x_new, seed=2, **options):
    return SpanningTreeCalibration().predict(
        problem, fit, np.asarray(x_new), rng=np.random.default_rng(seed), **options
    )


@pytest.fixture
def problem_with_psi():
    """Two controls, one θ, one ψ, replicates at some sites."""
    rng = np.random.default_rng(5)
    sites = rng.uniform([0.0, 10.0], [2.0, 30.0], (8, 2))
    rows = sites[np.repeat(np.arange(8), [1, 2, 1, 3, 1, 1, 2, 1])]
    physical = pd.DataFrame(rows, columns=["a", "b"])
    physical["y"] = 100.0 * (rows[:, 0] + rows[:, 1] / 10.0) + rng.normal(0, 5.0, len(rows))
    at_sites = np.repeat(sites, 6, axis=0)
    runs = pd.DataFrame(at_sites + rng.normal(0, 0.01, at_sites.shape), columns=["a", "b"])
    runs["theta"], runs["psi"] = rng.uniform(4, 6, 48), rng.uniform(-1, 1, 48)
    runs["y"] = 100.0 * (runs["a"] + runs["b"] / 10.0) + 30.0 * (runs["theta"] - 5.0 + runs["psi"])
    return funcal.CalibrationProblem.from_tables(
        physical, runs, control=["a", "b"], functional=["theta"], global_=["psi"], response="y"
    )


@pytest.mark.parametrize("method", [SpanningTreeCalibration, ShortestPathCalibration])
def test_problem_one_is_calibrated_and_predicted(problem_one, method):
    """Draws have the promised shapes and units; predictions lie near the truth."""
    fit = fitted(problem_one, method)
    assert fit.draws["theta"].shape == (2, 1000, 6, 1)
    assert fit.draws["noise_sd"].shape == (2, 1000)
    assert fit.log_likelihood.shape == (2, 1000, 6)
    assert "psi" not in fit.draws
    low, high = problem_one.bounds[0]
    margin = 0.1 * (high - low)
    assert fit.draws["theta"].min() >= low - margin
    assert fit.draws["theta"].max() <= high + margin
    x_new = np.linspace(0.5, 5.5, 7)[:, None]
    sample = predicted(problem_one, fit, x_new)
    x = x_new[:, 0]
    truth = np.exp(-0.05 * x) * np.exp(-0.05 * x**2) * (np.sin(x) ** 2 + 1.0)
    total = sample.response_variance.mean(axis=0) + sample.response_mean.var(axis=0)
    assert np.all(np.abs(sample.response_mean.mean(axis=0) - truth) < 4.0 * np.sqrt(total))
    assert np.sqrt(np.mean((sample.response_mean.mean(axis=0) - truth) ** 2)) < 0.4


def test_two_controls_psi_and_replicates(problem_with_psi):
    """The general case runs; ψ has its prior and the report says why."""
    fit = fitted(problem_with_psi)
    assert fit.draws["psi"].shape == (2, 1000, 1)
    assert fit.draws["length_control"].shape == (2, 1000, 2)
    assert any("does not contain ψ" in note for note in fit.report["warnings"])
    json.dumps(fit.report)
    sample = predicted(problem_with_psi, fit, problem_with_psi.physical.control)
    assert sample.calibration.shape == (2000, 8, 2)
    error = sample.response_mean.mean(axis=0) - problem_with_psi.physical.response
    assert np.sqrt(np.mean(error**2)) < 0.3 * problem_with_psi.physical.response.std()


def test_units_do_not_matter(problem_one):
    """Rescaling every column rescales the answers and nothing else."""
    physical = pd.DataFrame({"x": problem_one.physical.control[:, 0], "y": problem_one.physical.response})
    runs = pd.DataFrame(
        {
            "x": problem_one.runs.control[:, 0],
            "theta": problem_one.runs.functional[:, 0],
            "y": problem_one.runs.response,
        }
    )
    for frame in (physical, runs):
        frame["x"] = 1000.0 * frame["x"] - 5.0
        frame["y"] = 1e-3 * frame["y"] + 7.0
    runs["theta"] = 50.0 * runs["theta"] + 273.0
    other = funcal.CalibrationProblem.from_tables(
        physical, runs, control=["x"], functional=["theta"], response="y"
    )
    first, second = fitted(problem_one), fitted(other)
    # a chain may part ways where rounding tips a decision, so moments are compared, not bits
    np.testing.assert_allclose(
        50.0 * first.draws["theta"].mean(axis=(0, 1)) + 273.0,
        second.draws["theta"].mean(axis=(0, 1)),
        atol=3.0,
    )
    np.testing.assert_allclose(
        1e-3 * first.draws["noise_sd"].mean(), second.draws["noise_sd"].mean(), rtol=0.2
    )


def test_the_same_seed_gives_the_same_fit_and_prediction(problem_one):
    """Bit for bit; another seed differs."""
    first, second, third = fitted(problem_one), fitted(problem_one), fitted(problem_one, seed=9)
    for name, values in first.draws.items():
        np.testing.assert_array_equal(values, second.draws[name])
    assert not np.array_equal(first.draws["theta"], third.draws["theta"])
    x_new = [[1.0], [3.3]]
    np.testing.assert_array_equal(
        predicted(problem_one, first, x_new).response_mean,
        predicted(problem_one, second, x_new).response_mean,
    )


def test_predictive_variance_does_not_shrink_as_draws_double(problem_one):
    """The law of total variance does not know T; the printed rule halves (point 15)."""
    fit = fitted(problem_one)
    x_new = np.array([[1.0], [3.3], [5.2]])

    def variance(num_draws, rule):
        sample = predicted(problem_one, fit, x_new, num_draws=num_draws, variance=rule)
        return sample.response_variance.mean(axis=0) + sample.response_mean.var(axis=0)

    np.testing.assert_allclose(variance(2000, "total"), variance(1000, "total"), rtol=0.15)
    np.testing.assert_allclose(variance(2000, "paper"), 0.5 * variance(1000, "paper"), rtol=0.15)


def test_the_papers_preset_runs_on_raw_units_with_a_warning(problem_one):
    """prior="paper" with raw inputs and the runs' centring is the printed model, truncated."""
    with pytest.warns(ImproperPriorWarning):
        fit = fitted(problem_one, prior="paper", input_scale="raw", centring="runs")
    assert fit.draws["length_control"].min() >= 1.0
    assert np.isinf(fit.constants["theta_bounds"]).all()
    low, high = problem_one.bounds[0]
    assert fit.draws["nu"].max() <= high - low
    assert np.isfinite(predicted(problem_one, fit, [[2.2]]).response_mean).all()


def test_correlated_prior_and_floor_are_settings(problem_one):
    """theta_prior="gp" and spread_floor="cluster" run, and the floor holds."""
    fit = fitted(problem_one, theta_prior="gp", spread_floor="cluster")
    low, high = problem_one.bounds[0]
    assert fit.draws["nu"].min() >= (high - low) * 6 / (2 * 30) * (1 - 1e-9)


def test_known_noise_is_used_and_not_sampled():
    """A column of noise sds takes the place of σ²."""
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 7)
    physical = pd.DataFrame({"x": x, "y": np.sin(3 * x) + rng.normal(0, 0.1, 7), "sd": 0.1})
    runs = pd.DataFrame({"x": np.repeat(x, 4), "theta": rng.uniform(0, 1, 28)})
    runs["y"] = np.sin(3 * runs["x"]) + runs["theta"] - 0.5
    problem = funcal.CalibrationProblem.from_tables(
        physical, runs, control=["x"], functional=["theta"], response="y", noise_sd="sd"
    )
    fit = fitted(problem)
    assert "noise_sd" not in fit.draws
    sample = predicted(problem, fit, [[0.4]])
    np.testing.assert_allclose(sample.noise_variance, 0.01)


def test_a_path_needs_one_control(problem_with_psi):
    """The shortest path refuses several controls and names the method to use."""
    with pytest.raises(SettingsError, match="use bnmc"):
        fitted(problem_with_psi, ShortestPathCalibration)


def test_the_graph_is_the_methods_own(problem_one):
    """The tree belongs to bnmc, the path to bnmc-dag; asking one for the other is refused."""
    assert fitted(problem_one, draws=5, warmup=5).report["graph"]["model"] == "tree"
    assert fitted(problem_one, ShortestPathCalibration, draws=5, warmup=5).report["graph"]["model"] == "path"
    with pytest.raises(SettingsError, match="bnmc-dag for a path"):
        fitted(problem_one, matching=MatchingSettings(model="path"))


def test_a_site_without_runs_is_an_error_or_wider():
    """empty_sites="error" refuses; "skip" leaves it without an anchor, with a wider posterior than its neighbours'."""
    rng = np.random.default_rng(1)
    x = np.linspace(0.0, 1.0, 8)
    physical = pd.DataFrame({"x": x, "y": 0.5 + 0.1 * x + rng.normal(0, 0.01, 8)})
    runs = pd.DataFrame({"x": np.repeat(x[:7], 5), "theta": np.tile(np.linspace(0, 1, 5), 7)})
    runs["y"] = runs["theta"] + 0.1 * runs["x"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the last site lies outside the runs' range
        problem = funcal.CalibrationProblem.from_tables(
            physical, runs, control=["x"], functional=["theta"], response="y"
        )
    with pytest.raises(ProblemError, match="has none"):
        fitted(problem)
    fit = fitted(problem, matching=MatchingSettings(empty_sites="skip"))
    assert fit.report["sites_without_anchor"] == [7]
    deviation = fit.draws["theta"].std(axis=(0, 1))[:, 0]
    assert deviation[7] > 1.2 * deviation[:7].max()


def test_global_variables_alone_are_possible(problem_with_psi):
    """Without a functional variable there is no θ; ψ and the response are still predicted."""
    physical, runs = problem_with_psi.physical, problem_with_psi.runs
    first = pd.DataFrame(physical.control, columns=["a", "b"]).assign(y=physical.response)
    second = pd.DataFrame(runs.control, columns=["a", "b"]).assign(psi=runs.global_[:, 0], y=runs.response)
    problem = funcal.CalibrationProblem.from_tables(
        first, second, control=["a", "b"], global_=["psi"], response="y"
    )
    fit = fitted(problem)
    assert "theta" not in fit.draws
    assert predicted(problem, fit, physical.control).calibration.shape == (2000, 8, 1)


@pytest.mark.parametrize(
    "settings",
    [
        {"draws": 0},
        {"warmup": -1},
        {"theta_decay": 0.0},
        {"input_scale": "raw", "prior": "proper"},
        {"thin": 0},
    ],
)
def test_impossible_settings_are_refused(settings):
    """Each with a sentence."""
    with pytest.raises(SettingsError):
        MatchingCalibrationSettings(**settings)


@pytest.mark.parametrize("options", [{"variance": "printed"}, {"num_draws": 0}, {"levels": 3}])
def test_unknown_prediction_options_are_refused(problem_one, options):
    """The message lists what there is."""
    fit = fitted(problem_one, draws=5, warmup=5)
    with pytest.raises(SettingsError, match="predicts with variance"):
        predicted(problem_one, fit, [[1.0]], **options)

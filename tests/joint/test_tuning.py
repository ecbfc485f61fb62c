"""Which joint model `--tune` chooses: the best by leave-one-out, or a simpler one that is as good."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import funcal
from funcal.joint import refitted_sites
from funcal.joint.calibration_members import MemberRecipe, Variant, variant_model
from funcal.joint.comparison import leave_one_out_of
from funcal.joint.emulator_mode import find_emulator_mode
from funcal.joint.member_weights import LeaveOneOut
from funcal.joint.prior import JointPrior
from funcal.joint.refitted_sites import _density_without, reliable_leave_one_out
from funcal.joint.run_chains import SamplerSettings
from funcal.joint.tuning import choose_simplest
from funcal.report.plain_words import outcome_sentences
from funcal.report.summary_values import summary_values
from funcal.testbed import get_problem

pytestmark = pytest.mark.filterwarnings("ignore::funcal.errors.ConvergenceWarning")

#: The candidates' chains are a quarter as long as the main ones: 2 chains of 100 draws tell these problems apart.
QUICK: dict[str, Any] = {
    "num_chains": 2,
    "warmup": 200,
    "draws": 400,
    "max_draws": 400,
    "tempering": False,
    "compare": False,
}


def scores(*log_densities: list[float]) -> dict[str, LeaveOneOut]:
    """Variants from the simplest on, by their pointwise log densities."""
    return {
        f"variant {index}": LeaveOneOut(np.array(values), np.zeros(len(values)))
        for index, values in enumerate(log_densities)
    }


@pytest.mark.parametrize(
    ("simple", "rich", "chosen"),
    [
        ([-2.0, -2.0, -2.0, -2.0], [-1.0, -1.0, -1.0, -1.0], "variant 1"),  # better by 4 everywhere
        ([-2.0, -2.0, -2.0, -2.0], [-1.6, -1.6, -1.6, -1.6], "variant 0"),  # by 1.6: too small to speak of
        ([-2.0, -2.0, -2.0, -2.0], [6.0, -4.0, -2.0, -2.0], "variant 0"),  # by 6 ± 10: one site's doing
        ([-1.0, -1.0, -1.0, -1.0], [-2.0, -2.0, -2.0, -2.0], "variant 0"),  # the simpler is better anyway
    ],
)
def test_the_simplest_that_is_not_clearly_beaten(simple: list[float], rich: list[float], chosen: str) -> None:
    """More than two and more than one standard error must be gained before a richer variant is taken."""
    assert choose_simplest(scores(simple, rich)) == chosen


def tuned(case: Any, **settings: Any) -> funcal.Calibration:
    problem = funcal.CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())
    return funcal.calibrate(problem, "joint", seed=5, tune=True, **QUICK, **settings)


def test_constant_truth_gets_a_constant_theta() -> None:
    """No variation and no bias: the simplest variant; the table of all eight and the sentences are in the summary."""
    calibration = tuned(get_problem("constant-truth").draw(0))
    report = calibration.fit.report
    assert report["main"] == "constant"
    assert report["discrepancy_of_main"] == "none"
    rows = report["tuning"]["variant"]["candidates"]
    assert len(rows) == 8
    assert [row["elpd"] for row in rows] == sorted((row["elpd"] for row in rows), reverse=True)
    assert {"variant", "elpd", "se", "largest_pareto_k", "rhat"} <= set(rows[0])
    assert report["verdicts"]["theta_varies"]["answer"] != "yes"
    theta = calibration.fit.draws["theta"]
    assert np.array_equal(theta[:, :, 0], theta[:, :, -1])
    assert np.all(np.isfinite(calibration.predict([0.3, 4.4]).response.mean))
    values = summary_values(calibration)
    assert values["tuning"]["variant"]["chosen"] == "constant θ, no δ"
    assert values["tuning"]["matching"]["num_folds"] == 6
    starts = [sentence.split(":")[0] for sentence in outcome_sentences(calibration)]
    assert "Model variant" in starts
    assert "Matching" in starts


def test_a_biased_model_gets_a_discrepancy() -> None:
    """A computer model that no θ repairs needs δ."""
    report = tuned(get_problem("biased-model").draw(0)).fit.report
    assert report["discrepancy_of_main"] != "none"
    without = next(
        row for row in report["tuning"]["variant"]["candidates"] if row["variant"] == "constant θ, no δ"
    )
    assert without["elpd_difference"] > max(1.0, without["difference_se"])


def test_a_theta_that_varies_is_let_vary() -> None:
    """θ(x) over most of its box, with some noise; a δ that the user rules out stays out."""
    rng = np.random.default_rng(3)
    x = np.linspace(0.0, 1.0, 10)
    physical = pd.DataFrame({"x": x, "y": np.sin(2.0 * x) + (0.2 + 0.6 * x**2) * (1.0 + x)})
    physical["y"] += rng.normal(0.0, 0.08, 10)
    runs = pd.DataFrame({"x": np.repeat(x[::3], 9), "theta": np.tile(np.linspace(0.0, 1.0, 9), 4)})
    runs["y"] = np.sin(2.0 * runs.x) + runs.theta * (1.0 + runs.x)
    problem = funcal.CalibrationProblem.from_tables(
        physical, runs, control="x", functional="theta", response="y"
    )
    calibration = funcal.calibrate(problem, "joint", seed=5, tune=True, discrepancy="none", **QUICK)
    report = calibration.fit.report
    assert report["main"] == "varying"
    assert len(report["tuning"]["variant"]["candidates"]) == 2
    assert report["verdicts"]["theta_varies"]["answer"] == "yes"


def test_sampling_again_agrees_with_importance_sampling_where_that_works() -> None:
    """Both estimate the same leave-one-out density.

    Over 25 seeds the two differed by 0.02 (sd) and at most 0.044; the sites' densities range from -2.6 to -0.1.
    """
    case = get_problem("biased-model").draw(0)
    problem = funcal.CalibrationProblem.from_tables(
        case.physical, case.runs, **case.roles.keywords()
    ).scaled()
    variant = Variant(False, "constant")
    prior = JointPrior()
    recipe = MemberRecipe(
        prior=prior,
        start_values=[np.full((problem.y_sites.size, 1), level) for level in (0.3, 0.6)],
        pseudo_observations=None,
        emulator=find_emulator_mode(variant_model(problem, variant, prior)),
        sampler=SamplerSettings(2, 200, 300, 300, 0.0, np.inf, np.inf),
    )
    seed = np.random.SeedSequence(8)
    member = recipe.fit(problem, variant, seed, lambda done, total, stage: None)
    importance = leave_one_out_of(member)
    for site in np.argsort(importance.pareto_k)[:2].tolist():
        assert importance.pareto_k[site] < 0.5
        again = _density_without(problem, variant, recipe, site, seed)
        assert again == pytest.approx(importance.log_density[site], abs=0.15)


def test_only_doubtful_sites_are_sampled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large Pareto k replaces the site's density, and no other's."""
    score = LeaveOneOut(np.array([-1.0, -2.0, -3.0]), np.array([0.2, 7.4, 0.69]))
    monkeypatch.setattr(refitted_sites, "leave_one_out_of", lambda member: score)
    monkeypatch.setattr(refitted_sites, "_density_without", lambda *arguments: -9.0)
    member: Any = SimpleNamespace(variant=None)
    found, again = reliable_leave_one_out(None, member, None, np.random.SeedSequence(1))  # type: ignore[arg-type]
    assert found.log_density.tolist() == [-1.0, -9.0, -3.0]
    assert again == 1

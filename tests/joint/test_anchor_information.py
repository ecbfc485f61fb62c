"""Anchors as information: what an ensemble of matchings says, and what a posterior makes of it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import funcal
from funcal.joint.anchor_information import anchor_ensemble
from funcal.joint.calibration_members import latent_pseudo_observations
from funcal.matching import MatchingSettings, find_anchors
from funcal.testbed import get_problem

NUM_COPIES = 200


def three_runs_a_site(measured: list[float], noise_sd: float, controls: tuple[str, ...] = ("x",)) -> Any:
    """Four sites with runs at θ = 0, 0.5 and 1, whose response is θ + x."""
    x = np.arange(4.0)
    physical = pd.DataFrame({name: x for name in controls} | {"y": x + np.array(measured), "sd": noise_sd})
    runs = pd.DataFrame({name: np.repeat(x, 3) for name in controls})
    runs["theta"] = np.tile([0.0, 0.5, 1.0], 4)
    runs["y"] = runs[controls[0]] + runs["theta"]
    return funcal.CalibrationProblem.from_tables(
        physical, runs, control=list(controls), functional=["theta"], response="y", noise_sd="sd"
    )


def test_several_runs_where_several_are_plausible(rng: np.random.Generator) -> None:
    """A site measured between two runs has both in its ensemble; one measured at a run has that run alone."""
    problem = three_runs_a_site([0.5, 0.5, 0.5, 0.76], noise_sd=0.05)
    ensemble = anchor_ensemble(problem, MatchingSettings(lambda_=0.1), size=NUM_COPIES, rng=rng)
    assert ensemble.values.shape == (NUM_COPIES, 4, 1)
    assert set(ensemble.values[:, 1, 0]) == {0.5}
    assert set(ensemble.values[:, 3, 0]) == {0.5, 1.0}


def test_pseudo_observations_have_the_variance_of_the_ensemble(rng: np.random.Generator) -> None:
    """Their variance is the spread of the chosen runs, and what lies between neighbouring runs."""
    problem = three_runs_a_site([0.5, 0.5, 0.5, 0.76], noise_sd=0.05)
    ensemble = anchor_ensemble(problem, MatchingSettings(lambda_=0.1), size=NUM_COPIES, rng=rng)
    mean, variance = ensemble.pseudo_observations(problem.scaled())
    half_a_gap = 0.5 / 3  # three runs a site
    chosen = ensemble.values[:, 3, 0]
    assert mean[3, 0] == pytest.approx(chosen.mean())
    assert variance[3, 0] == pytest.approx(chosen.var() + half_a_gap**2)
    assert variance[1, 0] == pytest.approx(half_a_gap**2)


def test_all_sites_together_count_once_for_a_global_parameter() -> None:
    """ψ has one value: the precision that the sites bring is that of one of them, in the probit's unit."""
    mean, variance = np.full((6, 2), 0.5), np.full((6, 2), 0.04)
    latent, precision = latent_pseudo_observations(mean, variance, num_functional=1)
    np.testing.assert_allclose(precision[:, 0], 25.0)
    np.testing.assert_allclose(latent[:, 1], 0.0)
    assert precision[:, 1].sum() == pytest.approx(25.0 / (2.0 * np.pi))


@pytest.mark.parametrize(("time_limit", "status"), [(None, "optimal"), (0.0, "time_limit")])
def test_the_tree_that_is_shown_is_proved(
    rng: np.random.Generator, time_limit: float | None, status: str
) -> None:
    """No tree is better than the one of the data as measured; a user's time limit is kept."""
    case = get_problem("synthetic-2").draw(0)
    problem = funcal.CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())
    find_anchors(problem, MatchingSettings())  # compiles what the time limit is not for
    shown = anchor_ensemble(problem, MatchingSettings(time_limit=time_limit), size=2, rng=rng).anchors
    assert shown is not None
    assert shown.status == status


@pytest.mark.filterwarnings("ignore::funcal.errors.ConvergenceWarning")
def test_informing_anchors_pull_theta(problem_one: funcal.CalibrationProblem) -> None:
    """θ at the sites is narrower and closer to the ensemble's mean where the anchors inform it."""
    short = {"num_chains": 2, "warmup": 100, "draws": 300, "max_draws": 300, "tempering": False}
    scaled = problem_one.scaled()
    ensemble = anchor_ensemble(problem_one, MatchingSettings(), size=64, rng=np.random.default_rng(0))
    low, high = problem_one.bounds[0]
    pulled_to = low + (high - low) * ensemble.pseudo_observations(scaled)[0][:, 0]
    distance, width = {}, {}
    for anchors in ("start", "inform"):
        found = funcal.calibrate(problem_one, seed=1, anchors=anchors, compare=False, **short)
        theta = found.fit.draws["theta"].reshape(-1, 6)
        distance[anchors] = np.abs(theta.mean(axis=0) - pulled_to).mean()
        width[anchors] = theta.std(axis=0).mean()
        assert found.fit.report["anchors"] == anchors
    assert distance["inform"] < 0.9 * distance["start"]
    assert width["inform"] < 0.9 * width["start"]

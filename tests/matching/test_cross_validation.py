"""λ, r and M by cross-validation over the sites."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import funcal
from funcal.matching import MatchingSettings, find_anchors, tune_matching
from funcal.matching import cross_validation as tuning


def rising_theta(num_sites: int = 9, num_runs: int = 12) -> funcal.CalibrationProblem:
    """The response x + 2θ with θ(x) = x: a curve that a flat θ cannot follow; the same θ values at every site."""
    x = np.linspace(0.0, 1.0, num_sites)
    physical = pd.DataFrame({"x": x, "y": 3.0 * x})
    runs = pd.DataFrame(
        {"x": np.repeat(x, num_runs), "theta": np.tile(np.linspace(0.0, 1.0, num_runs), num_sites)}
    )
    runs["y"] = runs.x + 2.0 * runs.theta
    return funcal.CalibrationProblem.from_tables(
        physical, runs, control="x", functional="theta", response="y"
    )


def two_controls() -> funcal.CalibrationProblem:
    """Nine sites on a grid, six runs at each, θ = (x1 + x2) / 2."""
    grid = np.array([[a, b] for a in (0.0, 0.5, 1.0) for b in (0.0, 0.5, 1.0)])
    theta = np.tile(np.linspace(0.0, 1.0, 6), 9)
    runs = pd.DataFrame(np.repeat(grid, 6, axis=0), columns=["x1", "x2"]).assign(theta=theta)
    runs["y"] = runs.x1 * runs.theta + runs.theta
    physical = pd.DataFrame(grid, columns=["x1", "x2"])
    level = grid.mean(axis=1)
    physical["y"] = grid[:, 0] * level + level
    return funcal.CalibrationProblem.from_tables(
        physical, runs, control=["x1", "x2"], functional="theta", response="y"
    )


def test_a_silly_lambda_is_visibly_worse_and_given_up() -> None:
    """λ = 1000 makes θ flat; the left-out sites show it, and another λ is chosen."""
    tuned = tune_matching(rising_theta(), MatchingSettings(lambda_=1000.0))
    errors = {row["lambda"]: row["rmse"] for row in tuned.report["candidates"]}
    assert set(errors) == {1000.0, *tuning.LAMBDAS}
    assert errors[1000.0] > 3.0 * errors[0.1]
    assert tuned.settings.lambda_ in tuning.LAMBDAS
    assert "chosen by cross-validation" in tuned.sentence
    assert "λ = 1000" in tuned.sentence


def test_settings_that_nothing_clearly_beats_are_kept() -> None:
    """The default does as well as any other on this curve, so that the settings come back as they were."""
    given = MatchingSettings(lambda_=0.1)
    tuned = tune_matching(rising_theta(), given)
    assert tuned.settings == given
    assert tuned.report["chosen"] == 0
    assert "λ = 0.1 was kept" in tuned.sentence


def test_a_left_out_response_does_not_reach_its_own_prediction() -> None:
    """Moving one measurement moves the error of its site by just as much, and other sites' predictions differently."""
    problem, site = rising_theta(), 4
    moved = problem.physical.response.copy()
    moved[site] += 0.7
    other = replace(problem, physical=replace(problem.physical, response=moved, observations=moved))
    candidates = tuning._candidates(problem, MatchingSettings())
    before, after = (
        tuning._errors_on_left_out_sites(each, MatchingSettings(), candidates) for each in (problem, other)
    )
    np.testing.assert_allclose(after[:, site], before[:, site] - 0.7, atol=1e-9)
    assert not np.allclose(np.delete(after, site, axis=1), np.delete(before, site, axis=1))


def test_a_tree_tunes_r_and_m_too() -> None:
    """Every combination is judged; a chosen r is on the scale of the settings, and the anchors use it."""
    problem = two_controls()
    tuned = tune_matching(problem, MatchingSettings(lambda_=50.0))
    rows = tuned.report["candidates"]
    assert len(rows) == 6 * len(tuning.RADIUS_FACTORS) * len(tuning.PENALTIES)
    assert {row["radius_factor"] for row in rows} == set(tuning.RADIUS_FACTORS)
    assert {row["penalty"] for row in rows} == set(tuning.PENALTIES)
    assert tuned.settings.lambda_ < 50.0
    wide = tuning._Candidate(0.5, 2.5, 1.0).apply(problem, MatchingSettings())
    anchors = find_anchors(problem, wide)
    assert anchors.radius == pytest.approx(2.5 * find_anchors(problem).radius)
    assert anchors.penalty == 1.0


def test_a_given_r_or_m_is_kept() -> None:
    """What the user knows is not tuned."""
    tuned = tune_matching(two_controls(), MatchingSettings(lambda_=50.0, radius=0.9, penalty=7.0))
    assert (tuned.settings.radius, tuned.settings.penalty) == (0.9, 7.0)
    assert len(tuned.report["candidates"]) == 6


def test_many_sites_are_left_out_in_folds() -> None:
    """Beyond twelve sites the number of matchings stays bounded."""
    tuned = tune_matching(rising_theta(20, 5), MatchingSettings())
    assert tuned.report["num_folds"] == tuning.MAX_FOLDS


def test_two_sites_are_too_few() -> None:
    """The settings come back, with a sentence."""
    tuned = tune_matching(rising_theta().subset([0, 8]), MatchingSettings(lambda_=0.3))
    assert tuned.settings.lambda_ == 0.3
    assert "too few sites" in tuned.sentence

"""The two presets and the units they are stated in."""

import math

import numpy as np
import pandas as pd
import pytest

import funcal
from funcal.errors import ImproperPriorWarning
from funcal.priors import ThetaCentre, WorkingUnits, densities, paper_prior, proper_prior


def centre_of(num_sites: int) -> ThetaCentre:
    return ThetaCentre(np.full((num_sites, 1), 0.5), np.zeros(0), np.zeros(0), np.eye(num_sites))


def test_the_proper_preset_is_bounded_by_the_box_plus_a_tenth(problem_one: funcal.CalibrationProblem) -> None:
    """θ is kept in [−0.1, 1.1] of its box (point 12), with proper priors everywhere."""
    units = WorkingUnits.of_problem(problem_one, input_scale="unit", centring="physical")
    prior = proper_prior(centre_of(6), units, num_controls=1)
    np.testing.assert_allclose(prior.theta_bounds, [[-0.1, 1.1]])
    np.testing.assert_allclose(prior.spread, [[2.0, 0.15**2, 0.0, np.inf]])
    assert {p.kind for p in prior.length} == {densities.NORMAL}
    assert prior.noise.kind == densities.HALF_NORMAL_SD


def test_the_papers_preset_says_where_it_is_truncated(problem_one: funcal.CalibrationProblem) -> None:
    """The printed densities are improper; a warning names ν, γ and σ² and their bounds."""
    units = WorkingUnits.of_problem(problem_one, input_scale="raw", centring="runs")
    with pytest.warns(ImproperPriorWarning, match=r"ν to \[0.001, 1\].*γ to .*σ² to \[1e-06, 10\]"):
        prior = paper_prior(centre_of(6), units, num_controls=1)
    assert np.isinf(prior.theta_bounds).all()
    low, high = problem_one.bounds[0]
    np.testing.assert_allclose(prior.spread, [[0.0, 0.0, (1e-3 * (high - low)) ** 2, (high - low) ** 2]])
    assert {(p.kind, p.first, p.second) for p in prior.length} == {(densities.GAMMA, 2.0, 2.0)}
    variance = problem_one.physical.response.var()
    assert prior.noise.first == pytest.approx(math.log(1e-6 * variance))
    assert prior.magnitude.second == pytest.approx(math.log(1e3 * variance))


def test_a_floor_for_the_spread_is_kept_by_both(problem_one: funcal.CalibrationProblem) -> None:
    """spread_floor bounds ν from below (point 10)."""
    units = WorkingUnits.of_problem(problem_one, input_scale="unit", centring="physical")
    assert proper_prior(centre_of(6), units, num_controls=1, spread_floor=0.1).spread[0, 2] == pytest.approx(
        0.01
    )
    with pytest.warns(ImproperPriorWarning):
        prior = paper_prior(centre_of(6), units, num_controls=1, spread_floor=0.1)
    assert prior.spread[0, 2] == pytest.approx(0.01)


@pytest.mark.parametrize("centring", ["physical", "runs"])
def test_working_units_invert(problem_one: funcal.CalibrationProblem, centring: str) -> None:
    """Unit ranges and a unit variance inside, the user's units back."""
    units = WorkingUnits.of_problem(problem_one, input_scale="unit", centring=centring)  # type: ignore[arg-type]
    np.testing.assert_allclose(units.functional_box, [[0.0, 1.0]])
    np.testing.assert_allclose(units.functional.from_unit(units.functional_box.T).T, problem_one.bounds)
    responses = problem_one.physical.response if centring == "physical" else problem_one.runs.response
    assert units.response_centre == pytest.approx(responses.mean())
    working = (problem_one.physical.response - units.response_centre) / units.response_scale
    assert working.var() == pytest.approx(units.response_variance)


def test_a_constant_response_takes_its_scale_from_the_runs() -> None:
    """No division by zero where all measurements agree."""
    x = np.linspace(0.0, 1.0, 6)
    runs = pd.DataFrame({"x": np.tile(x, 4), "theta": np.linspace(0, 1, 24), "y": np.arange(24.0)})
    physical = pd.DataFrame({"x": x, "y": np.full(6, 3.0)})
    problem = funcal.CalibrationProblem.from_tables(
        physical, runs, control=["x"], functional=["theta"], response="y"
    )
    units = WorkingUnits.of_problem(problem, input_scale="unit", centring="physical")
    assert units.response_scale == pytest.approx(np.arange(24.0).std(), rel=0.1)

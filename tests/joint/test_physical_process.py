"""The process on the measurements alone: left-out sites and predictions by formulas written out, draw by draw."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from funcal.joint import physical_process
from funcal.joint.physical_process import PhysicalProcess, fit_physical_process
from funcal.problem import ScaledProblem


def covariance(process: PhysicalProcess, draw: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Of one draw between two sets of scaled controls, element by element."""
    found = np.empty((len(left), len(right)))
    for i, here in enumerate(left):
        for j, there in enumerate(right):
            decay = np.exp(-np.sum(process.roughness[draw] * (here - there) ** 2))
            trend = 4.0 + 3.0 * np.sum((here - 0.5) * (there - 0.5))
            found[i, j] = trend + process.signal[draw] * decay
    return found


def noise(process: PhysicalProcess, draw: int, problem: ScaledProblem) -> np.ndarray:
    """Covariance of the site means' noise."""
    return np.diag(process.noise[draw] / problem.counts + 1e-9)


@pytest.fixture(params=["one_function", "two_functions_one_global"])
def problem(request: pytest.FixtureRequest) -> ScaledProblem:
    """With one control, and with two."""
    found: ScaledProblem = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def process(
    problem: ScaledProblem, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> PhysicalProcess:
    """Forty draws, weighed in blocks of a few."""
    monkeypatch.setattr(physical_process, "NUM_CANDIDATES", 40)
    monkeypatch.setattr(physical_process, "BLOCK", 200)
    return fit_physical_process(problem, rng)


def test_weights_and_left_out_sites(process: PhysicalProcess, problem: ScaledProblem) -> None:
    """A draw's weight is its likelihood by SciPy; a left-out site is predicted by draws weighed without it."""
    y = (problem.y_sites - problem.y_sites.mean()) / problem.y_sites.std()
    m, num_draws = len(y), len(process.weight)
    within = problem.within_ss / problem.y_sites.std() ** 2

    def log_likelihood(draw: int, keep: np.ndarray) -> float:
        whole = covariance(process, draw, problem.x_sites, problem.x_sites) + noise(process, draw, problem)
        part = stats.multivariate_normal.logpdf(y[keep], cov=whole[np.ix_(keep, keep)])
        variance = process.noise[draw]
        return float(part - 0.5 * (problem.within_dof * np.log(variance) + within / variance))

    every = np.arange(m)
    weight = np.exp([log_likelihood(draw, every) for draw in range(num_draws)])
    np.testing.assert_allclose(process.weight, weight / weight.sum(), rtol=1e-6)
    site = 2
    without = np.exp([log_likelihood(draw, np.delete(every, site)) for draw in range(num_draws)])
    expected = np.log(weight.sum() / without.sum()) - np.log(problem.y_sites.std())
    assert process.log_density[site] == pytest.approx(expected, abs=1e-6)


def test_predictions_are_those_of_each_draw(
    process: PhysicalProcess, problem: ScaledProblem, rng: np.random.Generator
) -> None:
    """Mean and variance at new controls are the conditional normal's of the draw, whatever the blocks."""
    x_new = rng.uniform(-0.2, 1.2, size=(7, problem.x_sites.shape[1]))
    chosen = np.random.default_rng(5).choice(len(process.weight), size=9, p=process.weight)
    mean, variance, measured = process.predict(problem, x_new, 9, np.random.default_rng(5))
    y = (problem.y_sites - process.centre) / process.unit
    for row, draw in enumerate(chosen):
        own = covariance(process, draw, problem.x_sites, problem.x_sites) + noise(process, draw, problem)
        cross = covariance(process, draw, x_new, problem.x_sites)
        expected = cross @ np.linalg.solve(own, y) * process.unit + process.centre
        left = covariance(process, draw, x_new, x_new) - cross @ np.linalg.solve(own, cross.T)
        np.testing.assert_allclose(mean[row], expected, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(variance[row], np.diag(left) * process.unit**2, rtol=1e-5, atol=1e-8)
        assert measured[row] == pytest.approx(process.noise[draw] * process.unit**2)


def test_memory_does_not_grow_with_the_square_of_new_controls(
    one_function: ScaledProblem, rng: np.random.Generator
) -> None:
    """Twenty thousand new controls take their own rows and blocks of bounded size; a square of them would take 3 GB."""
    process = fit_physical_process(one_function, rng)
    tracemalloc.start()
    process.predict(one_function, rng.uniform(size=(20_000, 1)), 50, rng)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500e6

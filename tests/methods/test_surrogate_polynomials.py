"""The surrogate as polynomials in t: against the surrogate itself, and where there are none."""

import numpy as np
import pytest

import funcal
from funcal.gaussian_process import StaticSurrogate, SurrogateSettings
from funcal.methods import kennedy_ohagan_sampler
from funcal.methods.kennedy_ohagan_chain import discrepancy_model
from funcal.methods.kennedy_ohagan_settings import KennedyOHaganSettings
from funcal.methods.surrogate_compiled import site_surrogate, surrogate_mean_at_site
from funcal.methods.surrogate_model import SurrogateAtControls, surrogate_of
from funcal.methods.surrogate_moments import SurrogateMoments
from funcal.methods.surrogate_polynomials import MAX_TERMS, TensorGrid, chebyshev_terms, tensor_grid
from funcal.problem.scaled_problem import ScaledProblem
from funcal.testbed import get_problem

pytestmark = pytest.mark.filterwarnings("ignore::funcal.errors.DataWarning")


@pytest.fixture(scope="module")
def problem_three() -> tuple[ScaledProblem, StaticSurrogate]:
    """One θ, one ψ, 150 runs."""
    case = get_problem("synthetic-3").draw(0)
    problem = funcal.CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())
    scaled = problem.scaled()
    return scaled, surrogate_of(scaled, SurrogateSettings())


@pytest.mark.parametrize("rate", [0.0, 0.05, 3.0, 148.0, 2_000.0])
def test_the_series_is_long_enough_for_any_run(rate: float) -> None:
    """exp(-rate (t - s)²) is reproduced for many s; half the terms would not do where there is anything to resolve."""
    t, centres = np.linspace(0, 1, 301)[:, None], np.linspace(0, 1, 41)

    def error(size: int) -> float:
        grid = TensorGrid((size,))
        values = np.exp(-rate * (grid.nodes - centres) ** 2)
        exact = np.exp(-rate * (t - centres) ** 2)
        return float(np.abs(grid.basis(t) @ grid.coefficients(values).T - exact).max())

    terms = chebyshev_terms(rate)
    assert error(terms) < 1e-8
    if rate > 1.0:
        assert error(terms // 2) > 1e-6


def test_a_polynomial_in_three_variables_is_returned_exactly(rng: np.random.Generator) -> None:
    """Products of degrees below the sizes, and the order of nodes, coefficients and basis."""
    grid = TensorGrid((3, 2, 4))

    def function(t: np.ndarray) -> np.ndarray:
        first = t[:, 0] ** 2 * t[:, 1] * t[:, 2] ** 3
        return np.column_stack([first, 1.0 + t[:, 2] - t[:, 0]])

    t = rng.uniform(size=(20, 3))
    np.testing.assert_allclose(
        grid.basis(t) @ grid.coefficients(function(grid.nodes)).T, function(t), atol=1e-12
    )


def test_too_many_terms_give_no_grid() -> None:
    """Three rough variables would need more than the longest series allowed."""
    assert tensor_grid(np.array([148.0, 148.0, 148.0])) is None
    grid = tensor_grid(np.array([0.2, 0.3]))
    assert grid is not None
    assert np.prod(grid.sizes) <= MAX_TERMS


def test_means_at_the_sites_equal_the_sum_over_runs(
    problem_three: tuple[ScaledProblem, StaticSurrogate], rng: np.random.Generator
) -> None:
    """The compiled polynomial, the compiled sum and the surrogate itself."""
    scaled, surrogate = problem_three
    polynomial = site_surrogate(SurrogateAtControls.at(surrogate, scaled.x_sites))
    assert polynomial.coefficients.shape[1] > 0
    direct = polynomial._replace(coefficients=np.empty((len(scaled.x_sites), 0)))
    basis = np.empty(MAX_TERMS)
    for site in (0, 7, 14):
        for t in rng.uniform(size=(5, 2)):
            expected = surrogate.predict_mean(np.concatenate([scaled.x_sites[site], t])[None])[0]
            assert surrogate_mean_at_site(polynomial, site, t, basis) == pytest.approx(expected, abs=1e-7)
            assert surrogate_mean_at_site(direct, site, t, basis) == pytest.approx(expected, abs=1e-9)


def test_moments_equal_the_posterior_covariance(
    problem_three: tuple[ScaledProblem, StaticSurrogate], rng: np.random.Generator
) -> None:
    """Means, covariances and variances at sites and new controls, by polynomials and by the factor."""
    scaled, surrogate = problem_three
    x_new = rng.uniform(size=(4, 1))
    moments = SurrogateMoments(surrogate, scaled.x_sites, x_new)
    t = rng.uniform(size=(400, 2))
    rows = moments.rows(t)
    np.testing.assert_allclose(rows[:5], moments.exact_rows(t[:5]), atol=1e-7)
    mean, within, between, variance = moments.split(rows)
    controls = np.vstack([scaled.x_sites, x_new])
    for b in range(3):
        inputs = np.hstack([controls, np.tile(t[b], (len(controls), 1))])
        covariance = surrogate.posterior_covariance(inputs, inputs)
        np.testing.assert_allclose(mean[b], surrogate.predict_mean(inputs), atol=1e-7)
        np.testing.assert_allclose(within[b], covariance[:15, :15], atol=1e-7)
        np.testing.assert_allclose(between[b], covariance[:15, 15:], atol=1e-7)
        np.testing.assert_allclose(variance[b], np.diag(covariance)[15:], atol=1e-7)


def test_kennedy_ohagan_emulates_the_same_in_both_forms(
    problem_three: tuple[ScaledProblem, StaticSurrogate],
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Polynomials against run by run, which serves where no grid is small enough."""
    scaled, surrogate = problem_three
    settings = KennedyOHaganSettings()
    polynomial = discrepancy_model(scaled, surrogate, settings)
    monkeypatch.setattr(SurrogateMoments, "grid", lambda self: None)
    direct = discrepancy_model(scaled, surrogate, settings)
    assert polynomial.coefficients.shape[1] > 0
    assert direct.coefficients.shape[1] == 0
    state, basis = rng.standard_normal(5), np.empty(MAX_TERMS)
    results = []
    for model in (polynomial, direct):
        mean, covariance = np.empty(15), np.zeros((15, 15))
        kennedy_ohagan_sampler._emulate(model, state, mean, covariance, basis)
        results.append((mean, np.tril(covariance)))
    np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-7)
    np.testing.assert_allclose(results[0][1], results[1][1], atol=1e-7)

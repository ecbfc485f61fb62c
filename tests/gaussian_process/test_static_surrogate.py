"""The static surrogate against dense formulas written out again."""

import numpy as np
import pytest
from scipy import linalg, stats

from funcal.errors import SettingsError
from funcal.gaussian_process import SurrogateSettings, fit_surrogate, shared_surrogate, squared_exponential
from funcal.gaussian_process.compiled_cholesky import factorise_lower, log_determinant, solve_lower
from funcal.gaussian_process.profile_likelihood import negative_log_profile, profile_process


@pytest.fixture
def runs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Forty runs of a smooth function of two inputs."""
    inputs = rng.uniform(size=(40, 2))
    response = np.sin(4 * inputs[:, 0]) + inputs[:, 1] ** 2
    return inputs, (response - response.mean()) / response.std()


def _correlation(a: np.ndarray, b: np.ndarray, rates: np.ndarray) -> np.ndarray:
    return np.array([[np.exp(-np.sum(rates * (p - q) ** 2)) for q in b] for p in a])


def test_kernel_equals_the_formula_far_from_the_origin(rng: np.random.Generator) -> None:
    """exp(-Σ ω d²) entry by entry, also for points near 1e6."""
    a, b, rates = rng.uniform(size=(4, 3)) + 1e6, rng.uniform(size=(5, 3)) + 1e6, np.array([0.5, 2.0, 7.0])
    np.testing.assert_allclose(squared_exponential(a, b, rates), _correlation(a, b, rates), rtol=1e-9)


def test_profile_is_the_maximum_of_the_normal_likelihood(runs) -> None:
    """The profiled objective is minus scipy's log density at μ̂, ŝ², and no other (μ, s²) beats it."""
    inputs, response = runs
    rates, nugget = np.array([3.0, 1.0]), 1e-4
    process = profile_process(inputs, response, rates, nugget)
    assert process is not None
    correlation = _correlation(inputs, inputs, rates) + nugget * np.eye(40)

    def log_density(mean: float, variance: float) -> float:
        return stats.multivariate_normal.logpdf(response, np.full(40, mean), variance * correlation)

    best = log_density(process.mean, process.variance)
    assert best == pytest.approx(-process.objective - 20 * np.log(2 * np.pi) - 20, abs=1e-5)
    for shift, factor in ((0.01, 1.0), (-0.01, 1.0), (0.0, 1.05), (0.0, 0.95)):
        assert log_density(process.mean + shift, factor * process.variance) < best


def test_gradient_equals_finite_differences(runs) -> None:
    """The analytic gradient of the profile likelihood."""
    inputs, response = runs
    at = np.array([0.7, -0.4, -7.0])
    _, slope = negative_log_profile(at, inputs, response)
    for k in range(3):
        step = 1e-5 * np.eye(3)[k]
        up, down = (negative_log_profile(at + sign * step, inputs, response)[0] for sign in (1, -1))
        assert slope[k] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-5)


def test_predictions_equal_kriging_formulas(runs, rng: np.random.Generator) -> None:
    """Mean, gradient, variance and covariance against dense linear algebra."""
    inputs, response = runs
    surrogate = fit_surrogate(inputs, response, SurrogateSettings())
    new = rng.uniform(size=(6, 2))
    within = _correlation(inputs, inputs, surrogate.rates) + surrogate.nugget * np.eye(40)
    cross = _correlation(new, inputs, surrogate.rates)
    mean = surrogate.mean + cross @ np.linalg.solve(within, response - surrogate.mean)
    covariance = surrogate.variance * (
        _correlation(new, new, surrogate.rates) - cross @ linalg.solve(within, cross.T, assume_a="pos")
    )
    np.testing.assert_allclose(surrogate.predict_mean(new), mean, atol=1e-6)
    np.testing.assert_allclose(surrogate.posterior_covariance(new, new), covariance, atol=1e-6)
    np.testing.assert_allclose(surrogate.predict_variance(new), np.maximum(np.diag(covariance), 0), atol=1e-6)
    step = 1e-5
    for k in range(2):
        shift = step * np.eye(2)[k]
        numeric = (surrogate.predict_mean(new + shift) - surrogate.predict_mean(new - shift)) / (2 * step)
        np.testing.assert_allclose(surrogate.predict_gradient(new)[:, k], numeric, rtol=1e-4, atol=1e-4)


def test_surrogate_predicts_unseen_runs(runs, rng: np.random.Generator) -> None:
    """A smooth function is learnt to a per cent of its spread."""
    inputs, response = runs
    surrogate = fit_surrogate(inputs[:30], response[:30], SurrogateSettings())
    assert np.std(surrogate.predict_mean(inputs[30:]) - response[30:]) < 0.02


def test_isotropic_kind_has_one_rate_in_raw_units_and_the_given_mean(runs) -> None:
    """Rates go with the squared raw widths, and the mean is where raw zero lies."""
    inputs, response = runs
    widths = np.array([2.0, 6.0])
    settings = SurrogateSettings(kind="isotropic-zero-mean")
    surrogate = fit_surrogate(inputs, response, settings, widths=widths, zero=-1.5)
    assert surrogate.rates[1] / surrogate.rates[0] == pytest.approx(9.0)
    assert surrogate.mean == -1.5


def test_the_same_data_give_the_same_object(runs) -> None:
    """Rivals share one fit; other data or settings get their own."""
    inputs, response = runs
    first = shared_surrogate(inputs, response, SurrogateSettings(num_starts=1))
    assert shared_surrogate(inputs.copy(), response.copy(), SurrogateSettings(num_starts=1)) is first
    assert shared_surrogate(inputs, response + 1e-9, SurrogateSettings(num_starts=1)) is not first
    assert shared_surrogate(inputs, response, SurrogateSettings(num_starts=2)) is not first


def test_many_runs_are_fitted_by_part_and_predicted_by_all(rng: np.random.Generator) -> None:
    """Rates from 30 of 120 runs; every run is interpolated."""
    inputs = rng.uniform(size=(120, 2))
    response = np.sin(4 * inputs[:, 0]) + inputs[:, 1] ** 2
    surrogate = fit_surrogate(inputs, response, SurrogateSettings(max_fit_runs=30))
    assert surrogate.inputs.shape == (120, 2)
    assert np.max(np.abs(surrogate.predict_mean(inputs) - response)) < 1e-2


def test_settings_are_checked() -> None:
    """One sentence each."""
    with pytest.raises(SettingsError, match="'ard' or 'isotropic-zero-mean'"):
        SurrogateSettings(kind="linear")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="at least one start"):
        SurrogateSettings(num_starts=0)
    with pytest.raises(SettingsError, match="at least 10 runs"):
        SurrogateSettings(max_fit_runs=3)


def test_compiled_factor_equals_lapack(rng: np.random.Generator) -> None:
    """Factor, solve and determinant; a matrix that is not positive definite is refused."""
    root = rng.standard_normal((7, 7))
    matrix = root @ root.T + np.eye(7)
    factor, solution, vector = matrix.copy(), np.empty(7), rng.standard_normal(7)
    assert factorise_lower(factor)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix))
    solve_lower(factor, vector, solution)
    np.testing.assert_allclose(np.tril(factor) @ solution, vector)
    assert log_determinant(factor) == pytest.approx(np.linalg.slogdet(matrix)[1])
    assert not factorise_lower(-np.eye(3))

"""The rivals that minimise: oracles are the published formulas written out again, closed forms and statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api
from scipy import integrate, optimize

import funcal
from funcal.errors import ResultError, SettingsError
from funcal.gaussian_process import SurrogateSettings
from funcal.methods.parametric_forms import FORMS, ParametricForm
from funcal.methods.physical_gp import _covariances, integrated_likelihood
from funcal.methods.rkhs_basis import rkhs_basis
from funcal.methods.rkhs_calibration import _cross_validate, _Objective
from funcal.methods.site_noise import site_noise
from funcal.methods.surrogate_least_squares import minimise_least_squares
from funcal.methods.surrogate_model import (
    SurrogateAtControls,
    surrogate_constants,
    surrogate_from_constants,
    surrogate_of,
)
from funcal.testbed import get_problem

# Small made-up tables draw comments on their size; that is not what these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore::funcal.errors.DataWarning")


def _problem(key: str = "synthetic-1", seed: int = 0) -> funcal.CalibrationProblem:
    case = get_problem(key).draw(seed)
    return funcal.CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())


@pytest.fixture(scope="module")
def exact_exponential() -> tuple[funcal.CalibrationProblem, np.ndarray]:
    """Problem 1 without noise: θ(x) = exp(-0.05x) exactly, and the θ at its sites."""
    problem = get_problem("synthetic-1")
    case = problem.draw(0)
    sites = case.physical[["x"]].to_numpy()
    physical = case.physical.assign(y=problem.true_response(sites))
    return (
        funcal.CalibrationProblem.from_tables(physical, case.runs, **case.roles.keywords()),
        np.exp(-0.05 * sites[:, 0]),
    )


class TestSurrogateAtControls:
    """The surrogate at fixed controls."""

    def test_equals_the_surrogate_itself(self, rng: np.random.Generator) -> None:
        """Mean, gradient along t and variance for a batch of t."""
        scaled = _problem("synthetic-3").scaled()
        surrogate = surrogate_of(scaled, SurrogateSettings())
        at_sites = SurrogateAtControls.at(surrogate, scaled.x_sites)
        t = rng.uniform(size=(3, 15, 2))
        mean, gradient = at_sites.mean_and_gradient(t)
        for b in range(3):
            inputs = np.hstack([scaled.x_sites, t[b]])
            np.testing.assert_allclose(mean[b], surrogate.predict_mean(inputs), atol=1e-9)
            np.testing.assert_allclose(gradient[b], surrogate.predict_gradient(inputs)[:, 1:], atol=1e-8)
            np.testing.assert_allclose(at_sites.variance(t)[b], surrogate.predict_variance(inputs), atol=1e-9)

    def test_comes_back_from_what_a_fit_keeps(self) -> None:
        """A saved fit rebuilds its surrogate from rates and moments."""
        scaled = _problem().scaled()
        surrogate = surrogate_of(scaled, SurrogateSettings())
        again = surrogate_from_constants(scaled, surrogate_constants(surrogate))
        inputs = np.hstack([scaled.x_runs, scaled.t_runs])[:4]
        np.testing.assert_allclose(again.predict_mean(inputs), surrogate.predict_mean(inputs), atol=1e-9)

    def test_a_changed_file_is_said_to_be_changed(self) -> None:
        """Constants that do not belong to the runs give one sentence."""
        scaled = _problem().scaled()
        kept = {"surrogate_rates": np.zeros(2), "surrogate_moments": np.array([0.0, 1.0, -1.0])}
        with pytest.raises(ResultError, match="fit again"):
            surrogate_from_constants(scaled, kept)


def test_batched_least_squares_finds_scipys_minimum(rng: np.random.Generator) -> None:
    """A penalised exponential fit from many starts, against scipy.optimize.least_squares."""
    x = np.linspace(0, 1, 20)
    y = 2 * np.exp(-1.5 * x) + 0.05 * rng.standard_normal(20)
    penalty = np.array([0.0, 0.3])

    def residuals(gamma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        decay = np.exp(-gamma[:, 1:] * x)
        jacobian = np.stack([decay, -gamma[:, :1] * x * decay], axis=2)
        return gamma[:, :1] * decay - y, jacobian

    def stacked(gamma: np.ndarray) -> np.ndarray:
        return np.append(residuals(gamma[None])[0][0], np.sqrt(penalty) * gamma)

    result = minimise_least_squares(residuals, rng.normal(size=(8, 2)), penalty)
    oracle = optimize.least_squares(stacked, [1.0, 1.0], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    np.testing.assert_allclose(result.parameters[0], oracle.x, rtol=1e-4)
    assert np.all(np.diff(result.objective) >= 0)


@pytest.mark.parametrize("name", FORMS)
def test_jacobians_of_the_forms(name: str, rng: np.random.Generator) -> None:
    """∂t/∂γ of every parametric family, by finite differences."""
    form = ParametricForm(name, 2, -0.3)
    gamma, x = rng.normal(size=form.num_coefficients), rng.uniform(size=(5, 2))
    _, slopes = form.evaluate(gamma[None], x)
    for k in range(form.num_coefficients):
        step = 1e-6 * np.eye(form.num_coefficients)[k]
        up, down = (form.evaluate((gamma + sign * step)[None], x)[0][0] for sign in (1, -1))
        np.testing.assert_allclose(slopes[0, :, k], (up - down) / 2e-6, atol=1e-7)


class TestParametric:
    """pfc and constant."""

    def test_recovers_an_exact_exponential(self, exact_exponential) -> None:
        """Noise-free data of the family's own form give its θ back; so do nfc's."""
        problem, theta = exact_exponential
        for method, tolerance in (("pfc", 0.01), ("nfc", 0.02)):
            fit = funcal.calibrate(problem, method, seed=1).fit
            np.testing.assert_allclose(fit.draws["theta"][0, 0, :, 0], theta, atol=tolerance)

    def test_constant_is_the_best_constant_of_a_grid(self) -> None:
        """No θ of a fine grid fits better through the same surrogate."""
        problem = _problem()
        scaled = problem.scaled()
        at_sites = SurrogateAtControls.at(surrogate_of(scaled, SurrogateSettings()), scaled.x_sites)
        grid = np.linspace(0, 1, 2001)
        mean, _ = at_sites.mean_and_gradient(np.repeat(grid[:, None, None], 6, axis=1))
        best = grid[np.argmin(((mean - scaled.y_sites) ** 2).sum(axis=1))]
        theta = funcal.calibrate(problem, "constant", seed=1).fit.draws["theta"]
        unit = scaled.scaling.calibration.to_unit(theta[0, 0])
        np.testing.assert_allclose(unit, best, atol=6e-4)

    def test_point_prediction_is_the_plug_in_one(self) -> None:
        """The mean over the antithetic draws is m(x, θ̂(x)) itself."""
        problem = _problem()
        calibration = funcal.calibrate(problem, "pfc", seed=1)
        scaled = problem.scaled()
        prediction = calibration.predict(problem.physical.control)
        theta = scaled.scaling.calibration.to_unit(calibration.fit.draws["theta"][0, 0])
        at_sites = SurrogateAtControls.at(surrogate_of(scaled, SurrogateSettings()), scaled.x_sites)
        plug_in = scaled.scaling.response_from_unit(at_sites.mean_and_gradient(theta[None])[0][0])
        np.testing.assert_allclose(prediction.response.mean, plug_in, rtol=1e-6)

    def test_unknown_forms_are_refused(self) -> None:
        """One sentence."""
        with pytest.raises(SettingsError, match="form is one of"):
            funcal.calibrate(_problem(), "pfc", seed=1, form="cubic")


class TestRkhs:
    """nfc."""

    def test_jacobian_equals_finite_differences(self, rng: np.random.Generator) -> None:
        """Hᵀ(r∘∂m/∂t∘ℓ') with two calibration variables."""
        scaled = _problem("synthetic-3").scaled()
        basis = rkhs_basis(scaled.x_sites)
        design, _ = basis.stacked(1, 1)
        at_sites = SurrogateAtControls.at(surrogate_of(scaled, SurrogateSettings()), scaled.x_sites)
        objective = _Objective(at_sites, design, scaled.y_sites, site_noise(scaled).root_weights)
        gamma = 0.5 * rng.standard_normal(sum(part.shape[1] for part in design))
        _, jacobian = objective(gamma[None])
        for k in (0, 1, 4, len(gamma) - 1):
            step = 1e-6 * np.eye(len(gamma))[k]
            up, down = (objective((gamma + sign * step)[None])[0][0] for sign in (1, -1))
            np.testing.assert_allclose(jacobian[0, :, k], (up - down) / 2e-6, atol=1e-5)

    def test_cross_validation_equals_the_published_trace(self, rng: np.random.Generator) -> None:
        """tr(I - A) = tr 2mλ F2(F2ᵀQ_wF2 + 2mλI)⁻¹F2ᵀ with F2 the complement of D_wS."""
        x = np.sort(rng.uniform(size=(9, 1)), axis=0)
        basis = rkhs_basis(x, "cubic")
        w, r, ridge = rng.uniform(0.5, 2.0, 9), rng.standard_normal(9), 2 * 9 * 1e-3
        penalised = np.append([0.0, 0.0], np.ones(basis.values.shape[1] - 2))
        score, free = _cross_validate(r, w[:, None] * basis.values, ridge * penalised)
        kernel = basis.values[:, 2:] @ basis.values[:, 2:].T
        complement = np.linalg.qr(w[:, None] * basis.values[:, :2], mode="complete")[0][:, 2:]
        inner = complement.T @ (w[:, None] * kernel * w) @ complement + ridge * np.eye(7)
        expected = ridge * np.trace(complement @ np.linalg.solve(inner, complement.T))
        assert free == pytest.approx(expected, rel=1e-5)
        assert score == pytest.approx((r @ r / 9) / (expected / 9) ** 2, rel=1e-4)

    def test_bands_equal_the_published_formula(self, rng: np.random.Generator) -> None:
        """Variance of η(x*) = b(Φ** + ρφφᵀ - tᵀM⁻¹t), M = K + 2mλ/w² + ρSSᵀ, against the whitened form."""
        x, new = np.sort(rng.uniform(size=(8, 1)), axis=0), rng.uniform(size=(4, 1))
        basis = rkhs_basis(x, "cubic")
        w, scale, rho = rng.uniform(0.5, 2.0, 8), 0.7, 5e4
        ridge = 2 * 8 * 1e-2
        sigma2 = scale * ridge
        rows, residual = basis.evaluate(new)
        kernel = basis.values[:, 2:] @ basis.values[:, 2:].T
        cross = rows[:, 2:] @ basis.values[:, 2:].T
        prior = rows[:, 2:] @ rows[:, 2:].T + residual
        null, null_new = basis.values[:, :2], rows[:, :2]
        matrix = kernel + np.diag(ridge / w**2) + rho * null @ null.T
        t = cross + rho * null_new @ null.T
        published = scale * (prior + rho * null_new @ null_new.T - t @ np.linalg.solve(matrix, t.T))
        jacobian = w[:, None] * basis.values
        penalty = np.append([1 / (rho * scale) * sigma2] * 2, np.full(basis.values.shape[1] - 2, ridge))
        covariance = sigma2 * np.linalg.inv(jacobian.T @ jacobian + np.diag(penalty))
        ours = rows @ covariance @ rows.T + scale * residual
        np.testing.assert_allclose(np.diag(ours), np.diag(published), rtol=2e-3)


def _line_data(rng: np.random.Generator, replicates: int) -> pd.DataFrame:
    x = np.repeat(np.linspace(0, 2, 8), replicates)
    return pd.DataFrame({"x": x, "y": 1 + 2 * x + 0.3 * rng.standard_normal(len(x))})


@pytest.mark.parametrize("replicates", [1, 3])
@pytest.mark.parametrize("method", ["linear", "mean"])
def test_regression_equals_statsmodels(method: str, replicates: int, rng: np.random.Generator) -> None:
    """Fitted line and 95 % intervals of mean and measurement, with and without replicates."""
    physical = _line_data(rng, replicates)
    runs = pd.DataFrame(rng.uniform(0.0, 2.5, (8, 3)), columns=["x", "t", "y"])
    problem = funcal.CalibrationProblem.from_tables(physical, runs, control="x", functional="t", response="y")
    new = np.array([0.3, 2.5])
    prediction = funcal.calibrate(problem, method, seed=1).predict(new)
    design = np.column_stack([np.ones(len(physical)), physical["x"]])[:, : 2 if method == "linear" else 1]
    at_new = np.column_stack([np.ones(2), new])[:, : design.shape[1]]
    oracle = (
        statsmodels.api.OLS(physical["y"].to_numpy(), design).fit().get_prediction(at_new).summary_frame()
    )
    np.testing.assert_allclose(prediction.response.mean, oracle["mean"], rtol=1e-9)
    # 1 000 antithetic draws: the limits carry a Monte-Carlo error of a few per cent of the width.
    width = (oracle["obs_ci_upper"] - oracle["obs_ci_lower"]).to_numpy()
    assert np.all(np.abs(prediction.observation.upper - oracle["obs_ci_upper"]) < 0.06 * width)
    mean_width = (oracle["mean_ci_upper"] - oracle["mean_ci_lower"]).to_numpy()
    assert np.all(np.abs(prediction.response.lower - oracle["mean_ci_lower"]) < 0.12 * mean_width)


def test_regression_needs_more_sites_than_coefficients() -> None:
    """Three controls and four sites: refused in one sentence."""
    runs = pd.DataFrame(np.random.default_rng(0).uniform(size=(9, 5)), columns=[*"abc", "t", "y"])
    problem = funcal.CalibrationProblem.from_tables(
        runs.iloc[:4], runs, control=["a", "b", "c"], functional="t", response="y"
    )
    with pytest.raises(SettingsError, match="needs at least 5 sites"):
        funcal.calibrate(problem, "linear", seed=1)


def test_likelihood_of_the_physical_process_by_quadrature() -> None:
    """The integrated likelihood against numerical integration over μ and log s²."""
    scaled = _problem().scaled()
    rates, ratio = np.array([[0.5], [4.0]]), np.array([0.05, 0.4])
    closed, _, _ = integrated_likelihood(scaled, rates, ratio)
    values = []
    for matrix in _covariances(scaled, rates, ratio):
        inverse, (_, log_det) = np.linalg.inv(matrix), np.linalg.slogdet(matrix)

        def density(mean: float, log_variance: float, inverse=inverse, log_det=log_det) -> float:
            error = scaled.y_sites - mean
            quadratic = error @ inverse @ error
            return np.exp(-0.5 * (6 * log_variance + log_det + quadratic * np.exp(-log_variance)))

        values.append(integrate.dblquad(density, -8, 6, -12, 12, epsrel=1e-6)[0])
    assert closed[1] - closed[0] == pytest.approx(np.log(values[1] / values[0]), abs=1e-3)

"""Least squares of a parametric θ(x) through the static surrogate, the estimator behind `pfc` and `constant`.

γ̂ minimises ½ Σ (y_i - m(x_i, θ(x_i; γ)))². Inside m the calibration variables are cut off at the runs' box, and a soft
penalty 10 Σ ((θ - cut θ)/(U - L))² keeps the fit from wandering off it. Cov(γ̂) = σ̂²(JᵀJ)⁻¹, σ̂² = RSS/(m - p).
"""

import numpy as np

from ..gaussian_process import SurrogateSettings
from ..problem import CalibrationProblem, FloatArray
from ..problem.scaled_problem import ScaledProblem
from ..result import Fit, PredictiveSample, Progress
from .calibration_draws import calibration_draws
from .normal_approximation import antithetic_normals, linearised_predictions
from .parametric_forms import ParametricForm
from .site_noise import site_noise
from .surrogate_least_squares import minimise_least_squares
from .surrogate_model import (
    SurrogateAtControls,
    surrogate_constants,
    surrogate_from_constants,
    surrogate_of,
)

__all__ = ["fit_parametric", "forms_of", "predict_parametric"]

# ½ · 20 · excess² = 10 · excess².
EXCESS_WEIGHT = np.sqrt(20.0)


def forms_of(scaled: ScaledProblem, name: str) -> tuple[ParametricForm, ...]:
    """One form per calibration variable: `name` for functional ones, constant for global ones."""
    origins = scaled.scaling.calibration.to_unit(np.zeros(scaled.num_functional + scaled.num_global))
    dx = scaled.x_sites.shape[1]
    return tuple(
        ParametricForm(name if k < scaled.num_functional else "constant", dx, float(origin))
        for k, origin in enumerate(origins)
    )


def _evaluate(
    forms: tuple[ParametricForm, ...], gamma: FloatArray, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """All components: t (b, q, dt) and ∂t/∂γ (b, q, dt, p)."""
    t = np.empty((len(gamma), len(x), len(forms)))
    slopes = np.zeros((*t.shape, gamma.shape[1]))
    start = 0
    for k, form in enumerate(forms):
        part = slice(start, start + form.num_coefficients)
        t[:, :, k], slopes[:, :, k, part] = form.evaluate(gamma[:, part], x)
        start = part.stop
    return t, slopes


def fit_parametric(
    problem: CalibrationProblem,
    form: str,
    num_starts: int,
    surrogate_settings: SurrogateSettings,
    seed: np.random.SeedSequence,
    progress: Progress,
) -> Fit:
    """Estimate γ by least squares from many starts."""
    scaled = problem.scaled()
    noise = site_noise(scaled)
    surrogate = surrogate_of(scaled, surrogate_settings)
    at_sites = SurrogateAtControls.at(surrogate, scaled.x_sites)
    forms = forms_of(scaled, form)
    root = noise.root_weights

    def residuals(gamma: FloatArray) -> tuple[FloatArray, FloatArray]:
        t, slopes = _evaluate(forms, gamma, scaled.x_sites)
        inside = np.clip(t, 0.0, 1.0)
        mean, gradient = at_sites.mean_and_gradient(inside)
        free = gradient * (t == inside) * root[:, None]
        misfit = (mean - scaled.y_sites) * root
        excess = EXCESS_WEIGHT * (t - inside).reshape(len(gamma), -1)
        outside = EXCESS_WEIGHT * (t != inside)[..., None] * slopes
        jacobian = np.einsum("bqk,bqkp->bqp", free, slopes)
        return (
            np.hstack([misfit, excess]),
            np.concatenate([jacobian, outside.reshape(len(gamma), -1, gamma.shape[1])], axis=1),
        )

    rng = np.random.default_rng(seed)
    starts = np.hstack([part.starts(num_starts, rng) for part in forms])
    result = minimise_least_squares(residuals, starts, np.zeros(starts.shape[1]))
    progress(1, 1, "least squares")
    gamma = result.parameters[0]
    r, jacobian = (part[0] for part in residuals(gamma[None]))
    num_sites = len(scaled.y_sites)
    misfit = r[:num_sites]
    average = float(noise.weights.mean())
    sigma2 = noise.estimate(float(misfit @ misfit) * average, num_sites - len(gamma))
    t = _evaluate(forms, gamma[None], scaled.x_sites)[0][0]
    return Fit(
        draws=calibration_draws(scaled, t[None, None], np.full((1, 1), sigma2)),
        dims={"theta": ("site", "functional"), "psi": ("global",)},
        constants={
            **surrogate_constants(surrogate),
            "coefficients": gamma,
            "coefficient_covariance": sigma2
            / average
            * np.linalg.pinv(jacobian.T @ jacobian, hermitian=True),
            "noise_variance": np.array([sigma2]),
        },
        report={
            "form": form,
            "residual_sum_of_squares": float(misfit @ misfit),
            "num_coefficients": len(gamma),
        },
    )


def predict_parametric(
    problem: CalibrationProblem, fit: Fit, x_new: FloatArray, rng: np.random.Generator
) -> PredictiveSample:
    """Plug-in predictions with delta-method errors."""
    scaled = problem.scaled()
    surrogate = surrogate_from_constants(scaled, fit.constants)
    x_unit = scaled.scaling.control.to_unit(x_new)
    gamma, covariance = fit.constants["coefficients"], fit.constants["coefficient_covariance"]
    t, slopes = _evaluate(forms_of(scaled, str(fit.report["form"])), gamma[None], x_unit)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    deviations = np.einsum("qkp,tp->tqk", slopes[0], antithetic_normals((len(gamma),), rng) @ root.T)
    sigma2 = float(fit.constants["noise_variance"][0])
    return linearised_predictions(
        scaled,
        SurrogateAtControls.at(surrogate, x_unit),
        np.clip(t[0], 0.0, 1.0),
        deviations,
        measurement_variance=site_noise(scaled).measurement_variance(sigma2),
    )

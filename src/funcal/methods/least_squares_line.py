"""Linear regression of the measurements on the controls, with exact t intervals; the computer model is not used.

Behind `linear` (all controls) and `mean` (none). With σ² unknown the coefficients have a multivariate t distribution:
draws take σ² from its scaled inverse χ² and coefficients from the normal given σ².
"""

import numpy as np

from ..errors import SettingsError
from ..problem import CalibrationProblem, FloatArray
from ..result import Fit, PredictiveSample
from .normal_approximation import antithetic_normals
from .site_noise import site_noise

__all__ = ["fit_line", "predict_line"]


def _design(x: FloatArray, *, slopes: bool) -> FloatArray:
    """An intercept, and the controls where `slopes`."""
    ones = np.ones((len(x), 1))
    return np.hstack([ones, x - 0.5]) if slopes else ones


def fit_line(problem: CalibrationProblem, *, slopes: bool) -> Fit:
    """Weighted least squares on the site means.

    Raises
    ------
    SettingsError
        When there are no more sites than coefficients.
    """
    scaled = problem.scaled()
    noise = site_noise(scaled)
    design = _design(scaled.x_sites, slopes=slopes)
    num_sites, num_coefficients = design.shape
    if num_sites <= num_coefficients:
        raise SettingsError(
            f"a regression on {num_coefficients - 1} controls needs at least {num_coefficients + 1} sites; "
            f"this problem has {num_sites}; use another method"
        )
    precision = design.T @ (noise.weights[:, None] * design)
    inverse: FloatArray = np.asarray(np.linalg.pinv(precision, hermitian=True), dtype=np.float64)
    coefficients: FloatArray = inverse @ (design.T @ (noise.weights * scaled.y_sites))
    residual = scaled.y_sites - design @ coefficients
    dof = num_sites - int(np.linalg.matrix_rank(design))
    sigma2 = noise.estimate(float(noise.weights @ residual**2), dof)
    single = np.sqrt(noise.measurement_variance(sigma2)) * scaled.scaling.response_sd
    return Fit(
        draws={"noise_sd": np.full((1, 1), single)},
        constants={
            "coefficients": coefficients,
            "unit_covariance": inverse,
            "noise_variance": np.array([sigma2]),
            "degrees_of_freedom": np.array([np.inf if noise.known else dof + noise.within_dof]),
        },
        report={"slopes": slopes, "degrees_of_freedom": None if noise.known else dof + noise.within_dof},
    )


def predict_line(
    problem: CalibrationProblem, fit: Fit, x_new: FloatArray, rng: np.random.Generator
) -> PredictiveSample:
    """The line with t intervals."""
    scaled = problem.scaled()
    scaling = scaled.scaling
    constants = fit.constants
    design = _design(scaling.control.to_unit(x_new), slopes=bool(fit.report["slopes"]))
    values, vectors = np.linalg.eigh(constants["unit_covariance"])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normals = antithetic_normals((len(values),), rng)
    dof, sigma2 = float(constants["degrees_of_freedom"][0]), float(constants["noise_variance"][0])
    half = len(normals) // 2
    # A pair shares its σ², so that the mean over draws stays the fitted line.
    factor = np.ones(half) if np.isinf(dof) else dof / rng.chisquare(dof, half)
    variances = sigma2 * np.tile(factor, 2)
    response = (
        design @ constants["coefficients"] + (normals * np.sqrt(variances)[:, None]) @ root.T @ design.T
    )
    noise = site_noise(scaled)
    measured = np.array([noise.measurement_variance(float(value)) for value in variances])
    return PredictiveSample(
        response_mean=scaling.response_from_unit(response),
        response_variance=np.zeros(response.shape),
        noise_variance=measured * scaling.response_sd**2,
        calibration=np.empty((*response.shape, 0)),
    )

"""NFC: nonparametric functional calibration in a reproducing kernel Hilbert space (Tuo et al., arXiv 2107.08288).

θ = ℓ(η) with the logit link ℓ to the runs' box; η̂ minimises ½ Σ (y_i - m(x_i, ℓ(η(x_i))))² + mλ‖η‖². By the
representer theorem η = Σ α_s v_s + Σ β_i Φ(·, x_i); with K = QΛQᵀ and b = Λ^½Qᵀβ the penalty is mλ|b|². λ by
generalised cross-validation; intervals are the Bayesian bands of smoothing splines (Wahba; Gu).
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from ..errors import SettingsError
from ..gaussian_process import SurrogateSettings
from ..problem import CalibrationProblem, FloatArray
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .calibration_draws import calibration_draws
from .normal_approximation import antithetic_normals, linearised_predictions
from .rkhs_basis import RkhsBasis, rkhs_basis
from .site_noise import site_noise
from .surrogate_least_squares import minimise_least_squares
from .surrogate_model import (
    SurrogateAtControls,
    surrogate_constants,
    surrogate_from_constants,
    surrogate_of,
)

__all__ = ["RkhsCalibration", "RkhsSettings"]

# The starts that are carried along the path of λ after the first.
CARRIED_STARTS = 8
# Prior variance of the unpenalised part relative to b = σ̂²/(2mλ): diffuse.
NULL_VARIANCE = 5e4


@dataclass(frozen=True)
class RkhsSettings:
    """Settings of `nfc`.

    Attributes
    ----------
    kernel
        "auto": cubic smoothing spline for one control, squared exponential for more.
    num_starts
        Random starts at the largest λ.
    log_lambda_min, log_lambda_max, num_lambda
        The grid of log λ, on responses in units of the runs' sd.
    surrogate
        The static surrogate.
    """

    kernel: str = "auto"
    num_starts: int = 50
    log_lambda_min: float = -16.0
    log_lambda_max: float = 0.0
    num_lambda: int = 17
    surrogate: SurrogateSettings = field(default_factory=SurrogateSettings)

    def __post_init__(self) -> None:
        if self.kernel not in ("auto", "cubic", "squared-exponential"):
            raise SettingsError(
                f"kernel is 'auto', 'cubic' or 'squared-exponential'; {self.kernel!r} was given"
            )
        if self.num_starts < 1 or self.num_lambda < 1 or self.log_lambda_min > self.log_lambda_max:
            raise SettingsError("nfc needs at least one start and one λ, the smallest λ first")


class _Objective:
    """Residuals and Jacobian of all components' coefficients, batched over starts."""

    def __init__(
        self, at_sites: SurrogateAtControls, design: tuple[FloatArray, ...], y: FloatArray, root: FloatArray
    ) -> None:
        self.at_sites, self.design, self.y, self.root = at_sites, design, y, root
        self.edges = np.cumsum([0, *(part.shape[1] for part in design)])

    def eta(self, gamma: FloatArray) -> FloatArray:
        """η at the sites, (b, m, dt)."""
        parts = [
            gamma[:, start:end] @ part.T
            for part, start, end in zip(self.design, self.edges[:-1], self.edges[1:], strict=True)
        ]
        return np.stack(parts, axis=-1)

    def __call__(self, gamma: FloatArray) -> tuple[FloatArray, FloatArray]:
        t = expit(self.eta(gamma))
        mean, gradient = self.at_sites.mean_and_gradient(t)
        # dm/dη = ∂m/∂t · ℓ'
        slope = gradient * t * (1.0 - t) * self.root[:, None]
        jacobian = np.concatenate(
            [slope[:, :, k, None] * part[None] for k, part in enumerate(self.design)], axis=2
        )
        return (mean - self.y) * self.root, jacobian


def _cross_validate(r: FloatArray, jacobian: FloatArray, ridge: FloatArray) -> tuple[float, float]:
    """GCV score and tr(I - A) of the linearised fit, A = J(JᵀJ + ridge)⁻¹Jᵀ."""
    num_sites = len(r)
    normal = jacobian.T @ jacobian + np.diag(ridge)
    hat_trace = float(np.trace(np.linalg.lstsq(normal, jacobian.T @ jacobian, rcond=None)[0]))
    free = max(num_sites - hat_trace, 1e-6)
    return float(r @ r) / num_sites / (free / num_sites) ** 2, free


class RkhsCalibration:
    """The method `nfc`. Several functional variables share λ; a global one is an unpenalised constant."""

    key: ClassVar[str] = "nfc"
    title: ClassVar[str] = "Nonparametric functional calibration (RKHS, static surrogate)"
    supports: ClassVar[Capabilities] = Capabilities(min_sites=3)
    Settings: ClassVar[type[Any]] = RkhsSettings

    def fit(
        self,
        problem: CalibrationProblem,
        settings: RkhsSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Fit η for each λ of the grid, from large to small, and keep the λ with the least GCV score."""
        scaled = problem.scaled()
        noise = site_noise(scaled)
        surrogate = surrogate_of(scaled, settings.surrogate)
        basis = rkhs_basis(scaled.x_sites, settings.kernel)
        design, penalised = basis.stacked(scaled.num_functional, scaled.num_global)
        objective = _Objective(
            SurrogateAtControls.at(surrogate, scaled.x_sites), design, scaled.y_sites, noise.root_weights
        )
        starts = _starts(design, settings.num_starts, np.random.default_rng(seed))
        grid = np.exp(np.linspace(settings.log_lambda_max, settings.log_lambda_min, settings.num_lambda))
        best = (np.inf, np.nan, np.nan, starts[0])
        for step, lambda_ in enumerate(grid):
            # The objective carries mλbᵀb = ½ (2mλ) bᵀb.
            ridge = 2.0 * len(scaled.y_sites) * lambda_ * penalised
            result = minimise_least_squares(objective, starts, ridge)
            starts = result.parameters[:CARRIED_STARTS]
            r, jacobian = (part[0] for part in objective(starts[:1]))
            score, free = _cross_validate(r, jacobian, ridge)
            if score < best[0]:
                best = (score, lambda_, free, starts[0])
            progress(step + 1, len(grid), "λ by cross-validation")
        score, lambda_, free, gamma = best
        return _assemble_fit(
            problem, objective, basis, surrogate_constants(surrogate), lambda_, free, gamma, score
        )

    def predict(
        self,
        problem: CalibrationProblem,
        fit: Fit,
        x_new: FloatArray,
        *,
        rng: np.random.Generator,
        **options: Any,
    ) -> PredictiveSample:
        """The plug-in prediction with Bayesian bands."""
        scaled = problem.scaled()
        surrogate = surrogate_from_constants(scaled, fit.constants)
        kernel = "cubic" if fit.report["kernel"] == "cubic" else "squared-exponential"
        basis = rkhs_basis(scaled.x_sites, kernel)
        x_unit = scaled.scaling.control.to_unit(x_new)
        rows, residual = basis.evaluate(x_unit)
        gamma, covariance = fit.constants["coefficients"], fit.constants["coefficient_covariance"]
        scale = float(fit.constants["penalised_variance"][0])
        num_new, size = len(x_unit), rows.shape[1]
        draws = antithetic_normals((len(gamma),), rng) @ _square_root(covariance).T
        extra = antithetic_normals((scaled.num_functional, num_new), rng) @ _square_root(residual * scale).T
        t_hat = np.empty((num_new, scaled.num_functional + scaled.num_global))
        deviations = np.empty((len(draws), *t_hat.shape))
        inflation = np.empty(t_hat.shape)
        for k in range(t_hat.shape[1]):
            functional = k < scaled.num_functional
            part = slice(k * size, (k + 1) * size)
            if not functional:
                part = slice(scaled.num_functional * size + k - scaled.num_functional, None)
                part = slice(part.start, part.start + 1)
            features = rows if functional else np.ones((num_new, 1))
            t = expit(features @ gamma[part])
            delta = draws[:, part] @ features.T + (extra[:, k] if functional else 0.0)
            # ℓ' = t(1-t), ℓ'' = t(1-t)(1-2t): sd² = ℓ'²e² + ½ℓ''²e⁴.
            t_hat[:, k], deviations[:, :, k] = t, delta * t * (1.0 - t)
            inflation[:, k] = np.sqrt(1.0 + 0.5 * ((1.0 - 2.0 * t) * delta.std(axis=0)) ** 2)
        noise = site_noise(scaled)
        return linearised_predictions(
            scaled,
            SurrogateAtControls.at(surrogate, x_unit),
            t_hat,
            deviations,
            inflation=inflation,
            measurement_variance=noise.measurement_variance(float(fit.constants["noise_variance"][0])),
        )


def _square_root(covariance: FloatArray) -> FloatArray:
    """A square root of a covariance that may be singular."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _starts(design: tuple[FloatArray, ...], num_starts: int, rng: np.random.Generator) -> FloatArray:
    """Constants spread over the box, with random smooth departures that grow from none to several logits."""
    growth = np.linspace(0.0, 3.0, num_starts)[:, None]
    parts = []
    for part in design:
        gamma = rng.standard_normal((num_starts, part.shape[1])) * growth
        share = rng.permutation((np.arange(num_starts) + 0.5) / num_starts)
        gamma[:, 0] = np.log(share / (1.0 - share))
        parts.append(gamma)
    return np.hstack(parts)


def _assemble_fit(
    problem: CalibrationProblem,
    objective: _Objective,
    basis: RkhsBasis,
    kept: dict[str, FloatArray],
    lambda_: float,
    free: float,
    gamma: FloatArray,
    score: float,
) -> Fit:
    """Noise, bands and estimates at the chosen λ."""
    scaled = problem.scaled()
    noise = site_noise(scaled)
    r, jacobian = (part[0] for part in objective(gamma[None]))
    # (I - A) applied to the working response Dη + residual is the residual: σ̂² = RSS / tr(I - A).
    sigma2 = noise.estimate(float(r @ r) * float(noise.weights.mean()), free)
    per_residual = sigma2 / float(noise.weights.mean())
    _, penalised = basis.stacked(scaled.num_functional, scaled.num_global)
    ridge = 2.0 * len(r) * lambda_ * penalised
    variance = per_residual / (2.0 * len(r) * lambda_)
    precision = jacobian.T @ jacobian + np.diag(ridge)
    precision += np.diag(np.where(penalised > 0.0, 0.0, per_residual / (NULL_VARIANCE * variance)))
    t = expit(objective.eta(gamma[None]))[0]
    return Fit(
        draws=calibration_draws(scaled, t[None, None], np.full((1, 1), sigma2)),
        dims={"theta": ("site", "functional"), "psi": ("global",)},
        constants={
            **kept,
            "coefficients": gamma,
            "coefficient_covariance": per_residual * np.linalg.pinv(precision, hermitian=True),
            "penalised_variance": np.array([variance]),
            "noise_variance": np.array([sigma2]),
        },
        report={
            "kernel": basis.kernel,
            "lambda": lambda_,
            "generalised_cross_validation": score,
            "effective_parameters": len(r) - free,
        },
    )

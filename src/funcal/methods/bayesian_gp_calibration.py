"""NBC: nonparametric Bayesian calibration (Brown and Atamturktur, Statistica Sinica 2018, arXiv 1602.06202).

y_i ~ N(m(x_i, θ(x_i), ψ), 1/λ_y), logit θ a Gaussian process with precision λ_θ and correlation ρ^{|x - x'|²}, no
discrepancy; the static surrogate's mean m stands for the computer model. Responses in units of the runs' sd.
"""

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, ndtr

from ..problem import CalibrationProblem, FloatArray
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .bayesian_gp_settings import BayesianGpSettings
from .calibration_draws import calibration_draws
from .surrogate_chains import run_chains, thinned_draws
from .surrogate_model import (
    SurrogateAtControls,
    surrogate_constants,
    surrogate_from_constants,
    surrogate_of,
)

__all__ = ["BayesianGpCalibration"]

#: Mixture components of a prediction, thinned evenly from the draws.
MAX_COMPONENTS = 500


class BayesianGpCalibration:
    """The method `nbc`. Several functional variables get a process each; global ones are uniform on their box."""

    key: ClassVar[str] = "nbc"
    title: ClassVar[str] = "Nonparametric Bayesian calibration (static surrogate)"
    supports: ClassVar[Capabilities] = Capabilities(min_sites=3)
    Settings: ClassVar[type[Any]] = BayesianGpSettings

    def fit(
        self,
        problem: CalibrationProblem,
        settings: BayesianGpSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Sample η at the sites, ψ, ρ and the precisions."""
        from .bayesian_gp_chain import nbc_chains

        scaled = problem.scaled()
        surrogate = surrogate_of(scaled, settings.surrogate)
        at_sites = SurrogateAtControls.at(surrogate, scaled.x_sites)
        chains, rates = run_chains(
            nbc_chains(scaled, at_sites, settings), settings.chain, seed, progress, "sampling nbc"
        )
        num_sites, dt = len(scaled.y_sites), scaled.num_functional
        logits = chains[:, :, : dt * num_sites].reshape(*chains.shape[:2], dt, num_sites)
        psi_end = dt * num_sites + scaled.num_global
        unit = np.concatenate(
            [
                np.swapaxes(expit(logits), 2, 3),
                np.repeat(ndtr(chains[:, :, None, dt * num_sites : psi_end]), num_sites, axis=2),
            ],
            axis=-1,
        )
        draws = calibration_draws(scaled, unit, np.exp(-chains[:, :, -1]))
        draws["logit_theta"] = logits
        draws["log_rate"] = chains[:, :, psi_end : psi_end + dt]
        draws["log_precision"] = chains[:, :, psi_end + dt : psi_end + 2 * dt]
        return Fit(
            draws=draws,
            dims={
                "theta": ("site", "functional"),
                "psi": ("global",),
                "logit_theta": ("functional", "site"),
                "log_rate": ("functional",),
                "log_precision": ("functional",),
            },
            stats={"acceptance_rate": np.repeat(rates[:, None], chains.shape[1], axis=1)},
            constants=surrogate_constants(surrogate),
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
        """Per draw: η at new x from its conditional process, then the surrogate there."""
        scaled = problem.scaled()
        scaling = scaled.scaling
        surrogate = surrogate_from_constants(scaled, fit.constants)
        x_unit = scaling.control.to_unit(x_new)
        chosen = thinned_draws(fit, MAX_COMPONENTS)
        t = np.empty((len(chosen), len(x_unit), scaled.num_functional + scaled.num_global))
        for k in range(scaled.num_functional):
            eta = _conditional_draws(
                scaled.x_sites,
                x_unit,
                fit.flat("logit_theta")[chosen, k],
                np.exp(fit.flat("log_rate")[chosen, k]),
                np.exp(fit.flat("log_precision")[chosen, k]),
                rng,
            )
            t[:, :, k] = expit(eta)
        if scaled.num_global:
            raw = fit.flat("psi")[chosen]
            widths = scaling.calibration
            shift, width = widths.shift[scaled.num_functional :], widths.width[scaled.num_functional :]
            t[:, :, scaled.num_functional :] = ((raw - shift) / width)[:, None, :]
        at_new = SurrogateAtControls.at(surrogate, x_unit)
        mean, _ = at_new.mean_and_gradient(t)
        return PredictiveSample(
            response_mean=scaling.response_from_unit(mean),
            response_variance=at_new.variance(t) * scaling.response_sd**2,
            noise_variance=fit.flat("noise_sd")[chosen] ** 2,
            calibration=scaling.calibration.from_unit(t),
        )


def _conditional_draws(
    sites: FloatArray,
    x: FloatArray,
    eta: FloatArray,
    rate: FloatArray,
    precision: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """η* | η per draw: N(R*R⁻¹η, (R** - R*R⁻¹R*ᵀ)/λ_θ), (T, q)."""
    from .bayesian_gp_coordinates import JITTER

    def squared(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.asarray(((a[:, None] - b[None]) ** 2).sum(axis=-1))

    within = np.exp(-rate[:, None, None] * squared(sites, sites)) + JITTER * np.eye(len(sites))
    cross = np.exp(-rate[:, None, None] * squared(sites, x))
    prior = np.exp(-rate[:, None, None] * squared(x, x))
    weights = np.linalg.solve(within, cross)
    mean = np.einsum("tmq,tm->tq", weights, eta)
    covariance = prior - np.swapaxes(cross, 1, 2) @ weights
    values, vectors = np.linalg.eigh(0.5 * (covariance + np.swapaxes(covariance, 1, 2)))
    spread = np.sqrt(np.maximum(values, 0.0) / precision[:, None])
    return np.asarray(mean + np.einsum("tij,tj->ti", vectors, spread * rng.standard_normal(mean.shape)))

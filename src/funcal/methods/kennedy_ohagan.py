"""KOH: global calibration with a discrepancy (Kennedy and O'Hagan 2001), modular.

y_i = y^s(x_i, t) + δ(x_i) + ε_i with one t for all x and δ ~ GP(0, σ_δ² R_δ). The surrogate is frozen; given t,
y ~ N(m(X_t), V(X_t) + σ_δ² R_δ + σ²I) with V the surrogate's posterior covariance. Priors on responses in units of the
runs' sd: t uniform on its box, log σ_δ² ~ N(-2, 1.5²), log σ² ~ N(-4, 1.5²), log ω_δ ~ N(0.5, 1).
"""

from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from scipy.special import expit

from ..gaussian_process import squared_exponential
from ..problem import CalibrationProblem, FloatArray
from ..problem.scaled_problem import ScaledProblem
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .calibration_draws import calibration_draws
from .kennedy_ohagan_settings import KennedyOHaganSettings
from .site_noise import site_noise
from .surrogate_chains import run_chains, thinned_draws
from .surrogate_model import surrogate_constants, surrogate_from_constants, surrogate_of
from .surrogate_moments import SurrogateMoments

__all__ = ["KennedyOHagan"]

#: Mixture components of a prediction, thinned evenly from the draws.
MAX_COMPONENTS = 300


class KennedyOHagan:
    """The method `koh`: calibration variables are constants; a discrepancy takes up what they cannot explain."""

    key: ClassVar[str] = "koh"
    title: ClassVar[str] = "Kennedy–O'Hagan with discrepancy (modular, static surrogate)"
    supports: ClassVar[Capabilities] = Capabilities(min_sites=3)
    Settings: ClassVar[type[Any]] = KennedyOHaganSettings

    def fit(
        self,
        problem: CalibrationProblem,
        settings: KennedyOHaganSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Sample t and the hyper-parameters of δ and ε."""
        from .kennedy_ohagan_chain import koh_chains

        scaled = problem.scaled()
        surrogate = surrogate_of(scaled, settings.surrogate)
        chains, rates = run_chains(
            koh_chains(scaled, surrogate, settings), settings.chain, seed, progress, "sampling koh"
        )
        num_t = scaled.num_functional + scaled.num_global
        unit = expit(chains[:, :, :num_t])
        at_sites = np.repeat(unit[:, :, None, :], problem.num_sites, axis=2)
        draws = calibration_draws(scaled, at_sites, np.exp(chains[:, :, num_t + 1]))
        draws["bias_sd"] = np.exp(0.5 * chains[:, :, num_t]) * scaled.scaling.response_sd
        draws["log_bias_rate"] = chains[:, :, num_t + 2 :]
        return Fit(
            draws=draws,
            dims={"theta": ("site", "functional"), "psi": ("global",), "log_bias_rate": ("control",)},
            stats={"acceptance_rate": np.repeat(rates[:, None], chains.shape[1], axis=1)},
            constants={**surrogate_constants(surrogate), "unit_calibration": unit.reshape(-1, num_t)},
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
        """Reality at new x, y^s + δ, given t and the measurements; one component per draw."""
        scaled = problem.scaled()
        scaling, noise = scaled.scaling, site_noise(scaled)
        surrogate = surrogate_from_constants(scaled, fit.constants)
        x_unit = scaling.control.to_unit(x_new)
        chosen = thinned_draws(fit, MAX_COMPONENTS)
        t = fit.constants["unit_calibration"][chosen]
        bias = (fit.flat("bias_sd")[chosen] / scaling.response_sd) ** 2
        sigma2 = (fit.flat("noise_sd")[chosen] / scaling.response_sd) ** 2
        rates = np.exp(fit.flat("log_bias_rate")[chosen])
        moments = SurrogateMoments(surrogate, scaled.x_sites, x_unit)
        prior = zip(*moments.split(moments.rows(t)), strict=True)
        mean, variance = np.empty((2, len(chosen), len(x_unit)))
        for index, at_t in enumerate(prior):
            sigma2_sites = (1.0 if noise.known else sigma2[index]) / noise.weights
            mean[index], variance[index] = _condition(
                scaled, x_unit, *at_t, bias[index], rates[index], sigma2_sites
            )
        calibration = np.repeat(scaling.calibration.from_unit(t)[:, None, :], len(x_unit), axis=1)
        return PredictiveSample(
            response_mean=scaling.response_from_unit(mean),
            response_variance=variance * scaling.response_sd**2,
            noise_variance=sigma2 * scaling.response_sd**2,
            calibration=calibration,
        )


def _condition(
    scaled: ScaledProblem,
    x: FloatArray,
    mean: FloatArray,
    within: FloatArray,
    between: FloatArray,
    variance: FloatArray,
    bias_variance: float,
    rates: FloatArray,
    noise: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of y^s + δ at x given the measurements, at one draw with its moments of the surrogate."""
    sites, num_sites = scaled.x_sites, len(scaled.y_sites)
    within = within + bias_variance * squared_exponential(sites, sites, rates) + np.diag(noise + 1e-10)
    between = between + bias_variance * squared_exponential(sites, x, rates)
    factor = linalg.cho_factor(within, lower=True)
    shift = between.T @ linalg.cho_solve(factor, scaled.y_sites - mean[:num_sites])
    explained = np.einsum("mq,mq->q", between, linalg.cho_solve(factor, between))
    return mean[num_sites:] + shift, np.maximum(variance + bias_variance - explained, 0.0)

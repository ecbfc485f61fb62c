"""KOH: global calibration with a discrepancy (Kennedy and O'Hagan 2001), modular.

y_i = y^s(x_i, t) + δ(x_i) + ε_i with one t for all x and δ ~ GP(0, σ_δ² R_δ). The surrogate is frozen; given t,
y ~ N(m(X_t), V(X_t) + σ_δ² R_δ + σ²I) with V the surrogate's posterior covariance. Priors on responses in units of the
runs' sd: t uniform on its box, log σ_δ² ~ N(-2, 1.5²), log σ² ~ N(-4, 1.5²), log ω_δ ~ N(0.5, 1).
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from ..gaussian_process import StaticSurrogate, SurrogateSettings, squared_exponential
from ..problem import CalibrationProblem, FloatArray
from ..problem.scaled_problem import ScaledProblem
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .site_noise import site_noise
from .surrogate_chains import ACCEPT_HIGH, ACCEPT_LOW, STEP_FACTOR, ChainSettings, Segment, run_chains
from .surrogate_model import surrogate_constants, surrogate_from_constants, surrogate_of

__all__ = ["KennedyOHagan", "KennedyOHaganSettings"]

#: Mixture components of a prediction, thinned evenly from the draws.
MAX_COMPONENTS = 300


@dataclass(frozen=True)
class KennedyOHaganSettings:
    """Settings of `koh`: means and sds of the normal priors, the chains and the static surrogate."""

    log_bias_variance_mean: float = -2.0
    log_bias_variance_sd: float = 1.5
    log_noise_variance_mean: float = -4.0
    log_noise_variance_sd: float = 1.5
    log_bias_rate_mean: float = 0.5
    log_bias_rate_sd: float = 1.0
    chain: ChainSettings = field(default_factory=lambda: ChainSettings(warmup=750, draws=1_000))
    surrogate: SurrogateSettings = field(default_factory=SurrogateSettings)

    def priors(self) -> FloatArray:
        """Mean and sd of log σ_δ², log σ² and log ω_δ, (3, 2)."""
        return np.array(
            [
                [self.log_bias_variance_mean, self.log_bias_variance_sd],
                [self.log_noise_variance_mean, self.log_noise_variance_sd],
                [self.log_bias_rate_mean, self.log_bias_rate_sd],
            ]
        )


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
        scaled = problem.scaled()
        surrogate = surrogate_of(scaled, settings.surrogate)
        make_segment = _segment_maker(scaled, surrogate, settings)
        chains, rates = run_chains(make_segment, settings.chain, seed, progress, "sampling koh")
        num_t = scaled.num_functional + scaled.num_global
        unit = 1.0 / (1.0 + np.exp(-np.clip(chains[:, :, :num_t], -30.0, 30.0)))
        raw = scaled.scaling.calibration.from_unit(unit)
        noise = site_noise(scaled)
        variance = np.exp(chains[:, :, num_t + 1])
        if noise.known:
            variance = np.full(variance.shape, noise.single_measurement)
        draws: dict[str, FloatArray] = {}
        if scaled.num_functional:
            constant = raw[:, :, None, : scaled.num_functional]
            draws["theta"] = np.repeat(constant, problem.num_sites, axis=2)
        if scaled.num_global:
            draws["psi"] = raw[:, :, scaled.num_functional :]
        draws["noise_sd"] = np.sqrt(variance) * scaled.scaling.response_sd
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
        total = fit.num_chains * fit.num_draws
        chosen = np.linspace(0, total - 1, min(MAX_COMPONENTS, total)).astype(np.int64)
        t = fit.constants["unit_calibration"][chosen]
        bias = (fit.flat("bias_sd")[chosen] / scaling.response_sd) ** 2
        sigma2 = (fit.flat("noise_sd")[chosen] / scaling.response_sd) ** 2
        rates = np.exp(fit.flat("log_bias_rate")[chosen])
        mean, variance = np.empty((2, len(chosen), len(x_unit)))
        for index in range(len(chosen)):
            mean[index], variance[index] = _condition(
                scaled,
                surrogate,
                x_unit,
                t[index],
                bias[index],
                rates[index],
                (1.0 if noise.known else sigma2[index]) / noise.weights,
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
    surrogate: StaticSurrogate,
    x: FloatArray,
    t: FloatArray,
    bias_variance: float,
    rates: FloatArray,
    noise: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of y^s + δ at x given the measurements, at one draw."""
    num_sites = len(scaled.y_sites)
    controls = np.vstack([scaled.x_sites, x])
    inputs = np.hstack([controls, np.broadcast_to(t, (len(controls), len(t)))])
    prior = surrogate.posterior_covariance(inputs, inputs)
    prior += bias_variance * squared_exponential(controls, controls, rates)
    mean = surrogate.predict_mean(inputs)
    within = prior[:num_sites, :num_sites] + np.diag(noise + 1e-10)
    cross = prior[:num_sites, num_sites:]
    factor = linalg.cho_factor(within, lower=True)
    shift = cross.T @ linalg.cho_solve(factor, scaled.y_sites - mean[:num_sites])
    explained = np.einsum("mq,mq->q", cross, linalg.cho_solve(factor, cross))
    return mean[num_sites:] + shift, np.maximum(np.diag(prior)[num_sites:] - explained, 0.0)


def _segment_maker(scaled: ScaledProblem, surrogate: StaticSurrogate, settings: KennedyOHaganSettings) -> Any:
    """A function that starts a chain and returns its `Segment`."""
    from .kennedy_ohagan_sampler import advance_chain

    noise = site_noise(scaled)
    dx = scaled.x_sites.shape[1]
    num_t = scaled.t_runs.shape[1]
    run_site = np.ascontiguousarray(squared_exponential(scaled.x_runs, scaled.x_sites, surrogate.rates[:dx]))
    site_site = squared_exponential(scaled.x_sites, scaled.x_sites, surrogate.rates[:dx])
    inverse_factor = np.ascontiguousarray(
        linalg.solve_triangular(surrogate.factor, np.eye(len(run_site)), lower=True)
    )
    squared = np.ascontiguousarray(np.moveaxis((scaled.x_sites[:, None] - scaled.x_sites[None]) ** 2, -1, 0))
    priors = settings.priors()
    # Fresh copies: compiled code has one signature for writable arrays and another for read-only ones.
    y, weights, alpha = (np.array(array) for array in (scaled.y_sites, noise.weights, surrogate.weights))
    t_runs, t_rates = np.array(scaled.t_runs, order="C"), np.array(surrogate.rates[dx:])

    def make(rng: np.random.Generator) -> Segment:
        state = np.concatenate([rng.normal(0.0, 1.0, num_t), priors[:2, 0], np.full(dx, priors[2, 0])])
        steps = np.full(len(state), 0.8)

        def segment(rng: np.random.Generator, count: int, adapting: bool) -> tuple[FloatArray, float]:
            draws, accepted = np.empty((count, len(state))), np.zeros(len(steps))
            advance_chain(
                rng,
                state,
                steps,
                accepted,
                draws,
                y,
                weights,
                squared,
                run_site,
                site_site,
                inverse_factor,
                alpha,
                t_runs,
                t_rates,
                np.array([surrogate.mean, surrogate.variance]),
                priors,
                noise.within_ss,
                float(noise.within_dof),
                noise.known,
            )
            rates = accepted / count
            if adapting:
                steps[rates < ACCEPT_LOW] /= STEP_FACTOR
                steps[rates > ACCEPT_HIGH] *= STEP_FACTOR
            return draws, float(rates.mean())

        return segment

    return make

"""NBC: nonparametric Bayesian calibration (Brown and Atamturktur, Statistica Sinica 2018, arXiv 1602.06202).

y_i ~ N(m(x_i, θ(x_i), ψ), 1/λ_y), logit θ a Gaussian process with precision λ_θ and correlation ρ^{|x - x'|²}, no
discrepancy; the static surrogate's mean m stands for the computer model. Responses in units of the runs' sd.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..errors import SettingsError
from ..gaussian_process import SurrogateSettings
from ..problem import CalibrationProblem, FloatArray
from ..problem.scaled_problem import ScaledProblem
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .site_noise import site_noise
from .surrogate_chains import ACCEPT_HIGH, ACCEPT_LOW, STEP_FACTOR, ChainSettings, Segment, run_chains
from .surrogate_model import (
    SurrogateAtControls,
    surrogate_constants,
    surrogate_from_constants,
    surrogate_of,
)

__all__ = ["BayesianGpCalibration", "BayesianGpSettings"]

#: Mixture components of a prediction, thinned evenly from the draws.
MAX_COMPONENTS = 500


@dataclass(frozen=True)
class BayesianGpSettings:
    """Settings of `nbc`.

    Attributes
    ----------
    noise_shape, noise_scale
        λ_y ~ Gamma(shape, scale): prior mean 64, a noise sd of an eighth of the runs' sd. (1, 1000) is vague.
    theta_shape, theta_scale
        λ_θ ~ Gamma(shape, scale), on the logit scale.
    rho_b
        ρ ~ Beta(1, b).
    chain
        Length of the chains.
    surrogate
        The static surrogate.
    """

    noise_shape: float = 8.0
    noise_scale: float = 8.0
    theta_shape: float = 2.0
    theta_scale: float = 1.0
    rho_b: float = 1.0
    chain: ChainSettings = field(default_factory=ChainSettings)
    surrogate: SurrogateSettings = field(default_factory=SurrogateSettings)

    def __post_init__(self) -> None:
        values = (self.noise_shape, self.noise_scale, self.theta_shape, self.theta_scale, self.rho_b)
        if min(values) <= 0.0:
            raise SettingsError(f"the shapes and scales of nbc's priors are positive; {values} were given")


def _logistic(value: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(value, -30.0, 30.0))))


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
        scaled = problem.scaled()
        surrogate = surrogate_of(scaled, settings.surrogate)
        at_sites = SurrogateAtControls.at(surrogate, scaled.x_sites)
        make_segment = _segment_maker(scaled, at_sites, settings)
        chains, rates = run_chains(make_segment, settings.chain, seed, progress, "sampling nbc")
        num_sites, dt = len(scaled.y_sites), scaled.num_functional
        logits = chains[:, :, : dt * num_sites].reshape(*chains.shape[:2], dt, num_sites)
        psi_end = dt * num_sites + scaled.num_global
        noise = site_noise(scaled)
        unit = np.concatenate(
            [
                np.swapaxes(_logistic(logits), 2, 3),
                np.repeat(_logistic(chains[:, :, None, dt * num_sites : psi_end]), num_sites, axis=2),
            ],
            axis=-1,
        )
        raw = scaled.scaling.calibration.from_unit(unit)
        draws: dict[str, FloatArray] = {}
        if dt:
            draws["theta"] = raw[..., :dt]
        if scaled.num_global:
            draws["psi"] = raw[:, :, 0, dt:]
        variance = np.exp(-chains[:, :, -1])
        if noise.known:
            variance = np.full(variance.shape, noise.single_measurement)
        draws["noise_sd"] = np.sqrt(variance) * scaled.scaling.response_sd
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
        total = fit.num_chains * fit.num_draws
        chosen = np.linspace(0, total - 1, min(MAX_COMPONENTS, total)).astype(np.int64)
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
            t[:, :, k] = _logistic(eta)
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
    from .bayesian_gp_sampler import JITTER

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


def _segment_maker(scaled: ScaledProblem, at_sites: SurrogateAtControls, settings: BayesianGpSettings) -> Any:
    """A function that starts a chain and returns its `Segment`."""
    from .bayesian_gp_sampler import advance_chain

    noise = site_noise(scaled)
    num_sites, dt, dpsi = len(scaled.y_sites), scaled.num_functional, scaled.num_global
    squared = ((scaled.x_sites[:, None] - scaled.x_sites[None]) ** 2).sum(axis=-1)
    priors = np.array(
        [
            settings.noise_shape,
            1.0 / settings.noise_scale,
            settings.theta_shape,
            1.0 / settings.theta_scale,
            settings.rho_b,
        ]
    )

    # Fresh copies: compiled code has one signature for writable arrays and another for read-only ones.
    y, weights = np.array(scaled.y_sites), np.array(noise.weights)
    weighted, t_runs, t_rates = (
        np.array(array, order="C") for array in (at_sites.weighted, at_sites.t_runs, at_sites.t_rates)
    )

    def make(rng: np.random.Generator) -> Segment:
        state = np.zeros(dt * num_sites + dpsi + 2 * dt + 1)
        # Chains start at different constants, with ρ near ½ and precisions at their prior means.
        state[: dt * num_sites] = np.repeat(rng.normal(0.0, 1.0, dt), num_sites)
        state[dt * num_sites : dt * num_sites + dpsi] = rng.normal(0.0, 1.0, dpsi)
        state[dt * num_sites + dpsi + dt : -1] = np.log(settings.theta_shape * settings.theta_scale)
        state[-1] = 0.0 if noise.known else np.log(settings.noise_shape * settings.noise_scale)
        steps = np.concatenate([np.full(dt, 1.0), np.full(dt, 0.3), np.full(dpsi + dt * num_sites + dt, 0.5)])

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
                weighted,
                t_runs,
                t_rates,
                at_sites.surrogate.mean,
                dt,
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

"""A Gaussian process on the physical data alone; the computer model is not used.

A reference row: a calibration that does not beat it gains nothing from the computer model. With the 6 to 30 sites of a
calibration problem the hyper-parameters are uncertain, so they are integrated over: draws from their prior, weighted by
the likelihood with mean and variance integrated out in closed form, resampled.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import SettingsError
from ..gaussian_process import squared_exponential
from ..problem import CalibrationProblem, FloatArray
from ..problem.scaled_problem import ScaledProblem
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .site_noise import site_noise

__all__ = ["PhysicalGp", "PhysicalGpSettings", "integrated_likelihood"]

# log ω ~ N(0, 1.5²): from nearly linear across the range (ω = 0.05) to a few turns (ω = 20).
LOG_RATE_MEAN, LOG_RATE_SD = 0.0, 1.5
# log(σ²/s²) ~ N(-3, 2²): noise sd mostly between 2 % and 200 % of the signal's.
LOG_RATIO_MEAN, LOG_RATIO_SD = -3.0, 2.0


@dataclass(frozen=True)
class PhysicalGpSettings:
    """Settings of `gp`: draws from the prior of the hyper-parameters, and how many are kept."""

    num_candidates: int = 4_000
    num_kept: int = 400

    def __post_init__(self) -> None:
        if not 1 <= self.num_kept <= self.num_candidates:
            raise SettingsError(
                f"num_kept lies between 1 and num_candidates; {self.num_kept} and {self.num_candidates} were given"
            )


def _covariances(scaled: ScaledProblem, rates: FloatArray, ratio: FloatArray) -> FloatArray:
    """R(ω) + (σ²/s²) diag(1/a_i), one per draw, (T, m, m)."""
    difference = (scaled.x_sites[:, None] - scaled.x_sites[None]) ** 2
    correlation: FloatArray = np.exp(-np.einsum("ijk,tk->tij", difference, rates))
    noise = site_noise(scaled)
    sites = np.arange(len(scaled.x_sites))
    # Relative to one measurement; a known noise keeps its pattern across sites.
    pattern = noise.weights.mean() / noise.weights if noise.known else 1.0 / noise.weights
    correlation[:, sites, sites] += ratio[:, None] * pattern + 1e-9
    return correlation


def integrated_likelihood(
    scaled: ScaledProblem, rates: FloatArray, ratio: FloatArray
) -> tuple[FloatArray, FloatArray, int]:
    """Log likelihood of T pairs (ω, σ²/s²) with mean and variance integrated out, up to one constant.

    With a flat prior on μ and 1/s² on s² it is |K|^-½ (1ᵀK⁻¹1)^-½ Q^{-dof/2}; replicates add their share of
    σ² = ratio · s². Also returned: Q and dof, of which s² has the distribution Q / χ²(dof).
    """
    num_sites, num_pairs = len(scaled.y_sites), len(ratio)
    factor = np.linalg.cholesky(_covariances(scaled, rates, ratio))
    both = np.column_stack([scaled.y_sites, np.ones(num_sites)])
    white = np.linalg.solve(factor, np.broadcast_to(both, (num_pairs, num_sites, 2)))
    white_y, white_one = white[:, :, 0], white[:, :, 1]
    one_one = (white_one**2).sum(axis=1)
    mean = (white_one * white_y).sum(axis=1) / one_one
    quadratic = ((white_y - mean[:, None] * white_one) ** 2).sum(axis=1)
    dof = num_sites - 1 + scaled.within_dof
    total = quadratic + scaled.within_ss / ratio
    log_likelihood = -np.log(np.einsum("tii->ti", factor)).sum(axis=1) - 0.5 * np.log(one_one)
    log_likelihood -= 0.5 * dof * np.log(total) + 0.5 * scaled.within_dof * np.log(ratio)
    return log_likelihood, total, dof


class PhysicalGp:
    """The method `gp`."""

    key: ClassVar[str] = "gp"
    title: ClassVar[str] = "Gaussian process on the measurements alone"
    supports: ClassVar[Capabilities] = Capabilities(min_sites=4, estimates=frozenset())
    Settings: ClassVar[type[Any]] = PhysicalGpSettings

    def fit(
        self,
        problem: CalibrationProblem,
        settings: PhysicalGpSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Weigh prior draws of (ω, σ²/s²) by their integrated likelihood and resample."""
        scaled = problem.scaled()
        rng = np.random.default_rng(seed)
        dx = scaled.x_sites.shape[1]
        rates = np.exp(rng.normal(LOG_RATE_MEAN, LOG_RATE_SD, (settings.num_candidates, dx)))
        ratio = np.exp(rng.normal(LOG_RATIO_MEAN, LOG_RATIO_SD, settings.num_candidates))
        log_weight, total, dof = integrated_likelihood(scaled, rates, ratio)
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        # Systematic resampling.
        points = (rng.uniform() + np.arange(settings.num_kept)) / settings.num_kept
        kept = np.minimum(np.searchsorted(np.cumsum(weight), points), settings.num_candidates - 1)
        variance = total[kept] / rng.chisquare(dof, settings.num_kept)
        progress(1, 1, "hyper-parameters")
        noise = site_noise(scaled)
        single = np.full(len(kept), noise.single_measurement) if noise.known else ratio[kept] * variance
        return Fit(
            draws={"noise_sd": np.full((1, 1), np.sqrt(np.mean(single)) * scaled.scaling.response_sd)},
            constants={"rates": rates[kept], "ratio": ratio[kept], "variance": variance, "single": single},
            report={"effective_draws": float(1.0 / np.sum(weight**2))},
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
        """Kriging with an unknown constant mean, one component per kept draw."""
        scaled = problem.scaled()
        scaling = scaled.scaling
        x_unit = scaling.control.to_unit(x_new)
        rates, ratio, variance = (fit.constants[name] for name in ("rates", "ratio", "variance"))
        inverse = np.linalg.inv(_covariances(scaled, rates, ratio))
        cross = np.stack([squared_exponential(x_unit, scaled.x_sites, rate) for rate in rates])
        weights_one = inverse.sum(axis=2)
        one_one = weights_one.sum(axis=1)
        mean = (weights_one @ scaled.y_sites) / one_one
        weighted = cross @ inverse
        response = mean[:, None] + np.einsum("tqm,tm->tq", weighted, scaled.y_sites - mean[:, None])
        explained = np.einsum("tqm,tqm->tq", weighted, cross)
        # The last term is what estimating the mean costs.
        unknown_mean = (1.0 - weighted.sum(axis=2)) ** 2 / one_one[:, None]
        spread = np.maximum(1.0 - explained, 0.0) + unknown_mean
        return PredictiveSample(
            response_mean=scaling.response_from_unit(response),
            response_variance=variance[:, None] * spread * scaling.response_sd**2,
            noise_variance=fit.constants["single"] * scaling.response_sd**2,
            calibration=np.empty((*response.shape, 0)),
        )

"""A Gaussian process with a linear trend on the measurements alone: it tells whether the computer model helps.

Its few hyper-parameters are integrated over draws from their prior, weighted by the likelihood; leave-one-out
densities then need no approximation: p(y_i | y_-i) = Σ_t p(y | h_t) / Σ_t p(y_-i | h_t).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..problem import ScaledProblem
from ..problem.arrays import FloatArray

__all__ = ["PhysicalProcess", "fit_physical_process"]

NUM_CANDIDATES = 3000
"""Draws from the prior; with a handful of sites several hundred of them carry weight."""
MEAN_VARIANCE, SLOPE_VARIANCE = 4.0, 3.0
"""Prior variances of the mean and of a linear trend across each control's range, in units of the sites' variance."""
LOG_ROUGHNESS_MEAN, LOG_ROUGHNESS_SD = -1.5, 1.5
"""Normal prior of ln ρ, the mean lowered by ln dx: nearly a parabola across the range unless the sites ask for more."""
NOISE_SCALE = 0.22
"""Of the half-normal prior of the noise, in standard deviations of the sites."""


@dataclass(frozen=True)
class PhysicalProcess:
    """Weighted hyper-parameters, on sites standardised by their own mean and sd.

    Attributes
    ----------
    roughness : (T, dx), signal : (T,), noise : (T,)
        Decay rates, variance of the process, variance of one measurement.
    weight : (T,)
        Posterior weights, summing to one.
    log_density : (m,)
        Leave-one-out log densities of the site means, in scaled response units.
    centre, unit : float
        Mean and sd of the sites' scaled responses.
    """

    roughness: FloatArray
    signal: FloatArray
    noise: FloatArray
    weight: FloatArray
    log_density: FloatArray
    centre: float
    unit: float

    def predict(
        self, problem: ScaledProblem, x_new: FloatArray, num_draws: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Components at scaled controls: mean and variance (T, q), measurement variance (T,), scaled units."""
        chosen = rng.choice(len(self.weight), size=num_draws, p=self.weight)
        y = (problem.y_sites - self.centre) / self.unit
        factor = np.linalg.cholesky(_covariance(problem, self, chosen))
        gaps = (x_new[:, None, :] - problem.x_sites[None, :, :]) ** 2
        trend = _trend(x_new, problem.x_sites)
        cross = trend + self.signal[chosen, None, None] * np.exp(
            -np.einsum("qmc,tc->tqm", gaps, self.roughness[chosen])
        )
        half = np.linalg.solve(factor, np.swapaxes(cross, 1, 2))
        whitened = np.linalg.solve(factor, np.broadcast_to(y[:, None], (num_draws, len(y), 1)))
        mean = np.einsum("tmq,tm->tq", half, whitened[..., 0])
        own = np.diagonal(_trend(x_new, x_new)) + self.signal[chosen, None]
        variance = np.maximum(own - np.sum(half**2, axis=1), 1e-12 * own)
        return mean * self.unit + self.centre, variance * self.unit**2, self.noise[chosen] * self.unit**2


def fit_physical_process(problem: ScaledProblem, rng: np.random.Generator) -> PhysicalProcess:
    """Weigh draws of the hyper-parameters by the likelihood of the sites."""
    num_controls = problem.x_sites.shape[1]
    centre, unit = float(problem.y_sites.mean()), float(problem.y_sites.std()) or 1.0
    draws = rng.standard_normal((NUM_CANDIDATES, num_controls + 2))
    log_roughness = LOG_ROUGHNESS_MEAN - np.log(num_controls) + LOG_ROUGHNESS_SD * draws[:, :-2]
    candidate = PhysicalProcess(
        roughness=np.exp(log_roughness),
        signal=np.exp(draws[:, -2]),  # ln variance ~ N(0, 1)
        noise=np.maximum((NOISE_SCALE * draws[:, -1]) ** 2, 1e-6),
        weight=np.full(NUM_CANDIDATES, 1.0 / NUM_CANDIDATES),
        log_density=np.zeros(len(problem.y_sites)),
        centre=centre,
        unit=unit,
    )
    y = (problem.y_sites - centre) / unit
    covariance = _covariance(problem, candidate, np.arange(NUM_CANDIDATES))
    inverse = np.linalg.inv(covariance)
    _, log_determinant = np.linalg.slogdet(covariance)
    pull = inverse @ y
    log_likelihood = -0.5 * (log_determinant + pull @ y + len(y) * np.log(2.0 * np.pi))
    if problem.known_variance is None and problem.within_dof:
        within = problem.within_ss / unit**2
        log_likelihood -= 0.5 * (problem.within_dof * np.log(candidate.noise) + within / candidate.noise)
    own = 1.0 / np.diagonal(inverse, axis1=1, axis2=2)
    conditional = -0.5 * (np.log(2.0 * np.pi * own) + (pull * own) ** 2 / own)
    total = logsumexp(log_likelihood)
    left_out = total - logsumexp(log_likelihood[:, None] - conditional, axis=0)
    return PhysicalProcess(
        candidate.roughness,
        candidate.signal,
        candidate.noise,
        np.exp(log_likelihood - total),
        left_out - np.log(unit),
        centre,
        unit,
    )


def _trend(left: FloatArray, right: FloatArray) -> FloatArray:
    """Covariance of the mean and the linear trend between two sets of controls."""
    trend: FloatArray = MEAN_VARIANCE + SLOPE_VARIANCE * (left - 0.5) @ (right - 0.5).T
    return trend


def _covariance(problem: ScaledProblem, process: PhysicalProcess, rows: np.ndarray) -> FloatArray:
    """(T, m, m) covariances of the standardised site means."""
    gaps = (problem.x_sites[:, None, :] - problem.x_sites[None, :, :]) ** 2
    covariance: FloatArray = process.signal[rows, None, None] * np.exp(
        -np.einsum("ijc,tc->tij", gaps, process.roughness[rows])
    )
    covariance += _trend(problem.x_sites, problem.x_sites)
    sites = np.arange(len(problem.x_sites))
    if problem.known_variance is None:
        covariance[:, sites, sites] += process.noise[rows, None] / problem.counts + 1e-9
    else:
        covariance[:, sites, sites] += problem.known_variance / process.unit**2 + 1e-9
    return covariance

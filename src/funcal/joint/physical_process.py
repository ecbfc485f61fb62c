"""A Gaussian process with a linear trend on the measurements alone: it tells whether the computer model helps.

Its few hyper-parameters are integrated over draws from their prior, weighted by the likelihood; leave-one-out
densities then need no approximation: p(y_i | y_-i) = Σ_t p(y | h_t) / Σ_t p(y_-i | h_t).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from ..problem import ScaledProblem
from ..problem.arrays import FloatArray

__all__ = ["PhysicalProcess", "fit_physical_process"]

NUM_CANDIDATES = 3000
"""Draws from the prior; with a handful of sites several hundred of them carry weight."""
BLOCK = 4_000_000
"""Numbers in an array of covariances, so that many sites or new controls do not need much memory."""
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

    def only(self, rows: np.ndarray) -> "PhysicalProcess":
        """These hyper-parameters alone, equally likely."""
        return replace(
            self,
            roughness=self.roughness[rows],
            signal=self.signal[rows],
            noise=self.noise[rows],
            weight=np.full(len(rows), 1.0 / len(rows)),
        )

    def predict(
        self, problem: ScaledProblem, x_new: FloatArray, num_draws: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Components at scaled controls: mean and variance (T, q), measurement variance (T,), scaled units."""
        drawn = self.only(rng.choice(len(self.weight), size=num_draws, p=self.weight))
        factor = np.linalg.cholesky(drawn.covariance_of_sites(problem))
        y = np.broadcast_to(drawn.standardised(problem)[:, None], (num_draws, len(problem.y_sites), 1))
        whitened = np.linalg.solve(factor, y)[..., 0]
        mean, variance = np.empty((2, num_draws, len(x_new)))
        for some in _blocks(len(x_new), whitened.size):
            half = np.linalg.solve(factor, drawn.covariance(problem.x_sites, x_new[some]))
            trend = MEAN_VARIANCE + SLOPE_VARIANCE * np.sum((x_new[some] - 0.5) ** 2, axis=1)
            own = trend + drawn.signal[:, None]
            mean[:, some] = np.einsum("tmq,tm->tq", half, whitened)
            variance[:, some] = np.maximum(own - np.sum(half**2, axis=1), 1e-12 * own)
        return mean * self.unit + self.centre, variance * self.unit**2, drawn.noise * self.unit**2

    def covariance(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Of trend and process between scaled controls (a, dx) and (b, dx), for every draw: (T, a, b)."""
        gaps = (left[:, None, :] - right[None, :, :]) ** 2
        decay = np.exp(-np.einsum("abc,tc->tab", gaps, self.roughness))
        trend = MEAN_VARIANCE + SLOPE_VARIANCE * (left - 0.5) @ (right - 0.5).T
        return np.asarray(trend + self.signal[:, None, None] * decay)

    def covariance_of_sites(self, problem: ScaledProblem) -> FloatArray:
        """(T, m, m) covariances of the standardised site means."""
        covariance = self.covariance(problem.x_sites, problem.x_sites)
        sites = np.arange(len(problem.x_sites))
        if problem.known_variance is None:
            covariance[:, sites, sites] += self.noise[:, None] / problem.counts + 1e-9
        else:
            covariance[:, sites, sites] += problem.known_variance / self.unit**2 + 1e-9
        return covariance

    def standardised(self, problem: ScaledProblem) -> FloatArray:
        """The sites' responses (m,) by their own mean and sd."""
        return np.asarray((problem.y_sites - self.centre) / self.unit)


def fit_physical_process(problem: ScaledProblem, rng: np.random.Generator) -> PhysicalProcess:
    """Weigh draws of the hyper-parameters by the likelihood of the sites."""
    num_sites, num_controls = problem.x_sites.shape
    draws = rng.standard_normal((NUM_CANDIDATES, num_controls + 2))
    log_roughness = LOG_ROUGHNESS_MEAN - np.log(num_controls) + LOG_ROUGHNESS_SD * draws[:, :-2]
    candidates = PhysicalProcess(
        roughness=np.exp(log_roughness),
        signal=np.exp(draws[:, -2]),  # ln variance ~ N(0, 1)
        noise=np.maximum((NOISE_SCALE * draws[:, -1]) ** 2, 1e-6),
        weight=np.full(NUM_CANDIDATES, 1.0 / NUM_CANDIDATES),
        log_density=np.zeros(num_sites),
        centre=float(problem.y_sites.mean()),
        unit=float(problem.y_sites.std()) or 1.0,
    )
    weighed = [_weigh(problem, candidates.only(some)) for some in _blocks(NUM_CANDIDATES, num_sites**2)]
    log_likelihood, conditional = (np.concatenate(parts) for parts in zip(*weighed, strict=True))
    total = logsumexp(log_likelihood)
    left_out = total - logsumexp(log_likelihood[:, None] - conditional, axis=0)
    return replace(
        candidates, weight=np.exp(log_likelihood - total), log_density=left_out - np.log(candidates.unit)
    )


def _weigh(problem: ScaledProblem, process: PhysicalProcess) -> tuple[FloatArray, FloatArray]:
    """Log likelihood (T,) of the standardised measurements, and log density (T, m) of each site given the others."""
    y = process.standardised(problem)
    covariance = process.covariance_of_sites(problem)
    inverse = np.linalg.inv(covariance)
    _, log_determinant = np.linalg.slogdet(covariance)
    pull = inverse @ y
    log_likelihood = -0.5 * (log_determinant + pull @ y + len(y) * np.log(2.0 * np.pi))
    if problem.known_variance is None and problem.within_dof:
        within = problem.within_ss / process.unit**2
        log_likelihood -= 0.5 * (problem.within_dof * np.log(process.noise) + within / process.noise)
    own = 1.0 / np.diagonal(inverse, axis1=1, axis2=2)
    conditional = -0.5 * (np.log(2.0 * np.pi * own) + (pull * own) ** 2 / own)
    return log_likelihood, conditional


def _blocks(length: int, numbers_each: int) -> list[np.ndarray]:
    """Consecutive rows, so few at a time that an array of them has at most some `BLOCK` numbers."""
    return np.array_split(np.arange(length), max(1, -(-length * numbers_each // BLOCK)))

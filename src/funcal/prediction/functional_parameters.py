"""θ at new controls, draw by draw: Proposition 1 and its variance.

Proposition 1 treats each Θ_k(t) as noisy values of a Gaussian process F^θ_k over the controls. The paper keeps the
mean of the prediction only, assumes a process with mean zero and tunes it for every draw; each of these is a setting
here (`method.md`, points 16 to 18).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.optimize

from ..gaussian_process import squared_exponential
from ..problem import FloatArray

__all__ = ["ProcessParameters", "ThetaProcessSettings", "predict_theta", "tune_process"]

#: ln ℓ ~ N(0.5, 1) on unit controls and ln(magnitude/variance) ~ N(0, 1), as in the proper preset.
LENGTH_MEAN, LENGTH_SD = 0.5, 1.0
#: Search range of ln ℓ on unit controls: from straight lines to no correlation between any two sites.
LOG_LENGTH_BOUNDS = (-5.0, 5.0)
#: Search range of ln(magnitude) and ln(noise) around the logarithm of the values' variance.
LOG_VARIANCE_BOUNDS = (-8.0, 4.0)
#: Smallest noise, as a part of the variance: Proposition 1 smooths and does not interpolate.
NOISE_FLOOR = 1e-4


@dataclass(frozen=True)
class ThetaProcessSettings:
    """How θ at new controls follows from Θ at the sites.

    Attributes
    ----------
    prediction
        ``"draw"`` adds the variance of Proposition 1's process (default), ``"mean"`` keeps its mean only, as printed
        (point 16).
    tuning
        ``"once"`` tunes on the posterior mean of Θ, with the posterior variance as noise (default); ``"per_draw"``
        tunes all hyper-parameters for every draw, as printed (point 18).
    centring
        ``"draw"`` subtracts the mean of Θ_k(t) over the sites (default), ``"zero"`` does not, as printed (point 17).
    tuning_prior
        Whether the tuning adds ln ℓ ~ N(0.5, 1) and a log-normal magnitude to the likelihood. With few sites plain
        maximum likelihood, as printed, often runs to no correlation or to no variation at all.
    """

    prediction: Literal["draw", "mean"] = "draw"
    tuning: Literal["once", "per_draw"] = "once"
    centring: Literal["draw", "zero"] = "draw"
    tuning_prior: bool = True


@dataclass(frozen=True)
class ProcessParameters:
    """Hyper-parameters of one F^θ_k: ℓ (dx,), magnitude and the noise variance σ^θ_k."""

    length: FloatArray
    magnitude: float
    noise: float


def tune_process(
    x_unit: FloatArray,
    values: FloatArray,
    *,
    noise: float | None = None,
    tuning_prior: bool = True,
    start: ProcessParameters | None = None,
) -> ProcessParameters:
    """Maximise the marginal likelihood of Eq. (MargnialLikeTheta) over ℓ, magnitude and, unless given, noise.

    Parameters
    ----------
    x_unit : (m, dx)
        Sites, controls in [0, 1].
    values : (m,)
        Centred values of θ_k there.
    noise
        Noise variance, if it is known.
    tuning_prior
        Add ln ℓ ~ N(0.5, 1) and ln(magnitude/variance) ~ N(0, 1).
    start
        Where to start; otherwise at the prior's centre.
    """
    num_controls = x_unit.shape[1]
    distance = (x_unit[:, None, :] - x_unit[None, :, :]) ** 2
    # a part in 10¹² of the squares keeps constant values tunable
    variance = float(np.mean(values**2)) + (noise or 0.0) + 1e-12 * (1.0 + float(np.max(np.abs(values))) ** 2)
    identity = np.eye(len(values))

    def objective(point: FloatArray) -> tuple[float, FloatArray]:
        length = np.exp(point[:num_controls])
        magnitude = variance * np.exp(point[num_controls])
        error = noise if noise is not None else variance * np.exp(point[-1])
        correlation = np.exp(-distance @ length)
        factor = scipy.linalg.cho_factor(
            magnitude * correlation + (error + NOISE_FLOOR * variance) * identity, lower=True
        )
        weights = scipy.linalg.cho_solve(factor, values)
        value = 0.5 * values @ weights + np.sum(np.log(np.diag(factor[0])))
        slope = 0.5 * (scipy.linalg.cho_solve(factor, identity) - np.outer(weights, weights))
        gradient = np.empty_like(point)
        for j in range(num_controls):
            gradient[j] = -magnitude * length[j] * np.sum(slope * correlation * distance[:, :, j])
        gradient[num_controls] = magnitude * np.sum(slope * correlation)
        if noise is None:
            gradient[-1] = error * np.trace(slope)
        if tuning_prior:
            z = (point[:num_controls] - LENGTH_MEAN) / LENGTH_SD
            value += 0.5 * float(z @ z) + 0.5 * point[num_controls] ** 2
            gradient[:num_controls] += z / LENGTH_SD
            gradient[num_controls] += point[num_controls]
        return float(value), gradient

    bounds = [LOG_LENGTH_BOUNDS] * num_controls + [LOG_VARIANCE_BOUNDS] * (1 if noise is not None else 2)
    if start is None:
        point = np.concatenate(
            [np.full(num_controls, LENGTH_MEAN), [0.0], [] if noise is not None else [-2.0]]
        )
    else:
        point = np.concatenate([np.log(start.length), np.log([start.magnitude / variance])])
        if noise is None:
            point = np.append(point, np.log(max(start.noise, NOISE_FLOOR * variance) / variance))
    point = np.clip(point, [b[0] for b in bounds], [b[1] for b in bounds])
    best = scipy.optimize.minimize(objective, point, jac=True, method="L-BFGS-B", bounds=bounds).x
    error = noise if noise is not None else variance * float(np.exp(best[-1]))
    return ProcessParameters(
        length=np.exp(best[:num_controls]),
        magnitude=variance * float(np.exp(best[num_controls])),
        noise=error + NOISE_FLOOR * variance,
    )


def predict_theta(
    theta: FloatArray,
    x_sites: FloatArray,
    x_new: FloatArray,
    *,
    rng: np.random.Generator,
    settings: ThetaProcessSettings,
    bounds: FloatArray | None = None,
) -> FloatArray:
    """Predict θ at new controls for every draw (Eq. PredTheta).

    Parameters
    ----------
    theta : (T, m, dtheta)
        Draws at the sites.
    x_sites, x_new : (m, dx), (q, dx)
        Controls in [0, 1] of the sites' and runs' range.
    rng
        Draws the kriging errors, independently from one new control to the next.
    settings
    bounds : (dtheta, 2), optional
        Support of θ; draws beyond it are moved to its edge.

    Returns
    -------
    (T, q, dtheta)
    """
    num_draws, _, num_functional = theta.shape
    result = np.empty((num_draws, len(x_new), num_functional))
    for k in range(num_functional):
        draws = theta[:, :, k]
        centre = draws.mean(axis=1) if settings.centring == "draw" else np.zeros(num_draws)
        centred = draws - centre[:, None]
        pooled = tune_process(
            x_sites,
            centred.mean(axis=0),
            noise=float(draws.var(axis=0).mean()),
            tuning_prior=settings.tuning_prior,
        )
        if settings.tuning == "once":
            weights, variance = _krige(pooled, x_sites, x_new)
            mean = centre[:, None] + centred @ weights.T
            deviation = np.sqrt(variance)[None, :]
        else:
            mean = np.empty((num_draws, len(x_new)))
            deviation = np.empty_like(mean)
            for t in range(num_draws):
                own = tune_process(x_sites, centred[t], tuning_prior=settings.tuning_prior, start=pooled)
                weights, variance = _krige(own, x_sites, x_new)
                mean[t] = centre[t] + weights @ centred[t]
                deviation[t] = np.sqrt(variance)
        if settings.prediction == "draw":
            mean = mean + deviation * rng.standard_normal(mean.shape)
        result[:, :, k] = mean if bounds is None else np.clip(mean, bounds[k, 0], bounds[k, 1])
    return result


def _krige(
    process: ProcessParameters, x_sites: FloatArray, x_new: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weights (q, m) of Proposition 1 and the variance (q,) that it leaves."""
    covariance = process.magnitude * squared_exponential(x_sites, x_sites, process.length)
    covariance[np.diag_indices_from(covariance)] += process.noise
    cross = process.magnitude * squared_exponential(x_new, x_sites, process.length)
    weights = scipy.linalg.cho_solve(scipy.linalg.cho_factor(covariance, lower=True), cross.T).T
    variance = process.magnitude - np.sum(weights * cross, axis=1)
    return weights, np.maximum(variance, 0.0)

"""Predictions of the paper's method from the draws of a fit (Section 5), in the user's units."""

from __future__ import annotations

import numpy as np

from ..errors import SamplingError
from ..prediction import ThetaProcessSettings, predict_responses, predict_theta, printed_variance
from ..problem import CalibrationProblem, FloatArray, IntArray
from ..result import Fit, PredictiveSample

__all__ = ["predict_from_draws"]


def predict_from_draws(
    problem: CalibrationProblem,
    fit: Fit,
    x_new: FloatArray,
    rng: np.random.Generator,
    variance_rule: str,
    num_draws: int,
) -> PredictiveSample:
    """Predict θ and the response at new controls from a thinned set of posterior draws.

    Parameters
    ----------
    problem, fit
    x_new : (q, dx)
        New controls, in the user's units.
    rng
    variance_rule
        ``"total"``, or ``"paper"`` for the printed 1/T² rule: every component then has the printed mean and variance.
    num_draws
        Components of the mixture, taken evenly from all chains.

    Raises
    ------
    SamplingError
        If the covariance of the sites is singular for some draw.
    """
    physical = problem.physical
    total = fit.num_chains * fit.num_draws
    chosen = np.linspace(0, total - 1, min(num_draws, total)).astype(np.int64)
    theta = _chosen(fit, "theta", chosen, (problem.num_sites, 0))
    scaling = problem.scaled().scaling.control
    theta_new = predict_theta(
        theta,
        scaling.to_unit(physical.control),
        scaling.to_unit(x_new),
        rng=rng,
        settings=ThetaProcessSettings(**fit.report["theta_process"]),
        bounds=fit.constants["theta_bounds"],
    )
    if physical.known_variance is None:
        single = _chosen(fit, "noise_sd", chosen, ()) ** 2
        noise = single[:, None] / physical.count
    else:
        noise = np.tile(physical.known_variance, (len(chosen), 1))
        single = np.full(len(chosen), float(np.mean(physical.known_variance * physical.count)))
    mean = np.empty((len(chosen), len(x_new)))
    variance = np.empty_like(mean)
    centre = float(fit.constants["response_centre"][0])
    predict_responses(
        physical.control.copy(),
        np.ascontiguousarray(theta),
        physical.response - centre,
        noise,
        np.ascontiguousarray(x_new),
        theta_new,
        np.concatenate(
            [_chosen(fit, "length_control", chosen, (0,)), _chosen(fit, "length_functional", chosen, (0,))],
            axis=1,
        ),
        _chosen(fit, "gamma", chosen, ()),
        mean,
        variance,
    )
    if not np.isfinite(mean).all():
        raise SamplingError(
            "a positive definite covariance was expected for every draw; some draw has a singular one: "
            "check for physical points that nearly coincide, or give the noise sd of the measurements."
        )
    mean += centre
    if variance_rule == "paper":
        variance = np.tile(printed_variance(variance), (len(chosen), 1))
        mean = np.tile(mean.mean(axis=0), (len(chosen), 1))
    psi = _chosen(fit, "psi", chosen, (0,))
    everywhere = np.broadcast_to(psi[:, None, :], (len(chosen), len(x_new), psi.shape[1]))
    return PredictiveSample(
        response_mean=mean,
        response_variance=variance,
        noise_variance=single,
        calibration=np.concatenate([theta_new, everywhere], axis=2),
    )


def _chosen(fit: Fit, name: str, chosen: IntArray, empty_shape: tuple[int, ...]) -> FloatArray:
    """Return some draws of one parameter, or an empty array where the problem has no such parameter."""
    if name not in fit.draws:
        return np.empty((len(chosen), *empty_shape))
    return fit.flat(name)[chosen]

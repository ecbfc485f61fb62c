"""What every rival reports of its calibration variables and of the noise, as draws."""

import numpy as np

from ..problem import FloatArray
from ..problem.scaled_problem import ScaledProblem
from .site_noise import site_noise

__all__ = ["calibration_draws"]


def calibration_draws(scaled: ScaledProblem, unit: FloatArray, sigma2: FloatArray) -> dict[str, FloatArray]:
    """θ at the sites, ψ and the sd of one measurement, in the user's units; an estimate is one draw of one chain.

    Parameters
    ----------
    unit
        Scaled calibration vectors (chain, draw, site, dθ + dψ).
    sigma2
        Scaled noise variance (chain, draw); the known one takes its place where there is one.
    """
    raw = scaled.scaling.calibration.from_unit(unit)
    draws: dict[str, FloatArray] = {}
    if scaled.num_functional:
        draws["theta"] = raw[..., : scaled.num_functional]
    if scaled.num_global:
        draws["psi"] = raw[:, :, 0, scaled.num_functional :]
    noise = site_noise(scaled)
    single = np.full(sigma2.shape, noise.single_measurement) if noise.known else sigma2
    draws["noise_sd"] = np.sqrt(single) * scaled.scaling.response_sd
    return draws

"""One move of θ(x) and ψ across modes: elliptical slice sampling (Murray, Adams & MacKay 2010) from their prior.

Given the sizes s and roughnesses ρ, the whitened functions g, the levels β and the latent ψ are normal a priori. An
ellipse through the present point and a fresh draw of all of them passes far from where the chain is, so that a second
branch of θ is found where gradients point away from it. The factors of θ's correlation stay as they are: an
evaluation costs one likelihood without derivatives.
"""

import math

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .calibration_density import site_system
from .ellipse import MAX_SHRINKS, first_bracket, shrink_bracket
from .emulator import EmulatorState, normal_log_density
from .factors import cholesky_in_place, forward_substitute
from .model import JointModel
from .site_functions import SiteState, place_values

__all__ = ["move_functions"]


@kernel
def _log_likelihood(u: FloatArray, model: JointModel, emulator: EmulatorState, sites: SiteState) -> float:
    """Tempered log p(y^p | y^s, …) and the anchors' term at a block whose functions are whitened."""
    m, num_calibration = sites.values.shape
    place_values(u, model, sites)
    _, _, _, covariance, residual = site_system(model, emulator, sites)
    if not cholesky_in_place(covariance):
        return -np.inf
    column = residual.reshape(m, 1)
    forward_substitute(covariance, column)
    total = model.temperature * normal_log_density(covariance, column[:, 0])
    for i in range(m):
        for c in range(num_calibration):
            gap = sites.latent[i, c] - model.anchor_latent[i, c]
            total -= 0.5 * model.anchor_precision[i, c] * gap * gap
    return float(total)


@kernel
def move_functions(
    rng: np.random.Generator, u: FloatArray, model: JointModel, emulator: EmulatorState, sites: SiteState
) -> int:
    """Move g, β and ψ in place; `u` holds the whitened functions, and `sites` the factors that belong to it.

    Returns
    -------
    int
        Likelihood evaluations.
    """
    layout = model.layout
    other = np.zeros(u.size)
    moving = np.zeros(u.size, dtype=np.bool_)
    moving[: layout.log_variation] = True
    moving[layout.global_latent : layout.log_noise] = True
    for a in range(u.size):
        if moving[a]:
            other[a] = rng.standard_normal()
    for a in range(layout.level, layout.log_variation):
        other[a] *= model.prior.level_sd
    start = u.copy()
    threshold = _log_likelihood(u, model, emulator, sites) + math.log(rng.random())
    angle, lower, upper = first_bracket(rng)
    for evaluation in range(1, MAX_SHRINKS + 1):
        for a in range(u.size):
            if moving[a]:
                u[a] = start[a] * math.cos(angle) + other[a] * math.sin(angle)
        if _log_likelihood(u, model, emulator, sites) > threshold:
            return evaluation
        angle, lower, upper = shrink_bracket(rng, angle, lower, upper)
    u[:] = start
    place_values(u, model, sites)
    return MAX_SHRINKS

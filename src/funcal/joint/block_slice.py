"""A move of the calibration block across modes: elliptical slice sampling (Murray, Adams & MacKay 2010) from its prior.

A priori every coordinate of the block is normal or the logarithm of a length: of one normal number for the sizes s and
τ, of two for σ. The block is a function of standard normal numbers. An ellipse through the present ones and a fresh
draw passes far from where the chain is, so that a second branch of θ is found where gradients point away from it, and a
small σ is left and entered in one move. With the sizes and roughnesses held, the factors of θ's correlation stay as
they are, and an evaluation costs one likelihood without derivatives.
"""

import math

import numpy as np
import numpy.typing as npt

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .calibration_density import replicates_log_likelihood, site_system, within_bounds
from .ellipse import MAX_SHRINKS, first_bracket, shrink_bracket
from .emulator import EmulatorState, normal_log_density
from .factors import cholesky_in_place, forward_substitute
from .model import JointModel
from .site_functions import SiteState, place_sizes, place_values

__all__ = ["block_log_likelihood", "move_block"]


@kernel
def block_log_likelihood(
    u: FloatArray, model: JointModel, emulator: EmulatorState, sites: SiteState, sizes_move: bool
) -> float:
    """Tempered log p(y^p | y^s, …) with the terms of anchors and replicates, at a block with whitened functions."""
    m, num_calibration = sites.values.shape
    if sizes_move and not (within_bounds(u, model) and place_sizes(u, model, sites)):
        return -np.inf
    place_values(u, model, sites)
    _, covariance, residual = site_system(model, emulator, sites)
    if not cholesky_in_place(covariance):
        return -np.inf
    column = residual.reshape(m, 1)
    forward_substitute(covariance, column)
    total = model.temperature * normal_log_density(covariance, column[:, 0])
    total += replicates_log_likelihood(u, model)
    for i in range(m):
        for c in range(num_calibration):
            gap = sites.latent[i, c] - model.anchor_latent[i, c]
            total -= 0.5 * model.anchor_precision[i, c] * gap * gap
    return float(total)


@kernel
def _prior_scales(model: JointModel) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int64]]:
    """Centre and scale of each coordinate, and of how many normals it is the logarithm of the length; 0: normal."""
    layout, prior = model.layout, model.prior
    centre, scale = np.zeros(layout.size), np.ones(layout.size)
    normals = np.zeros(layout.size, dtype=np.int64)
    scale[layout.level : layout.log_variation] = prior.level_sd
    scale[layout.log_variation : layout.log_roughness] = prior.variation_scale
    normals[layout.log_variation : layout.log_roughness] = 1
    centre[layout.log_roughness : layout.stretch] = prior.log_roughness_mean
    scale[layout.log_roughness : layout.stretch] = prior.log_roughness_sd
    centre[layout.stretch : layout.global_latent] = prior.stretch_mean
    scale[layout.stretch : layout.global_latent] = prior.stretch_sd
    scale[layout.log_noise : layout.log_discrepancy] = prior.noise_scale
    normals[layout.log_noise : layout.log_discrepancy] = 2
    scale[layout.log_discrepancy :] = prior.discrepancy_scale
    normals[layout.log_discrepancy :] = 1
    roughness = layout.log_discrepancy + 2
    centre[roughness:] = prior.log_discrepancy_roughness_mean
    scale[roughness:] = prior.log_discrepancy_roughness_sd
    normals[roughness:] = 0
    return centre, scale, normals


@kernel
def move_block(
    rng: np.random.Generator,
    u: FloatArray,
    model: JointModel,
    emulator: EmulatorState,
    sites: SiteState,
    sizes_move: bool,
    likelihood: float,
) -> float:
    """Move the block in place; `u` holds the whitened functions, and `sites` the factors that belong to it.

    Parameters
    ----------
    sizes_move
        False holds the sizes and roughnesses and moves g, β and ψ only.
    likelihood
        `block_log_likelihood` at `u`.

    Returns
    -------
    float
        `block_log_likelihood` where the block is now.
    """
    layout = model.layout
    centre, scale, normals = _prior_scales(model)
    moving = np.ones(u.size, dtype=np.bool_)
    if not sizes_move:
        moving[layout.log_variation : layout.global_latent] = False
        moving[layout.log_noise :] = False
    held, start, other = u.copy(), np.zeros((2, u.size)), np.zeros((2, u.size))
    other[0] = rng.standard_normal(u.size)
    for a in range(u.size):
        start[0, a] = (u[a] - centre[a]) / scale[a]
        if normals[a] > 0:  # a length has any direction: of one number either sign
            length, turn = math.exp(u[a]) / scale[a], rng.random()
            turn = 2.0 * math.pi * turn if normals[a] == 2 else math.pi * round(turn)
            start[0, a], start[1, a] = length * math.cos(turn), length * math.sin(turn)
        if normals[a] == 2:
            other[1, a] = rng.standard_normal()
    threshold = likelihood + math.log(rng.random())
    angle, lower, upper = first_bracket(rng)
    for _ in range(MAX_SHRINKS):
        for a in range(u.size):
            if moving[a]:
                standard = start[0, a] * math.cos(angle) + other[0, a] * math.sin(angle)
                u[a] = centre[a] + scale[a] * standard
                if normals[a] > 0:
                    second = start[1, a] * math.cos(angle) + other[1, a] * math.sin(angle)
                    u[a] = np.log(scale[a] * math.hypot(standard, second))
        likelihood = block_log_likelihood(u, model, emulator, sites, sizes_move)
        if likelihood > threshold:
            return likelihood
        angle, lower, upper = shrink_bracket(rng, angle, lower, upper)
    u[:] = held
    # the sites are those of the present point again
    return block_log_likelihood(u, model, emulator, sites, sizes_move)

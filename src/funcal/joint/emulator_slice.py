"""One move of the emulator block φ, alone or with the noise: generalised elliptical slices (Nishihara et al. 2014).

The posterior of φ is dominated by the runs and close to normal, so an ellipse through the present point and a
draw from a heavy-tailed approximation of that posterior (multivariate t, centre and shape from the mode and then
from warm-up) is accepted after one or two factorisations, and the new point is nearly independent of the old.

Few runs leave room for an emulator so rough that it passes through the measurements; a small σ goes with it, and
neither gets there while the other is held. So σ can move along, as the length of a normal vector of two: as a complex
number in any direction.
"""

import math

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .calibration_density import LARGEST, replicates_log_likelihood
from .chain import ChainState
from .discrepancy import fill_noise_covariance
from .ellipse import MAX_SHRINKS, first_bracket, shrink_bracket
from .emulator import fill_emulator, log_density_of_both_tables
from .emulator_covariance import runs_covariance
from .emulator_prior import in_reach
from .factors import large_cholesky
from .model import JointModel

__all__ = ["move_emulator"]

REFERENCE_DOF = 5.0
"""Degrees of freedom of the reference: heavier tails than the posterior's, so that no point is out of reach."""


@kernel
def _squared_distance(phi: FloatArray, noise: complex, chain: ChainState) -> float:
    """Of φ and the complex σ from the reference's centre, in units of its shape."""
    whitened = np.dot(chain.shape_inverse, phi - chain.centre)
    return float(np.dot(whitened, whitened) + (abs(noise) / chain.noise_spread[0]) ** 2)


@kernel
def _reference_log_density(squared_distance: float, size: int) -> float:
    """Unnormalised log density of the reference in `size` dimensions."""
    return -0.5 * (REFERENCE_DOF + size) * math.log1p(squared_distance / REFERENCE_DOF)


@kernel
def _log_density(
    phi: FloatArray, factor: FloatArray, chain: ChainState, model: JointModel, noise_moves: bool
) -> float:
    """Log p(φ) p(both tables | φ, u), with the prior of the complex σ and the replicates' term where it moves."""
    sites = chain.sites
    total = log_density_of_both_tables(phi, factor, sites.values, sites.noise_covariance, model)
    if noise_moves:
        standard = math.exp(chain.u[model.layout.log_noise]) / model.prior.noise_scale
        total += replicates_log_likelihood(chain.u, model) - 0.5 * standard * standard
    return total


@kernel
def move_emulator(rng: np.random.Generator, chain: ChainState, model: JointModel, noise_moves: bool) -> int:
    """Move φ and the emulator of a chain in place, the sites' calibration values held.

    Parameters
    ----------
    noise_moves
        Whether σ, where it is unknown, moves too: as the length of two normal numbers, as in `block_slice`.

    Returns
    -------
    int
        Density evaluations.
    """
    u, phi, place = chain.u, chain.phi, model.layout.log_noise
    noise_moves = noise_moves and model.layout.has_noise
    size = phi.size + (2 if noise_moves else 0)
    held, start, start_noise = 0.0, phi.copy(), 0.0j
    if noise_moves:
        held = u[place]
        turn = 2.0 * math.pi * rng.random()
        start_noise = math.exp(held) * complex(math.cos(turn), math.sin(turn))
    squared = _squared_distance(start, start_noise, chain)
    density = _log_density(phi, chain.emulator.factor, chain, model, noise_moves)
    # the t as a scale mixture of normals: scale² given the start is inverse gamma
    scale = math.sqrt(0.5 * (REFERENCE_DOF + squared) / rng.standard_gamma(0.5 * (REFERENCE_DOF + size)))
    standard = rng.standard_normal(size)
    other = scale * np.dot(chain.shape, standard[: phi.size])
    other_noise = scale * chain.noise_spread[0] * complex(standard[size - 2], standard[size - 1])
    threshold = density - _reference_log_density(squared, size) + math.log(rng.random())
    angle, lower, upper = first_bracket(rng)
    noise = 0.0j
    for evaluation in range(1, MAX_SHRINKS + 1):
        proposal = chain.centre + (start - chain.centre) * math.cos(angle) + other * math.sin(angle)
        if in_reach(proposal, model):
            if noise_moves:
                noise = start_noise * math.cos(angle) + other_noise * math.sin(angle)
                u[place] = max(np.log(abs(noise)), -LARGEST)
                fill_noise_covariance(u, model, chain.sites.noise_covariance)
            factor = large_cholesky(runs_covariance(proposal, model))
            density = _log_density(proposal, factor, chain, model, noise_moves)
            squared = _squared_distance(proposal, noise, chain)
            if density - _reference_log_density(squared, size) > threshold:
                phi[:] = proposal
                fill_emulator(proposal, factor, model, chain.emulator)
                return evaluation
        angle, lower, upper = shrink_bracket(rng, angle, lower, upper)
    if noise_moves:
        u[place] = held
        fill_noise_covariance(u, model, chain.sites.noise_covariance)
    return MAX_SHRINKS

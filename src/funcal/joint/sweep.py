"""A segment of sweeps of one chain: a no-U-turn step, slice moves of the calibration block, a move of the emulator's.

The no-U-turn step moves the calibration block given the emulator, or both blocks at once where the chain's metric is
for both: with few runs the two blocks lean on each other, and one factorisation of everything costs little.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .block_slice import block_log_likelihood, move_block
from .calibration_density import calibration_log_density
from .chain import ChainState
from .emulator import set_emulator
from .emulator_prior import emulator_size
from .emulator_slice import move_emulator
from .emulator_trajectory import travel_emulator
from .model import JointModel
from .no_u_turn import no_u_turn_step
from .site_functions import pilot_coordinates, place_sites
from .whole_density import whole_log_density

__all__ = ["SegmentDraws", "allocate_segment", "restart_step_size", "run_segment"]

TARGET_ACCEPTANCE = 0.8
"""Acceptance that the step size is tuned to during warm-up, as in Stan."""
SIZES_HELD_EVERY = 3
"""Slice moves of the calibration block of which one holds the sizes and roughnesses, and is cheaper."""


class SegmentDraws(NamedTuple):
    """Draws of one segment; `stats` is (log density, acceptance, steps, diverging, evaluations) per sweep.

    `u` holds the whitened functions themselves, whatever coordinates the chain moves in.
    """

    u: FloatArray
    phi: FloatArray
    values: FloatArray
    response_mean: FloatArray
    response_sd: FloatArray
    stats: FloatArray
    latent: FloatArray
    information: FloatArray
    score: FloatArray


def allocate_segment(model: JointModel, length: int) -> SegmentDraws:
    """Memory for one segment."""
    m, num_calibration = model.y_sites.size, model.t_runs.shape[1]
    return SegmentDraws(
        u=np.empty((length, model.layout.size)),
        phi=np.empty((length, emulator_size(model))),
        values=np.empty((length, m, num_calibration)),
        response_mean=np.empty((length, m)),
        response_sd=np.empty((length, m)),
        stats=np.empty((length, 5)),
        latent=np.empty((length, m, num_calibration)),
        information=np.empty((length, m, num_calibration)),
        score=np.empty((length, m, num_calibration)),
    )


@kernel
def restart_step_size(dual: FloatArray, step: float) -> None:
    """Start dual averaging anew at `step`."""
    dual[0] = math.log(step)
    dual[1] = math.log(step)
    dual[2] = 0.0
    dual[3] = 0.0
    dual[4] = math.log(10.0 * step)


@kernel
def update_step_size(dual: FloatArray, acceptance: float) -> None:
    """One step of Nesterov's dual averaging with the constants of Hoffman & Gelman (2014)."""
    dual[3] += 1.0
    count = dual[3]
    weight = 1.0 / (count + 10.0)
    dual[2] = (1.0 - weight) * dual[2] + weight * (TARGET_ACCEPTANCE - acceptance)
    dual[0] = dual[4] - math.sqrt(count) / 0.05 * dual[2]
    share = count**-0.75
    dual[1] = share * dual[0] + (1.0 - share) * dual[1]


@kernel
def slice_block(rng: np.random.Generator, chain: ChainState, model: JointModel, num_slices: int) -> None:
    """Slice moves of the calibration block, in whitened coordinates and back."""
    num_sites = model.y_sites.size
    place_sites(chain.u, model, chain.sites)
    for k in range(chain.sites.whitened.shape[0]):
        chain.u[k * num_sites : (k + 1) * num_sites] = chain.sites.whitened[k]
    likelihood = block_log_likelihood(chain.u, model, chain.emulator, chain.sites, False)
    for move in range(num_slices):
        sizes_move = move % SIZES_HELD_EVERY > 0
        likelihood = move_block(rng, chain.u, model, chain.emulator, chain.sites, sizes_move, likelihood)
    chain.u[:] = pilot_coordinates(chain.u, model, chain.sites)


@kernel
def run_segment(
    rng: np.random.Generator,
    chain: ChainState,
    model: JointModel,
    draws: SegmentDraws,
    adapting: bool,
    emulator_every: int,
    num_slices: int,
    max_depth: int,
    travelling: bool,
) -> None:
    """Fill `draws` with sweeps; while `adapting` the step size is tuned, else its average is used.

    Each has a trajectory of at most 2^max_depth steps and `num_slices` slice moves, every `emulator_every`-th a move
    of the emulator, by a slice or `travelling`, and, in chains that move both blocks at once, another of emulator and
    noise together.
    """
    gradient = np.empty(chain.u.size)
    num_sites, size = model.y_sites.size, chain.u.size
    whole = chain.metric.shape[0] > size
    point = np.empty(chain.metric.shape[0])
    slope = np.empty(point.size)
    set_emulator(chain.phi, model, chain.emulator)
    density = calibration_log_density(chain.u, model, chain.emulator, chain.sites, gradient)
    for sweep in range(draws.u.shape[0]):
        step = math.exp(chain.dual[0] if adapting else chain.dual[1])
        point[:size] = chain.u
        slope[:size] = gradient
        if whole:
            point[size:] = chain.phi
            density = whole_log_density(point, model, chain.sites, slope)
        density, acceptance, num_steps, diverging = no_u_turn_step(
            rng, point, slope, density, step, chain.metric, model, chain.emulator, chain.sites, max_depth
        )
        chain.u[:] = point[:size]
        if whole:
            chain.phi[:] = point[size:]
            set_emulator(chain.phi, model, chain.emulator)
        if adapting:
            update_step_size(chain.dual, acceptance)
        if num_slices > 0:
            slice_block(rng, chain, model, num_slices)
        evaluations = 0
        if (sweep + 1) % emulator_every == 0:
            place_sites(chain.u, model, chain.sites)
            if travelling:
                along = math.exp(chain.emulator_dual[0 if adapting else 1])
                evaluations, accepted = travel_emulator(rng, chain, model, along)
                if adapting:
                    update_step_size(chain.emulator_dual, accepted)
            else:
                evaluations = move_emulator(rng, chain, model, False)
            if whole:
                evaluations += move_emulator(rng, chain, model, True)
        density = calibration_log_density(chain.u, model, chain.emulator, chain.sites, gradient)
        draws.u[sweep] = chain.u
        for k in range(chain.sites.whitened.shape[0]):
            draws.u[sweep, k * num_sites : (k + 1) * num_sites] = chain.sites.whitened[k]
        draws.phi[sweep] = chain.phi
        draws.values[sweep] = chain.sites.values
        draws.response_mean[sweep] = chain.sites.response_mean
        draws.response_sd[sweep] = np.sqrt(chain.sites.response_variance)
        draws.information[sweep] = chain.sites.information
        draws.score[sweep] = chain.sites.score
        draws.latent[sweep] = chain.sites.latent
        draws.stats[sweep, 0] = density + chain.emulator.runs_density[0]
        draws.stats[sweep, 1] = acceptance
        draws.stats[sweep, 2] = num_steps
        draws.stats[sweep, 3] = 1.0 if diverging else 0.0
        draws.stats[sweep, 4] = evaluations

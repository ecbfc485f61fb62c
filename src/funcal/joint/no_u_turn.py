"""One no-U-turn transition, on the calibration block given the emulator or on both blocks at once.

Multinomial sampling along a doubling trajectory (Hoffman & Gelman 2014; Betancourt 2017), built without recursion
by keeping one momentum checkpoint per level of the tree (Phan et al. 2019). Positions are preconditioned:
u = M w with M the Cholesky factor of the covariance seen during warm-up, and momenta are standard normal in w.
"""

import math

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .calibration_density import calibration_log_density
from .emulator import EmulatorState
from .model import JointModel
from .site_functions import SiteState
from .whole_density import whole_log_density

__all__ = ["MAX_DEPTH", "no_u_turn_step"]

MAX_DEPTH = 9
"""Longest trajectory: 2⁹ steps."""
MAX_ENERGY_ERROR = 1000.0
"""Energy error beyond which a trajectory counts as divergent, as in Stan."""


@kernel
def _is_turning(first: FloatArray, last: FloatArray, total: FloatArray) -> bool:
    """Generalised U-turn criterion, with half of the end momenta left out of the sum."""
    forward, backward = 0.0, 0.0
    for a in range(first.size):
        middle = total[a] - 0.5 * (first[a] + last[a])
        forward += first[a] * middle
        backward += last[a] * middle
    return forward <= 0.0 or backward <= 0.0


@kernel
def _checkpoint_range(leaf: int) -> tuple[int, int]:
    """Checkpoints of the subtrees that end at this (odd) leaf; the last one is where an even leaf is kept."""
    highest, bits = 0, leaf >> 1
    while bits > 0:
        highest += bits & 1
        bits >>= 1
    ending, bits = 0, leaf
    while bits & 1:
        ending += 1
        bits >>= 1
    return highest - ending + 1, highest


@kernel
def _log_density(
    point: FloatArray, model: JointModel, emulator: EmulatorState, sites: SiteState, gradient: FloatArray
) -> float:
    """Density of u given the emulator, or of (u, φ) where the point holds both."""
    if point.size == model.layout.size:
        return calibration_log_density(point, model, emulator, sites, gradient)
    return whole_log_density(point, model, sites, gradient)


@kernel
def no_u_turn_step(
    rng: np.random.Generator,
    u: FloatArray,
    gradient: FloatArray,
    log_density: float,
    step: float,
    metric: FloatArray,
    model: JointModel,
    emulator: EmulatorState,
    sites: SiteState,
    max_depth: int,
) -> tuple[float, float, int, bool]:
    """Move `u`, a calibration block or both blocks end to end, and `gradient` in place; at most 2^max_depth steps.

    Returns
    -------
    log_density, acceptance, num_steps, diverging
        Of the new state; mean Metropolis acceptance along the trajectory; gradient evaluations; whether it diverged.
    """
    size = u.size
    momentum = rng.standard_normal(size)
    energy = log_density - 0.5 * np.dot(momentum, momentum)
    # ends of the trajectory: 0 = backward, 1 = forward
    end_u, end_p, end_g = np.empty((2, size)), np.empty((2, size)), np.empty((2, size))
    for end in range(2):
        end_u[end], end_p[end], end_g[end] = u, momentum, np.dot(metric.T, gradient)
    total_p = momentum.copy()
    log_weight = 0.0
    checkpoint_p, checkpoint_sum = np.empty((MAX_DEPTH + 1, size)), np.empty((MAX_DEPTH + 1, size))
    acceptance, num_steps, diverging = 0.0, 0, False
    here_u, here_p, here_g, raw = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    chosen_u, chosen_raw = np.empty(size), np.empty(size)
    chosen_density = log_density
    for depth in range(max_depth):
        end = 1 if rng.random() < 0.5 else 0
        signed = step if end == 1 else -step
        here_u[:], here_p[:], here_g[:] = end_u[end], end_p[end], end_g[end]
        branch_p = np.zeros(size)
        branch_weight = -np.inf
        turning = False
        for leaf in range(1 << depth):
            here_p += 0.5 * signed * here_g
            here_u += signed * np.dot(metric, here_p)
            density = _log_density(here_u, model, emulator, sites, raw)
            here_g[:] = np.dot(metric.T, raw)
            here_p += 0.5 * signed * here_g
            num_steps += 1
            error = density - 0.5 * np.dot(here_p, here_p) - energy
            if not error > -MAX_ENERGY_ERROR:
                diverging = True
                break
            acceptance += min(1.0, math.exp(min(0.0, error)))
            heavier = max(branch_weight, error)
            branch_weight = heavier + math.log(math.exp(branch_weight - heavier) + math.exp(error - heavier))
            if math.log(rng.random()) < error - branch_weight:
                chosen_u[:], chosen_raw[:], chosen_density = here_u, raw, density
            branch_p += here_p
            lowest, highest = _checkpoint_range(leaf)
            if leaf % 2 == 0:
                checkpoint_p[highest], checkpoint_sum[highest] = here_p, branch_p
            else:
                for level in range(highest, lowest - 1, -1):
                    between = branch_p - checkpoint_sum[level] + checkpoint_p[level]
                    if _is_turning(checkpoint_p[level], here_p, between):
                        turning = True
                        break
                if turning:
                    break
        if diverging or turning:
            break
        # biased towards the new half of the trajectory
        if math.log(rng.random()) < branch_weight - log_weight:
            u[:], gradient[:], log_density = chosen_u, chosen_raw, chosen_density
        heavier = max(branch_weight, log_weight)
        log_weight = heavier + math.log(math.exp(branch_weight - heavier) + math.exp(log_weight - heavier))
        end_u[end], end_p[end], end_g[end] = here_u, here_p, here_g
        total_p += branch_p
        if _is_turning(end_p[0], end_p[1], total_p):
            break
    return log_density, acceptance / max(num_steps, 1), num_steps, diverging

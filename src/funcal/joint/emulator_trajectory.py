"""A Hamiltonian move of the emulator block φ, for emulators of many inputs.

In two dozen dimensions an ellipse around a reference that a few hundred draws have taught leaves few of them: length
scales of ten controls then wander for hundreds of sweeps. A trajectory of a few leapfrog steps along the gradient of
log p(φ | both tables, u), in units of that same reference, moves all of them at once; what it needs of the reference is
its scale, not its tails.
"""

import math

import numpy as np

from ..compiled import kernel
from .chain import ChainState
from .emulator import set_emulator
from .emulator_gradient import emulator_log_density
from .model import JointModel

__all__ = ["travel_emulator"]

NUM_LEAPS = 6
"""Leapfrog steps of a trajectory. In the units of a reference that a few hundred draws have taught, some directions are
several times as long as others, and these are what chains wait for: twice the steps bring them four times as far."""
UNEVENNESS = 0.3
"""Steps are longer or shorter by up to this share, so that no direction comes back to where it was every time."""


@kernel
def travel_emulator(
    rng: np.random.Generator, chain: ChainState, model: JointModel, step: float
) -> tuple[int, float]:
    """Move φ and the emulator of a chain in place, the sites' calibration values held.

    Returns
    -------
    evaluations, acceptance
        Density evaluations, and the Metropolis probability of where the trajectory ended.
    """
    gradient = np.empty(chain.phi.size)
    density = emulator_log_density(chain.phi, model, chain.sites, chain.memory, gradient)
    phi, momentum = chain.phi.copy(), rng.standard_normal(chain.phi.size)
    energy = density - 0.5 * np.dot(momentum, momentum)
    step *= rng.uniform(1.0 - UNEVENNESS, 1.0 + UNEVENNESS)
    for leap in range(1, NUM_LEAPS + 1):
        momentum += 0.5 * step * np.dot(chain.shape.T, gradient)
        phi += step * np.dot(chain.shape, momentum)
        density = emulator_log_density(phi, model, chain.sites, chain.memory, gradient)
        if density == -np.inf:
            return leap + 1, 0.0
        momentum += 0.5 * step * np.dot(chain.shape.T, gradient)
    acceptance = math.exp(min(0.0, density - 0.5 * np.dot(momentum, momentum) - energy))
    if rng.random() < acceptance:
        chain.phi[:] = phi
        set_emulator(phi, model, chain.emulator)
    return NUM_LEAPS + 1, acceptance

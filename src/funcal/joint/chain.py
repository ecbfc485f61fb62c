"""One chain: its position, how far its moves reach, and its memory."""

from typing import NamedTuple

import numpy as np

from ..problem.arrays import FloatArray
from .emulator import EmulatorState, allocate_emulator
from .emulator_gradient import GradientMemory, allocate_gradient
from .model import JointModel
from .site_functions import SiteState, allocate_sites

__all__ = ["ChainState", "allocate_chain"]


class ChainState(NamedTuple):
    """One chain, overwritten in place by `run_segment`.

    `centre`, `shape` and `shape_inverse` are the reference of the emulator's moves, `noise_spread` (1,) that of σ.
    `dual` holds the step size's dual averaging: (log step, averaged log step, mean error, count, anchor);
    `emulator_dual` and `memory` belong to the emulator's trajectories.
    """

    u: FloatArray
    phi: FloatArray
    metric: FloatArray
    centre: FloatArray
    shape: FloatArray
    shape_inverse: FloatArray
    noise_spread: FloatArray
    dual: FloatArray
    emulator_dual: FloatArray
    memory: GradientMemory
    emulator: EmulatorState
    sites: SiteState


def allocate_chain(
    model: JointModel,
    u: FloatArray,
    phi: FloatArray,
    shape: FloatArray,
    *,
    whole: bool,
    travelling: bool = False,
) -> ChainState:
    """A chain at its starting point, with an identity metric and a normal reference N(φ, shape shapeᵀ).

    `whole` chains move both blocks at once; their metric starts with the shape of the emulator's. `travelling` ones
    move the emulator along trajectories.
    """
    metric = np.eye(u.size + phi.size if whole else u.size)
    if whole:
        metric[u.size :, u.size :] = shape
    return ChainState(
        u=u.copy(),
        phi=phi.copy(),
        metric=metric,
        centre=phi.copy(),
        shape=np.ascontiguousarray(shape),
        shape_inverse=np.ascontiguousarray(np.linalg.inv(shape)),
        noise_spread=np.full(1, model.prior.noise_scale),
        dual=np.zeros(5),
        emulator_dual=np.zeros(5),
        memory=allocate_gradient(model.y_runs.size + model.y_sites.size if travelling else 0),
        emulator=allocate_emulator(model),
        sites=allocate_sites(model),
    )

"""What chains learn between the windows of the warm-up: pilots, metrics, and the reference of the emulator's moves."""

from collections.abc import Sequence

import numpy as np

from ..problem.arrays import FloatArray
from .calibration_density import calibration_log_density
from .chain import ChainState
from .emulator import set_emulator
from .model import JointModel
from .pilot import first_pilot, learnt_pilot
from .site_functions import pilot_coordinates
from .sweep import SegmentDraws, restart_step_size

__all__ = ["adapt", "emulator_reference", "set_out"]

WIDENING = 1.25
"""Of the emulator reference's shape."""
FIRST_STEP = 0.2
"""Step size at which the first window starts; dual averaging forgets it within a dozen sweeps."""


def set_out(chain: ChainState, model: JointModel) -> JointModel:
    """Start a chain in the coordinates of a pilot from its starting point."""
    set_emulator(chain.phi, model, chain.emulator)
    calibration_log_density(chain.u, model, chain.emulator, chain.sites, np.empty(chain.u.size))
    piloted = first_pilot(model, chain.sites)
    chain.u[:] = pilot_coordinates(chain.u, piloted, chain.sites)
    restart_step_size(chain.dual, FIRST_STEP)
    restart_step_size(chain.emulator_dual, FIRST_STEP)
    return piloted


def emulator_reference(
    segments: Sequence[SegmentDraws], laplace_shape: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Centre and shape of the emulator moves' reference, from all chains' draws of one window.

    Half of each chain's window is kept; the Laplace approximation keeps the weight of a few draws; and the shape is
    widened, since a reference narrower than its target holds chains in the tails.
    """
    phi = np.concatenate([segment.phi[len(segment.phi) // 2 :] for segment in segments])
    few = 4.0 * phi.shape[1]
    blended = (len(phi) * np.atleast_2d(np.cov(phi.T)) + few * laplace_shape @ laplace_shape.T) / (
        len(phi) + few
    )
    return phi.mean(axis=0), WIDENING * np.linalg.cholesky(blended)


def complex_noise_spread(model: JointModel, segments: Sequence[SegmentDraws]) -> float:
    """Spread of each part of the complex σ in the emulator moves' reference; 1 where there is none."""
    if not model.layout.has_noise:
        return 1.0
    noise = np.exp([segment.u[:, model.layout.log_noise] for segment in segments])
    return float(WIDENING * np.sqrt(0.5 * np.mean(noise**2)))


def adapt(
    chains: Sequence[ChainState],
    models: Sequence[JointModel],
    segments: Sequence[SegmentDraws],
    reference: tuple[FloatArray, FloatArray],
    rungs: int,
) -> list[JointModel]:
    """Learn pilots and metrics from one window; returns the chains' models with their new pilots.

    Each chain has a pilot of its own. The metric is that of all chains on the same of the ladder's `rungs`: the mean of
    their covariances, each around its own mean, shrunk towards a small isotropic one as in Stan.
    """
    piloted = [
        learnt_pilot(model, segment.latent, segment.information, segment.score)
        for model, segment in zip(models, segments, strict=True)
    ]
    covariances = []
    for chain, model, segment in zip(chains, piloted, segments, strict=True):
        moved = np.stack([pilot_coordinates(draw, model, chain.sites) for draw in segment.u])
        chain.u[:] = moved[-1]
        if chain.metric.shape[0] > moved.shape[1]:  # this chain moves both blocks at once
            moved = np.hstack([moved, segment.phi])
        covariances.append(np.atleast_2d(np.cov(moved.T)))
    noise_spread = complex_noise_spread(models[0], segments)
    for index, chain in enumerate(chains):
        alike = covariances[index % rungs :: rungs]
        length = len(alike) * len(segments[index].u)
        own = 5.0 / (length + 5.0)
        shrunk = (1.0 - own) * np.mean(alike, axis=0) + 1e-3 * own * np.eye(len(alike[0]))
        chain.metric[:, :] = np.linalg.cholesky(shrunk)
        chain.centre[:], chain.shape[:, :] = reference
        chain.shape_inverse[:, :] = np.linalg.inv(chain.shape)
        chain.noise_spread[0] = noise_spread
        for dual in (chain.dual, chain.emulator_dual):
            restart_step_size(dual, float(np.exp(dual[1])))
    return piloted

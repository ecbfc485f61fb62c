"""The prior of the emulator block φ, and how far from it φ may go."""

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .emulator_covariance import runs_amplitudes
from .model import JointModel

__all__ = ["LOG_TWO_PI", "emulator_log_prior", "emulator_prior", "emulator_size", "in_reach"]

LOG_TWO_PI = 1.8378770664093453
LARGEST_LOG_VARIANCE = 9.0
"""Of what varies at any run: with more, the jitter is too small to keep the runs' covariance positive definite."""


def emulator_size(model: JointModel) -> int:
    """Length of φ."""
    return int(2 * (model.x_runs.shape[1] + model.t_runs.shape[1] + 1) + int(model.has_nugget))


@kernel
def emulator_prior(j: int, model: JointModel) -> tuple[float, float]:
    """Mean and standard deviation of the normal prior of φ_j."""
    prior = model.prior
    num_inputs = model.x_runs.shape[1] + model.t_runs.shape[1]
    beyond = j - num_inputs
    if beyond < 0:
        return prior.log_decay_mean, prior.log_decay_sd
    if beyond == 0:
        return prior.log_variance_mean, prior.log_variance_sd
    if beyond == 1:
        return prior.log_linear_mean, prior.log_linear_sd
    if beyond < num_inputs + 2:
        return 0.0, prior.growth_sd
    return prior.log_nugget_mean, prior.log_nugget_sd


@kernel
def emulator_log_prior(phi: FloatArray, model: JointModel) -> float:
    """Log prior density of φ, normalised."""
    total = 0.0
    for j in range(phi.size):
        mean, sd = emulator_prior(j, model)
        total -= 0.5 * ((phi[j] - mean) / sd) ** 2 + np.log(sd) + 0.5 * LOG_TWO_PI
    return total


@kernel
def in_reach(phi: FloatArray, model: JointModel) -> bool:
    """False ten standard deviations beyond the prior, where exp overflows, and where a run varies too much."""
    for j in range(phi.size):
        mean, sd = emulator_prior(j, model)
        if not abs(phi[j] - mean) <= 10.0 * sd:
            return False
    num_inputs = model.x_runs.shape[1] + model.t_runs.shape[1]
    largest = 2.0 * np.log(np.max(runs_amplitudes(phi, model)))
    return bool(max(phi[num_inputs], phi[num_inputs + 1]) + largest <= LARGEST_LOG_VARIANCE)

"""The first synthetic problem seen through a biased computer model: reality is higher by 0.3 + 0.1 x.

θ(x) can absorb part of the bias; what the method does with the rest is what this problem shows.
"""

import numpy as np
import numpy.typing as npt

from .benchmark_problem import ColumnRoles
from .synthetic_one import SITES, computer_model, true_functional
from .synthetic_problem import SyntheticProblem, uniform_controls

__all__ = ["biased_model"]

FloatArray = npt.NDArray[np.float64]


def _true_response(control: FloatArray) -> FloatArray:
    return computer_model(control, true_functional(control)) + 0.3 + 0.1 * control[:, 0]


def biased_model() -> SyntheticProblem:
    """The design of the first synthetic problem with twice the sites."""
    return SyntheticProblem(
        key="biased-model",
        title="Synthetic problem 1 with a biased computer model",
        roles=ColumnRoles(("x",), ("theta",), "y"),
        computer_model=computer_model,
        true_response=_true_response,
        true_functional=true_functional,
        calibration_box=((0.0, 2.0),),
        sites=lambda rng: np.sort(np.vstack([SITES, SITES - 0.25]), axis=0),
        test_controls=uniform_controls(0.0, 6.0, 12),
        num_runs=60,
    )

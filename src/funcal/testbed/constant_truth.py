"""The first synthetic problem with a constant truth θ ≡ 0.8: a functional method should not invent a function."""

import numpy as np
import numpy.typing as npt

from .benchmark_problem import ColumnRoles
from .synthetic_one import SITES, computer_model
from .synthetic_problem import SyntheticProblem, uniform_controls

__all__ = ["constant_truth"]

FloatArray = npt.NDArray[np.float64]

THETA = 0.8


def _true_functional(control: FloatArray) -> FloatArray:
    return np.full((len(control), 1), THETA)


def _true_response(control: FloatArray) -> FloatArray:
    return computer_model(control, _true_functional(control))


def constant_truth() -> SyntheticProblem:
    """The design of the first synthetic problem."""
    return SyntheticProblem(
        key="constant-truth",
        title="Synthetic problem 1 with a constant truth",
        roles=ColumnRoles(("x",), ("theta",), "y"),
        computer_model=computer_model,
        true_response=_true_response,
        true_functional=_true_functional,
        calibration_box=((0.0, 2.0),),
        sites=lambda rng: SITES.copy(),
        test_controls=uniform_controls(0.0, 6.0, 12),
        num_runs=30,
    )

"""θ with two plausible branches: y = (θ - 1)² (1 + x/2), so that θ and 2 - θ fit every measurement equally well.

The truth is the upper branch. No data can tell; an honest posterior has two modes, or says so.
"""

import numpy as np
import numpy.typing as npt

from .benchmark_problem import ColumnRoles
from .synthetic_problem import SyntheticProblem, uniform_controls

__all__ = ["two_branches"]

FloatArray = npt.NDArray[np.float64]


def _computer_model(control: FloatArray, calibration: FloatArray) -> FloatArray:
    return np.asarray((calibration[:, 0] - 1.0) ** 2 * (1.0 + control[:, 0] / 2.0))


def _true_functional(control: FloatArray) -> FloatArray:
    """1.4 + 0.1 x."""
    return 1.4 + 0.1 * control


def _true_response(control: FloatArray) -> FloatArray:
    return _computer_model(control, _true_functional(control))


def two_branches() -> SyntheticProblem:
    """Eight sites on [0, 4], ten runs at each with θ from [0, 2], 12 test points; noise variance 0.01."""
    return SyntheticProblem(
        key="two-branches",
        title="One control, one functional variable with two branches",
        roles=ColumnRoles(("x",), ("theta",), "y"),
        computer_model=_computer_model,
        true_response=_true_response,
        true_functional=_true_functional,
        calibration_box=((0.0, 2.0),),
        sites=lambda rng: np.linspace(0.25, 3.75, 8)[:, None],
        test_controls=uniform_controls(0.0, 4.0, 12),
        num_runs=80,
        noise_variance=0.01,
    )

"""The paper's ten-dimensional problem (Appendix D): F^s = G(x) + θ, F^θ = √(aᵀx).

A stress test rather than a comparison: the correlation between random points of the cube is about 0.01, so no
method can have skill in y, and a constant θ scores 0.24.
"""

import numpy as np
import numpy.typing as npt

from .benchmark_problem import ColumnRoles
from .gaussian_path import evaluate_path
from .synthetic_problem import SyntheticProblem, uniform_controls

__all__ = ["ten_dimensional"]

FloatArray = npt.NDArray[np.float64]

NUM_CONTROLS = 10
# a of Appendix D.
COEFFICIENTS = np.arange(10) * 0.2 + 0.1


def _computer_model(control: FloatArray, calibration: FloatArray) -> FloatArray:
    return evaluate_path(control) + calibration[:, 0]


def _true_functional(control: FloatArray) -> FloatArray:
    return np.sqrt(control @ COEFFICIENTS)[:, None]


def _true_response(control: FloatArray) -> FloatArray:
    return evaluate_path(control) + _true_functional(control)[:, 0]


def ten_dimensional() -> SyntheticProblem:
    """Thirty random sites, ten runs at each with θ from [0, 3], 100 test points."""
    return SyntheticProblem(
        key="ten-dimensional",
        title="Ten controls, one functional variable (a stress test)",
        roles=ColumnRoles(tuple(f"x{k + 1}" for k in range(NUM_CONTROLS)), ("theta",), "y"),
        computer_model=_computer_model,
        true_response=_true_response,
        true_functional=_true_functional,
        calibration_box=((0.0, 3.0),),
        sites=uniform_controls(0.0, 1.0, 30, NUM_CONTROLS),
        test_controls=uniform_controls(0.0, 1.0, 100, NUM_CONTROLS),
        num_runs=300,
    )

"""The paper's first synthetic problem: one control, one functional variable (Section 6.1)."""

import numpy as np
import numpy.typing as npt

from .benchmark_problem import ColumnRoles, PaperConstants
from .synthetic_problem import SyntheticProblem, uniform_controls

__all__ = ["computer_model", "synthetic_one", "true_functional"]

FloatArray = npt.NDArray[np.float64]

SITES = np.array([[0.5], [1.5], [2.5], [3.5], [4.5], [5.5]])


def computer_model(control: FloatArray, calibration: FloatArray) -> FloatArray:
    """F^s(x, θ) = θ exp(-0.05 x²)(sin²x + 1)."""
    x = control[:, 0]
    return np.asarray(calibration[:, 0] * np.exp(-0.05 * x**2) * (np.sin(x) ** 2 + 1.0))


def true_functional(control: FloatArray) -> FloatArray:
    """F^θ(x) = exp(-0.05 x)."""
    return np.exp(-0.05 * control)


def _true_response(control: FloatArray) -> FloatArray:
    """F^p(x) = exp(-0.05 x² - 0.05 x)(sin²x + 1)."""
    return computer_model(control, true_functional(control))


def synthetic_one(num_runs: int = 30, key: str = "synthetic-1") -> SyntheticProblem:
    """Six sites, `num_runs` runs on them with θ from [0, 2], 12 test points from [0, 6].

    The paper has 30 runs, and 100 to 500 where it times the anchor search.
    """
    return SyntheticProblem(
        key=key,
        title="Synthetic problem 1: one control, one functional variable",
        roles=ColumnRoles(("x",), ("theta",), "y"),
        computer_model=computer_model,
        true_response=_true_response,
        true_functional=true_functional,
        calibration_box=((0.0, 2.0),),
        sites=lambda rng: SITES.copy(),
        test_controls=uniform_controls(0.0, 6.0, 12),
        num_runs=num_runs,
        constants=PaperConstants(radius=1.5),
    )

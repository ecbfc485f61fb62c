"""Two functional variables at once: y = θ1 (1 + sin²x) + θ2 x, with one measurement per site to tell them apart.

Only smoothness separates θ1 from θ2, so the response is learnt far better than either.
"""

import numpy as np
import numpy.typing as npt

from .benchmark_problem import ColumnRoles
from .synthetic_problem import SyntheticProblem, uniform_controls

__all__ = ["two_functional"]

FloatArray = npt.NDArray[np.float64]


def _computer_model(control: FloatArray, calibration: FloatArray) -> FloatArray:
    x = control[:, 0]
    return np.asarray(calibration[:, 0] * (1.0 + np.sin(x) ** 2) + calibration[:, 1] * x)


def _true_functional(control: FloatArray) -> FloatArray:
    """θ1 = exp(-0.2 x), θ2 = 0.3 + 0.1 x."""
    return np.hstack([np.exp(-0.2 * control), 0.3 + 0.1 * control])


def _true_response(control: FloatArray) -> FloatArray:
    return _computer_model(control, _true_functional(control))


def two_functional() -> SyntheticProblem:
    """Twelve sites on [0, 6], ten runs at each from [0, 2] × [0, 1.5], 12 test points."""
    return SyntheticProblem(
        key="two-functional",
        title="One control, two functional variables",
        roles=ColumnRoles(("x",), ("theta1", "theta2"), "y"),
        computer_model=_computer_model,
        true_response=_true_response,
        true_functional=_true_functional,
        calibration_box=((0.0, 2.0), (0.0, 1.5)),
        sites=lambda rng: np.linspace(0.25, 5.75, 12)[:, None],
        test_controls=uniform_controls(0.0, 6.0, 12),
        num_runs=120,
    )

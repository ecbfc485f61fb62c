"""The paper's third synthetic problem: one control, one functional and one global variable (Section 6.1).

θ(x) + ψx² is known only up to c·x²: (θ, ψ) is not identified, and errors of θ and ψ are reported apart. Where the
text says "10 functional calibration vectors from the square", pairs (θ, ψ) are meant.
"""

import numpy as np
import numpy.typing as npt

from .benchmark_problem import ColumnRoles, PaperConstants
from .synthetic_problem import SyntheticProblem

__all__ = ["synthetic_three"]

FloatArray = npt.NDArray[np.float64]

TRUE_GLOBAL = 2.5
STEPS = np.linspace(0.0, 0.95, 20)[:, None]
TEST_CONTROLS = STEPS[9:14]
SITES = np.vstack([STEPS[:9], STEPS[14:]])


def _computer_model(control: FloatArray, calibration: FloatArray) -> FloatArray:
    """F^s(x, θ, ψ) = θ + ψ x²."""
    return np.asarray(calibration[:, 0] + calibration[:, 1] * control[:, 0] ** 2)


def _true_response(control: FloatArray) -> FloatArray:
    """F^p(x) = 2√x + 2.5 x²."""
    return np.asarray(2.0 * np.sqrt(control[:, 0]) + TRUE_GLOBAL * control[:, 0] ** 2)


def _true_functional(control: FloatArray) -> FloatArray:
    """F^θ(x) = 2√x."""
    return 2.0 * np.sqrt(control)


def synthetic_three() -> SyntheticProblem:
    """Fifteen sites, ten runs at each with (θ, ψ) from [0, 5]², five test points in the gap of the sites."""
    return SyntheticProblem(
        key="synthetic-3",
        title="Synthetic problem 3: one control, one functional and one global variable",
        roles=ColumnRoles(("x",), ("theta",), "y", ("psi",)),
        computer_model=_computer_model,
        true_response=_true_response,
        true_functional=_true_functional,
        true_global=(TRUE_GLOBAL,),
        calibration_box=((0.0, 5.0), (0.0, 5.0)),
        sites=lambda rng: SITES.copy(),
        test_controls=lambda rng: TEST_CONTROLS.copy(),
        num_runs=150,
        constants=PaperConstants(radius=0.16),
    )

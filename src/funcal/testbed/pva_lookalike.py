"""A look-alike of the PVA problem for users without the data: made up, with a known truth.

Nothing here was measured. The computer model is a quadratic in (x, θ) on the log scale (it follows the real runs to
1.8 %), θ decreases smoothly, noise has the real size (sd 88). The measurements are given already shifted to the
computer model's level, so that only θ is unknown.
"""

import numpy as np
import numpy.typing as npt

from .benchmark_problem import ColumnRoles, PaperConstants
from .synthetic_problem import SyntheticProblem, uniform_controls

__all__ = ["pva_lookalike"]

FloatArray = npt.NDArray[np.float64]

# log y = c · (1, x, θ, x², xθ, θ²), least squares on the public runs, rounded.
LOG_QUADRATIC = np.array([8.6, -5.98, -5.78, 2.10, 6.96, 1.98])
NOISE_SD = 88.0


def _computer_model(control: FloatArray, calibration: FloatArray) -> FloatArray:
    x, theta = control[:, 0], calibration[:, 0]
    terms = np.stack([np.ones_like(x), x, theta, x**2, x * theta, theta**2])
    return np.exp(LOG_QUADRATIC @ terms)


def _true_functional(control: FloatArray) -> FloatArray:
    """Effectiveness falls from 0.96 at x = 0.5 to 0.80 at x = 1."""
    return 1.12 - 0.32 * control


def _true_response(control: FloatArray) -> FloatArray:
    return _computer_model(control, _true_functional(control))


def _run_controls(rng: np.random.Generator, num_runs: int) -> FloatArray:
    return rng.uniform(0.5, 1.0, (num_runs, 1))


def pva_lookalike() -> SyntheticProblem:
    """Eleven sites, 149 scattered runs, 11 test points."""
    return SyntheticProblem(
        key="pva-lookalike",
        title="A made-up look-alike of the PVA problem (not real data)",
        roles=ColumnRoles(("pva_amount",), ("effectiveness",), "modulus"),
        computer_model=_computer_model,
        true_response=_true_response,
        true_functional=_true_functional,
        calibration_box=((0.42, 1.0),),
        sites=lambda rng: np.linspace(0.5, 1.0, 11)[:, None],
        test_controls=uniform_controls(0.5, 1.0, 11),
        num_runs=149,
        run_controls=_run_controls,
        noise_variance=NOISE_SD**2,
        constants=PaperConstants(radius=0.5),
    )

"""The first synthetic problem in badly chosen units: x in millionths, θ in thousand millions, y far from zero.

A method that works on scaled data gives the first problem's result in these units.
"""

import numpy as np
import numpy.typing as npt

from .benchmark_problem import ColumnRoles
from .synthetic_one import SITES, computer_model, true_functional
from .synthetic_problem import NOISE_VARIANCE, SyntheticProblem, uniform_controls

__all__ = ["CONTROL_UNIT", "FUNCTIONAL_UNIT", "RESPONSE_OFFSET", "RESPONSE_UNIT", "bad_units"]

FloatArray = npt.NDArray[np.float64]

CONTROL_UNIT = 1e-6
FUNCTIONAL_UNIT = 1e9
RESPONSE_UNIT = 1e5
RESPONSE_OFFSET = 1e7


def _computer_model(control: FloatArray, calibration: FloatArray) -> FloatArray:
    natural = computer_model(control / CONTROL_UNIT, calibration / FUNCTIONAL_UNIT)
    return RESPONSE_OFFSET + RESPONSE_UNIT * natural


def _true_functional(control: FloatArray) -> FloatArray:
    return FUNCTIONAL_UNIT * true_functional(control / CONTROL_UNIT)


def _true_response(control: FloatArray) -> FloatArray:
    return _computer_model(control, _true_functional(control))


def bad_units() -> SyntheticProblem:
    """The design of the first synthetic problem."""
    return SyntheticProblem(
        key="bad-units",
        title="Synthetic problem 1 in badly scaled units",
        roles=ColumnRoles(("x",), ("theta",), "y"),
        computer_model=_computer_model,
        true_response=_true_response,
        true_functional=_true_functional,
        calibration_box=((0.0, 2.0 * FUNCTIONAL_UNIT),),
        sites=lambda rng: SITES * CONTROL_UNIT,
        test_controls=uniform_controls(0.0, 6.0 * CONTROL_UNIT, 12),
        num_runs=30,
        noise_variance=NOISE_VARIANCE * RESPONSE_UNIT**2,
    )

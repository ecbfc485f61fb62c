"""The first synthetic problem with runs scattered over [0, 6] × [0, 2], none of them at a site."""

import numpy as np
import numpy.typing as npt

from .benchmark_problem import ColumnRoles
from .synthetic_one import SITES, computer_model, true_functional
from .synthetic_problem import SyntheticProblem, uniform_controls

__all__ = ["scattered_runs"]

FloatArray = npt.NDArray[np.float64]


def _true_response(control: FloatArray) -> FloatArray:
    return computer_model(control, true_functional(control))


def _run_controls(rng: np.random.Generator, num_runs: int) -> FloatArray:
    """One run in each of `num_runs` equal strips, in random order."""
    return (rng.permutation(num_runs)[:, None] + rng.uniform(size=(num_runs, 1))) * (6.0 / num_runs)


def scattered_runs() -> SyntheticProblem:
    """Six sites, 60 scattered runs, 12 test points."""
    return SyntheticProblem(
        key="scattered-runs",
        title="Synthetic problem 1 with runs away from the sites",
        roles=ColumnRoles(("x",), ("theta",), "y"),
        computer_model=computer_model,
        true_response=_true_response,
        true_functional=true_functional,
        calibration_box=((0.0, 2.0),),
        sites=lambda rng: SITES.copy(),
        test_controls=uniform_controls(0.0, 6.0, 12),
        num_runs=60,
        run_controls=_run_controls,
    )

"""The paper's second synthetic problem: two controls, one functional variable (Section 6.1).

Decisions the text leaves open: the 16 sites form a cell-centred 4 × 4 grid (its step of 0.875 is the only one
that the printed r = 0.9 fits); F^θ = √(x1 + x2 - 1) is undefined where x1 + x2 < 1, so θ is √max(x1 + x2 - 1, 0)
and test points are redrawn until x1 + x2 ≥ 1. One of the 16 sites lies where no θ matches.
"""

import numpy as np
import numpy.typing as npt

from .benchmark_problem import ColumnRoles, PaperConstants
from .synthetic_problem import SyntheticProblem

__all__ = ["synthetic_two"]

FloatArray = npt.NDArray[np.float64]

SIDE = 3.5
NUM_TEST = 10


def _true_response(control: FloatArray) -> FloatArray:
    """F^p(x) = 0.4 (x1² + x2²) sin²(0.7 x2)."""
    x1, x2 = control.T
    return np.asarray(0.4 * (x1**2 + x2**2) * np.sin(0.7 * x2) ** 2)


def _computer_model(control: FloatArray, calibration: FloatArray) -> FloatArray:
    """F^s(x, θ) = 0.4 (x1² + x2²) sin²(0.7 x2) (x1 + x2) / (θ² + 1)."""
    return np.asarray(_true_response(control) * control.sum(axis=1) / (calibration[:, 0] ** 2 + 1.0))


def _true_functional(control: FloatArray) -> FloatArray:
    """F^θ(x) = √(x1 + x2 - 1), 0 where that is undefined."""
    return np.asarray(np.sqrt(np.maximum(control.sum(axis=1, keepdims=True) - 1.0, 0.0)))


def _sites(rng: np.random.Generator) -> FloatArray:
    """The centres of 4 × 4 equal cells."""
    centres = (np.arange(4) + 0.5) * SIDE / 4
    return np.stack(np.meshgrid(centres, centres, indexing="ij"), axis=-1).reshape(-1, 2)


def _test_controls(rng: np.random.Generator) -> FloatArray:
    """Uniform on the part of the square where the truth is defined."""
    accepted = np.empty((0, 2))
    while len(accepted) < NUM_TEST:
        candidates = rng.uniform(0.0, SIDE, (NUM_TEST, 2))
        accepted = np.vstack([accepted, candidates[candidates.sum(axis=1) >= 1.0]])
    return accepted[:NUM_TEST]


def synthetic_two() -> SyntheticProblem:
    """Sixteen sites, ten runs at each with θ from [0, 5], ten test points."""
    return SyntheticProblem(
        key="synthetic-2",
        title="Synthetic problem 2: two controls, one functional variable",
        roles=ColumnRoles(("x1", "x2"), ("theta",), "y"),
        computer_model=_computer_model,
        true_response=_true_response,
        true_functional=_true_functional,
        calibration_box=((0.0, 5.0),),
        sites=_sites,
        test_controls=_test_controls,
        num_runs=160,
        constants=PaperConstants(radius=0.9),
    )

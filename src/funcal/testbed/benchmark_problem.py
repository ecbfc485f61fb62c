"""What a problem of the testbed is: a recipe that draws cases, each a pair of tables with its truth.

A *case* is everything one trial needs: the two tables as a user would hand them in, the roles of their columns,
and the control vectors at which predictions are judged with what they are judged against. Problems with a known
truth draw a new case for every seed; real data give one case for every split and fold.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["BenchmarkCase", "BenchmarkProblem", "ColumnRoles", "PaperConstants"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ColumnRoles:
    """Which columns are control, functional, global and response."""

    control: tuple[str, ...]
    functional: tuple[str, ...]
    response: str
    global_: tuple[str, ...] = ()

    def keywords(self) -> dict[str, list[str] | str]:
        """The roles as keyword arguments of `CalibrationProblem.from_tables`."""
        return {
            "control": list(self.control),
            "functional": list(self.functional),
            "global_": list(self.global_),
            "response": self.response,
        }


@dataclass(frozen=True)
class PaperConstants:
    """λ, r and M of the calibration graph as the paper prints them (Table 2; r is on the raw scale)."""

    lambda_: float = 0.5
    radius: float | None = None
    penalty: float = 1e5


@dataclass(frozen=True)
class BenchmarkCase:
    """One draw of a problem: two tables, and what predictions are judged by.

    Attributes
    ----------
    physical, runs
        The two tables, in the problem's own units.
    roles
        Which column is what.
    test_controls
        Control vectors to predict at, (q, dx).
    test_response
        The noise-free response there (q,), or the held-out measurement where no truth is known.
    test_functional
        θ at the test points (q, dθ), or None where no truth is known.
    test_global
        ψ (dψ,), or None where no truth is known.
    test_noise_variance
        Variance of `test_response` about the truth: 0 where the truth is known.
    response_sd
        The sd of the response that turns raw errors into sd units.
    constants
        The paper's λ, r, M for this problem.
    """

    problem: str
    seed: int
    fold: int
    physical: pd.DataFrame
    runs: pd.DataFrame
    roles: ColumnRoles
    test_controls: FloatArray
    test_response: FloatArray
    test_functional: FloatArray | None
    test_global: FloatArray | None
    response_sd: float
    test_noise_variance: float = 0.0
    constants: PaperConstants = field(default_factory=PaperConstants)

    def __post_init__(self) -> None:
        for array in (self.test_controls, self.test_response, self.test_functional, self.test_global):
            if array is not None:
                array.setflags(write=False)

    @property
    def truth_known(self) -> bool:
        """Whether θ and ψ at the test points are known."""
        return self.test_functional is not None or self.test_global is not None

    def test_frame(self) -> pd.DataFrame:
        """The test control vectors as a table with the control columns' names."""
        return pd.DataFrame(self.test_controls, columns=pd.Index(self.roles.control))

    def test_calibration(self) -> FloatArray | None:
        """True (θ, ψ) at the test points, (q, dθ + dψ), functional columns first, or None."""
        if not self.truth_known:
            return None
        num_test = len(self.test_controls)
        parts = [] if self.test_functional is None else [self.test_functional]
        if self.test_global is not None:
            parts.append(np.tile(self.test_global, (num_test, 1)))
        return np.hstack(parts)


class BenchmarkProblem(Protocol):
    """A recipe for cases. `num_folds` cases share one seed: 1 where truth is known, the folds of a split else."""

    @property
    def key(self) -> str:
        """Name in the registry."""
        ...

    @property
    def title(self) -> str:
        """A line for people."""
        ...

    @property
    def num_folds(self) -> int:
        """How many cases one seed gives."""
        ...

    def draw(self, seed: int, fold: int = 0) -> BenchmarkCase:
        """The case of this seed and fold; the same every time."""
        ...

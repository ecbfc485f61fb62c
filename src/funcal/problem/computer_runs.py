"""The n runs of the computer model, scattered anywhere in the input space; failed runs are left out."""

from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray, IntArray, frozen_floats, frozen_integers

__all__ = ["ComputerRuns"]


@dataclass(frozen=True)
class ComputerRuns:
    """Inputs and outputs of the runs that ended well.

    Attributes
    ----------
    control : (n, dx)
    functional : (n, dtheta)
    global_ : (n, dpsi)
    response : (n,)
    row : (n,)
        Row of each run in the user's table, counted from 1 below the header.
    num_failed : int
        Rows that were left out because their response is missing or not finite.
    """

    control: FloatArray
    functional: FloatArray
    global_: FloatArray
    response: FloatArray
    row: IntArray
    num_failed: int = 0

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for name in ("control", "functional", "global_"):
            object.__setattr__(self, name, frozen_floats(getattr(self, name), ndim=2))
        object.__setattr__(self, "response", frozen_floats(self.response, ndim=1))
        object.__setattr__(self, "row", frozen_integers(self.row))

    @property
    def num_runs(self) -> int:
        """How many runs there are, n."""
        return len(self.response)

    @property
    def calibration(self) -> FloatArray:
        """The calibration vectors [θ, ψ], (n, dtheta + dpsi)."""
        return np.hstack([self.functional, self.global_])

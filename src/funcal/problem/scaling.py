"""Invertible scaling: everything inside is scaled, everything a user sees is in their units."""

from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray, frozen_floats

__all__ = ["AffineScaling", "ProblemScaling"]


@dataclass(frozen=True)
class AffineScaling:
    """The map u = (a − shift) / width, one shift and one width per column.

    A column without width (a constant one) keeps width 1, so that the map stays invertible
    (`method.md`, point 26).
    """

    shift: FloatArray
    width: FloatArray

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        object.__setattr__(self, "shift", frozen_floats(self.shift, ndim=1))
        object.__setattr__(self, "width", frozen_floats(self.width, ndim=1))

    @classmethod
    def from_range(cls, lower: FloatArray, upper: FloatArray) -> "AffineScaling":
        """Send [lower, upper] to [0, 1]."""
        lower = np.asarray(lower, dtype=np.float64)
        width = np.asarray(upper, dtype=np.float64) - lower
        return cls(lower, np.where(width > 0, width, 1.0))

    def to_unit(self, values: FloatArray) -> FloatArray:
        """User units to scaled ones."""
        scaled: FloatArray = (np.asarray(values, dtype=np.float64) - self.shift) / self.width
        return scaled

    def from_unit(self, values: FloatArray) -> FloatArray:
        """Scaled units to the user's."""
        raw: FloatArray = np.asarray(values, dtype=np.float64) * self.width + self.shift
        return raw


@dataclass(frozen=True)
class ProblemScaling:
    """The three scalings of a problem.

    Controls: the union of sites and runs to [0, 1]. Calibration variables (functional, then global): their
    box to [0, 1]. Response: centred at the mean of the runs, in units of their standard deviation.
    """

    control: AffineScaling
    calibration: AffineScaling
    response: AffineScaling

    def response_to_unit(self, values: FloatArray) -> FloatArray:
        """Responses of any shape to scaled units."""
        scaled: FloatArray = (
            np.asarray(values, dtype=np.float64) - self.response.shift[0]
        ) / self.response_sd
        return scaled

    def response_from_unit(self, values: FloatArray) -> FloatArray:
        """Scaled responses of any shape to the user's units."""
        raw: FloatArray = np.asarray(values, dtype=np.float64) * self.response_sd + self.response.shift[0]
        return raw

    @property
    def response_sd(self) -> float:
        """One scaled unit of response, in the user's units."""
        return float(self.response.width[0])

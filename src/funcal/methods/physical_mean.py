"""The mean of the measurements, whatever the controls.

A reference row: a method that does not beat it has learnt nothing about the response.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problem import CalibrationProblem, FloatArray
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .least_squares_line import fit_line, predict_line

__all__ = ["MeanSettings", "PhysicalMean"]


@dataclass(frozen=True)
class MeanSettings:
    """`mean` has nothing to set."""


class PhysicalMean:
    """The method `mean`."""

    key: ClassVar[str] = "mean"
    title: ClassVar[str] = "Mean of the measurements"
    supports: ClassVar[Capabilities] = Capabilities(min_sites=2, estimates=frozenset())
    Settings: ClassVar[type[Any]] = MeanSettings

    def fit(
        self,
        problem: CalibrationProblem,
        settings: MeanSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Average."""
        return fit_line(problem, slopes=False)

    def predict(
        self,
        problem: CalibrationProblem,
        fit: Fit,
        x_new: FloatArray,
        *,
        rng: np.random.Generator,
        **options: Any,
    ) -> PredictiveSample:
        """The mean with t intervals."""
        return predict_line(problem, fit, x_new, rng)

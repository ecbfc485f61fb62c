"""Reference rows that use the measurements alone: linear regression on the controls, and their mean.

On the spot-weld data the regression beats every published calibrator; a method that does not beat the mean has learnt
nothing about the response.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problem import CalibrationProblem, FloatArray
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .least_squares_line import fit_line, predict_line

__all__ = ["LinearRegression", "PhysicalMean"]


@dataclass(frozen=True)
class RegressionSettings:
    """`linear` and `mean` have nothing to set."""


class _Regression:
    """Least squares with or without slopes."""

    Settings: ClassVar[type[Any]] = RegressionSettings
    slopes: ClassVar[bool]

    def fit(
        self,
        problem: CalibrationProblem,
        settings: RegressionSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Least squares."""
        return fit_line(problem, slopes=self.slopes)

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


class LinearRegression(_Regression):
    """The method `linear`."""

    key: ClassVar[str] = "linear"
    title: ClassVar[str] = "Linear regression on the measurements alone"
    supports: ClassVar[Capabilities] = Capabilities(min_sites=3, estimates=frozenset())
    slopes: ClassVar[bool] = True


class PhysicalMean(_Regression):
    """The method `mean`: a regression without slopes."""

    key: ClassVar[str] = "mean"
    title: ClassVar[str] = "Mean of the measurements"
    supports: ClassVar[Capabilities] = Capabilities(min_sites=2, estimates=frozenset())
    slopes: ClassVar[bool] = False

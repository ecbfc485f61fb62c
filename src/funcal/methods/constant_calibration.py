"""The best constant θ: ordinary least squares through the static surrogate, no discrepancy.

A reference row: a functional method that does not beat it has found no function.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..gaussian_process import SurrogateSettings
from ..problem import CalibrationProblem, FloatArray
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .parametric_estimator import fit_parametric, predict_parametric

__all__ = ["ConstantCalibration", "ConstantSettings"]


@dataclass(frozen=True)
class ConstantSettings:
    """Settings of `constant`: random starts of the least squares, and the static surrogate."""

    num_starts: int = 50
    surrogate: SurrogateSettings = field(default_factory=SurrogateSettings)


class ConstantCalibration:
    """The method `constant`: every calibration variable is one number."""

    key: ClassVar[str] = "constant"
    title: ClassVar[str] = "Best constant calibration variables (static surrogate)"
    supports: ClassVar[Capabilities] = Capabilities()
    Settings: ClassVar[type[Any]] = ConstantSettings

    def fit(
        self,
        problem: CalibrationProblem,
        settings: ConstantSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Estimate the constants."""
        return fit_parametric(problem, "constant", settings.num_starts, settings.surrogate, seed, progress)

    def predict(
        self,
        problem: CalibrationProblem,
        fit: Fit,
        x_new: FloatArray,
        *,
        rng: np.random.Generator,
        **options: Any,
    ) -> PredictiveSample:
        """The plug-in prediction with delta-method errors."""
        return predict_parametric(problem, fit, x_new, rng)

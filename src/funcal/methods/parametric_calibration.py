"""PFC: parametric functional calibration (Pourhabib et al. 2015, IIE Transactions 47)."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..errors import SettingsError
from ..gaussian_process import SurrogateSettings
from ..problem import CalibrationProblem, FloatArray
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .parametric_estimator import fit_parametric, predict_parametric
from .parametric_forms import FORMS

__all__ = ["ParametricCalibration", "ParametricSettings"]


@dataclass(frozen=True)
class ParametricSettings:
    """Settings of `pfc`.

    Attributes
    ----------
    form
        "exponential": θ = γ_0 exp(-Σ γ_k x_k), the default; "constant"; "quadratic", without cross terms.
    num_starts
        Random starts of the least squares.
    surrogate
        The static surrogate.
    """

    form: str = "exponential"
    num_starts: int = 100
    surrogate: SurrogateSettings = field(default_factory=SurrogateSettings)

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise SettingsError(f"form is one of {', '.join(FORMS)}; {self.form!r} was given")
        if self.num_starts < 1:
            raise SettingsError(f"pfc needs at least one start; num_starts is {self.num_starts}")


class ParametricCalibration:
    """The method `pfc`. Several functional variables get a form each; a global one is a constant."""

    key: ClassVar[str] = "pfc"
    title: ClassVar[str] = "Parametric functional calibration (static surrogate)"
    supports: ClassVar[Capabilities] = Capabilities(min_sites=3)
    Settings: ClassVar[type[Any]] = ParametricSettings

    def fit(
        self,
        problem: CalibrationProblem,
        settings: ParametricSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Estimate the coefficients of θ(x; γ)."""
        return fit_parametric(problem, settings.form, settings.num_starts, settings.surrogate, seed, progress)

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

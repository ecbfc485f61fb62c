"""Predictions at new controls: response, θ(x) and ψ, each with mean, sd and interval."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import SettingsError
from ..problem import CalibrationProblem, FloatArray, outside_runs
from .fit import PredictiveSample
from .mixture import mixture_moments, mixture_quantile

__all__ = ["Marginal", "Prediction", "predict_from_sample"]


@dataclass(frozen=True)
class Marginal:
    """Mean, sd and central interval of one quantity at q points."""

    mean: FloatArray
    sd: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class Prediction:
    """What is expected at new controls.

    Attributes
    ----------
    controls : DataFrame
        The new controls, one column each.
    response_name : str
    level : float
        Probability of the intervals.
    response : Marginal
        The noise-free model response.
    observation : Marginal
        A new measurement there.
    calibration : mapping of name to Marginal
        θ_k(x) and ψ_h, by name; empty for a method that has none.
    outside_runs : (q,) bool
        Where the controls lie outside the runs' range, so that the model is extrapolated.
    sample : PredictiveSample
        The mixture behind the numbers.
    """

    controls: pd.DataFrame
    response_name: str
    level: float
    response: Marginal
    observation: Marginal
    calibration: Mapping[str, Marginal]
    outside_runs: np.ndarray
    sample: PredictiveSample

    def to_frame(self) -> pd.DataFrame:
        """The table of `predictions.csv`: controls, then NAME_mean, NAME_sd, NAME_lower, NAME_upper.

        The response also has NAME_obs_lower and NAME_obs_upper, the interval of a new measurement.
        """
        columns = {str(name): self.controls[name].to_numpy() for name in self.controls.columns}
        quantities = {self.response_name: self.response, **self.calibration}
        for name, marginal in quantities.items():
            columns[f"{name}_mean"] = marginal.mean
            columns[f"{name}_sd"] = marginal.sd
            columns[f"{name}_lower"] = marginal.lower
            columns[f"{name}_upper"] = marginal.upper
            if name == self.response_name:
                columns[f"{name}_obs_lower"] = self.observation.lower
                columns[f"{name}_obs_upper"] = self.observation.upper
        return pd.DataFrame(columns)

    def __len__(self) -> int:
        return len(self.controls)


def predict_from_sample(
    problem: CalibrationProblem, x_new: FloatArray, sample: PredictiveSample, level: float
) -> Prediction:
    """Turn a predictive mixture into means, sds and central intervals of probability `level`."""
    if not 0.0 < level < 1.0:
        raise SettingsError(f"level is a probability between 0 and 1, for example 0.95; got {level!r}.")
    tail = 0.5 * (1.0 - level)

    def normal_mixture(variance: FloatArray) -> Marginal:
        mean, total = mixture_moments(sample.response_mean, variance, sample.weight)
        return Marginal(
            mean,
            np.sqrt(total),
            mixture_quantile(sample.response_mean, variance, tail, sample.weight),
            mixture_quantile(sample.response_mean, variance, 1.0 - tail, sample.weight),
        )

    def empirical(values: FloatArray) -> Marginal:
        lower, upper = np.quantile(values, [tail, 1.0 - tail], axis=0)
        return Marginal(values.mean(axis=0), values.std(axis=0), lower, upper)

    names = problem.roles.calibration if sample.calibration.shape[-1] else ()
    return Prediction(
        controls=pd.DataFrame(np.asarray(x_new), columns=list(problem.roles.control)),
        response_name=problem.roles.response,
        level=level,
        response=normal_mixture(sample.response_variance),
        observation=normal_mixture(sample.observation_variance),
        calibration={
            name: empirical(sample.calibration[:, :, index])
            for index, name in enumerate(names)
            if np.all(np.isfinite(sample.calibration[:, :, index]))
        },
        outside_runs=outside_runs(problem, np.asarray(x_new)),
        sample=sample,
    )

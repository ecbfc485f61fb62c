"""The answer: θ(x), ψ and predictions, with what is needed to trust them."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..diagnostics.convergence import Convergence, assess_convergence
from ..errors import ProblemError, SettingsError
from ..problem import AnchorPoints, CalibrationProblem, FloatArray
from ..problem.tables import TableSource, numeric_column, open_table
from .fit import Fit
from .prediction import Prediction, predict_from_sample
from .protocol import CalibrationMethod
from .quantity_names import quantity_names

if TYPE_CHECKING:
    import arviz

__all__ = ["Calibration"]

#: Children of the user's seed: for the fit, predictions and replicated measurements, so that none disturbs another.
FIT_STREAM, PREDICTION_STREAM, REPLICATION_STREAM = 0, 1, 2


@dataclass(frozen=True)
class Calibration:
    """A calibrated problem.

    Attributes
    ----------
    problem : CalibrationProblem
    method : CalibrationMethod
    settings : settings object of the method
    seed : int
    seconds : float
        Wall time of the fit.
    fit : Fit
        Draws and everything that prediction needs.
    """

    problem: CalibrationProblem
    method: CalibrationMethod
    settings: Any
    seed: int
    seconds: float
    fit: Fit

    @property
    def anchors(self) -> AnchorPoints | None:
        """The runs that the matching chose, where the method uses them."""
        return self.fit.anchors

    @cached_property
    def convergence(self) -> Convergence | None:
        """Diagnostics of the chains; None for a method without chains."""
        draws = self.fit.draws
        return assess_convergence(draws, self.fit.stats, quantity_names(self.problem, draws))

    def predict(self, new_controls: Any, level: float = 0.95, **options: Any) -> Prediction:
        """Predict the response, θ(x) and ψ at new controls.

        Parameters
        ----------
        new_controls : DataFrame, path or array
            A table with the control columns (others are ignored), or an array (q, dx); one dimension will do
            where there is one control.
        level : float
            Probability of the intervals.
        **options
            Options of the method, for example ``variance="paper"`` for ``bnmc``.

        Returns
        -------
        Prediction
        """
        unknown = sorted(set(options) - self.method.supports.predict_options)
        if unknown:
            raise SettingsError(
                f"method {self.method.key!r} predicts without an option {unknown[0]!r}; leave it out."
            )
        x_new = controls_of(self.problem, new_controls)
        stream = np.random.SeedSequence(self.seed, spawn_key=(PREDICTION_STREAM,))
        sample = self.method.predict(
            self.problem, self.fit, x_new, rng=np.random.default_rng(stream), **options
        )
        return predict_from_sample(self.problem, x_new, sample, level)

    def summary(self, level: float = 0.95) -> pd.DataFrame:
        """Posterior of θ at the sites, of ψ and of the noise, in the user's units.

        Returns
        -------
        DataFrame
            One row per quantity: mean, sd, interval, and where there are chains bulk ESS and R-hat.
        """
        from .summary_table import summary_table

        return summary_table(self, level)

    def to_arviz(self) -> "arviz.InferenceData":
        """The posterior as `arviz.InferenceData`."""
        from .arviz_export import to_inference_data

        return to_inference_data(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to one netCDF file that ArviZ opens and `funcal.load` reads back.

        The file appears whole or not at all, and replaces one of the same name.
        """
        from .storage import save_calibration

        return save_calibration(self, path)


def controls_of(problem: CalibrationProblem, new_controls: Any) -> FloatArray:
    """New controls, however given, as (q, dx).

    Raises
    ------
    ProblemError
        If a control column is missing or a value is not a finite number.
    """
    names = problem.roles.control
    if isinstance(new_controls, pd.DataFrame | str | os.PathLike):
        return _controls_of_table(new_controls, names)
    values = np.asarray(new_controls, dtype=np.float64)
    if values.ndim <= 1:
        values = values.reshape(-1, 1) if len(names) == 1 else values.reshape(1, -1)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise ProblemError(
            f"new controls need {len(names)} column{'s' if len(names) > 1 else ''} ({', '.join(names)}); "
            f"got an array of shape {np.shape(new_controls)}."
        )
    if not np.all(np.isfinite(values)):
        row = int(np.flatnonzero(~np.all(np.isfinite(values), axis=1))[0])
        raise ProblemError(f"new controls must be finite numbers; row {row + 1} is {values[row].tolist()}.")
    return values


def _controls_of_table(source: TableSource, names: tuple[str, ...]) -> FloatArray:
    table = open_table(source, "the table of new controls")
    problems = [table.missing_column(name, "control") for name in names if name not in table.frame.columns]
    if not problems:
        columns = {name: numeric_column(table, name, problems) for name in names}
    if not problems:
        for name, values in columns.items():
            rows = np.flatnonzero(~np.isfinite(values))
            if len(rows):
                problems.append(
                    f"{table.place(int(rows[0]), name)}: a finite control value is expected; found nothing usable."
                )
    if not problems and table.num_rows == 0:
        problems.append(f"{table.name} has no rows; one row per new control vector is expected.")
    if problems:
        raise ProblemError(problems[0])
    return np.column_stack([columns[name] for name in names])

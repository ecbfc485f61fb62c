"""Range standardisation for the calibration graph (Section 6): every column divided by its range.

Controls and responses by the range of sites and runs together, calibration vectors by that of the runs. A constant
column keeps its values. Only the matching uses these units; inference has its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from funcal.problem import CalibrationProblem, FloatArray

__all__ = ["StandardisedPoints", "standardise"]


@dataclass(frozen=True)
class StandardisedPoints:
    """The points of both tables in units of their ranges.

    Attributes
    ----------
    x_sites, y_sites
        (m, dx) and (m,).
    x_runs, calibration, y_runs
        (n, dx), (n, dθ + dψ) and (n,).
    response_range
        One standardised unit of response, in the user's units.
    """

    x_sites: FloatArray
    y_sites: FloatArray
    x_runs: FloatArray
    calibration: FloatArray
    y_runs: FloatArray
    response_range: float


def _ranges(values: FloatArray) -> FloatArray:
    width = np.ptp(values, axis=0)
    return np.where(width > 0.0, width, 1.0)


def standardise(problem: CalibrationProblem) -> StandardisedPoints:
    """Divide every column by its range."""
    physical, runs = problem.physical, problem.runs
    control = _ranges(np.vstack([physical.control, runs.control]))
    response = _ranges(np.concatenate([physical.response, runs.response])[:, None])[0]
    vectors = runs.calibration
    return StandardisedPoints(
        x_sites=physical.control / control,
        y_sites=physical.response / response,
        x_runs=runs.control / control,
        calibration=vectors / _ranges(vectors),
        y_runs=runs.response / response,
        response_range=float(response),
    )

"""Range standardisation for the matching (Section 6; `docs/decisions/matching-standardisation.md`).

Controls and responses are divided by their range over runs *and* sites, calibration variables by their range over the
runs. A constant column is left as it is. The standardised values serve to find anchors only; everything else works in
the user's units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..problem import CalibrationProblem, FloatArray

__all__ = ["StandardisedProblem", "standardise"]


@dataclass(frozen=True)
class StandardisedProblem:
    """A calibration problem as the calibration graph sees it.

    Attributes
    ----------
    x_sites, y_sites
        (m, dx) controls and (m,) responses of the sites.
    x_runs, t_runs, y_runs
        (n, dx) controls, (n, dtheta + dpsi) calibration vectors and (n,) responses of the runs.
    response_range
        What responses were divided by.
    """

    x_sites: FloatArray
    y_sites: FloatArray
    x_runs: FloatArray
    t_runs: FloatArray
    y_runs: FloatArray
    response_range: float


def _ranges(values: FloatArray) -> FloatArray:
    """Range of each column, 1 where it is constant."""
    spread = np.ptp(values, axis=0)
    return np.where(spread > 0, spread, 1.0)


def standardise(problem: CalibrationProblem) -> StandardisedProblem:
    """Divide every variable by its range."""
    sites, runs = problem.physical, problem.runs
    x_range = _ranges(np.vstack([sites.control, runs.control]))
    y_range = float(_ranges(np.concatenate([sites.response, runs.response])[:, None])[0])
    calibration = runs.calibration
    t_range = _ranges(calibration)
    return StandardisedProblem(
        x_sites=sites.control / x_range,
        y_sites=sites.response / y_range,
        x_runs=runs.control / x_range,
        t_runs=np.ascontiguousarray(calibration / t_range),
        y_runs=runs.response / y_range,
        response_range=y_range,
    )

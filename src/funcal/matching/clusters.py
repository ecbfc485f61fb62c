"""Which site each run belongs to: the nearest one (Eq. cluster_rule).

Distances are Euclidean in standardised controls. A run between two sites goes to the one with the smaller index,
also when rounding would tip the balance.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from ..errors import ProblemError
from ..problem import CalibrationProblem, FloatArray, IntArray, site_in_words
from .standardise import standardise

__all__ = ["empty_sites", "nearest_sites", "require_runs_everywhere"]

TIE_TOLERANCE = 1e-9
"""Relative difference of two distances that counts as a tie."""

ROWS_AT_A_TIME = 4096
"""Runs per block, so that memory does not grow with n · m."""


def nearest_sites(x_sites: FloatArray, x_runs: FloatArray) -> IntArray:
    """(n,) index of the nearest site of each run; ties go to the smallest index (Eq. cluster_rule)."""
    nearest = np.empty(len(x_runs), dtype=np.int64)
    for first in range(0, len(x_runs), ROWS_AT_A_TIME):
        distance = cdist(x_runs[first : first + ROWS_AT_A_TIME], x_sites)
        least = distance.min(axis=1, keepdims=True)
        tied = distance <= least * (1.0 + TIE_TOLERANCE)
        nearest[first : first + ROWS_AT_A_TIME] = np.argmax(tied, axis=1)
    return nearest


def empty_sites(problem: CalibrationProblem) -> IntArray:
    """Indices of the sites that no run is nearest to."""
    scaled = standardise(problem)
    members = np.bincount(nearest_sites(scaled.x_sites, scaled.x_runs), minlength=problem.num_sites)
    return np.flatnonzero(members == 0).astype(np.int64)


def require_runs_everywhere(problem: CalibrationProblem, cluster: IntArray) -> None:
    """Raise if a site has no run.

    Raises
    ------
    ProblemError
        Naming the sites by their control values.
    """
    members = np.bincount(cluster, minlength=problem.num_sites)
    empty = np.flatnonzero(members == 0)
    if not len(empty):
        return
    shown = "; ".join(f"site {site + 1} ({site_in_words(problem, int(site))})" for site in empty[:3])
    more = f" and {len(empty) - 3} more" if len(empty) > 3 else ""
    verb = "has" if len(empty) == 1 else "have"
    raise ProblemError(
        f"Every site needs a computer run that is nearer to it than to any other site, but {shown}{more} {verb} none; "
        'add runs there, leave the site out, or go on without an anchor for it (empty_sites="skip", '
        "--empty-sites skip)."
    )

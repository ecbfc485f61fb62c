"""Clusters: every run belongs to its nearest site (Eq. (cluster_rule))."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from funcal.problem import CalibrationProblem, FloatArray, IntArray

from .standardise import standardise

__all__ = ["assign_clusters", "empty_sites"]


def assign_clusters(x_sites: FloatArray, x_runs: FloatArray) -> IntArray:
    """Index of the nearest site of each run; of several equally near, the one with the smallest index.

    Parameters
    ----------
    x_sites
        (m, dx) standardised controls of the sites.
    x_runs
        (n, dx) standardised controls of the runs.

    Returns
    -------
    (n,)
    """
    distance = cdist(x_runs, x_sites, "sqeuclidean")
    nearest = distance.min(axis=1)
    # Ties by symmetry come out of floating-point arithmetic with different last digits: compare with a tolerance.
    tied = distance <= nearest[:, None] + 1e-12 * (1.0 + nearest[:, None])
    first: IntArray = np.argmax(tied, axis=1).astype(np.int64)
    return first


def empty_sites(problem: CalibrationProblem) -> IntArray:
    """Sites to which no run belongs, in increasing order."""
    points = standardise(problem)
    cluster = assign_clusters(points.x_sites, points.x_runs)
    return np.setdiff1d(np.arange(problem.num_sites), cluster)

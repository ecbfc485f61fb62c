"""Weights of the calibration graph (Eqs. edgewt and Genweight), printed or corrected.

Printed: an edge carries the misfits |y^s - y^p| of both ends, so that a tree charges a run once for each of its edges
and the path never charges the last cluster. Corrected, the default: each chosen run's misfit is charged exactly once,
as a vertex cost, and edges carry only λ times the distance of calibration vectors, or M times the distance of controls
if that exceeds r (`docs/decisions/matching-weights.md`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compiled import kernel
from ..problem import FloatArray, IntArray

__all__ = ["CalibrationGraph", "calibration_graph", "heaviest_near_and_least_far", "misfits"]


@dataclass(frozen=True)
class CalibrationGraph:
    """What the spanning-tree solver is given: (n, n) weights, and (n,) vertex costs where they are kept apart."""

    weights: FloatArray
    vertex_costs: FloatArray | None


def misfits(y_runs: FloatArray, y_sites: FloatArray, cluster: IntArray) -> FloatArray:
    """|y^s_u - y^p_i| of each run u with the site i of its cluster."""
    return np.asarray(np.abs(y_runs - y_sites[..., cluster]), dtype=np.float64)


@kernel
def _distance(a: FloatArray, i: int, j: int) -> float:
    total = 0.0
    for d in range(a.shape[1]):
        total += (a[i, d] - a[j, d]) ** 2
    return float(np.sqrt(total))


@kernel
def _edge_terms(
    x_near: FloatArray,
    x: FloatArray,
    calibration: FloatArray,
    cluster: IntArray,
    misfit: FloatArray,
    lambda_: float,
    radius: float,
    penalty: float,
    weights: FloatArray,
) -> None:
    """Eq. Genweight for every pair of runs in different clusters, inf inside clusters."""
    n = len(cluster)
    for u in range(n):
        weights[u, u] = np.inf
        for v in range(u + 1, n):
            if cluster[u] == cluster[v]:
                w = np.inf
            elif _distance(x_near, u, v) <= radius:
                w = misfit[u] + misfit[v] + lambda_ * _distance(calibration, u, v)
            else:
                w = misfit[u] + misfit[v] + penalty * _distance(x, u, v)
            weights[u, v] = w
            weights[v, u] = w


@kernel
def heaviest_near_and_least_far(
    x_near: FloatArray,
    x: FloatArray,
    calibration: FloatArray,
    cluster: IntArray,
    misfit: FloatArray,
    lambda_: float,
    radius: float,
) -> tuple[float, float]:
    """Heaviest near edge (with the misfits of its ends), and least distance in ``x`` of a far edge (inf if none)."""
    heaviest, least = 0.0, np.inf
    for u in range(len(cluster)):
        for v in range(u + 1, len(cluster)):
            if cluster[u] == cluster[v]:
                continue
            if _distance(x_near, u, v) <= radius:
                heaviest = max(heaviest, misfit[u] + misfit[v] + lambda_ * _distance(calibration, u, v))
            else:
                least = min(least, _distance(x, u, v))
    return heaviest, least


def calibration_graph(
    x_near: FloatArray,
    x: FloatArray,
    calibration: FloatArray,
    cluster: IntArray,
    misfit: FloatArray,
    *,
    lambda_: float,
    radius: float,
    penalty: float,
    printed: bool,
) -> CalibrationGraph:
    """The undirected calibration graph (Section 4).

    Parameters
    ----------
    x_near
        (n, dx) controls on the scale on which r is given.
    x
        (n, dx) standardised controls, whose distances M multiplies.
    calibration
        (n, d) standardised calibration vectors.
    cluster, misfit
        (n,) site and standardised misfit of each run.
    lambda_, radius, penalty
        λ, r and M.
    printed
        Whether edges carry the misfits of their ends, as printed, or runs carry their own.
    """
    weights = np.empty((len(cluster), len(cluster)))
    on_edges = misfit if printed else np.zeros(len(cluster))
    _edge_terms(
        np.ascontiguousarray(x_near),
        np.ascontiguousarray(x),
        np.ascontiguousarray(calibration),
        cluster,
        on_edges,
        lambda_,
        radius,
        penalty,
        weights,
    )
    return CalibrationGraph(weights, None if printed else misfit)

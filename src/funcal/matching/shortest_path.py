"""Anchors for one control: the shortest path through consecutive clusters (Section 3.1).

Every edge goes from one cluster to the next, so that one pass over the clusters in order of their sites finds the path
in O(|E|) (Bellman 1958; Lawler 1976). The last cluster's misfit, which Eq. (edgewt) leaves out because no edge with a
weight leaves it, is charged under the ``"corrected"`` rule and free under the ``"printed"`` one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from funcal.problem import FloatArray, IntArray

from .edge_weights import WeightRule

__all__ = ["ShortestPath", "shortest_path", "shortest_paths"]


@dataclass(frozen=True)
class ShortestPath:
    """The runs of the path, one per non-empty cluster in order of the sites, and its cost."""

    runs: IntArray
    cost: float


def shortest_path(
    misfit: FloatArray,
    calibration: FloatArray,
    clusters: IntArray,
    lambda_: float,
    rule: WeightRule = "corrected",
) -> ShortestPath:
    """The cheapest choice of one run per cluster.

    Parameters
    ----------
    misfit
        (n,) |y^s − y^p| of each run against its site, standardised.
    calibration
        (n, dθ + dψ) standardised calibration vectors.
    clusters
        (n,) index of each run's site; sites are numbered in increasing order of the control.
    lambda_
        λ.
    rule
        ``"corrected"`` or ``"printed"``.
    """
    runs, cost = shortest_paths(misfit[None, :], calibration, clusters, np.array([lambda_]), rule)
    return ShortestPath(runs[0], float(cost[0]))


def shortest_paths(
    misfits: FloatArray,
    calibration: FloatArray,
    clusters: IntArray,
    lambdas: FloatArray,
    rule: WeightRule = "corrected",
) -> tuple[IntArray, FloatArray]:
    """Shortest paths under many misfits and λ at once; distances are computed once for all of them.

    Parameters
    ----------
    misfits
        (B, n).
    lambdas
        (B,).

    Returns
    -------
    runs
        (B, k) for the k non-empty clusters.
    cost
        (B,)
    """
    order = np.argsort(clusters, kind="stable").astype(np.int64)
    labels, start = np.unique(clusters[order], return_index=True)
    bounds = np.append(start, len(order)).astype(np.int64)
    charged = np.ascontiguousarray(misfits[:, order], dtype=np.float64)
    if rule == "printed":
        charged[:, bounds[len(labels) - 1] :] = 0.0
    vectors = np.ascontiguousarray(calibration[order], dtype=np.float64)
    rows, cost = _relax_layers(charged, vectors, bounds, np.ascontiguousarray(lambdas, dtype=np.float64))
    return order[rows], cost


@njit(cache=True, nogil=True)
def _relax_layers(  # type: ignore[no-untyped-def]
    charged, vectors, bounds, lambdas
):
    """Distance labels layer by layer, then the paths read backwards; the first of equals wins."""
    num_batches, num_runs = charged.shape
    num_layers = len(bounds) - 1
    label = np.empty((num_batches, num_runs))
    previous = np.full((num_batches, num_runs), -1, np.int64)
    for v in range(bounds[0], bounds[1]):
        for b in range(num_batches):
            label[b, v] = charged[b, v]
    for layer in range(1, num_layers):
        for v in range(bounds[layer], bounds[layer + 1]):
            for b in range(num_batches):
                label[b, v] = np.inf
            for u in range(bounds[layer - 1], bounds[layer]):
                square = 0.0
                for k in range(vectors.shape[1]):
                    square += (vectors[u, k] - vectors[v, k]) ** 2
                distance = np.sqrt(square)
                for b in range(num_batches):
                    through = label[b, u] + lambdas[b] * distance
                    if through < label[b, v]:
                        label[b, v] = through
                        previous[b, v] = u
            for b in range(num_batches):
                label[b, v] += charged[b, v]
    paths = np.empty((num_batches, num_layers), np.int64)
    cost = np.empty(num_batches)
    for b in range(num_batches):
        last = bounds[num_layers - 1]
        for v in range(bounds[num_layers - 1], bounds[num_layers]):
            if label[b, v] < label[b, last]:
                last = v
        cost[b] = label[b, last]
        for layer in range(num_layers - 1, -1, -1):
            paths[b, layer] = last
            last = previous[b, last]
    return paths, cost

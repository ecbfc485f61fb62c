"""Anchors along one control: the shortest path through the calibration digraph (Section 3.1).

Every path visits the clusters in the order of their sites and picks one run in each, so distance labels are updated
layer by layer in O(|E|) (Bellman 1958). Edge weights are computed as they are needed and never stored; a batch of
responses shares the distances of each layer.

References
----------
R. Bellman (1958). On a routing problem. Quarterly of Applied Mathematics 16, 87-90.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compiled import kernel
from ..problem import FloatArray, IntArray

__all__ = ["ShortestPaths", "shortest_paths"]


@dataclass(frozen=True)
class ShortestPaths:
    """One path for each of B sets of misfits.

    Attributes
    ----------
    vertices
        (B, k) the run chosen in each non-empty cluster, clusters in increasing order.
    cost
        (B,) lengths of the paths.
    """

    vertices: IntArray
    cost: FloatArray


@kernel
def _relax_layers(
    calibration: FloatArray, order: IntArray, start: IntArray, misfit: FloatArray, lambda_: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Distance labels and predecessors, layer by layer; then the paths, read backwards."""
    num_sets, n = misfit.shape
    num_layers = len(start) - 1
    label = np.empty((num_sets, n))
    before = np.empty((num_sets, n), dtype=np.int64)
    widest = 0
    for i in range(num_layers):
        widest = max(widest, start[i + 1] - start[i])
    apart = np.empty(widest)
    for at in range(start[0], start[1]):
        for b in range(num_sets):
            label[b, at] = misfit[b, order[at]]
    for i in range(1, num_layers):
        first, last = start[i - 1], start[i]
        for at in range(last, start[i + 1]):
            v = order[at]
            for h in range(first, last):
                total = 0.0
                for d in range(calibration.shape[1]):
                    total += (calibration[order[h], d] - calibration[v, d]) ** 2
                apart[h - first] = np.sqrt(total)
            for b in range(num_sets):
                least, which = np.inf, first
                for h in range(first, last):
                    value = label[b, h] + lambda_[b] * apart[h - first]
                    if value < least:
                        least, which = value, h
                label[b, at] = least + misfit[b, v]
                before[b, at] = which
    vertices = np.empty((num_sets, num_layers), dtype=np.int64)
    cost = np.empty(num_sets)
    for b in range(num_sets):
        at = start[num_layers - 1]
        for h in range(at, n):
            if label[b, h] < label[b, at]:
                at = h
        cost[b] = label[b, at]
        for i in range(num_layers - 1, -1, -1):
            vertices[b, i] = order[at]
            at = before[b, at]
    return vertices, cost


def shortest_paths(
    calibration: FloatArray,
    cluster: IntArray,
    misfit: FloatArray,
    lambda_: FloatArray | float,
    *,
    printed: bool = False,
) -> ShortestPaths:
    """Shortest paths through the clusters for one or many sets of misfits (Eq. edgewt).

    Parameters
    ----------
    calibration
        (n, d) standardised calibration vectors; the norm takes all of θ and ψ.
    cluster
        (n,) site of each run, sites in increasing order of the control.
    misfit
        (B, n) standardised misfits.
    lambda_
        λ, one for all or (B,).
    printed
        Whether the last cluster's misfit is left out, as the paper's zero-weight arcs to the end imply.
    """
    order = np.argsort(cluster, kind="stable").astype(np.int64)
    sizes = np.bincount(cluster)
    start = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
    charged = np.array(misfit, dtype=np.float64, ndmin=2)
    if printed:
        charged[:, cluster == cluster.max()] = 0.0
    lambdas = np.broadcast_to(np.asarray(lambda_, dtype=np.float64), len(charged)).copy()
    vertices, cost = _relax_layers(
        np.ascontiguousarray(calibration), order, start, np.ascontiguousarray(charged), lambdas
    )
    return ShortestPaths(vertices, cost)

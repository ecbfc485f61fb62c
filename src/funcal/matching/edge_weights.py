"""Weights of the calibration graph: misfit of the responses and distance of the calibration vectors.

``"printed"`` is Eq. (Genweight) as it stands: the misfit of a run is part of every edge at it, so that a run with
three neighbours pays for its misfit three times and one with a single neighbour once. ``"corrected"`` charges each
chosen run's misfit once, as a vertex cost, and leaves λ‖·‖ (or M‖·‖ beyond r) on the edges, which is what the shortest
path does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.distance import cdist

from funcal.problem import FloatArray, IntArray

from .radius_and_penalty import default_penalty

__all__ = ["GraphWeights", "WeightRule", "graph_weights"]

WeightRule = Literal["corrected", "printed"]


@dataclass(frozen=True)
class GraphWeights:
    """Edge weights (n, n) with ``inf`` inside clusters, vertex costs (n,) or None, and the M that was used."""

    edges: FloatArray
    vertices: FloatArray | None
    penalty: float


def graph_weights(
    *,
    misfit: FloatArray,
    calibration: FloatArray,
    clusters: IntArray,
    x: FloatArray,
    x_radius: FloatArray,
    lambda_: float,
    radius: float,
    penalty: float | None,
    rule: WeightRule,
) -> GraphWeights:
    """Build the weights.

    Parameters
    ----------
    misfit
        (n,) |y^s − y^p| of each run against its site, standardised.
    calibration, clusters
        (n, dθ + dψ) standardised calibration vectors and (n,) site of each run.
    x, x_radius
        (n, dx) standardised controls, and the controls in the units of `radius`.
    lambda_, radius, penalty
        λ, r and M; M is chosen large enough where it is None.
    rule
        ``"corrected"`` or ``"printed"``.
    """
    edges = cdist(calibration, calibration)
    edges *= lambda_
    near = cdist(x_radius, x_radius) <= radius
    same = clusters[:, None] == clusters[None, :]
    if penalty is None:
        penalty = default_penalty(_rest_of_tree(edges, near, same, misfit, clusters, rule), radius)
    far = ~near & ~same
    distance = cdist(x, x)
    edges[far] = penalty * distance[far]
    if rule == "printed":
        edges += misfit[:, None]
        edges += misfit[None, :]
    edges[same] = np.inf
    return GraphWeights(edges, misfit if rule == "corrected" else None, penalty)


def _rest_of_tree(
    smoothness: FloatArray,
    near: np.ndarray,
    same: np.ndarray,
    misfit: FloatArray,
    clusters: IntArray,
    rule: WeightRule,
) -> float:
    """Upper bound on what a tree costs without its penalties."""
    labels = np.unique(clusters)
    usable = near & ~same
    longest = float(smoothness[usable].max()) if np.any(usable) else 0.0
    worst = np.array([misfit[clusters == label].max() for label in labels])
    if rule == "corrected":
        return float(worst.sum()) + (len(labels) - 1) * longest
    return (len(labels) - 1) * (longest + 2.0 * float(worst.max()))

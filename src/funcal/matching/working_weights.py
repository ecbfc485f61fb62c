"""Weights on a grid: the arithmetic of bounds made exact.

A penalty of 1e5 leaves the digits that decide between anchors in the tenth place, where the rounding errors of a
long dual ascent live as well. Here every weight is rounded *down* to a multiple of a power of two chosen so that all
sums and differences below the cost of the best known tree are exact in float64. What is then proved about the
rounded graph holds for the caller's weights to within 2m quanta, about 1e-15 of the cost; the returned cost itself is
summed accurately from the caller's weights. Integer weights keep the quantum 1, so that a bound may be rounded up to
the next integer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel
from .clustered_graph import ClusteredGraph

__all__ = ["Quantum", "non_penalty_part", "put_on_grid", "shift_to_zero", "tree_cost"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

EXACT_BITS = 52
"""Sums of multiples of q below 2^52 q are exact in float64 (a 53-bit significand, one bit to spare)."""

LEAST_EXPONENT = -1022
"""Of the smallest normal float64; weights below it count as zero."""

RELATIVE_TOLERANCE = 1e-10
"""A tree counts as better only if it saves more than this share of the best tree's non-penalty part."""

PENALTY_JUMP = 1e3
"""A tree's edges this many times heavier than the next lighter one are taken for penalties."""


@dataclass(frozen=True)
class Quantum:
    """The grid: its step, and how much cheaper a tree must be to count as better."""

    step: float
    slack: float

    def round_up(self, bound: float) -> float:
        """The least multiple of the step that is no less than ``bound`` (inf stays inf)."""
        return bound if math.isinf(bound) else math.ceil(bound / self.step) * self.step


@kernel
def _range_of_weights(weight: Floats, alive: NDArray[np.bool_]) -> tuple[float, float, bool]:
    """Least and greatest weight of an edge, and whether all are integers."""
    least, greatest, whole = np.inf, -np.inf, True
    for i in range(len(weight)):
        for j in range(i + 1, len(weight)):
            if alive[i, j]:
                w = weight[i, j]
                least = min(least, w)
                greatest = max(greatest, w)
                if whole and w != np.floor(w):
                    whole = False
    return least, greatest, whole


@kernel
def _shift(weight: Floats, alive: NDArray[np.bool_], shift: float, missing: float) -> None:
    for i in range(len(weight)):
        for j in range(len(weight)):
            weight[i, j] = weight[i, j] - shift if alive[i, j] else missing


@kernel
def _round_down(weight: Floats, step: float, ceiling: float) -> None:
    for i in range(len(weight)):
        for j in range(len(weight)):
            w = weight[i, j]
            weight[i, j] = ceiling if w > ceiling else np.floor(w / step) * step


def shift_to_zero(graph: ClusteredGraph) -> tuple[float, float, bool]:
    """Make all weights non-negative, in place: every tree has m - 1 edges and one vertex of each cluster.

    Missing edges get a finite weight dearer than any tree, so that the heuristic can walk through them.

    Returns
    -------
    tuple
        What to add to the cost of a shifted tree, the weight of a missing edge, and whether all weights and
        costs are integers.
    """
    m = graph.num_clusters
    least, greatest, whole = _range_of_weights(graph.weight, graph.alive)
    if not math.isfinite(least):
        least = greatest = 0.0
    shift = min(least, 0.0)
    whole = whole and bool(np.all(graph.cost == np.floor(graph.cost)))
    floor = np.minimum.reduceat(graph.cost, graph.start[:-1])
    graph.cost[:] -= np.repeat(floor, graph.sizes)
    missing = 2.0 * (
        m * (greatest - shift) + math.fsum(np.maximum.reduceat(graph.cost, graph.start[:-1])) + 1.0
    )
    _shift(graph.weight, graph.alive, shift, missing)
    return (m - 1) * shift + math.fsum(floor), missing, whole


def put_on_grid(graph: ClusteredGraph, upper: float, whole: bool, tree_weights: Floats) -> Quantum:
    """Round weights and costs down to the grid, in place; drop edges dearer than the best tree, ``upper``."""
    if upper <= 0.0:
        return Quantum(1.0, 0.0)  # nothing is cheaper than nothing, and no search will follow
    exponent = max(math.frexp(upper)[1] - EXACT_BITS + 1, LEAST_EXPONENT)
    step = 1.0 if whole and upper < 2.0 ** (EXACT_BITS - 1) else math.ldexp(1.0, exponent)
    ceiling = 2.0 * math.ceil(upper / step) * step + step
    graph.alive[graph.weight > upper] = False
    _round_down(graph.weight, step, ceiling)
    graph.cost[:] = np.floor(np.minimum(graph.cost, ceiling) / step) * step
    slack = 0.0 if whole else math.floor(RELATIVE_TOLERANCE * non_penalty_part(tree_weights) / step) * step
    return Quantum(step, slack)


def non_penalty_part(tree_weights: Floats) -> float:
    """Sum of the weights below the first jump by a factor of a thousand: what is not M · distance."""
    ordered = np.sort(np.abs(tree_weights))
    ordered = ordered[ordered > 0]
    jumps = np.flatnonzero(ordered[1:] > PENALTY_JUMP * ordered[:-1])
    return math.fsum(ordered[: jumps[0] + 1] if len(jumps) else ordered)


def tree_cost(weights: Floats, vertex_costs: Floats | None, vertices: Integers, edges: Integers) -> float:
    """Cost of a tree in the caller's weights, accurately summed."""
    terms = [float(weights[u, v]) for u, v in edges]
    if vertex_costs is not None:
        terms.extend(float(vertex_costs[v]) for v in vertices)
    return math.fsum(terms)

"""Objective of the paper's integer programmes, without the digits that penalties would cost.

A far edge weighs M times its distance; if every better tree has exactly t of them (as many as are needed to join the
groups of clusters that near edges join, while one more would exceed the best known tree), the constraint "t heavy
arcs" is valid and the least heavy weight can be taken off all of them. The integer programme then sees numbers of one
magnitude, where HiGHS's absolute tolerances mean something.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arc_lists import ArcLists
from .clustered_graph import ClusteredGraph, unjoined_clusters
from .incumbent import Incumbent
from .working_weights import PENALTY_JUMP

__all__ = ["IntegerObjective", "integer_objective"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class IntegerObjective:
    """Arc and root costs as the integer programme sees them: ``true = scale * seen + offset``.

    Attributes
    ----------
    arc_cost, root_cost
        Objective of the arcs and of the root vertices.
    heavy
        Slots of the heavy arcs, of which a better tree has exactly ``num_heavy``; may be empty.
    num_heavy
        How many heavy arcs a better tree has.
    base
        What was taken off the cost of each heavy arc.
    scale
        The unit of the objective in working weights.
    """

    arc_cost: Floats
    root_cost: Floats
    heavy: Integers
    num_heavy: int
    base: float
    scale: float

    @property
    def offset(self) -> float:
        """What was taken off the cost of every better tree."""
        return self.num_heavy * self.base

    def working(self, seen: float) -> float:
        """An objective value of the integer programme in working weights."""
        return self.scale * seen + self.offset

    def seen(self, working: float) -> float:
        """A working cost as the integer programme sees it."""
        return (working - self.offset) / self.scale


def _heavy_threshold(weights: Floats) -> float:
    """The weight above which edges are penalties: the largest jump by a factor of a thousand or more, else inf."""
    ordered = np.unique(weights[weights > 0])
    if len(ordered) < 2:
        return np.inf
    jumps = ordered[1:] / ordered[:-1]
    at = int(np.argmax(jumps))
    return float(ordered[at]) if jumps[at] >= PENALTY_JUMP else np.inf


def integer_objective(graph: ClusteredGraph, arcs: ArcLists, incumbent: Incumbent) -> IntegerObjective:
    """Objective of the graph's arcs, conditioned as the module docstring says."""
    arc_weight = graph.weight[arcs.head, arcs.tail]
    threshold = _heavy_threshold(arc_weight)
    heavy = np.flatnonzero(arc_weight > threshold)
    num_heavy, base = 0, 0.0
    if len(heavy):
        light = ClusteredGraph(
            graph.weight, graph.alive & (graph.weight <= threshold), graph.cost, graph.start, graph.vertex
        )
        num_heavy = len(unjoined_clusters(light)) - 1
        base = float(np.min(arc_weight[heavy]))
        if (num_heavy + 1) * base < incumbent.cutoff:
            heavy, num_heavy, base = np.empty(0, dtype=np.int64), 0, 0.0
    cost = arcs.cost.copy()
    cost[heavy] -= base
    # The best known tree weighs ten units, whatever the units of the caller.
    scale = max((incumbent.value - num_heavy * base) / 10.0, np.finfo(np.float64).tiny)
    return IntegerObjective(cost / scale, graph.cost / scale, heavy, num_heavy, base, scale)

"""Objective of the programmes on HiGHS, without the digits that penalties would cost.

A far edge weighs M times its distance. Sort the weights in play: where two neighbours lie farther apart than the gap
between the best known tree and the spanning tree of the clusters' lightest edges, every better tree has exactly as
many edges above as that spanning tree, since one more would cost the whole difference. The weights thus fall into
groups of which a better tree holds known numbers; these become constraints, and the least weight of each group is
taken off all its members. HiGHS then sees numbers of one magnitude, where its absolute tolerances mean something.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arc_lists import ArcLists
from .clustered_graph import ClusteredGraph
from .incumbent import Incumbent
from .reductions import cluster_bound, lightest_tree

__all__ = ["IntegerObjective", "WeightGroup", "integer_objective"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class WeightGroup:
    """Edges of weight ``least`` to ``greatest``, of which every better tree has exactly ``count``."""

    least: float
    greatest: float
    count: int

    def slots(self, weights: Floats) -> Integers:
        """Which of the weights belong to the group."""
        return np.flatnonzero((weights >= self.least) & (weights <= self.greatest))


@dataclass(frozen=True)
class IntegerObjective:
    """Arc and root costs as HiGHS sees them: ``working = scale * seen + offset``.

    Attributes
    ----------
    arc_cost, root_cost
        Objective of the arcs and of the root vertices.
    groups
        Groups of heavy edges; their least weight is taken off.
    scale
        The unit of the objective in working weights.
    """

    arc_cost: Floats
    root_cost: Floats
    groups: tuple[WeightGroup, ...]
    scale: float

    @property
    def offset(self) -> float:
        """What was taken off the cost of every better tree."""
        return sum(group.count * group.least for group in self.groups)

    def working(self, seen: float) -> float:
        """An objective value of HiGHS in working weights."""
        return self.scale * seen + self.offset


def _weight_groups(graph: ClusteredGraph, weights: Floats, incumbent: Incumbent) -> tuple[WeightGroup, ...]:
    """Groups of weights above the first gap that is too wide for a better tree to cross."""
    spare = max(incumbent.cutoff - cluster_bound(graph), 0.0)
    ordered = np.unique(weights)
    if len(ordered) < 2:
        return ()
    first = np.flatnonzero(np.diff(ordered) > spare) + 1
    tree = lightest_tree(graph)
    ends = [*(first[1:] - 1), len(ordered) - 1]
    return tuple(
        WeightGroup(float(low), float(high), int(np.count_nonzero((tree >= low) & (tree <= high))))
        for low, high in zip(ordered[first], ordered[ends], strict=False)
    )


def integer_objective(graph: ClusteredGraph, arcs: ArcLists, incumbent: Incumbent) -> IntegerObjective:
    """Objective of the graph's arcs, conditioned as the module docstring says."""
    weights = graph.weight[arcs.head, arcs.tail]
    groups = _weight_groups(graph, weights, incumbent)
    cost = arcs.cost.copy()
    for group in groups:
        cost[group.slots(weights)] -= group.least
    offset = sum(group.count * group.least for group in groups)
    # The best known tree weighs ten units, whatever the units of the caller.
    scale = max((incumbent.value - offset) / 10.0, np.finfo(np.float64).tiny)
    return IntegerObjective(cost / scale, graph.cost / scale, groups, scale)

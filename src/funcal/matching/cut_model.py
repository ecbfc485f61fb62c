"""The directed cluster subpacking formulation (Appendix C, DCSUB) as a HiGHS model that grows by cuts.

Columns are b (one per vertex) and q (one per arc that does not enter the root cluster: by (DCSUB1), (DCSUB3) and
(DCSUB5) those are zero). Rows are (DCSUB1) and (DCSUB5); (DCSUB3) is their sum, (DCSUB2) follows from (DCSUB4), and
(DCSUB4) is added set by set in its equivalent form as a cut (see `cut_separation`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .arc_lists import ArcLists
from .clustered_graph import ClusteredGraph
from .cut_separation import violated_sets
from .highs_model import HighsModel, Verdict
from .incumbent import Deadline

__all__ = ["CutModel"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class CutModel:
    """The relaxation with the cuts found so far.

    Parameters
    ----------
    graph, arcs
        The graph and its arcs.
    arc_cost, root_cost
        Objective of the arcs and of the vertices of the root cluster.
    """

    def __init__(self, graph: ClusteredGraph, arcs: ArcLists, arc_cost: Floats, root_cost: Floats) -> None:
        self.graph, self.arcs = graph, arcs
        self.root_cluster = int(np.argmin(graph.sizes))
        n, m = graph.num_vertices, graph.num_clusters
        cluster = graph.cluster
        self.in_root = cluster == self.root_cluster
        self.used = np.flatnonzero(~self.in_root[arcs.head])  # slots that have a column
        self.column = np.full(len(arcs.tail), -1, dtype=np.int64)
        self.column[self.used] = n + np.arange(len(self.used))
        self.sets: list[Flags] = []  # one (k, n) array for each call of `add_cuts`
        others = np.flatnonzero(~self.in_root)
        row_of = np.full(n, -1, dtype=np.int64)
        row_of[others] = m + np.arange(len(others))
        row = np.concatenate([cluster, row_of[others], row_of[arcs.head[self.used]]])
        col = np.concatenate([np.arange(n), others, self.column[self.used]])
        val = np.concatenate([np.ones(n), -np.ones(len(others)), np.ones(len(self.used))])
        right = np.concatenate([np.ones(m), np.zeros(len(others))])
        rows = csr_array((val, (row, col)), shape=(m + len(others), n + len(self.used)))
        cost = np.concatenate([np.where(self.in_root, root_cost, 0.0), arc_cost[self.used]])
        self.num_static = len(right)
        self.highs = HighsModel(cost, np.ones(len(cost)), rows, right, right)

    def add_cuts(self, sets: Flags) -> None:
        """Require an arc into each set, or the root in it (DCSUB4)."""
        tail, head = self.arcs.tail[self.used], self.arcs.head[self.used]
        crossing = sets[:, head] & ~sets[:, tail]
        rows = csr_array(np.concatenate([sets & self.in_root, crossing], axis=1).astype(np.float64))
        self.highs.add_rows(rows, np.ones(len(sets)), np.full(len(sets), np.inf))
        self.sets.append(sets)

    def fix_count(self, slots: Integers, count: int) -> None:
        """Require exactly so many of the arcs in ``slots``."""
        columns = self.column[slots]
        columns = columns[columns >= 0]
        places = (np.zeros(len(columns), dtype=np.int64), columns)
        row = csr_array((np.ones(len(columns)), places), shape=(1, self.highs.num_columns))
        self.highs.add_rows(row, np.full(1, float(count)), np.full(1, float(count)))
        self.num_static += 1

    def violated(self, values: Floats) -> Flags:
        """Sets whose cut the columns' values violate."""
        capacity = np.zeros(len(self.arcs.tail))
        capacity[self.used] = np.maximum(values[self.column[self.used]], 0.0)
        supply = np.where(self.in_root, np.maximum(values[: self.graph.num_vertices], 0.0), 0.0)
        return violated_sets(self.graph, self.arcs, self.root_cluster, supply, capacity)

    def relax(self, deadline: Deadline) -> Verdict:
        """Solve the linear relaxation, adding violated cuts until there are none."""
        while True:
            verdict = self.highs.solve(deadline)
            if verdict != "optimal":
                return verdict
            sets = self.violated(self.highs.values)
            if not len(sets):
                return verdict
            self.add_cuts(sets)

    def chosen_rows(self, values: Floats) -> Integers:
        """The vertex of each cluster with the largest b."""
        start = self.graph.start
        return np.array(
            [start[k] + np.argmax(values[start[k] : start[k + 1]]) for k in range(len(start) - 1)]
        )

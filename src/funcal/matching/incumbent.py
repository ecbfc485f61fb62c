"""The best tree so far and the time that is left, shared by the parts of one solve."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .clustered_graph import ClusteredGraph
from .tree_heuristic import alternate

__all__ = ["Deadline", "Incumbent"]

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Deadline:
    """A moment on the monotonic clock, or never."""

    began: float
    seconds: float | None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """A deadline so many seconds from now."""
        return cls(time.perf_counter(), seconds)

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        """Seconds that are left, at least zero."""
        return float("inf") if self.seconds is None else max(0.0, self.seconds - self.elapsed)

    @property
    def overdue(self) -> float:
        """Seconds since the deadline, negative before it."""
        return -float("inf") if self.seconds is None else self.elapsed - self.seconds

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return self.left <= 0.0


@dataclass
class Incumbent:
    """The best tree known, as one caller's vertex per cluster, and its cost in working weights.

    Attributes
    ----------
    value
        Cost of the best tree, or the weight of a missing edge while no tree is known.
    slack
        How much cheaper a tree must be to count as better.
    chosen
        (m,) vertices of the best tree in the caller's numbering; which edges join them is a spanning tree away.
    """

    value: float
    slack: float = 0.0
    chosen: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def cutoff(self) -> float:
        """Only trees below this cost are of interest."""
        return self.value - self.slack

    def offer(self, value: float, vertices: Integers) -> bool:
        """Take a tree if it is cheaper than the best one."""
        if value < self.value:
            self.value = value
            self.chosen = vertices.copy()
            return True
        return False

    def improve(self, graph: ClusteredGraph, rows: Integers) -> bool:
        """Alternate from the rows of ``graph`` and take the tree if it is cheaper."""
        chosen = rows.copy()
        value, _, _ = alternate(graph.weight, graph.cost, graph.start, chosen)
        return self.offer(value, graph.vertex[chosen])

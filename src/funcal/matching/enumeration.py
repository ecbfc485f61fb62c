"""Every choice of one vertex per cluster, with a spanning tree for each: the oracle for tiny graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel
from ..errors import MatchingError
from .reductions import cluster_bound
from .solver_task import SearchOutcome, SolverTask
from .tree_heuristic import minimum_spanning_tree, selection_cost

__all__ = ["enumerate_trees"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_CHOICES = 20_000_000
"""Choices that take about a minute; more is a mistake, not a request."""

CHOICES_PER_CALL = 50_000
"""Choices between two looks at the clock."""


@kernel
def _try_choices(
    weight: Floats, cost: Floats, start: Integers, digits: Integers, count: int, value: float, best: Integers
) -> float:
    """Walk through ``count`` choices from ``digits`` on, the first cluster changing fastest."""
    m = len(start) - 1
    for _ in range(count):
        parent, _order = minimum_spanning_tree(weight, digits)
        reached = selection_cost(weight, cost, digits, parent)
        if reached < value:
            value = reached
            best[:] = digits
        k = 0
        while k < m:
            digits[k] += 1
            if digits[k] < start[k + 1]:
                break
            digits[k] = start[k]
            k += 1
    return value


def enumerate_trees(task: SolverTask) -> SearchOutcome:
    """Try every choice of vertices.

    Raises
    ------
    MatchingError
        If there are too many.
    """
    graph, incumbent = task.graph, task.incumbent
    total = int(np.prod(graph.sizes.astype(object)))
    if total > MOST_CHOICES:
        raise MatchingError(
            f"method 'enumeration' is for at most {MOST_CHOICES} choices of one vertex per cluster, but this graph has "
            f"{total}; use method 'auto'."
        )
    digits = graph.start[:-1].copy()
    best = digits.copy()
    value, done = incumbent.value, 0
    while done < total:
        if task.deadline.passed:
            return SearchOutcome(cluster_bound(graph), done)
        count = min(CHOICES_PER_CALL, total - done)
        value = _try_choices(graph.weight, graph.cost, graph.start, digits, count, value, best)
        incumbent.offer(value, graph.vertex[best])
        done += count
        task.progress(done, total, "choices")
    return SearchOutcome(incumbent.value, total)

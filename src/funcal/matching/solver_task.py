"""What every spanning-tree algorithm is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .clustered_graph import ClusteredGraph
from .incumbent import Deadline, Incumbent
from .working_weights import Quantum

__all__ = ["Progress", "SearchOutcome", "SolverTask", "silent"]

Progress = Callable[[int, int, str], None]
"""``(done, total, label)``, as everywhere in funcal; total is 0 where nobody knows it."""


def silent(done: int, total: int, label: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class SolverTask:
    """A graph in working weights, the best tree known, and the means to better it.

    Attributes
    ----------
    graph
        Shifted to non-negative weights and, for the algorithms that use bounds, rounded to the grid.
    incumbent
        Where better trees are written.
    quantum
        The grid of the weights.
    rng
        Source of the perturbations of local search.
    deadline
        When to stop.
    progress
        Told now and then how far the search is.
    """

    graph: ClusteredGraph
    incumbent: Incumbent
    quantum: Quantum
    rng: np.random.Generator
    deadline: Deadline
    progress: Progress = silent


@dataclass(frozen=True)
class SearchOutcome:
    """What a search proved, in working weights: no tree is cheaper than ``bound``; in so many ``nodes``."""

    bound: float
    nodes: int

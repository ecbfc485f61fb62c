"""The result of one spanning-tree solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["SpanningTreeResult", "Status"]

Integers = NDArray[np.int64]
Status = Literal["optimal", "time_limit", "infeasible", "feasible"]


@dataclass(frozen=True)
class SpanningTreeResult:
    """A generalized spanning tree and what is proved about it.

    Attributes
    ----------
    vertices
        (m,) one vertex per cluster, in increasing order of cluster label; empty if there is no tree.
    edges
        (m - 1, 2) pairs of vertices.
    cost
        Sum of the weights of the edges and the costs of the vertices, accurately summed; ``inf`` if there is no tree.
    lower_bound
        No tree is cheaper. Equal to ``cost`` once optimality is proved, to within 1e-10 of the part of the cost that is
        not penalty.
    gap
        ``(cost - lower_bound) / |cost|``, 0 if optimal.
    status
        ``"optimal"``: proved. ``"time_limit"``: the best tree found in time. ``"infeasible"``: no tree exists, and
        ``message`` says why. ``"feasible"``: a heuristic's tree, nothing proved.
    seconds
        Wall time.
    method
        The algorithm that was used.
    nodes
        Sub-problems, choices or integer programmes that were solved.
    message
        A sentence for people where there is something to say.
    """

    vertices: Integers
    edges: Integers
    cost: float
    lower_bound: float
    gap: float
    status: Status
    seconds: float
    method: str
    nodes: int
    message: str = ""

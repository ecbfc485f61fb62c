"""Many spanning trees over the same clusters: perturbed data, other λ, cross-validation.

The first problem is solved from scratch and its tree starts all others, so the results depend neither on the number of
workers nor on the order in which they finish. Threads are the default: the compiled parts release the interpreter.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import MatchingError
from .spanning_tree import solve_spanning_tree
from .spanning_tree_result import SpanningTreeResult

__all__ = ["solve_many"]


def _solve(
    weights: ArrayLike, clusters: ArrayLike, vertex_costs: ArrayLike | None, options: dict[str, Any]
) -> SpanningTreeResult:
    """One solve, as a function that can be sent to another process."""
    return solve_spanning_tree(weights, clusters, vertex_costs=vertex_costs, **options)


def _members(batch: Any, ndim: int) -> list[Any]:
    """The arrays of a batch, or the one array that stands for all."""
    return [batch] if len(batch) and np.ndim(batch[0]) == ndim - 1 else list(batch)


def solve_many(
    weights: ArrayLike | Sequence[ArrayLike],
    clusters: ArrayLike,
    *,
    vertex_costs: ArrayLike | Sequence[ArrayLike] | None = None,
    executor: Executor | None = None,
    max_workers: int | None = None,
    **options: Any,
) -> list[SpanningTreeResult]:
    """Solve a batch of problems over the same clusters.

    Parameters
    ----------
    weights
        (B, n, n) or a sequence of (n, n) matrices, or one matrix for all.
    clusters
        (n,) labels.
    vertex_costs
        (B, n) or a sequence of (n,) vectors, or one vector for all, or None.
    executor
        Where to run: any `concurrent.futures.Executor`, of threads or processes; a pool of threads if not given.
    max_workers
        Size of that pool.
    **options
        As for `solve_spanning_tree`; ``time_limit`` is for each problem.

    Returns
    -------
    list of SpanningTreeResult
        In the order of the batch.

    Raises
    ------
    MatchingError
        If there are different numbers of matrices and vectors.
    """
    matrices = _members(weights, 2)
    vectors = None if vertex_costs is None else _members(vertex_costs, 1)
    sizes = {len(members) for members in (matrices, vectors) if members is not None and len(members) != 1}
    if len(sizes) > 1:
        raise MatchingError(
            f"A batch needs as many weight matrices as vectors of vertex costs, but it has {sorted(sizes)}; "
            "give one of them for all, or the same number of both."
        )
    count = sizes.pop() if sizes else 1
    matrices = matrices * count if len(matrices) == 1 else matrices
    costs: list[Any] = [None] if vectors is None else vectors
    costs = costs * count if len(costs) == 1 else costs
    if not count:
        return []
    first = _solve(matrices[0], clusters, costs[0], options)
    if len(first.vertices):
        options = {"warm_start": first.vertices, **options}
    rest = list(zip(matrices[1:], costs[1:], strict=True))
    if executor is None:
        with ThreadPoolExecutor(max_workers) as pool:
            futures = [pool.submit(_solve, w, clusters, c, options) for w, c in rest]
            return [first, *(future.result() for future in futures)]
    futures = [executor.submit(_solve, w, clusters, c, options) for w, c in rest]
    return [first, *(future.result() for future in futures)]

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

from funcal.errors import MatchingError

from .spanning_tree import solve_spanning_tree
from .spanning_tree_result import SpanningTreeResult

__all__ = ["solve_many"]


def _solve(
    weights: ArrayLike, clusters: ArrayLike, vertex_costs: ArrayLike | None, options: dict[str, Any]
) -> SpanningTreeResult:
    """One solve, as a function that can be sent to another process."""
    return solve_spanning_tree(weights, clusters, vertex_costs=vertex_costs, **options)


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
    one_matrix = np.ndim(weights[0]) == 1  # type: ignore[index]
    one_vector = vertex_costs is None or np.ndim(vertex_costs[0]) == 0  # type: ignore[index]
    sizes = {len(item) for item, one in ((weights, one_matrix), (vertex_costs, one_vector)) if not one}  # type: ignore[arg-type]
    if len(sizes) > 1:
        raise MatchingError(
            f"A batch needs as many weight matrices as vectors of vertex costs, but it has {sorted(sizes)}; "
            "give one of them for all, or the same number of both."
        )
    count = sizes.pop() if sizes else 1
    matrices = [weights] * count if one_matrix else list(weights)  # type: ignore[arg-type]
    vectors = [vertex_costs] * count if one_vector else list(vertex_costs)  # type: ignore[arg-type]
    if not count:
        return []
    first = _solve(matrices[0], clusters, vectors[0], options)
    if len(first.vertices):
        options = {"warm_start": first.vertices, **options}
    rest = list(zip(matrices[1:], vectors[1:], strict=True))
    if executor is None:
        with ThreadPoolExecutor(max_workers) as pool:
            futures = [pool.submit(_solve, w, clusters, c, options) for w, c in rest]
            return [first, *(future.result() for future in futures)]
    futures = [executor.submit(_solve, w, clusters, c, options) for w, c in rest]
    return [first, *(future.result() for future in futures)]

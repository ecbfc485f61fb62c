"""Anchors under many perturbed responses at once.

How firmly the data choose their anchors shows when the sites' responses are drawn again, or λ is changed, and the
anchors are found anew. Paths are solved in one batch; trees start from the unperturbed solution.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike

from ..errors import MatchingError, SettingsError
from ..problem import CalibrationProblem, FloatArray, IntArray
from .edge_weights import CalibrationGraph
from .matching_settings import MatchingSettings
from .prepared_matching import PreparedMatching, prepare_matching
from .shortest_path import shortest_paths
from .spanning_tree import solve_spanning_tree

__all__ = ["perturbed_anchors"]


def perturbed_anchors(
    problem: CalibrationProblem,
    settings: MatchingSettings | None,
    responses: ArrayLike,
    lambdas: ArrayLike | None = None,
    *,
    max_workers: int = 1,
) -> IntArray:
    """Anchors for each of B sets of site responses.

    The scaling, the clusters and r are those of the problem as measured; M is large enough for every member.

    Parameters
    ----------
    problem
        The calibration problem.
    settings
        Model, solver and constants; the defaults if None.
    responses
        (B, m) responses of all sites, in the user's units.
    lambdas
        (B,) values of λ; that of the settings for all if None.
    max_workers
        Threads among which trees are shared out; the result does not depend on it.

    Returns
    -------
    ndarray
        (B, k) index of the chosen run for each site that has runs (``find_anchors(...).site`` lists them).

    Raises
    ------
    SettingsError
        If the arrays do not fit the problem.
    MatchingError
        If a tree was not found within the time limit.
    """
    settings = MatchingSettings() if settings is None else settings
    y_sites = np.asarray(responses, dtype=np.float64)
    if y_sites.ndim != 2 or y_sites.shape[1] != problem.num_sites or not np.all(np.isfinite(y_sites)):
        raise SettingsError(
            f"responses must be a finite array with one column for each of the {problem.num_sites} sites, but its "
            f"shape is {y_sites.shape}; pass one row per perturbation."
        )
    given = settings.lambda_ if lambdas is None else np.asarray(lambdas, dtype=np.float64)
    if np.ndim(given) == 1 and len(np.atleast_1d(given)) != len(y_sites):
        raise SettingsError(
            f"lambdas must hold one value for each of the {len(y_sites)} rows of responses, but it holds "
            f"{np.size(given)}; leave it out to use one for all."
        )
    lambda_ = np.broadcast_to(given, len(y_sites)).astype(np.float64)
    prepared = prepare_matching(problem, settings)
    misfit = prepared.misfit(y_sites)
    if not len(y_sites):
        return np.empty((0, len(prepared.sites)), dtype=np.int64)
    if prepared.model == "path":
        printed = settings.weights == "printed"
        return shortest_paths(
            prepared.scaled.t_runs, prepared.cluster, misfit, lambda_, printed=printed
        ).vertices
    if settings.penalty is None:
        prepared = prepared.with_penalty_for(misfit.max(axis=0), float(lambda_.max()))
    return _trees(prepared, settings, misfit, lambda_, max_workers)


def _trees(
    prepared: PreparedMatching,
    settings: MatchingSettings,
    misfit: FloatArray,
    lambda_: FloatArray,
    max_workers: int,
) -> IntArray:
    """One tree per row of misfits, each started from the tree of the data as measured."""
    printed = settings.weights == "printed"
    same_edges = not printed and bool(np.all(lambda_ == lambda_[0]))
    shared = prepared.graph(misfit[0], float(lambda_[0]), printed=printed) if same_edges else None

    def solve(values: FloatArray, weight: float, start: IntArray | None) -> IntArray:
        if shared is not None:
            graph = CalibrationGraph(shared.weights, values)
        else:
            graph = prepared.graph(values, weight, printed=printed)
        tree = solve_spanning_tree(
            graph.weights,
            prepared.cluster,
            vertex_costs=graph.vertex_costs,
            method=settings.solver,
            time_limit=settings.time_limit,
            warm_start=start,
        )
        if not len(tree.vertices):
            raise MatchingError(
                f"The anchors need a tree through all sites, but there is none: {tree.message}"
            )
        return tree.vertices

    measured = solve(prepared.misfit(), settings.lambda_ if shared is None else float(lambda_[0]), None)
    with ThreadPoolExecutor(max_workers) as pool:
        trees = pool.map(solve, misfit, lambda_.tolist(), [measured] * len(misfit))
        return np.array(list(trees), dtype=np.int64)

"""Anchor points: one run per site, close to it in response and to its neighbours in calibration (Sections 3, 4)."""

from __future__ import annotations

import time
import warnings

import numpy as np

from ..errors import MatchingError, MatchingWarning
from ..problem import AnchorPoints, CalibrationProblem, IntArray
from .matching_settings import MatchingSettings
from .prepared_matching import PreparedMatching, prepare_matching
from .shortest_path import shortest_paths
from .solver_task import Progress
from .spanning_tree import solve_spanning_tree
from .spanning_tree_result import SpanningTreeResult

__all__ = ["find_anchors"]


def find_anchors(
    problem: CalibrationProblem, settings: MatchingSettings | None = None, *, progress: Progress | None = None
) -> AnchorPoints:
    """Match the measured sites to the computer runs.

    Parameters
    ----------
    problem
        The calibration problem.
    settings
        Model, solver and constants; the defaults if None.
    progress
        Called now and then with ``(done, total, label)`` during long solves.

    Returns
    -------
    AnchorPoints
        One run per site that has any, with cost (in standardised units), bound and status.

    Raises
    ------
    ProblemError
        If a site has no run and may not be skipped.
    SettingsError
        If a path is asked for with more than one control.
    MatchingError
        If no tree was found.

    Warns
    -----
    MatchingWarning
        If r leaves the sites in several groups, or the tree is not proved optimal.
    """
    settings = MatchingSettings() if settings is None else settings
    began = time.perf_counter()
    prepared = prepare_matching(problem, settings)
    tree = _path(prepared, settings) if prepared.model == "path" else _tree(prepared, settings, progress)
    if not len(tree.vertices):
        raise MatchingError(f"The anchors need a tree through all sites, but there is none: {tree.message}")
    if tree.status != "optimal":
        warnings.warn(
            f"The anchors are the best found, not proved to be optimal (gap {tree.gap:.2g}); "
            "give the solver more time or use solver 'auto'.",
            MatchingWarning,
            stacklevel=2,
        )
    run = tree.vertices
    return AnchorPoints(
        site=prepared.sites,
        run=run,
        misfit=np.abs(problem.runs.response[run] - problem.physical.response[prepared.sites]),
        functional=problem.runs.functional[run],
        global_=problem.runs.global_[run],
        edges=tree.edges,
        model=prepared.model,
        solver=tree.method,
        status=tree.status,
        cost=tree.cost,
        lower_bound=tree.lower_bound,
        gap=tree.gap,
        seconds=time.perf_counter() - began,
        lambda_=settings.lambda_,
        radius=prepared.radius,
        penalty=prepared.penalty,
        weights=settings.weights,
        nodes=tree.nodes,
    )


def _tree(
    prepared: PreparedMatching, settings: MatchingSettings, progress: Progress | None
) -> SpanningTreeResult:
    """The generalized minimum spanning tree of the calibration graph (Section 4)."""
    graph = prepared.graph(prepared.misfit(), settings.lambda_, printed=settings.weights == "printed")
    return solve_spanning_tree(
        graph.weights,
        prepared.cluster,
        vertex_costs=graph.vertex_costs,
        method=settings.solver,
        time_limit=settings.time_limit,
        progress=progress,
    )


def _path(prepared: PreparedMatching, settings: MatchingSettings) -> SpanningTreeResult:
    """The shortest path through the calibration digraph (Section 3.1), as a tree of one branch."""
    began = time.perf_counter()
    paths = shortest_paths(
        prepared.scaled.t_runs,
        prepared.cluster,
        prepared.misfit(),
        settings.lambda_,
        printed=settings.weights == "printed",
    )
    vertices: IntArray = paths.vertices[0]
    edges = np.column_stack([vertices[:-1], vertices[1:]])
    cost = float(paths.cost[0])
    seconds = time.perf_counter() - began
    return SpanningTreeResult(vertices, edges, cost, cost, 0.0, "optimal", seconds, "dynamic_programme", 1)

"""From a problem to its anchors: clusters, weights, then a shortest path or a spanning tree."""

from __future__ import annotations

import time
import warnings

import numpy as np

from funcal.errors import MatchingError, MatchingWarning, SettingsError
from funcal.problem import AnchorPoints, CalibrationProblem, FloatArray, IntArray, site_in_words

from .clusters import assign_clusters
from .edge_weights import GraphWeights, graph_weights
from .matching_settings import MatchingSettings
from .radius_and_penalty import default_radius, sites_joined_within
from .shortest_path import shortest_path
from .solver_task import Progress
from .spanning_tree import solve_spanning_tree
from .standardise import StandardisedPoints, standardise

__all__ = ["find_anchors", "graph_model", "sites_with_runs", "tree_weights"]


def find_anchors(
    problem: CalibrationProblem,
    settings: MatchingSettings | None = None,
    *,
    progress: Progress | None = None,
) -> AnchorPoints:
    """Choose one run for each site.

    Parameters
    ----------
    problem
        The two tables.
    settings
        The defaults if not given.
    progress
        Called now and then during a long tree search.

    Raises
    ------
    MatchingError
        If a site has no run near it and `settings.empty_sites` is ``"error"``, or no tree was found.
    SettingsError
        If a path is asked for with more than one control.

    Warns
    -----
    MatchingWarning
        If r leaves the sites in separate groups, or the tree was not proved optimal.
    """
    settings = settings or MatchingSettings()
    start = time.perf_counter()
    model = graph_model(problem, settings)
    points = standardise(problem)
    clusters = assign_clusters(points.x_sites, points.x_runs)
    sites = sites_with_runs(problem, clusters, settings)
    misfit = np.abs(points.y_runs - points.y_sites[clusters])
    if model == "path":
        path = shortest_path(misfit, points.calibration, clusters, settings.lambda_, settings.weights)
        edges = np.column_stack([path.runs[:-1], path.runs[1:]])
        runs, cost, bound, gap, status, nodes = path.runs, path.cost, path.cost, 0.0, "optimal", 0
        radius = penalty = float("nan")
        solver = "dynamic_programme"
    else:
        weights, radius = tree_weights(problem, points, clusters, misfit, settings)
        penalty = weights.penalty
        tree = solve_spanning_tree(
            weights.edges,
            clusters,
            vertex_costs=weights.vertices,
            method=settings.solver,
            time_limit=settings.time_limit,
            progress=progress,
        )
        if not len(tree.vertices):
            raise MatchingError(f"no anchors were found: {tree.message}")
        if tree.status == "time_limit":
            warnings.warn(
                f"the anchors are the best found within {settings.time_limit:g} s, not proved optimal "
                f"(gap {tree.gap:.2g}); give the search more time.",
                MatchingWarning,
                stacklevel=2,
            )
        runs, edges, solver = tree.vertices, tree.edges, tree.method
        cost, bound, gap, status, nodes = tree.cost, tree.lower_bound, tree.gap, tree.status, tree.nodes
    return AnchorPoints(
        site=sites,
        run=runs,
        misfit=np.abs(problem.runs.response[runs] - problem.physical.response[sites]),
        functional=problem.runs.functional[runs],
        global_=problem.runs.global_[runs],
        edges=edges,
        model=model,
        solver=solver,
        status=status,
        cost=cost,
        lower_bound=bound,
        gap=gap,
        seconds=time.perf_counter() - start,
        lambda_=settings.lambda_,
        radius=radius,
        penalty=penalty,
        weights=settings.weights,
        nodes=nodes,
    )


def graph_model(problem: CalibrationProblem, settings: MatchingSettings) -> str:
    """``"path"`` or ``"tree"``."""
    if settings.model == "path" and problem.num_controls > 1:
        raise SettingsError(
            f"the shortest path orders the sites along one control; this problem has {problem.num_controls}. "
            "Use the spanning tree (model tree)."
        )
    if settings.model == "auto":
        return "path" if problem.num_controls == 1 else "tree"
    return settings.model


def sites_with_runs(problem: CalibrationProblem, clusters: IntArray, settings: MatchingSettings) -> IntArray:
    """The sites that get an anchor.

    Raises
    ------
    MatchingError
        If a site has no run and the settings do not allow that.
    """
    sites = np.unique(clusters)
    empty = np.setdiff1d(np.arange(problem.num_sites), sites)
    if len(empty) and settings.empty_sites == "error":
        listed = "; ".join(site_in_words(problem, int(site)) for site in empty[:4])
        more = f" and {len(empty) - 4} more" if len(empty) > 4 else ""
        count = "one site has" if len(empty) == 1 else f"{len(empty)} sites have"
        raise MatchingError(
            f"{count} no run near it ({listed}{more}): every run is nearer to another site. Add runs there, drop the "
            "measurement, or leave the site without an anchor (--empty-sites skip; empty_sites='skip')."
        )
    return sites.astype(np.int64)


def tree_weights(
    problem: CalibrationProblem,
    points: StandardisedPoints,
    clusters: IntArray,
    misfit: FloatArray,
    settings: MatchingSettings,
) -> tuple[GraphWeights, float]:
    """Weights of the calibration graph, and the r that was used."""
    raw = settings.radius_scale == "raw"
    x_runs = problem.runs.control if raw else points.x_runs
    x_sites = problem.physical.control if raw else points.x_sites
    radius = settings.radius if settings.radius is not None else default_radius(x_sites, x_runs, clusters)
    if not sites_joined_within(x_sites[np.unique(clusters)], radius):
        warnings.warn(
            f"the radius r = {radius:g} leaves the sites in separate groups; edges beyond r decide how these are "
            "joined. Give a larger radius.",
            MatchingWarning,
            stacklevel=3,
        )
    weights = graph_weights(
        misfit=misfit,
        calibration=points.calibration,
        clusters=clusters,
        x=points.x_runs,
        x_radius=x_runs,
        lambda_=settings.lambda_,
        radius=radius,
        penalty=settings.penalty,
        rule=settings.weights,
    )
    return weights, radius

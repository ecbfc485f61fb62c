"""Anchor points by matching: clusters, the calibration graph, shortest paths and generalized spanning trees."""

from .anchor_ensemble import perturbed_anchors as perturbed_anchors
from .anchors import find_anchors as find_anchors
from .clusters import empty_sites as empty_sites
from .cross_validation import MatchingTuning as MatchingTuning
from .cross_validation import tune_matching as tune_matching
from .matching_settings import MatchingSettings as MatchingSettings
from .shortest_path import ShortestPaths as ShortestPaths
from .shortest_path import shortest_paths as shortest_paths
from .solve_many import solve_many as solve_many
from .spanning_tree import METHODS as METHODS
from .spanning_tree import solve_spanning_tree as solve_spanning_tree
from .spanning_tree_result import SpanningTreeResult as SpanningTreeResult

__all__ = [
    "METHODS",
    "MatchingSettings",
    "MatchingTuning",
    "ShortestPaths",
    "SpanningTreeResult",
    "empty_sites",
    "find_anchors",
    "perturbed_anchors",
    "shortest_paths",
    "solve_many",
    "solve_spanning_tree",
    "tune_matching",
]

"""Non-isometric matching: which run of the computer model belongs to each measured point (Sections 3 and 4)."""

from .anchors import find_anchors as find_anchors
from .clusters import assign_clusters as assign_clusters
from .clusters import empty_sites as empty_sites
from .matching_settings import MatchingSettings as MatchingSettings
from .shortest_path import shortest_path as shortest_path
from .shortest_path import shortest_paths as shortest_paths
from .spanning_tree import solve_spanning_tree as solve_spanning_tree
from .spanning_tree_result import SpanningTreeResult as SpanningTreeResult

__all__ = [
    "MatchingSettings",
    "SpanningTreeResult",
    "assign_clusters",
    "empty_sites",
    "find_anchors",
    "shortest_path",
    "shortest_paths",
    "solve_spanning_tree",
]

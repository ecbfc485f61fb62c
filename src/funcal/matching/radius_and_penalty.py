"""The graph's two constants, r and M, chosen from the data (Section 6).

r separates near edges from far ones. Section 6 reads it off a plot of the sites' pairwise distances, as an upper bound
of the group of smallest ones; here it is the smallest radius that joins all sites, extended to the end of its group
of distances, plus one per cent. M makes one far edge dearer than all near edges of a tree together: a tree has m - 1
edges, so twice ``(m - 1) w_max / r`` is enough, and orders of magnitude below the printed bound
(`docs/decisions/matching-radius-and-penalty.md`).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from ..problem import FloatArray

__all__ = ["choose_penalty", "choose_radius", "num_site_groups"]

MARGIN = 1.01
"""r exceeds the distance it must admit by one per cent; distances closer than that belong to one group."""

PENALTY_FACTOR = 2.0
"""M is twice what is needed."""


def choose_radius(x_sites: FloatArray) -> float:
    """The smallest radius that joins all sites, to the end of its group of distances, plus one per cent.

    Returns 1 for a single site, which has no distances.
    """
    if len(x_sites) < 2:
        return 1.0
    distance = cdist(x_sites, x_sites)
    reach = float(minimum_spanning_tree(distance).data.max())
    for further in np.unique(distance[distance > reach]):
        if further > MARGIN * reach:
            break
        reach = float(further)
    return MARGIN * reach


def choose_penalty(heaviest_near: float, num_clusters: int, least_far: float) -> float:
    """M such that one far edge outweighs all near edges of any tree, twice over.

    Parameters
    ----------
    heaviest_near
        Greatest weight of a near edge, w_max.
    num_clusters
        m.
    least_far
        A distance that no far edge falls below: r, where it is on the scale of the penalty.
    """
    needed = max(num_clusters - 1, 1) * heaviest_near / least_far
    return PENALTY_FACTOR * needed if needed > 0 else 1.0


def num_site_groups(x_sites: FloatArray, radius: float) -> int:
    """How many groups the sites fall into when those within the radius are joined."""
    count, _ = connected_components(cdist(x_sites, x_sites) <= radius, directed=False)
    return int(count)

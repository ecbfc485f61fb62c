"""The neighbourhood radius r and the penalty M, chosen from the data (Section 6).

The paper reads r off a plot of the distances between sites: an upper bound on the group of smallest ones. The rule
here gives that bound without a plot: the longest edge of a minimum spanning tree of the sites, which is the smallest
radius that leaves no site without a neighbour and no group of sites apart. Runs do not sit on their sites in general,
so that two runs of neighbouring sites are farther apart than the sites by up to their own distances from them; r is
widened by twice the median of these. Where the runs sit on the sites, as in the paper's synthetic problems, nothing
is added.

M must make any edge beyond r dearer than all other parts of a tree together. The paper's bound sums over all
quadruples of points; a tree has only m − 1 edges, so a bound on the rest of a tree's cost, divided by r, suffices.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from funcal.problem import FloatArray, IntArray

__all__ = ["default_penalty", "default_radius", "sites_joined_within"]

#: A distance equal to r up to rounding counts as within r.
RADIUS_SLACK = 1.01
#: Safety factor over the smallest sufficient M.
PENALTY_FACTOR = 2.0


def default_radius(x_sites: FloatArray, x_runs: FloatArray, clusters: IntArray) -> float:
    """Smallest radius that joins all sites, widened by how far runs lie from their sites.

    Parameters
    ----------
    x_sites, x_runs
        (m, dx) and (n, dx) controls in the units in which r is compared.
    clusters
        (n,) site of each run.
    """
    joining = 0.0
    if len(x_sites) > 1:
        joining = float(minimum_spanning_tree(cdist(x_sites, x_sites)).toarray().max())
    offset = float(np.median(np.linalg.norm(x_runs - x_sites[clusters], axis=1)))
    return RADIUS_SLACK * (joining + 2.0 * offset)


def default_penalty(rest_of_tree: float, radius: float) -> float:
    """Large enough M: twice an upper bound on the rest of a tree's cost, per unit of r."""
    return PENALTY_FACTOR * max(rest_of_tree, 1.0) / max(radius, np.finfo(np.float64).tiny)


def sites_joined_within(x_sites: FloatArray, radius: float) -> bool:
    """Whether edges no longer than `radius` join all sites."""
    count, _ = connected_components(cdist(x_sites, x_sites) <= radius, directed=False)
    return bool(count == 1)

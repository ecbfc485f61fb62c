"""Public test instances: TSPLIB coordinates with centre clustering.

The generalized spanning tree literature measures itself on Euclidean instances made from TSPLIB files by one rule:
``ceil(n / 5)`` centres as far from one another as possible, every vertex with its nearest centre.

References
----------
G. Reinelt (1991). TSPLIB - a traveling salesman problem library. ORSA Journal on Computing 3, 376-384.
M. Fischetti, J. J. Salazar González, P. Toth (1997). A branch-and-cut algorithm for the symmetric generalized
traveling salesman problem. Operations Research 45, 378-394.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import MatchingError

__all__ = ["centre_clusters", "read_coordinates", "rounded_distances"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def read_coordinates(path: Path) -> Floats:
    """(n, 2) coordinates from a TSPLIB file with edge weights of type EUC_2D.

    Raises
    ------
    MatchingError
        If the file holds no such coordinates.
    """
    coordinates: list[tuple[float, float]] = []
    inside = False
    for line in path.read_text().splitlines():
        words = line.replace(":", " ").split()
        if not words:
            continue
        if words[0] == "EDGE_WEIGHT_TYPE" and words[1] != "EUC_2D":
            raise MatchingError(
                f"{path.name} must have edge weights of type EUC_2D, but has {words[1]}; choose another file."
            )
        if words[0] == "NODE_COORD_SECTION":
            inside = True
        elif inside and len(words) == 3:
            coordinates.append((float(words[1]), float(words[2])))
        else:
            inside = False
    if not coordinates:
        raise MatchingError(
            f"{path.name} must have a NODE_COORD_SECTION, but none was found; check the file."
        )
    return np.array(coordinates)


def rounded_distances(coordinates: Floats) -> Floats:
    """(n, n) Euclidean distances rounded to the nearest integer, as TSPLIB defines EUC_2D."""
    apart = coordinates[:, None, :] - coordinates[None, :, :]
    distances: Floats = np.floor(np.sqrt(np.sum(apart**2, axis=2)) + 0.5)
    return distances


def centre_clusters(distances: Floats, num_clusters: int | None = None) -> Integers:
    """Centre clustering: centres as far apart as possible, each vertex with its nearest one.

    The first centre is the vertex farthest from vertex 0, each further one the vertex farthest from all centres so
    far; ties go to the lowest number.
    """
    n = len(distances)
    wanted = -(-n // 5) if num_clusters is None else num_clusters
    centres = [int(np.argmax(distances[0]))]
    while len(centres) < wanted:
        centres.append(int(np.argmax(np.min(distances[centres], axis=0))))
    return np.asarray(np.argmin(distances[centres], axis=0), dtype=np.int64)

"""Public instances: TSPLIB coordinates with centre clustering, against published optima."""

import os
from pathlib import Path

import numpy as np
import pytest

from funcal.errors import MatchingError
from funcal.matching import solve_spanning_tree
from funcal.matching.tsplib import centre_clusters, read_coordinates, rounded_distances

OPTIMA = {
    "eil51": (11, 132),
    "pr76": (16, 47201),
    "kroA100": (20, 7750),
    "pr124": (25, 29203),
    "pr152": (31, 39098),
}


@pytest.mark.parametrize("name", OPTIMA)
def test_published_optimum(name: str, data_dir: Path) -> None:
    """The optimum with rounded distances is the published one (coordinates in FUNCAL_TSPLIB or data/tsplib)."""
    folder = Path(os.environ.get("FUNCAL_TSPLIB", data_dir / "tsplib"))
    path = folder / f"{name}.tsp"
    if not path.is_file():
        pytest.skip(f"no TSPLIB coordinates at {path}; set FUNCAL_TSPLIB to their directory")
    distances = rounded_distances(read_coordinates(path))
    clusters = centre_clusters(distances)
    num_clusters, optimum = OPTIMA[name]
    assert len(np.unique(clusters)) == num_clusters
    result = solve_spanning_tree(distances, clusters, time_limit=120)
    assert (result.status, result.cost) == ("optimal", optimum)


def test_reader(tmp_path: Path) -> None:
    """Headers with and without spaces around the colon, scientific notation, an EOF line."""
    path = tmp_path / "three.tsp"
    path.write_text(
        "NAME: three\nDIMENSION : 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3.0 4\n3 6e0 8\nEOF\n"
    )
    coordinates = read_coordinates(path)
    assert coordinates.tolist() == [[0, 0], [3, 4], [6, 8]]
    assert rounded_distances(coordinates).tolist() == [[0, 5, 10], [5, 0, 5], [10, 5, 0]]


def test_reader_refuses_other_files(tmp_path: Path) -> None:
    """Geographical distances and files without coordinates get a sentence."""
    path = tmp_path / "other.tsp"
    path.write_text("EDGE_WEIGHT_TYPE : GEO\nNODE_COORD_SECTION\n1 0 0\n")
    with pytest.raises(MatchingError, match="EUC_2D"):
        read_coordinates(path)
    path.write_text("NAME : nothing\n")
    with pytest.raises(MatchingError, match="NODE_COORD_SECTION"):
        read_coordinates(path)


def test_centre_clustering_by_hand() -> None:
    """Six points on a line, two centres: the far end first, then the near one."""
    coordinates = np.column_stack([[0.0, 1.0, 2.0, 10.0, 11.0, 12.0], np.zeros(6)])
    clusters = centre_clusters(rounded_distances(coordinates))
    assert clusters.tolist() == [1, 1, 1, 0, 0, 0]

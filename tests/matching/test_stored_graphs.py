"""The stored calibration graphs, whose optima two other exact methods proved."""

import pytest

from funcal.matching import solve_spanning_tree

NAMES = [
    "grid7_s0",
    "p10d_q10_s0",
    "p1_n100_raw_s0",
    "p1_n200_raw_s0",
    "p1_n300_std_s0",
    "p1_n30_raw_s0",
    "p1_n30_std_s0",
    "p1_n500_raw_s0",
    "p2_r0.34std_s0",
    "p2_r0.9std_s0",
    "p3_r0.16std_s0",
    "p3_rinf_s0",
    "pva_m11_r0.5_s0",
    "r2d_m100_rep_s0",
    "r2d_m50_free_s1",
    "weld_r4raw_emptycluster_s4",
    "weld_r4raw_s0",
]
PAPER = ["p1_n30_raw_s0", "weld_r4raw_s0", "pva_m11_r0.5_s0", "p3_r0.16std_s0"]


@pytest.mark.parametrize("name", NAMES)
def test_optimum_is_proved(name: str, stored_graph) -> None:
    """Every graph is solved to its optimum, to the digits that are not penalty."""
    graph = stored_graph(name)
    result = solve_spanning_tree(graph.weights, graph.clusters)
    assert result.status == "optimal"
    assert result.cost == pytest.approx(graph.optimum, abs=1e-9, rel=1e-14)


def test_every_stored_graph_is_listed(data_dir) -> None:
    """No graph is forgotten."""
    assert sorted(path.stem for path in (data_dir / "gmst").glob("*.npz")) == sorted(NAMES)


@pytest.mark.parametrize("name", ["p1_n500_raw_s0", "pva_m11_r0.5_s0", "p3_r0.16std_s0"])
def test_subset_programme_on_stored_graphs(name: str, stored_graph) -> None:
    """The independent dynamic programme finds the same optima."""
    graph = stored_graph(name)
    result = solve_spanning_tree(graph.weights, graph.clusters, method="subset_dp")
    assert result.cost == pytest.approx(graph.optimum, abs=1e-9, rel=1e-14)


@pytest.mark.mip
@pytest.mark.parametrize("name", PAPER)
def test_cluster_subpacking_on_the_papers_problems(name: str, stored_graph) -> None:
    """(DCSUB) on HiGHS solves the paper's problems."""
    graph = stored_graph(name)
    result = solve_spanning_tree(graph.weights, graph.clusters, method="dcsub", time_limit=120)
    assert (result.status, result.cost) == ("optimal", pytest.approx(graph.optimum, abs=1e-9, rel=1e-14))


@pytest.mark.mip
@pytest.mark.slow
@pytest.mark.parametrize("method", ["mcf", "dcsub"])
@pytest.mark.parametrize("name", [*PAPER, "p2_r0.9std_s0", "p2_r0.34std_s0"])
def test_integer_programmes_within_two_minutes(name: str, method: str, stored_graph) -> None:
    """Both formulations keep the paper's two minutes on all of its problems."""
    graph = stored_graph(name)
    result = solve_spanning_tree(graph.weights, graph.clusters, method=method, time_limit=120)
    assert (result.status, result.cost) == ("optimal", pytest.approx(graph.optimum, abs=1e-9, rel=1e-14))

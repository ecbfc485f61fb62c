"""Clusters, standardisation, r, M and the edge weights."""

import math

import numpy as np
import pandas as pd
import pytest

from funcal.matching import empty_sites
from funcal.matching.clusters import nearest_sites
from funcal.matching.edge_weights import calibration_graph, heaviest_near_and_least_far, misfits
from funcal.matching.radius_and_penalty import choose_penalty, choose_radius, num_site_groups
from funcal.matching.standardise import standardise
from funcal.problem import CalibrationProblem


def test_ties_go_to_the_smaller_site() -> None:
    """A run halfway between two sites belongs to the first, also where rounding says otherwise."""
    sites = np.array([[0.1], [0.3], [0.5]])
    runs = np.array([[0.2], [0.1 + 0.1], [0.4], [0.7], [0.3000001]])
    assert nearest_sites(sites, runs).tolist() == [0, 0, 1, 2, 1]


def test_clusters_use_all_controls() -> None:
    """Distances are Euclidean over all controls, block by block."""
    rng = np.random.default_rng(0)
    sites, runs = rng.random((7, 3)), rng.random((9000, 3))
    direct = np.argmin(((runs[:, None] - sites[None]) ** 2).sum(-1), axis=1)
    assert np.array_equal(nearest_sites(sites, runs), direct)


@pytest.fixture
def small_problem() -> CalibrationProblem:
    """Three sites, four runs, a constant calibration column; the site at x = 10 has no run."""
    physical = pd.DataFrame({"x": [0.0, 4.0, 10.0], "y": [1.0, 2.0, 3.0]})
    runs = pd.DataFrame({"x": [0.0, 0.0, 4.0, 4.0], "t": [0.0, 2.0, 1.0, 4.0], "y": [0.0, 1.0, 2.0, 5.0]})
    return CalibrationProblem.from_tables(physical, runs, control="x", functional="t", response="y")


@pytest.mark.filterwarnings("ignore::funcal.errors.DataWarning")
def test_empty_sites_and_ranges(small_problem: CalibrationProblem) -> None:
    """Controls and responses are scaled by the range of both tables, calibration by that of the runs."""
    scaled = standardise(small_problem)
    assert scaled.x_sites.ravel().tolist() == [0.0, 0.4, 1.0]
    assert scaled.y_sites.tolist() == [0.2, 0.4, 0.6]
    assert scaled.t_runs.ravel().tolist() == [0.0, 0.5, 0.25, 1.0]
    assert empty_sites(small_problem).tolist() == [2]


def test_radius_of_a_grid_is_its_step() -> None:
    """On a 4 × 4 grid r lies between the step and the diagonal; on two groups it bridges them."""
    grid = np.array([[i, j] for i in range(4) for j in range(4)]) / 3.0
    assert 1 / 3 < choose_radius(grid) < math.sqrt(2) / 3
    problem_three = np.concatenate([np.arange(0, 0.41, 0.05), np.arange(0.7, 0.96, 0.05)])[:, None] / 0.95
    radius = choose_radius(problem_three)
    assert radius == pytest.approx(1.01 * 0.3 / 0.95)
    assert num_site_groups(problem_three, radius) == 1
    assert num_site_groups(problem_three, 0.16) == 2
    assert choose_radius(grid[:1]) == 1.0


def test_radius_takes_in_the_whole_group() -> None:
    """Distances within a per cent of one another belong together: r is above all of them."""
    sites = np.array([[0.0], [1.0], [2.005], [3.013]])
    assert choose_radius(sites) > 1.008


def test_penalty_outweighs_every_tree_of_near_edges() -> None:
    """One far edge costs more than m - 1 of the heaviest near edges, twice over."""
    assert choose_penalty(3.0, 5, 0.5) * 0.5 == 2 * 4 * 3.0
    assert choose_penalty(0.0, 5, 0.5) == 1.0


@pytest.mark.parametrize("printed", [True, False])
def test_edge_weights_entry_by_entry(printed: bool) -> None:
    """Eq. Genweight, literally, next to the compiled version; corrected weights keep misfits apart."""
    rng = np.random.default_rng(2)
    n = 12
    x, calibration, y, cluster = rng.random((n, 2)), rng.random((n, 3)), rng.random(n), np.arange(n) % 4
    y_sites = rng.random(4)
    misfit = misfits(y, y_sites, cluster)
    graph = calibration_graph(
        x, x, calibration, cluster, misfit, lambda_=0.7, radius=0.5, penalty=30.0, printed=printed
    )
    for u in range(n):
        for v in range(n):
            if cluster[u] == cluster[v]:
                assert math.isinf(graph.weights[u, v])
                continue
            apart = np.linalg.norm(x[u] - x[v])
            edge = 0.7 * np.linalg.norm(calibration[u] - calibration[v]) if apart <= 0.5 else 30.0 * apart
            ends = abs(y[u] - y_sites[cluster[u]]) + abs(y[v] - y_sites[cluster[v]])
            assert graph.weights[u, v] == pytest.approx(edge + ends if printed else edge)
    if printed:
        assert graph.vertex_costs is None
    else:
        assert np.array_equal(graph.vertex_costs, misfit)


def test_heaviest_near_and_least_far() -> None:
    """The two numbers that M is made of."""
    x = np.array([[0.0], [1.0], [3.0]])
    heaviest, least = heaviest_near_and_least_far(
        x, x, np.array([[0.0], [2.0], [0.0]]), np.array([0, 1, 2]), np.array([0.1, 0.2, 0.3]), 0.5, 1.0
    )
    assert heaviest == pytest.approx(0.1 + 0.2 + 1.0)
    assert least == 2.0

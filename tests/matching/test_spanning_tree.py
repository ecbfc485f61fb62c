"""One conformance suite over all methods of `solve_spanning_tree`."""

import _thread
import math
import signal
import threading
import time

import numpy as np
import pytest

from funcal.errors import FuncalError, MatchingError, SettingsError
from funcal.matching import METHODS, solve_spanning_tree

EXACT = [
    pytest.param(m, marks=pytest.mark.mip if m in ("mcf", "dcsub") else ())
    for m in METHODS
    if m != "heuristic"
]
ALL = [*EXACT, "heuristic"]

#: Two clusters of two vertices, one of one: the cheapest tree takes vertices 1, 2 and 4 and costs 1 + 2.
BY_HAND = np.array(
    [
        [np.inf, np.inf, 9.0, 9.0, 1.5],
        [np.inf, np.inf, 1.0, 8.0, 4.0],
        [9.0, 1.0, np.inf, np.inf, 2.0],
        [9.0, 8.0, np.inf, np.inf, 7.0],
        [1.5, 4.0, 2.0, 7.0, np.inf],
    ]
)
BY_HAND_CLUSTERS = np.array([7, 7, -3, -3, 40])


@pytest.mark.parametrize("method", ALL)
class TestEveryMethod:
    """What holds for every method, also for the heuristic."""

    def test_hand_checked_instance(self, method: str) -> None:
        """A tree of three clusters comes out as worked out by hand, in increasing order of label."""
        result = solve_spanning_tree(BY_HAND, BY_HAND_CLUSTERS, method=method)
        assert result.vertices.tolist() == [2, 1, 4]
        assert result.cost == 3.0
        assert {frozenset(edge) for edge in result.edges.tolist()} == {frozenset((1, 2)), frozenset((2, 4))}
        assert result.method == method
        assert result.seconds > 0

    def test_vertex_costs_are_charged_once(self, method: str) -> None:
        """A cost on the middle vertex of the tree is paid once, not once per edge."""
        costs = np.array([0.0, 0.0, 0.5, 100.0, 0.25])
        result = solve_spanning_tree(BY_HAND, BY_HAND_CLUSTERS, vertex_costs=costs, method=method)
        assert result.cost == 3.75

    def test_one_cluster(self, method: str) -> None:
        """With one cluster the tree is its cheapest vertex."""
        result = solve_spanning_tree(np.zeros((3, 3)), [5, 5, 5], vertex_costs=[2.0, 1.0, 3.0], method=method)
        assert (result.vertices.tolist(), result.edges.shape, result.cost) == ([1], (0, 2), 1.0)
        assert result.status == "optimal"

    def test_one_vertex(self, method: str) -> None:
        """A single vertex is a tree of cost zero."""
        result = solve_spanning_tree([[0.0]], [1], method=method)
        assert (result.vertices.tolist(), result.cost, result.status) == ([0], 0.0, "optimal")

    def test_groups_without_edges_are_named(self, method: str) -> None:
        """Clusters that no edge joins give status infeasible, and the message lists the groups."""
        weights = np.full((4, 4), np.inf)
        weights[0, 1] = weights[1, 0] = weights[2, 3] = weights[3, 2] = 1.0
        result = solve_spanning_tree(weights, [10, 20, 30, 40], method=method)
        assert result.status == "infeasible"
        assert math.isinf(result.cost)
        assert len(result.vertices) == 0
        assert "10, 20 | 30, 40" in result.message

    def test_same_call_same_result(self, method: str, random_instance) -> None:
        """Two calls give the same tree, also where many trees tie."""
        instance = random_instance(5 * 6 + 1)
        first, second = (
            solve_spanning_tree(
                instance.weights, instance.clusters, vertex_costs=instance.vertex_costs, method=method
            )
            for _ in range(2)
        )
        assert first.vertices.tolist() == second.vertices.tolist()
        assert first.edges.tolist() == second.edges.tolist()

    def test_inputs_stay_as_they_are(self, method: str) -> None:
        """The caller's arrays are not changed."""
        weights, costs = BY_HAND.copy(), np.arange(5.0)
        solve_spanning_tree(weights, BY_HAND_CLUSTERS, vertex_costs=costs, method=method)
        assert np.array_equal(weights, BY_HAND)
        assert np.array_equal(costs, np.arange(5.0))

    @pytest.mark.parametrize("seed", range(40))
    def test_result_is_a_tree_and_bounds_hold(
        self, method: str, seed: int, random_instance, cheapest_tree
    ) -> None:
        """One vertex per cluster, m - 1 edges that join them, cost as summed, lower bound below the optimum."""
        instance = random_instance(seed)
        result = solve_spanning_tree(
            instance.weights, instance.clusters, vertex_costs=instance.vertex_costs, method=method
        )
        optimum = cheapest_tree(instance)
        if math.isinf(optimum):
            assert result.status in ("infeasible", "feasible", "time_limit")
            return
        labels = np.unique(instance.clusters)
        assert instance.clusters[result.vertices].tolist() == labels.tolist()
        assert result.edges.shape == (len(labels) - 1, 2)
        joined = {int(result.vertices[0])}
        for _ in labels:
            joined |= {int(b) for a, b in result.edges if a in joined} | {
                int(a) for a, b in result.edges if b in joined
            }
        assert joined == set(result.vertices.tolist())
        terms = [instance.weights[u, v] for u, v in result.edges]
        terms += [] if instance.vertex_costs is None else list(instance.vertex_costs[result.vertices])
        assert result.cost == math.fsum(terms)
        assert result.lower_bound <= optimum + 1e-9 * max(1.0, abs(optimum))
        assert result.cost >= optimum - 1e-9 * max(1.0, abs(optimum))


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("block", range(5))
def test_exact_methods_agree_with_brute_force(
    method: str, block: int, random_instance, cheapest_tree
) -> None:
    """Five hundred random graphs: ties, integers, signs, penalties, missing edges, vertex costs, tiny clusters."""
    per_block = 30 if method in ("mcf", "dcsub") else 100
    for seed in range(per_block * block, per_block * (block + 1)):
        instance = random_instance(seed)
        optimum = cheapest_tree(instance)
        result = solve_spanning_tree(
            instance.weights, instance.clusters, vertex_costs=instance.vertex_costs, method=method
        )
        assert result.status == ("infeasible" if math.isinf(optimum) else "optimal"), seed
        assert result.cost == optimum or abs(result.cost - optimum) <= 1e-9 * max(1.0, abs(optimum)), seed
        assert result.lower_bound == result.cost
        assert result.gap == 0.0


@pytest.mark.mip
@pytest.mark.parametrize("method", ["mcf", "dcsub"])
def test_integer_programmes_without_reductions(method: str, random_instance, cheapest_tree) -> None:
    """The formulations are right by themselves, not by what the reductions leave of them."""
    for seed in range(60):
        instance = random_instance(seed)
        optimum = cheapest_tree(instance)
        result = solve_spanning_tree(
            instance.weights,
            instance.clusters,
            vertex_costs=instance.vertex_costs,
            method=method,
            reduce=False,
        )
        assert result.cost == optimum or abs(result.cost - optimum) <= 1e-9 * max(1.0, abs(optimum)), seed


def test_larger_graphs_agree_with_the_subset_programme(random_instance) -> None:
    """Forty graphs of up to ten clusters of nine vertices, too large for brute force."""
    for seed in range(40):
        instance = random_instance(seed, most_clusters=10, most_vertices=9)
        costs = instance.vertex_costs
        one = solve_spanning_tree(instance.weights, instance.clusters, vertex_costs=costs)
        two = solve_spanning_tree(instance.weights, instance.clusters, vertex_costs=costs, method="subset_dp")
        assert one.status == two.status, seed
        assert one.cost == two.cost or abs(one.cost - two.cost) <= 1e-9 * max(1.0, abs(two.cost)), seed


def test_penalties_do_not_hide_the_digits_that_matter() -> None:
    """Two trees that differ by 1e-7 next to a penalty of 1e9: the cheaper one is found."""
    rng = np.random.default_rng(3)
    weights = rng.random((12, 12))
    clusters = np.repeat(np.arange(4), 3)
    far = (clusters[:, None] < 2) != (clusters[None, :] < 2)
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    weights[far] += 1e9
    free = weights.copy()
    free[far] -= 1e9
    for method in ("branch_and_bound", "subset_dp"):
        result = solve_spanning_tree(weights, clusters, method=method)
        light = [free[u, v] for u, v in result.edges]
        crossing = sum(bool(far[u, v]) for u, v in result.edges)
        reference = solve_spanning_tree(np.where(far, free + 1e3, free), clusters, method="enumeration")
        assert crossing == 1
        assert math.fsum(light) == pytest.approx(reference.cost - 1e3, abs=2e-6)


class TestBadInput:
    """One sentence that names the entry, the shape or the setting."""

    @pytest.mark.parametrize(
        ("weights", "clusters", "costs", "words"),
        [
            (np.zeros((2, 3)), [0, 1], None, "square matrix"),
            (np.zeros((0, 0)), [], None, "square matrix"),
            (np.array([[0.0, np.nan], [np.nan, 0.0]]), [0, 1], None, "is not a number"),
            (np.array([[0.0, -np.inf], [-np.inf, 0.0]]), [0, 1], None, "minus infinity"),
            (np.array([[0.0, 1.0], [2.0, 0.0]]), [0, 1], None, "differs from weights"),
            (np.zeros((2, 2)), [0], None, "one integer label"),
            (np.zeros((2, 2)), [0.5, 1.0], None, "one integer label"),
            (np.zeros((2, 2)), [0, 1], [1.0], "vertex_costs"),
            (np.zeros((2, 2)), [0, 1], [1.0, np.nan], "vertex_costs"),
        ],
    )
    def test_arrays(self, weights, clusters, costs, words: str) -> None:
        """Arrays that are no clustered graph."""
        with pytest.raises(MatchingError, match=words) as caught:
            solve_spanning_tree(weights, clusters, vertex_costs=costs)
        assert str(caught.value).count(".") <= 3 + str(caught.value).count("0.")

    def test_settings(self) -> None:
        """Unknown methods, negative time limits, and starts that are no choice of vertices."""
        with pytest.raises(SettingsError, match="method must be"):
            solve_spanning_tree(BY_HAND, BY_HAND_CLUSTERS, method="magic")
        with pytest.raises(SettingsError, match="time_limit"):
            solve_spanning_tree(BY_HAND, BY_HAND_CLUSTERS, time_limit=-1.0)
        for start in ([0, 1], [1, 2, 4], [2, 1, 99]):
            with pytest.raises(MatchingError, match="warm_start"):
                solve_spanning_tree(BY_HAND, BY_HAND_CLUSTERS, warm_start=start)

    @pytest.mark.parametrize("method", ["enumeration", "subset_dp", "mcf"])
    def test_too_large_for_the_method(self, method: str) -> None:
        """Methods for small graphs say what they are for."""
        weights = np.random.default_rng(0).random((400, 400))
        weights = weights + weights.T
        with pytest.raises(FuncalError, match="use method 'auto'"):
            solve_spanning_tree(weights, np.arange(400) % 40, method=method, reduce=False)


class TestTimeLimit:
    """The limit is kept within half a second and the bound stays valid."""

    @pytest.mark.parametrize("method", EXACT)
    def test_no_time_at_all(self, method: str, random_instance, cheapest_tree) -> None:
        """A limit of zero returns some tree and a bound below the optimum."""
        for seed in (0, 1, 3, 4):
            instance = random_instance(seed)
            result = solve_spanning_tree(
                instance.weights,
                instance.clusters,
                vertex_costs=instance.vertex_costs,
                method=method,
                time_limit=0.0,
            )
            optimum = cheapest_tree(instance)
            assert result.status in ("time_limit", "optimal", "infeasible")
            if math.isfinite(optimum):
                assert result.lower_bound <= optimum + 1e-9 * max(1.0, abs(optimum))
                assert result.cost >= optimum - 1e-9 * max(1.0, abs(optimum))

    @pytest.mark.parametrize("limit", [0.05, 0.5])
    def test_hard_graph(self, limit: float) -> None:
        """A Euclidean graph that takes seconds is given up in time, with a gap."""
        rng = np.random.default_rng(0)
        points = rng.integers(0, 2000, (300, 2)).astype(float)
        weights = np.round(_apart(points))
        clusters = np.argmin(_apart(points)[rng.choice(300, 60, replace=False)], axis=0)
        solve_spanning_tree(weights, clusters, time_limit=0.05)
        began = time.perf_counter()
        result = solve_spanning_tree(weights, clusters, time_limit=limit)
        assert time.perf_counter() - began < limit + 0.5
        assert result.lower_bound <= result.cost
        assert result.status in ("time_limit", "optimal")


@pytest.mark.parametrize("method", ["branch_and_bound", pytest.param("mcf", marks=pytest.mark.mip)])
def test_ctrl_c_is_not_swallowed(method: str) -> None:
    """An interrupt during a long solve comes through as KeyboardInterrupt, soon."""
    # a shell starts jobs in the background with SIGINT ignored, and then nothing interrupts them
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(1)
    points = rng.integers(0, 2000, (400, 2)).astype(float)
    size = 400 if method == "branch_and_bound" else 90
    weights = np.round(_apart(points[:size]))
    clusters = np.argmin(weights[rng.choice(size, size // 5, replace=False)], axis=0)
    solve_spanning_tree(weights, clusters, method=method, time_limit=0.2)
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    began = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            solve_spanning_tree(weights, clusters, method=method)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - began < 5.0


def _apart(points: np.ndarray) -> np.ndarray:
    """Euclidean distances."""
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))


def test_warm_start_is_used_and_harmless(random_instance) -> None:
    """Starting from any choice of vertices leads to the same optimal cost."""
    instance = random_instance(6, most_clusters=6, most_vertices=4)
    reference = solve_spanning_tree(instance.weights, instance.clusters, vertex_costs=instance.vertex_costs)
    labels = np.unique(instance.clusters)
    worst = [int(np.flatnonzero(instance.clusters == label)[-1]) for label in labels]
    for start in (reference, reference.vertices, worst):
        again = solve_spanning_tree(
            instance.weights, instance.clusters, vertex_costs=instance.vertex_costs, warm_start=start
        )
        assert again.cost == reference.cost


def test_progress_is_told() -> None:
    """The callback hears of the work."""
    heard: list[tuple[int, int, str]] = []
    solve_spanning_tree(
        BY_HAND,
        BY_HAND_CLUSTERS,
        method="enumeration",
        progress=lambda done, total, label: heard.append((done, total, label)),
    )
    assert heard == [(4, 4, "choices")]

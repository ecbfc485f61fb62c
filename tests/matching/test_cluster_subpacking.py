"""(DCSUB) needs more than cycle cuts: the delayed constraints must also forbid arcs out of unchosen vertices."""

import math

import numpy as np
import pytest

from funcal.matching.arc_lists import list_arcs
from funcal.matching.clustered_graph import read_clustered_graph
from funcal.matching.cut_model import CutModel
from funcal.matching.incumbent import Deadline
from funcal.matching.working_weights import shift_to_zero

NEVER = Deadline.after(None)


def _cycle_sets(model: CutModel, values: np.ndarray) -> np.ndarray:
    """Clusters along each directed cycle of the chosen arcs: the separation that is not enough."""
    n = model.graph.num_vertices
    entering = {
        int(model.arcs.head[a]): int(model.arcs.tail[a]) for a in model.used if values[model.column[a]] > 0.5
    }
    cluster = model.graph.cluster
    found = []
    for first in entering:
        walked = [first]
        while walked[-1] in entering and entering[walked[-1]] not in walked:
            walked.append(entering[walked[-1]])
        if walked[-1] in entering:
            cycle = walked[walked.index(entering[walked[-1]]) :]
            found.append(np.isin(cluster, cluster[cycle]))
    return np.unique(np.array(found), axis=0) if found else np.zeros((0, n), dtype=bool)


def _solve(model: CutModel, separate) -> float:
    """Solve, separate, solve again; returns the last objective."""
    model.highs.require_integers(np.arange(model.highs.num_columns), 0.0)
    while True:
        if model.highs.solve(NEVER) != "optimal":
            return math.inf
        sets = separate(model, np.round(model.highs.values))
        if not len(sets):
            return model.highs.objective
        model.add_cuts(sets)


@pytest.mark.mip
def test_cycle_cuts_alone_are_wrong(random_instance, cheapest_tree) -> None:
    """Negative control: with cycle cuts alone many optima come out too low, with all cuts none does."""
    wrong, tried = 0, 0
    for seed in range(2, 150, 6):  # arbitrary positive weights
        instance = random_instance(seed)
        optimum = cheapest_tree(instance)
        if math.isinf(optimum) or len(np.unique(instance.clusters)) < 3:
            continue
        tried += 1
        graph, _ = read_clustered_graph(instance.weights, instance.clusters, instance.vertex_costs)
        offset, _, _ = shift_to_zero(graph)
        arcs = list_arcs(graph)
        right = _solve(CutModel(graph, arcs, arcs.cost, graph.cost), CutModel.violated) + offset
        cycles = _solve(CutModel(graph, arcs, arcs.cost, graph.cost), _cycle_sets) + offset
        assert right == pytest.approx(optimum, abs=1e-7)
        assert cycles <= optimum + 1e-7
        wrong += cycles < optimum - 1e-7
    assert tried >= 10
    assert wrong >= tried // 4


@pytest.mark.mip
def test_relaxation_is_a_lower_bound(random_instance, cheapest_tree) -> None:
    """The linear relaxation with all cuts never exceeds the optimum."""
    for seed in range(0, 90, 3):
        instance = random_instance(seed)
        optimum = cheapest_tree(instance)
        if math.isinf(optimum) or len(np.unique(instance.clusters)) < 2:
            continue
        graph, _ = read_clustered_graph(instance.weights, instance.clusters, instance.vertex_costs)
        offset, _, _ = shift_to_zero(graph)
        arcs = list_arcs(graph)
        model = CutModel(graph, arcs, arcs.cost, graph.cost)
        assert model.relax(NEVER) == "optimal"
        assert model.highs.objective + offset <= optimum + 1e-6

"""The paper's directed cluster subpacking formulation (Appendix C, DCSUB), with delayed constraint generation.

HiGHS has no lazy-constraint callback, so the integer programme is solved, its solution searched for violated
constraints (DCSUB4), and solved again with them, until there are none. The linear relaxation goes through the same
loop first: with the cuts of its fractional points few integer programmes are left to solve. Cycles alone are not
enough to separate: (DCSUB4) for ``Q = C_i ∪ {u}`` also forbids arcs that leave a vertex nobody chose.

References
----------
C. Feremans, M. Labbé, G. Laporte (2002). A comparative analysis of several formulations for the generalized minimum
spanning tree problem. Networks 39, 29-34.
"""

from __future__ import annotations

import numpy as np

from .arc_lists import list_arcs
from .cut_model import CutModel
from .integer_objective import integer_objective
from .reductions import cluster_bound
from .solver_task import SearchOutcome, SolverTask

__all__ = ["solve_cluster_subpacking"]


def solve_cluster_subpacking(task: SolverTask) -> SearchOutcome:
    """Solve (DCSUB): relax and cut, then solve, separate and solve again."""
    graph, incumbent = task.graph, task.incumbent
    arcs = list_arcs(graph)
    objective = integer_objective(graph, arcs, incumbent)
    model = CutModel(graph, arcs, objective.arc_cost, objective.root_cost)
    weights = graph.weight[arcs.head, arcs.tail]
    bound, solves = cluster_bound(graph), 0
    for group in objective.groups:
        if task.deadline.passed:
            return SearchOutcome(bound, solves)
        model.fix_count(group.slots(weights), group.count)
    verdict = model.relax(task.deadline)
    if verdict == "optimal":
        incumbent.improve(graph, model.chosen_rows(model.highs.values))
        model.highs.require_integers(
            np.arange(model.highs.num_columns), incumbent.slack / objective.scale / 2
        )
    while verdict == "optimal":
        verdict = model.highs.solve(task.deadline)
        solves += 1
        task.progress(solves, 0, f"integer programmes, {sum(map(len, model.sets))} cuts")
        if verdict == "infeasible":
            break
        bound = max(bound, objective.working(model.highs.objective_bound))
        if model.highs.has_solution:
            values = np.round(model.highs.values)
            incumbent.improve(graph, model.chosen_rows(values))
            sets = model.violated(values)
            if verdict == "optimal" and not len(sets):
                return SearchOutcome(incumbent.value, solves)
            if len(sets):
                model.add_cuts(sets)
    # Infeasible: the reduced graph holds no tree better than the one that reduced it.
    return SearchOutcome(incumbent.value if verdict == "infeasible" else bound, solves)

"""A thin layer over HiGHS: arrays in, status, values and duals out, with tolerances fit for penalties.

References
----------
Q. Huangfu, J. A. J. Hall (2018). Parallelizing the dual revised simplex method. Math. Prog. Computation 10, 119-142.
"""

from __future__ import annotations

import math
import threading
from typing import Any, Literal

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .incumbent import Deadline

__all__ = ["HighsModel", "Verdict"]

Verdict = Literal["optimal", "infeasible", "stopped"]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEASIBILITY_TOLERANCE = 1e-9
"""Of integer programmes: the default of 1e-6 lets a penalised edge of weight 3e4 change the objective by 0.03."""

MOST_ITERATIONS = 20_000
"""Of linear programmes: simplex has been seen to cycle, and a relaxation that is not solved is merely not used."""

POLL_SECONDS = 0.02
"""How often Ctrl-C and the clock are looked at while HiGHS runs."""

GRACE_SECONDS = 0.1
"""How long after the deadline HiGHS may still come back by itself."""


class HighsModel:
    """A minimisation in bounded columns and ranged rows that can be re-solved as rows are added.

    Parameters
    ----------
    cost, upper
        Objective and upper bounds of the columns; lower bounds are zero.
    rows, row_lower, row_upper
        Constraints.
    """

    def __init__(
        self, cost: Floats, upper: Floats, rows: csr_array, row_lower: Floats, row_upper: Floats
    ) -> None:
        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)
        self._highs.setOptionValue("simplex_iteration_limit", MOST_ITERATIONS)
        program = highspy.HighsLp()
        program.num_col_ = len(cost)
        program.num_row_ = rows.shape[0]
        program.col_cost_ = cost
        program.col_lower_ = np.zeros(len(cost))
        program.col_upper_ = upper
        program.row_lower_ = row_lower
        program.row_upper_ = row_upper
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = rows.indptr.astype(np.int32)
        program.a_matrix_.index_ = rows.indices.astype(np.int32)
        program.a_matrix_.value_ = rows.data.astype(np.float64)
        self._highs.passModel(program)
        self.num_columns = len(cost)
        self._integer = False
        self._abandoned = False

    def add_rows(self, rows: csr_array, lower: Floats, upper: Floats) -> None:
        """Add constraints."""
        self._highs.addRows(
            rows.shape[0],
            lower,
            upper,
            rows.nnz,
            rows.indptr[:-1].astype(np.int32),
            rows.indices.astype(np.int32),
            rows.data.astype(np.float64),
        )

    def remove_columns(self, columns: Integers) -> None:
        """Fix columns at zero."""
        zeros = np.zeros(len(columns))
        self._highs.changeColsBounds(len(columns), columns.astype(np.int32), zeros, zeros)

    def require_integers(self, columns: Integers, absolute_gap: float) -> None:
        """Turn the programme into an integer programme, to be solved to an absolute gap."""
        kind = np.full(len(columns), highspy.HighsVarType.kInteger)
        self._highs.changeColsIntegrality(len(columns), columns.astype(np.int32), kind)
        self._integer = True
        for name in ("primal", "dual", "mip"):
            self._highs.setOptionValue(f"{name}_feasibility_tolerance", FEASIBILITY_TOLERANCE)
        self._highs.setOptionValue("simplex_iteration_limit", highspy.kHighsIInf)
        self._highs.setOptionValue("mip_rel_gap", 0.0)
        self._highs.setOptionValue("mip_abs_gap", absolute_gap)

    def solve(self, deadline: Deadline) -> Verdict:
        """Solve; says whether the optimum was reached, or shown not to exist, before the deadline."""
        if math.isfinite(deadline.left):
            # HiGHS's clock runs on over the solves of one object.
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(deadline.left, 1e-3))
        if not self._run_beside(deadline):
            return "stopped"
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            return "optimal"
        # The columns are bounded, so "unbounded or infeasible" is infeasible.
        none = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)
        return "infeasible" if status in none else "stopped"

    def _run_beside(self, deadline: Deadline) -> bool:
        """Run in another thread, which is left behind if it misses the deadline; says whether it came back.

        HiGHS looks at its clock too rarely, and not at all in presolve. A thread that is left behind is asked to stop
        and does so when it next looks; nothing waits for it but the end of the interpreter.
        """

        def interrupt(event: Any) -> None:
            if self._abandoned:
                event.interrupt()

        if self._integer:
            self._highs.cbMipInterrupt += interrupt
        else:
            self._highs.cbSimplexInterrupt += interrupt
        worker = threading.Thread(target=self._highs.run, name="HiGHS")
        worker.start()
        try:
            while worker.is_alive():
                worker.join(POLL_SECONDS)
                self._abandoned = worker.is_alive() and deadline.overdue > GRACE_SECONDS
                if self._abandoned:
                    return False
        except KeyboardInterrupt:
            self._abandoned = True
            raise
        if self._integer:
            self._highs.cbMipInterrupt -= interrupt
        else:
            self._highs.cbSimplexInterrupt -= interrupt
        return True

    @property
    def has_solution(self) -> bool:
        """Whether there are values to read."""
        if self._abandoned:
            return False
        status: Any = self._highs.getInfo().primal_solution_status
        return bool(status == highspy.SolutionStatus.kSolutionStatusFeasible)

    @property
    def values(self) -> Floats:
        """Values of the columns."""
        return np.array(self._highs.getSolution().col_value)

    @property
    def objective(self) -> float:
        """Objective of the last solution."""
        return float(self._highs.getInfo().objective_function_value)

    @property
    def row_duals(self) -> Floats:
        """Dual values of the rows, none if the solver was left behind."""
        if self._abandoned:
            return np.empty(0)
        return np.array(self._highs.getSolution().row_dual)

    @property
    def objective_bound(self) -> float:
        """Lower bound of the last integer programme."""
        if self._abandoned:
            return -math.inf
        return float(self._highs.getInfo().mip_dual_bound)

"""A thin layer over HiGHS: arrays in, status, values and duals out, with tolerances fit for penalties.

References
----------
Q. Huangfu, J. A. J. Hall (2018). Parallelizing the dual revised simplex method. Math. Prog. Computation 10, 119-142.
"""

from __future__ import annotations

import math
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
"""HiGHS's default of 1e-6 lets a penalised edge of weight 3e4 change the objective by 0.03."""


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
        for name in ("primal", "dual", "mip"):
            self._highs.setOptionValue(f"{name}_feasibility_tolerance", FEASIBILITY_TOLERANCE)
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
        self._highs.setOptionValue("mip_rel_gap", 0.0)
        self._highs.setOptionValue("mip_abs_gap", absolute_gap)

    def solve(self, deadline: Deadline) -> Verdict:
        """Solve; says whether the optimum was reached, or shown not to exist, before the deadline."""
        if math.isfinite(deadline.left):
            # HiGHS's clock runs on over the solves of one object.
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(deadline.left, 1e-3))
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            return "optimal"
        # The columns are bounded, so "unbounded or infeasible" is infeasible.
        none = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)
        return "infeasible" if status in none else "stopped"

    @property
    def has_solution(self) -> bool:
        """Whether there are values to read."""
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
        """Dual values of the rows."""
        return np.array(self._highs.getSolution().row_dual)

    @property
    def objective_bound(self) -> float:
        """Lower bound of the last integer programme."""
        return float(self._highs.getInfo().mip_dual_bound)

"""Penalised nonlinear least squares from many starts at once (Levenberg–Marquardt, batched).

The rivals' estimators are small problems with several local minima: all starts are advanced together, so that one
evaluation of the surrogate serves all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..problem import FloatArray

__all__ = ["LeastSquaresResult", "minimise_least_squares"]

#: (b, p) parameters to (b, k) residuals and (b, k, p) Jacobians.
ResidualFunction = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

# Nielsen-style damping: relax after a success, tighten after a failure.
FIRST_DAMPING, RELAX, TIGHTEN, MAX_DAMPING = 1e-2, 1.0 / 3.0, 4.0, 1e8
# Relative decrease of the objective below which a start has converged.
TOLERANCE = 1e-10


@dataclass(frozen=True)
class LeastSquaresResult:
    """Parameters (b, p) and objectives (b,), best first."""

    parameters: FloatArray
    objective: FloatArray


def minimise_least_squares(
    residuals: ResidualFunction, starts: FloatArray, penalty: FloatArray, max_iterations: int = 100
) -> LeastSquaresResult:
    """Minimise ½|r(γ)|² + ½ Σ_j penalty_j γ_j² from every row of `starts`.

    Parameters
    ----------
    residuals
        Batched residuals and Jacobians.
    starts
        (b, p).
    penalty
        (p,), zero where unpenalised.
    """
    gamma = starts.copy()
    num_parameters = gamma.shape[1]
    diagonal = np.arange(num_parameters)
    r, jacobian = residuals(gamma)
    objective = 0.5 * (r**2).sum(axis=1) + 0.5 * (gamma**2) @ penalty
    damping = np.full(len(gamma), FIRST_DAMPING)
    active = np.ones(len(gamma), dtype=bool)
    for _ in range(max_iterations):
        rows = np.flatnonzero(active)
        if len(rows) == 0:
            break
        normal = np.einsum("bki,bkj->bij", jacobian[rows], jacobian[rows])
        normal[:, diagonal, diagonal] += penalty
        slope = np.einsum("bki,bk->bi", jacobian[rows], r[rows]) + penalty * gamma[rows]
        scale = np.maximum(normal[:, diagonal, diagonal], 1e-10)
        normal[:, diagonal, diagonal] += damping[rows, None] * scale
        proposal = gamma[rows] - np.linalg.solve(normal, slope[:, :, None])[:, :, 0]
        new_r, new_jacobian = residuals(proposal)
        new_objective = 0.5 * (new_r**2).sum(axis=1) + 0.5 * (proposal**2) @ penalty
        better = new_objective < objective[rows]
        decrease = (objective[rows] - new_objective) / np.maximum(objective[rows], 1e-12)
        moved = rows[better]
        gamma[moved], r[moved], jacobian[moved] = proposal[better], new_r[better], new_jacobian[better]
        objective[moved] = new_objective[better]
        damping[rows] *= np.where(better, RELAX, TIGHTEN)
        finished = (better & (decrease < TOLERANCE)) | (damping[rows] > MAX_DAMPING)
        active[rows[finished]] = False
    order = np.argsort(objective, kind="stable")
    return LeastSquaresResult(gamma[order], objective[order])

"""The surrogate's mean and posterior covariance where one calibration vector t holds for all x.

Given t, the runs' correlation with (x_i, t) is R_x(x_j, x_i) e_j(t), and the covariance of m sites costs m triangular
solves with the n × n factor. As functions of t, mean and covariance are short polynomials (`surrogate_polynomials`), so
that the factor is used once per node of a grid and not once per t.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..gaussian_process import StaticSurrogate, squared_exponential
from ..problem import FloatArray
from .surrogate_polynomials import TensorGrid, tensor_grid

__all__ = ["SurrogateMoments"]


@dataclass(frozen=True)
class SurrogateMoments:
    """Moments at m sites and q further controls as functions of t.

    A *row* holds, for one t: the means (m + q), the sites' covariance (m·m), their covariance with the further controls
    (m·q) and the variances there (q).
    """

    surrogate: StaticSurrogate
    sites: FloatArray
    others: FloatArray

    def grid(self) -> TensorGrid | None:
        """The grid that resolves the rows; a product of two correlations has twice the rate of one."""
        return tensor_grid(2.0 * self.surrogate.rates[self.sites.shape[1] :])

    def rows(self, t: FloatArray) -> FloatArray:
        """Rows at t (b, dt), by the polynomials where their grid has fewer nodes than there are t."""
        grid = self.grid()
        if grid is None or np.prod(grid.sizes) >= len(t):
            return self.exact_rows(t)
        return np.asarray(grid.basis(t) @ grid.coefficients(self.exact_rows(grid.nodes)).T)

    def exact_rows(self, t: FloatArray) -> FloatArray:
        """Rows at t (b, dt) by one use of the factor for each."""
        surrogate, dx, num_sites = self.surrogate, self.sites.shape[1], len(self.sites)
        controls = np.vstack([self.sites, self.others])
        x_runs, t_runs = surrogate.inputs[:, :dx], surrogate.inputs[:, dx:]
        run_share = squared_exponential(x_runs, controls, surrogate.rates[:dx])
        prior = squared_exponential(self.sites, controls, surrogate.rates[:dx])
        result = np.empty((len(t), len(controls) * (num_sites + 1) + len(self.others)))
        for row, share in zip(result, squared_exponential(t, t_runs, surrogate.rates[dx:]), strict=True):
            cross = run_share * share[:, None]
            white = linalg.solve_triangular(surrogate.factor, cross, lower=True, check_finite=False)
            covariance = surrogate.variance * (prior - white[:, :num_sites].T @ white)
            variance = surrogate.variance * (1.0 - (white[:, num_sites:] ** 2).sum(axis=0))
            within, between = covariance[:, :num_sites], covariance[:, num_sites:]
            mean = surrogate.mean + surrogate.weights @ cross
            row[:] = np.concatenate([mean, within.ravel(), between.ravel(), variance])
        return result

    def split(self, rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Means (b, m + q), covariances (b, m, m) and (b, m, q), and variances (b, q), of rows."""
        num_sites, num_others, batch = len(self.sites), len(self.others), len(rows)
        ends = np.cumsum([num_sites + num_others, num_sites**2, num_sites * num_others])
        mean, within, between, variance = np.split(rows, ends, axis=1)
        return (
            mean,
            within.reshape(batch, num_sites, num_sites),
            between.reshape(batch, num_sites, num_others),
            variance,
        )

"""A straight line through the measurements: the humblest rival, with exact leave-one-out densities."""

from dataclasses import dataclass

import numpy as np

from ..problem import ScaledProblem
from ..problem.arrays import FloatArray

__all__ = ["StraightLine", "fit_straight_line"]


@dataclass(frozen=True)
class StraightLine:
    """Weighted least squares under the flat prior p(b, σ²) ∝ 1/σ².

    Attributes
    ----------
    coefficient : (dx + 1,), gram_inverse : (dx + 1, dx + 1)
        Estimate, and its covariance in units of σ².
    residual_ss, dof
        Residual sum of squares pooled with that within sites, and its degrees of freedom; σ² = 1 if `known`.
    log_density : (m,)
        Leave-one-out log densities of the site means, in scaled response units.
    """

    coefficient: FloatArray
    gram_inverse: FloatArray
    residual_ss: float
    dof: int
    known: bool
    mean_known_variance: float
    log_density: FloatArray

    def predict(
        self, x_new: FloatArray, num_draws: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Components at scaled controls: mean and variance (T, q), measurement variance (T,), scaled units."""
        design = np.column_stack([np.ones(len(x_new)), x_new])
        mean = np.broadcast_to(design @ self.coefficient, (num_draws, len(x_new)))
        noise = np.ones(num_draws) if self.known else self.residual_ss / rng.chisquare(self.dof, num_draws)
        leverage = np.einsum("qp,pr,qr->q", design, self.gram_inverse, design)
        measurement = np.full(num_draws, self.mean_known_variance) if self.known else noise
        return np.array(mean), noise[:, None] * leverage, measurement


def fit_straight_line(problem: ScaledProblem) -> StraightLine | None:
    """Fit the line; None where a line through all sites but one would leave no degree of freedom."""
    from scipy import stats  # half a second that a fit without comparison can spare

    num_sites, num_controls = problem.x_sites.shape
    known = problem.known_variance is not None
    weight = 1.0 / problem.known_variance if problem.known_variance is not None else problem.counts
    within_dof = 0 if known else problem.within_dof
    if num_sites - 1 - (num_controls + 1) + within_dof < 1 or num_sites - 1 < num_controls + 1:
        return None
    design = np.column_stack([np.ones(num_sites), problem.x_sites])
    if np.linalg.matrix_rank(design) < num_controls + 1:
        return None
    log_density = np.empty(num_sites)
    for site in range(num_sites):
        keep = np.arange(num_sites) != site
        if np.linalg.matrix_rank(design[keep]) < num_controls + 1:
            return None
        estimate, gram_inverse, ss, dof = _least_squares(design[keep], problem.y_sites[keep], weight[keep])
        leverage = float(design[site] @ gram_inverse @ design[site]) + 1.0 / weight[site]
        gap = problem.y_sites[site] - float(design[site] @ estimate)
        if known:
            log_density[site] = stats.norm.logpdf(gap, scale=np.sqrt(leverage))
        else:
            dof += within_dof
            scale = np.sqrt((ss + problem.within_ss) / dof * leverage)
            log_density[site] = stats.t.logpdf(gap, dof, scale=scale)
    estimate, gram_inverse, ss, dof = _least_squares(design, problem.y_sites, weight)
    return StraightLine(
        estimate,
        gram_inverse,
        ss + problem.within_ss,
        dof + within_dof,
        known,
        float(np.mean(problem.counts / weight)),
        log_density,
    )


def _least_squares(
    design: FloatArray, y: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, float, int]:
    """Coefficients, (XᵀWX)⁻¹, weighted residual sum of squares, degrees of freedom."""
    gram_inverse = np.linalg.inv(design.T @ (design * weight[:, None]))
    estimate = gram_inverse @ (design.T @ (weight * y))
    residual = y - design @ estimate
    return (
        np.asarray(estimate),
        np.asarray(gram_inverse, dtype=np.float64),
        float(np.sum(weight * residual**2)),
        len(y) - design.shape[1],
    )

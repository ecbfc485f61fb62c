"""How measurement noise enters the rivals: weights of the sites, and one estimate of the noise variance.

A site mean of c measurements has variance σ²/c. Where the user knows the noise, the weights follow from it and σ² is
not estimated.
"""

from dataclasses import dataclass

import numpy as np

from ..problem import FloatArray
from ..problem.scaled_problem import ScaledProblem

__all__ = ["SiteNoise", "site_noise"]


@dataclass(frozen=True)
class SiteNoise:
    """Weights a_i with var(ȳ_i) = σ²/a_i.

    Attributes
    ----------
    weights
        a_i (m,): the counts; for known noise 1/variance, and then σ² = 1.
    known
        Whether σ² is known.
    within_ss, within_dof
        Sum of squares within sites and its degrees of freedom.
    single_measurement
        With known noise, the mean variance of one measurement; unused else.
    """

    weights: FloatArray
    known: bool
    within_ss: float
    within_dof: int
    single_measurement: float

    @property
    def root_weights(self) -> FloatArray:
        """√(a_i / ā): residual multipliers of mean square one, so that penalties keep their meaning."""
        return np.asarray(np.sqrt(self.weights / self.weights.mean()))

    def estimate(self, residual_ss: float, dof: float) -> float:
        """σ² from Σ a_i r_i² on `dof` degrees of freedom, pooled with the replicates; 1 if known.

        Half a degree of freedom is the least: an estimator that uses up its data leaves no free estimate.
        """
        if self.known:
            return 1.0
        return (residual_ss + self.within_ss) / max(dof + self.within_dof, 0.5)

    def measurement_variance(self, sigma2: float) -> float:
        """Variance of one new measurement, scaled units squared."""
        return self.single_measurement if self.known else sigma2


def site_noise(scaled: ScaledProblem) -> SiteNoise:
    """The noise structure of a scaled problem."""
    if scaled.known_variance is None:
        return SiteNoise(scaled.counts, False, scaled.within_ss, scaled.within_dof, 0.0)
    single = float(np.mean(scaled.known_variance * scaled.counts))
    return SiteNoise(1.0 / scaled.known_variance, True, 0.0, 0, single)

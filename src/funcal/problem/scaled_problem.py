"""The problem as numerical code sees it: unit boxes, standardised responses, plain arrays."""

from dataclasses import dataclass

from .arrays import FloatArray
from .scaling import ProblemScaling

__all__ = ["ScaledProblem"]


@dataclass(frozen=True)
class ScaledProblem:
    """Scaled copy of a `CalibrationProblem`.

    Attributes
    ----------
    x_sites : (m, dx)
        Sites, in [0, 1] of the union of sites and runs.
    y_sites : (m,)
        Site means, centred at the mean of the runs and in units of their sd.
    counts : (m,)
        Measurements behind each mean.
    known_variance : (m,) or None
        Known variance of each mean, in scaled units squared.
    within_ss, within_dof
        Sum of squares within sites (scaled units squared) and its degrees of freedom.
    x_runs, t_runs, y_runs : (n, dx), (n, dtheta + dpsi), (n,)
        Runs; calibration vectors in [0, 1] of their box, functional columns first.
    """

    x_sites: FloatArray
    y_sites: FloatArray
    counts: FloatArray
    known_variance: FloatArray | None
    within_ss: float
    within_dof: int
    x_runs: FloatArray
    t_runs: FloatArray
    y_runs: FloatArray
    num_functional: int
    num_global: int
    scaling: ProblemScaling

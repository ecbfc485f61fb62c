"""Log densities of the normal and of Student's t: `scipy.stats` has them too, but takes half a second to import."""

import math

import numpy as np
from scipy.special import gammaln

from ..problem.arrays import FloatArray

__all__ = ["normal_log_pdf", "student_log_pdf"]


def normal_log_pdf(gap: FloatArray, variance: FloatArray) -> FloatArray:
    """Log density of a centred normal at `gap`."""
    density: FloatArray = -0.5 * (np.log(2.0 * math.pi * variance) + gap**2 / variance)
    return density


def student_log_pdf(gap: float, dof: float, squared_scale: float) -> float:
    """Log density of a centred, scaled Student's t at `gap`."""
    spread = dof * squared_scale
    normaliser = gammaln(0.5 * (dof + 1.0)) - gammaln(0.5 * dof) - 0.5 * math.log(math.pi * spread)
    return float(normaliser - 0.5 * (dof + 1.0) * math.log1p(gap**2 / spread))

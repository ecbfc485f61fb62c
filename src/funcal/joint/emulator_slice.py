"""One move of the emulator block φ: generalised elliptical slice sampling (Nishihara, Murray & Adams 2014).

The posterior of φ is dominated by the runs and close to normal, so an ellipse through the present point and a
draw from a heavy-tailed approximation of that posterior (multivariate t, centre and shape from the mode and then
from warm-up) is accepted after one or two factorisations, and the new point is nearly independent of the old.
"""

import math

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .ellipse import MAX_SHRINKS, first_bracket, shrink_bracket
from .emulator import EmulatorState, fill_emulator, in_reach, log_density_of_both_tables
from .emulator_covariance import runs_covariance
from .factors import large_cholesky
from .model import JointModel
from .site_functions import SiteState

__all__ = ["move_emulator"]

REFERENCE_DOF = 5.0
"""Degrees of freedom of the reference: heavier tails than the posterior's, so that no point is out of reach."""


@kernel
def _reference_log_density(
    phi: FloatArray, centre: FloatArray, shape_inverse: FloatArray
) -> tuple[float, float]:
    """Unnormalised log density of the reference, and the squared distance it is made of."""
    whitened = np.dot(shape_inverse, phi - centre)
    squared = np.dot(whitened, whitened)
    return -0.5 * (REFERENCE_DOF + phi.size) * math.log1p(squared / REFERENCE_DOF), squared


@kernel
def move_emulator(
    rng: np.random.Generator,
    phi: FloatArray,
    log_density: float,
    centre: FloatArray,
    shape: FloatArray,
    shape_inverse: FloatArray,
    model: JointModel,
    emulator: EmulatorState,
    sites: SiteState,
) -> int:
    """Move φ and the emulator in place, the sites' calibration values held.

    Parameters
    ----------
    log_density
        `log_density_of_both_tables` at φ.
    centre, shape, shape_inverse
        Reference: its centre, the Cholesky factor of its scale matrix, and the inverse of that factor.

    Returns
    -------
    int
        Density evaluations.
    """
    size = phi.size
    reference, squared = _reference_log_density(phi, centre, shape_inverse)
    # the t as a scale mixture of normals: scale² | φ is inverse gamma
    scale = math.sqrt(0.5 * (REFERENCE_DOF + squared) / rng.standard_gamma(0.5 * (REFERENCE_DOF + size)))
    other = scale * np.dot(shape, rng.standard_normal(size))
    threshold = log_density - reference + math.log(rng.random())
    angle, lower, upper = first_bracket(rng)
    start = phi.copy()
    proposal = np.empty(size)
    for evaluation in range(1, MAX_SHRINKS + 1):
        proposal[:] = centre + (start - centre) * math.cos(angle) + other * math.sin(angle)
        if in_reach(proposal, model):
            factor = large_cholesky(runs_covariance(proposal, model))
            density = log_density_of_both_tables(
                proposal, factor, sites.values, sites.noise_covariance, model
            )
            reference, _ = _reference_log_density(proposal, centre, shape_inverse)
            if density - reference > threshold:
                phi[:] = proposal
                fill_emulator(proposal, factor, model, emulator)
                return evaluation
        angle, lower, upper = shrink_bracket(rng, angle, lower, upper)
    return MAX_SHRINKS

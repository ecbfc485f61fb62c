"""Where chains start: calibration values at the sites, turned into a calibration block."""

import math

import numpy as np
from scipy.special import ndtri

from ..problem import ScaledProblem
from ..problem.arrays import FloatArray
from .model import JointModel

__all__ = ["noisy_matches", "starting_block"]

INSIDE = 0.05
"""Starting values are kept this far inside the unit box, where the link has a slope."""


def starting_block(model: JointModel, values: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A calibration block whose calibration values at the sites are about `values`.

    Parameters
    ----------
    model
    values : (m, dθ + dψ)
        Scaled calibration values, for example those of one ensemble of anchors.
    rng
        Spreads the hyper-parameters, so that chains start apart.
    """
    layout, prior = model.layout, model.prior
    m, num_controls = model.x_sites.shape
    block = np.zeros(layout.size)
    inside = np.clip(values, INSIDE, 1.0 - INSIDE)
    log_roughness = prior.log_roughness_mean + 0.3 * rng.standard_normal(num_controls)
    correlation = np.exp(-np.tensordot(np.exp(log_roughness), model.site_gaps, axes=1))
    # half of a starting value's scatter is taken for roughness of the anchors, not of θ
    factor = np.linalg.cholesky(correlation + 1e-8 * np.eye(m))
    smoother = factor.T @ np.linalg.inv(correlation + np.eye(m))
    for k in range(layout.num_functional):
        level = float(inside[:, k].mean())
        variation = prior.variation_scale * math.exp(0.3 * rng.standard_normal())
        whitened = smoother @ (inside[:, k] - level) / variation
        block[k * m : (k + 1) * m] = np.clip(whitened, -1.5, 1.5) + 0.1 * rng.standard_normal(m)
        block[layout.level + k] = ndtri(level)
        block[layout.log_variation + k] = math.log(variation)
        start = layout.log_roughness + k * num_controls
        block[start : start + num_controls] = log_roughness
        start = layout.stretch + k * num_controls
        block[start : start + num_controls] = (
            prior.stretch_mean + 0.3 * prior.stretch_sd * rng.standard_normal(num_controls)
        )
    for h in range(layout.num_global):
        level = float(inside[:, layout.num_functional + h].mean())
        block[layout.global_latent + h] = ndtri(level) + 0.2 * rng.standard_normal()
    if layout.has_noise:
        block[layout.log_noise] = math.log(prior.noise_scale) + 0.3 * rng.standard_normal()
    for part in range(layout.discrepancy):
        centre = prior.log_discrepancy_roughness_mean if part == 2 else math.log(prior.discrepancy_scale)
        block[layout.log_discrepancy + part] = centre + 0.3 * rng.standard_normal()
    return block


def noisy_matches(problem: ScaledProblem, rng: np.random.Generator) -> FloatArray:
    """For each site the calibration vector of a run near it whose response is close to a noisy copy of the site's.

    Returns
    -------
    (m, dθ + dψ)
    """
    num_near = max(5, len(problem.y_runs) // len(problem.y_sites))
    chosen = []
    for x, y in zip(problem.x_sites, problem.y_sites, strict=True):
        near = np.argsort(np.sum((problem.x_runs - x) ** 2, axis=1), kind="stable")[:num_near]
        target = y + 0.3 * rng.standard_normal()
        chosen.append(problem.t_runs[near[np.argmin(np.abs(problem.y_runs[near] - target))]])
    return np.array(chosen)

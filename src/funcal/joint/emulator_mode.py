"""Mode and curvature of the emulator block given the runs alone: where chains start, how their proposals look."""

import numpy as np
from scipy import optimize

from ..problem.arrays import FloatArray
from .emulator import emulator_prior, emulator_size, runs_log_density
from .model import JointModel

__all__ = ["find_emulator_mode", "needs_nugget"]

EVIDENCE_FOR_NUGGET = 3.0
"""Natural logarithm of the Bayes factor beyond which unreplicated runs count as noisy (strong evidence: 20 to 1)."""

MAX_ITERATIONS = 60
"""Of one search for a mode."""

LARGE_TABLE = 500
"""Runs beyond which an evenly spread subset decides on the nugget and begins the search: a factorisation costs n³."""


def find_emulator_mode(model: JointModel, *, curvature_step: float = 1e-3) -> tuple[FloatArray, FloatArray]:
    """Maximise log p(y^s | φ) + log p(φ).

    Returns
    -------
    mode : (p,)
    shape : (p, p)
        Cholesky factor of the covariance of the normal approximation at the mode.
    """
    start = _prior_centre(model)
    # two starts: smooth processes and rough ones are both common, and their modes are apart
    rough = start.copy()
    rough[: start.size - 2 - int(model.has_nugget)] += 2.0
    few = _thinned(model)
    mode = max(
        (_maximise(few, point) for point in (start, rough)), key=lambda phi: runs_log_density(phi, few)[0]
    )
    if few is not model:
        mode = _maximise(model, mode)
    return mode, _laplace_shape(model, mode, curvature_step)


def needs_nugget(model: JointModel) -> bool:
    """Whether the runs are better explained with noise of their own, by Laplace's approximation of the evidence.

    A deterministic computer model can still be noisy in its inputs' small changes (meshes, tolerances); forced
    through such runs, the emulator becomes rough everywhere.
    """
    model = _thinned(model)
    evidence = []
    for noisy in (False, True):
        candidate = model._replace(has_nugget=noisy)
        mode, shape = find_emulator_mode(candidate)
        height, _ = runs_log_density(mode, candidate)
        volume = float(np.sum(np.log(np.diag(shape)))) + 0.5 * mode.size * np.log(2.0 * np.pi)
        evidence.append(float(height) + volume)
    return bool(evidence[1] - evidence[0] > EVIDENCE_FOR_NUGGET)


def _prior_centre(model: JointModel) -> FloatArray:
    """Prior mean of φ."""
    return np.array([emulator_prior(j, model)[0] for j in range(emulator_size(model))])


def _thinned(model: JointModel) -> JointModel:
    """The model itself, or one with evenly spread runs of a large table."""
    stride = -(-model.y_runs.size // LARGE_TABLE)
    if stride == 1:
        return model
    return model._replace(
        x_runs=np.ascontiguousarray(model.x_runs[::stride]),
        t_runs=np.ascontiguousarray(model.t_runs[::stride]),
        y_runs=np.ascontiguousarray(model.y_runs[::stride]),
    )


def _maximise(model: JointModel, start: FloatArray) -> FloatArray:
    """L-BFGS from one start, within six prior standard deviations."""

    def negative(phi: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = runs_log_density(phi, model)
        return -value, -gradient

    centre = _prior_centre(model)
    reach = 6.0 * max(model.prior.log_decay_sd, model.prior.log_variance_sd)
    box = optimize.Bounds(centre - reach, centre + reach)
    found = optimize.minimize(
        negative,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=box,
        options={"maxiter": MAX_ITERATIONS, "ftol": 1e-8},
    )
    mode: FloatArray = np.asarray(found.x, dtype=np.float64)
    return mode


def _laplace_shape(model: JointModel, mode: FloatArray, step: float) -> FloatArray:
    """Factor of the inverse negative Hessian, by central differences of the gradient.

    Curvatures are kept between the prior's and 10⁶, so that a ridge or a flat direction gives a usable shape.
    """
    size = mode.size
    hessian = np.empty((size, size))
    for j in range(size):
        shift = np.zeros(size)
        shift[j] = step
        hessian[j] = (runs_log_density(mode + shift, model)[1] - runs_log_density(mode - shift, model)[1]) / (
            2.0 * step
        )
    curvature, axes = np.linalg.eigh(-0.5 * (hessian + hessian.T))
    flattest = 1.0 / max(model.prior.log_decay_sd, model.prior.log_variance_sd) ** 2
    curvature = np.clip(curvature, flattest, 1e6)
    return np.ascontiguousarray(np.linalg.cholesky((axes / curvature) @ axes.T))

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

WALL = 1e6
"""Height of the negative log density where there is none."""


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
    rough[: model.x_runs.shape[1] + model.t_runs.shape[1]] += 2.0
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
    """L-BFGS from one start in units of the prior's standard deviations, of which it may go six."""
    centre, sd = np.array([emulator_prior(j, model) for j in range(start.size)]).T

    def negative(point: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = runs_log_density(centre + sd * point, model)
        # a finite wall: from an infinite one the line search does not come back
        return (-value, -sd * gradient) if np.isfinite(value) else (WALL, np.zeros(point.size))

    found = optimize.minimize(
        negative,
        (start - centre) / sd,
        jac=True,
        method="L-BFGS-B",
        bounds=optimize.Bounds(-6.0, 6.0),
        options={"maxiter": MAX_ITERATIONS, "ftol": 1e-8},
    )
    mode: FloatArray = centre + sd * np.asarray(found.x, dtype=np.float64)
    return mode


def _laplace_shape(model: JointModel, mode: FloatArray, step: float) -> FloatArray:
    """Factor of the inverse negative Hessian, by central differences of the gradient in units of the prior's sd.

    Curvatures are kept between the prior's, 1, and 10⁶, so that a ridge or a flat direction gives a usable shape.
    """
    size = mode.size
    sd = np.array([emulator_prior(j, model)[1] for j in range(size)])
    hessian = np.empty((size, size))
    for j in range(size):
        shift = np.zeros(size)
        shift[j] = step * sd[j]
        change = runs_log_density(mode + shift, model)[1] - runs_log_density(mode - shift, model)[1]
        hessian[j] = sd * change / (2.0 * step)
    curvature, axes = np.linalg.eigh(-0.5 * (hessian + hessian.T))
    curvature = np.clip(curvature, 1.0, 1e6)
    return np.ascontiguousarray(sd[:, None] * np.linalg.cholesky((axes / curvature) @ axes.T))

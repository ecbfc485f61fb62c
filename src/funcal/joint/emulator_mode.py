"""Mode and curvature of the emulator block given the runs alone: where chains start, how their proposals look."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import optimize
from threadpoolctl import threadpool_limits

from ..problem.arrays import FloatArray
from .emulator_gradient import GradientMemory, allocate_gradient, runs_log_density
from .emulator_prior import emulator_prior, emulator_size
from .model import JointModel

__all__ = ["choose_emulator", "find_emulator_mode"]

EVIDENCE_FOR_NUGGET = 3.0
"""Natural logarithm of the Bayes factor beyond which unreplicated runs count as noisy (strong evidence: 20 to 1)."""

MAX_ITERATIONS = 60
"""Of one search for a mode."""

LARGE_TABLE = 500
"""Runs beyond which an evenly spread subset decides on the nugget and begins the search: a factorisation costs n³."""

CURVATURE_STEP = 1e-3
"""Of the central differences that the curvature at the mode is computed by, in standard deviations of the prior."""

WALL = 1e6
"""Height of the negative log density where there is none."""


def find_emulator_mode(model: JointModel) -> tuple[FloatArray, FloatArray]:
    """Maximise log p(y^s | φ) + log p(φ).

    Returns
    -------
    mode : (p,)
    shape : (p, p)
        Cholesky factor of the covariance of the normal approximation at the mode.
    """
    few = _thinned(model)
    start = _prior_centre(few)
    # two starts: smooth processes and rough ones are both common, and their modes are apart
    rough = start.copy()
    rough[: model.x_runs.shape[1] + model.t_runs.shape[1]] += 2.0
    # several threads on a matrix of a few hundred rows wait for one another ten times as long as they compute
    with threadpool_limits(limits=1):
        memory = allocate_gradient(few.y_runs.size)
        found = [_maximise(few, point, memory) for point in (start, rough)]
        mode = max(found, key=lambda phi: float(runs_log_density(phi, few, memory)[0]))
        if few is model:
            return mode, _laplace_shape(model, mode, memory)
    return _refined(model, mode)


def choose_emulator(model: JointModel) -> tuple[bool, tuple[FloatArray, FloatArray]]:
    """Whether the runs are better explained with noise of their own, and mode and shape of the emulator that is.

    By Laplace's approximation of the evidence. A deterministic computer model can still be noisy in its inputs' small
    changes (meshes, tolerances); forced through such runs, the emulator becomes rough everywhere.
    """
    few = _thinned(model)
    candidates = [few._replace(has_nugget=noisy) for noisy in (False, True)]
    with threadpool_limits(limits=1), ThreadPoolExecutor(len(candidates)) as pool:
        found = list(pool.map(find_emulator_mode, candidates))
    without, with_noise = (
        _laplace_evidence(candidate, *emulator) for candidate, emulator in zip(candidates, found, strict=True)
    )
    noisy = with_noise - without > EVIDENCE_FOR_NUGGET
    if few is model:
        return noisy, found[noisy]
    return noisy, _refined(model._replace(has_nugget=noisy), found[noisy][0])


def _refined(model: JointModel, mode: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mode and shape given all runs of a large table, from the mode of some of them."""
    memory = allocate_gradient(model.y_runs.size)
    mode = _maximise(model, mode, memory)
    return mode, _laplace_shape(model, mode, memory)


def _laplace_evidence(model: JointModel, mode: FloatArray, shape: FloatArray) -> float:
    """Log of the runs' evidence by the normal approximation at the mode."""
    height, _ = runs_log_density(mode, model, allocate_gradient(model.y_runs.size))
    return float(height + np.sum(np.log(np.diag(shape))) + 0.5 * mode.size * np.log(2.0 * np.pi))


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


def _maximise(model: JointModel, start: FloatArray, memory: GradientMemory) -> FloatArray:
    """L-BFGS from one start in units of the prior's standard deviations, of which it may go six."""
    centre, sd = np.array([emulator_prior(j, model) for j in range(start.size)]).T

    def negative(point: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = runs_log_density(centre + sd * point, model, memory)
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


def _laplace_shape(model: JointModel, mode: FloatArray, memory: GradientMemory) -> FloatArray:
    """Factor of the inverse negative Hessian, by central differences of the gradient in units of the prior's sd.

    Curvatures are kept between the prior's, 1, and 10⁶, so that a ridge or a flat direction gives a usable shape.
    """
    size = mode.size
    sd = np.array([emulator_prior(j, model)[1] for j in range(size)])
    hessian = np.empty((size, size))
    for j in range(size):
        shift = np.zeros(size)
        shift[j] = CURVATURE_STEP * sd[j]
        above, below = (runs_log_density(mode + move, model, memory)[1] for move in (shift, -shift))
        hessian[j] = sd * (above - below) / (2.0 * CURVATURE_STEP)
    curvature, axes = np.linalg.eigh(-0.5 * (hessian + hessian.T))
    curvature = np.clip(curvature, 1.0, 1e6)
    return np.ascontiguousarray(sd[:, None] * np.linalg.cholesky((axes / curvature) @ axes.T))

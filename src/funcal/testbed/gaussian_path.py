"""The random function G of the ten-dimensional problem (Appendix D), built once and kept.

G(x) = k(x, X) K(X, X)⁻¹ L z with K = LLᵀ, so the weights K⁻¹Lz = L⁻ᵀz need one triangular solve. X has 5 000 points
of the cube; z needs as many entries as X has rows (the text says 1 000). The weights cost a factorisation of a
5 000 × 5 000 matrix, so they are kept in the user's cache folder and in memory.
"""

import os
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import linalg

__all__ = ["cache_folder", "evaluate_path", "path_weights"]

FloatArray = npt.NDArray[np.float64]

# ℓ of Appendix D: correlation exp(-Σ ℓ_k (x_k - x'_k)²), variance 1.
RATES = np.array([11.1, 6.2, 4.0, 2.7, 2.0, 1.5, 1.2, 1.0, 0.8, 0.6])
NUM_POINTS = 5_000
# One function for everyone: the paper fixes X and z.
PATH_SEED = 20_190_610
# Keeps the factorisation exact in float64; far below the variance of 1.
JITTER = 1e-8


def cache_folder() -> Path:
    """Where computed constants are kept: $FUNCAL_CACHE, else funcal/ in the user's cache folder."""
    chosen = os.environ.get("FUNCAL_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "funcal"


def _correlation(a: FloatArray, b: FloatArray) -> FloatArray:
    left, right = a * np.sqrt(RATES), b * np.sqrt(RATES)
    squared = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :] - 2.0 * left @ right.T
    return np.asarray(np.exp(-np.maximum(squared, 0.0)))


@cache
def path_weights(num_points: int = NUM_POINTS) -> tuple[FloatArray, FloatArray]:
    """The points X (num_points, 10) and the weights L⁻ᵀz (num_points,)."""
    rng = np.random.default_rng([PATH_SEED, num_points])
    points = rng.uniform(size=(num_points, len(RATES)))
    normals = rng.standard_normal(num_points)
    stored = cache_folder() / f"gaussian-path-{PATH_SEED}-{num_points}.npy"
    try:
        weights = np.load(stored, allow_pickle=False)
    except (OSError, ValueError):
        weights = None
    if weights is None or weights.shape != (num_points,):
        covariance = _correlation(points, points)
        covariance[np.diag_indices(num_points)] += JITTER
        factor = linalg.cholesky(covariance, lower=True, overwrite_a=True, check_finite=False)
        weights = linalg.solve_triangular(factor, normals, lower=True, trans="T", check_finite=False)
        _keep(stored, weights)
    points.setflags(write=False)
    weights.setflags(write=False)
    return points, weights


def _keep(stored: Path, weights: FloatArray) -> None:
    """Write atomically; a cache that cannot be written is only slower."""
    try:
        stored.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=stored.parent, suffix=".npy")
    except OSError:
        return
    with os.fdopen(handle, "wb") as file:
        np.save(file, weights)
    os.replace(name, stored)


def evaluate_path(control: FloatArray, num_points: int = NUM_POINTS) -> FloatArray:
    """G at (q, 10) control vectors."""
    points, weights = path_weights(num_points)
    return np.asarray(_correlation(control, points) @ weights)

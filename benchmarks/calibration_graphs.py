"""Calibration graphs to measure on: the stored ones where the data are at hand, and families that grow."""

import os
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

__all__ = ["plane", "problem_one", "stored"]


def stored(
    name: str, *, response_noise: np.random.Generator | None = None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Printed weights and clusters of a graph in the data directory ``gmst/``; None where it is absent.

    ``response_noise`` adds a standard deviation of 0.02 to the standardised responses of the sites.
    """
    folder = Path(os.environ.get("FUNCAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    path = folder / "gmst" / f"{name}.npz"
    if not path.is_file():
        return None
    graph = np.load(path, allow_pickle=False)
    x, cluster, y_sites = graph["x"], graph["cluster"], graph["yp"]
    if response_noise is not None:
        y_sites = y_sites + 0.02 * response_noise.normal(size=len(y_sites))
    apart = cdist(x, x)
    compared = cdist(graph["x_raw"], graph["x_raw"]) if str(graph["r_scale"]) == "raw" else apart
    misfit = np.abs(graph["y"] - y_sites[cluster])
    near = float(graph["lam"]) * cdist(graph["cal"], graph["cal"])
    edge = np.where(compared <= float(graph["r"]), near, float(graph["M"]) * apart)
    return misfit[:, None] + misfit[None, :] + edge, cluster


def problem_one(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The paper's first problem with n runs at six sites, printed weights, r = 1.5, M = 1e5."""
    rng = np.random.default_rng(seed)
    sites = np.arange(0.5, 6.0)
    cluster = np.arange(n) % 6
    x, theta = sites[cluster], rng.uniform(0.0, 2.0, n)
    shape = np.exp(-0.05 * x**2) * (np.sin(x) ** 2 + 1.0)
    truth = np.exp(-0.05 * sites**2 - 0.05 * sites) * (np.sin(sites) ** 2 + 1.0)
    measured = truth + rng.normal(0.0, np.sqrt(0.05), 6)
    y = theta * shape
    spread = max(y.max(), measured.max()) - min(y.min(), measured.min())
    misfit = np.abs(y - measured[cluster]) / spread
    apart = np.abs(x[:, None] - x[None, :])
    near = 0.5 * np.abs(theta[:, None] - theta[None, :]) / np.ptp(theta)
    edge = np.where(apart <= 1.5, near, 1e5 * apart / 5.0)
    return misfit[:, None] + misfit[None, :] + edge, cluster


def plane(n: int, m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random sites in the unit square, m of them, n runs scattered over it; corrected weights with vertex costs."""
    rng = np.random.default_rng(seed)
    sites, x, theta = rng.random((m, 2)), rng.random((n, 2)), rng.random(n)

    def model(at: np.ndarray, t: np.ndarray) -> np.ndarray:
        return np.sin(3.0 * at[:, 0]) * t + at[:, 1] ** 2 * t**2 + t

    measured = model(sites, 0.5 + 0.4 * np.sin(2.0 * sites.sum(axis=1))) + 0.05 * rng.normal(size=m)
    cluster = np.argmin(cdist(x, sites), axis=1)
    y = model(x, theta)
    misfit = np.abs(y - measured[cluster]) / np.ptp(np.concatenate([y, measured]))
    radius = 1.01 * minimum_spanning_tree(cdist(sites, sites)).data.max()
    apart = cdist(x, x)
    near = 0.5 * np.abs(theta[:, None] - theta[None, :])
    return np.where(apart <= radius, near, 1e5 * apart), cluster, misfit

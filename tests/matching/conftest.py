"""Random clustered graphs, an oracle that shares no code with the package, and the stored calibration graphs."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist


@dataclass(frozen=True)
class Instance:
    """A clustered graph as a caller would pass it."""

    weights: np.ndarray
    clusters: np.ndarray
    vertex_costs: np.ndarray | None


def make_instance(seed: int, *, most_clusters: int = 6, most_vertices: int = 4) -> Instance:
    """A small graph; the seed cycles through metric, integer, arbitrary, signed, penalised and tied weights."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, most_clusters + 1))
    sizes = rng.integers(1, most_vertices + 1, m)
    n = int(sizes.sum())
    labels = rng.choice(np.arange(-50, 50), m, replace=False)
    clusters = rng.permutation(np.repeat(labels, sizes))
    kind = seed % 6
    if kind == 0:
        points = rng.random((n, 2))
        weights = cdist(points, points)
    elif kind == 1:
        weights = rng.integers(0, 4, (n, n)).astype(float)
    elif kind == 2:
        weights = rng.random((n, n))
    elif kind == 3:
        weights = rng.normal(size=(n, n))
    elif kind == 4:
        weights = rng.random((n, n)) + 1e5 * (rng.random((n, n)) < 0.3)
    else:
        weights = np.round(rng.random((n, n)), 1)
    weights = np.triu(weights, 1)
    weights = weights + weights.T
    if rng.random() < 0.5:
        missing = np.triu(rng.random((n, n)) < rng.choice([0.1, 0.4, 0.7]), 1)
        weights[missing | missing.T] = np.inf
    costs = None
    if rng.random() < 0.6:
        costs = rng.integers(0, 3, n).astype(float) if kind == 1 else rng.normal(size=n)
    return Instance(weights, clusters, costs)


def brute_force(instance: Instance) -> float:
    """Cost of the cheapest tree by trying every choice of vertices; inf if there is none."""
    labels = np.unique(instance.clusters)
    members = [np.flatnonzero(instance.clusters == label) for label in labels]
    best = math.inf
    for choice in itertools.product(*members):
        terms = [] if instance.vertex_costs is None else [float(instance.vertex_costs[v]) for v in choice]
        inside, outside = [choice[0]], list(choice[1:])
        while outside:
            weight, nearest = min((float(instance.weights[u, v]), v) for u in inside for v in outside)
            terms.append(weight)
            inside.append(nearest)
            outside.remove(nearest)
        best = min(best, math.fsum(terms))
    return best


@pytest.fixture(scope="session")
def random_instance() -> Callable[..., Instance]:
    """The generator of random clustered graphs."""
    return make_instance


@pytest.fixture(scope="session")
def cheapest_tree() -> Callable[[Instance], float]:
    """The brute-force oracle."""
    return brute_force


@dataclass(frozen=True)
class StoredGraph:
    """A calibration graph with its proved optimum, under the printed weights."""

    name: str
    weights: np.ndarray
    clusters: np.ndarray
    optimum: float


@pytest.fixture(scope="session")
def stored_graph(data_dir: Path) -> Callable[[str], StoredGraph]:
    """Reads one of the graphs in the data directory ``gmst/``."""

    def read(name: str) -> StoredGraph:
        stored = np.load(data_dir / "gmst" / f"{name}.npz", allow_pickle=False)
        x, cluster = stored["x"], stored["cluster"]
        apart = cdist(x, x)
        compared = cdist(stored["x_raw"], stored["x_raw"]) if str(stored["r_scale"]) == "raw" else apart
        misfit = np.abs(stored["y"] - stored["yp"][cluster])
        near = float(stored["lam"]) * cdist(stored["cal"], stored["cal"])
        edge = np.where(compared <= float(stored["r"]), near, float(stored["M"]) * apart)
        return StoredGraph(
            name, misfit[:, None] + misfit[None, :] + edge, cluster, float(stored["opt_value"])
        )

    return read

"""The layered shortest path: time against n, and batches of perturbed responses."""

import time

import numpy as np

from funcal.matching import shortest_paths


def _seconds(n: int, m: int, num_sets: int) -> float:
    rng = np.random.default_rng(0)
    cluster = np.arange(n) % m
    calibration, misfit = rng.random((n, 2)), rng.random((num_sets, n))
    began = time.perf_counter()
    shortest_paths(calibration, cluster, misfit, 0.5)
    return time.perf_counter() - began


def main() -> None:
    """Print time, and time per edge, for growing n."""
    _seconds(100, 10, 1)
    print(f"{'n':>7}{'m':>6}{'responses':>11}{'ms':>10}{'ns per edge':>13}")
    for n, m, num_sets in ((500, 6, 1), (1000, 100, 1), (5000, 100, 1), (20000, 100, 1), (5000, 100, 500)):
        seconds = min(_seconds(n, m, num_sets) for _ in range(3))
        edges = (m - 1) * (n / m) ** 2 * num_sets
        print(f"{n:>7}{m:>6}{num_sets:>11}{1e3 * seconds:>10.2f}{1e9 * seconds / edges:>13.2f}", flush=True)

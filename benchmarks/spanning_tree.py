"""The spanning tree against HiGHS on the paper's formulation, its growth, re-solves, memory and compile time.

``FUNCAL_BENCH_CAP`` sets the seconds after which HiGHS is stopped (120 unless given; 0 leaves it out).
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from funcal.matching import solve_many, solve_spanning_tree

from .calibration_graphs import plane, problem_one, stored

CAP = float(os.environ.get("FUNCAL_BENCH_CAP", "120"))

#: Name, most milliseconds, least ratio to HiGHS on MCF (0: no comparison).
TABLE = [
    ("p1_n500_raw_s0", 25, 5000),
    ("p2_r0.34std_s0", 50, 300),
    ("p2_r0.9std_s0", 50, 300),
    ("p3_r0.16std_s0", 50, 300),
    ("weld_r4raw_s0", 50, 300),
    ("pva_m11_r0.5_s0", 50, 300),
    ("p10d_q10_s0", 1000, 0),
    ("r2d_m50_free_s1", 1000, 0),
    ("r2d_m100_rep_s0", 5000, 0),
]

MEMORY_PROGRAM = """
import re
from pathlib import Path
from benchmarks.calibration_graphs import plane
from funcal.matching import solve_spanning_tree


def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024


weights, cluster, costs = plane(60, 6)
solve_spanning_tree(weights, cluster, vertex_costs=costs)
before = peak()
weights, cluster, costs = plane(3000, 100)
made = peak()
result = solve_spanning_tree(weights, cluster, vertex_costs=costs, time_limit=120)
print(f"n = 3000, m = 100: {result.status} in {result.seconds:.1f} s, peak {peak():.0f} MiB "
      f"(libraries {before:.0f}, with the caller's matrices {made:.0f})")
"""

COMPILE_PROGRAM = """
import time
import numpy as np
from funcal.matching import solve_spanning_tree
from benchmarks.calibration_graphs import problem_one
began = time.perf_counter()
for method in ("auto", "subset_dp", "enumeration", "dcsub"):
    solve_spanning_tree(*problem_one(18), method=method)
print(f"{time.perf_counter() - began:.1f}")
"""


def _median(weights: np.ndarray, clusters: np.ndarray, repeats: int, **options: object) -> float:
    """Median seconds of warm solves."""
    times = []
    for _ in range(repeats):
        result = solve_spanning_tree(weights, clusters, **options)  # type: ignore[arg-type]
        assert result.status == "optimal"
        times.append(result.seconds)
    return float(np.median(times))


def _against_highs() -> None:
    graphs = {name: stored(name) for name, _, _ in TABLE}
    ours = {}
    for name, most, _ in TABLE:  # all of ours before HiGHS, which may keep a core busy after it was stopped
        graph = graphs[name]
        if graph is not None:
            solve_spanning_tree(*graph)
            ours[name] = _median(*graph, 7 if most < 1000 else 3)
    print(
        f"{'instance':<20}{'n':>6}{'m':>5}{'funcal ms':>11}{'at most':>9}{'HiGHS/MCF s':>13}{'ratio':>9}{'at least':>9}"
    )
    for name, most, least in TABLE:
        graph = graphs[name]
        if graph is None:
            print(f"{name:<20} the data are not at hand; set FUNCAL_DATA")
            continue
        weights, clusters = graph
        line = f"{name:<20}{len(clusters):>6}{clusters.max() + 1:>5}{1e3 * ours[name]:>11.1f}{most:>9}"
        if least and CAP:
            highs = solve_spanning_tree(weights, clusters, method="mcf", reduce=False, time_limit=CAP)
            seconds = min(highs.seconds, CAP)
            mark = " " if highs.status == "optimal" else "+"
            line += f"{seconds:>12.1f}{mark}{seconds / ours[name]:>9.0f}{least:>9}"
        print(line, flush=True)
    print("+ stopped at the cap")


def _ten_seeds() -> None:
    times = []
    for seed in range(10):
        weights, clusters, costs = plane(500, 50, seed)
        times.append(solve_spanning_tree(weights, clusters, vertex_costs=costs).seconds)
    print(
        f"{'plane, ten seeds':<20}{500:>6}{50:>5}{1e3 * np.median(times):>11.1f}{1000:>9}   worst {max(times):.2f} s"
    )


def _growth() -> None:
    print("\nn at m = 6 (problem 1, printed weights)")
    for n in (100, 200, 400, 800, 1600, 3200):
        print(f"  n = {n:>5}: {1e3 * _median(*problem_one(n), 3):8.1f} ms", flush=True)
    print("m at n = 10 m (scattered runs in the plane, corrected weights)")
    for m in (10, 20, 40, 80, 160):
        weights, clusters, costs = plane(10 * m, m)
        result = solve_spanning_tree(weights, clusters, vertex_costs=costs, time_limit=60)
        print(
            f"  m = {m:>5}: {1e3 * result.seconds:8.1f} ms, {result.status}, {result.nodes} nodes", flush=True
        )


def _re_solves() -> None:
    rng = np.random.default_rng(0)
    batch = [stored("p2_r0.34std_s0", response_noise=rng) for _ in range(200)]
    graphs = [graph for graph in batch if graph is not None]
    if not graphs:
        return
    began = time.perf_counter()
    results = solve_many([weights for weights, _ in graphs], graphs[0][1])
    seconds = time.perf_counter() - began
    assert all(result.status == "optimal" for result in results)
    different = len({tuple(result.vertices) for result in results})
    print(
        f"\n200 re-solves of problem 2 under perturbed responses: {seconds:.2f} s (at most 4), {different} anchor sets"
    )


def _run(program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return done.stdout.strip()


def main() -> None:
    """Print everything."""
    _ten_seeds()
    _growth()
    _re_solves()
    if Path("/proc/self/status").exists():
        print(_run(MEMORY_PROGRAM))
    with tempfile.TemporaryDirectory() as folder:
        first = _run(COMPILE_PROGRAM, NUMBA_CACHE_DIR=folder)
        second = _run(COMPILE_PROGRAM, NUMBA_CACHE_DIR=folder)
    print(f"first use {first} s with an empty cache (at most 30), {second} s with a full one")
    print()
    _against_highs()

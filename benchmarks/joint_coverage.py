"""Whether 95 % means 95 %, and how far off `joint` is, over fresh replicates of the paper's synthetic problems.

Seeds from 5000 on, with the study's settings; of other tables only those of `docs/decisions/joint-prior.md` saw some of
them, in which processes of θ are compared on problem 2 and priors of the noise on problem 3. Covered are the noise-free
response, by the mixture that a user is given, and θ(x), by the main member; on problem 3, where θ and ψ are not
identified, θ(x) + ψ x².
Each replicate is asked at its own ten or so test points, and at twenty times as many over the range of the controls:
that takes the luck of the points out. Problem 3's own points are the same five in one gap of its sites, covered or
missed together: fifty replicates would be fifty events, and all of them happen one time in three at a coverage of 98 %.
Its first hundred seeds are easy ones, as `closed_form_coverage` tells, so two hundred more follow, and all of them
together.
The points of one replicate share their errors, so standard errors are those of the replicates' shares.
"""

import os
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np

from funcal import calibrate
from funcal.diagnostics.scores import root_mean_square
from funcal.problem import CalibrationProblem
from funcal.problem.arrays import FloatArray
from funcal.study.plan import STUDY_SETTINGS
from funcal.testbed import get_problem

BLOCKS = {
    "synthetic-1": (range(5000, 5200),),
    "synthetic-2": (range(5000, 5050),),
    "synthetic-3": (range(5000, 5100), range(5100, 5300)),
}
LEVEL = 0.95
DRAWS = 20
"""Rows of test points of a replicate, the first its own."""


def functional(control: FloatArray, calibration: FloatArray) -> FloatArray:
    """θ(x)."""
    return calibration[..., 0]


def identified(control: FloatArray, calibration: FloatArray) -> FloatArray:
    """θ(x) + ψ x², all that problem 3 tells of (θ, ψ)."""
    combination: FloatArray = calibration[..., 0] + calibration[..., 1] * control[:, 0] ** 2
    return combination


LEARNT: dict[str, tuple[str, Callable[[FloatArray, FloatArray], FloatArray]]] = {
    "synthetic-1": ("θ(x)", functional),
    "synthetic-2": ("θ(x)", functional),
    "synthetic-3": ("θ(x) + ψ x²", identified),
}
RANGES = {"synthetic-3": (0.0, 0.95)}
"""Of the control, where a problem's own test points do not span it."""
STRETCHES = {"synthetic-2": (1.0, 1.5, 2.0, 3.0, 7.0)}
"""Of the sum of the controls, to tell where coverage is lost: problem 2's θ = √(x1 + x2 - 1) drops to 0 at 1, where the
response hardly depends on it."""


def further_controls(key: str, rng: np.random.Generator, count: int) -> FloatArray:
    """A row of test points over the range of the controls."""
    if key in RANGES:
        return rng.uniform(*RANGES[key], size=(count, 1))
    return get_problem(key).test_controls(rng)


def replicate_scores(key: str, seed: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Sum of the controls, and whether response and calibration value are covered, in `DRAWS` rows of test points.

    The first row has the replicate's own. Last, the errors of response and calibration values there, as in the study.
    """
    warnings.simplefilter("ignore")  # measured responses beyond the runs' are part of these problems
    drawn_from = get_problem(key)
    case = drawn_from.draw(seed)
    problem = CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())
    fitted = calibrate(problem, "joint", seed=seed, **STUDY_SETTINGS["joint"])
    rng = np.random.default_rng(seed)
    count = len(case.test_controls)
    further = [further_controls(key, rng, count) for _ in range(DRAWS - 1)]
    controls = np.vstack([case.test_controls, *further])
    case = replace(
        case,
        test_controls=controls,
        test_response=drawn_from.true_response(controls),
        test_functional=drawn_from.true_functional(controls),
    )
    found = fitted.predict(case.test_frame(), level=LEVEL)
    response = found.response
    inside = (response.lower <= case.test_response) & (case.test_response <= response.upper)
    _, learnt = LEARNT[key]
    values, truth = learnt(controls, found.sample.calibration), learnt(controls, case.test_calibration())
    lower, upper = np.quantile(values, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2], axis=0)
    rows = (controls.sum(axis=1), np.asarray(inside), (lower <= truth) & (truth <= upper))
    where, inside, learns = (part.reshape(DRAWS, -1) for part in rows)
    calibration = found.sample.calibration.mean(axis=0)
    errors = (
        root_mean_square((response.mean - case.test_response)[:count]),
        root_mean_square((calibration - case.test_calibration())[:count]),
    )
    return where, inside, learns, np.array(errors)


def report(
    key: str, seeds: list[int], where: FloatArray, inside: FloatArray, learnt: FloatArray, errors: FloatArray
) -> None:
    """Print median errors, the share of covered points with its standard error, and where it is lost."""
    replicates = len(seeds)
    print(f"{key}, seeds {seeds[0]} to {seeds[-1]}", flush=True)
    off, spread = np.median(errors, axis=0), errors.std(axis=0, ddof=1)
    doubt = 1.25 * spread / np.sqrt(replicates)  # of a median
    print(
        f"  median RMSE at own points: y {off[0]:.3f} ± {doubt[0]:.3f}, "
        f"calibration {off[1]:.3f} ± {doubt[1]:.3f}",
        flush=True,
    )
    for points, rows in (("own points", slice(1)), (f"{where[0].size} points each", slice(None))):
        shares = 100 * np.array([inside[:, rows].mean(axis=(1, 2)), learnt[:, rows].mean(axis=(1, 2))])
        mean, error = shares.mean(axis=1), shares.std(axis=1, ddof=1) / np.sqrt(replicates)
        print(
            f"  {points}: y {mean[0]:.1f} ± {error[0]:.1f} %, "
            f"{LEARNT[key][0]} {mean[1]:.1f} ± {error[1]:.1f} %",
            flush=True,
        )
    for low, high in pairwise(STRETCHES.get(key, ())):
        here = (low <= where) & (where < high)
        print(
            f"  sum of controls from {low:g} to {high:g}, {here.mean():.0%} of the points: "
            f"y {inside[here].mean():.0%}, {LEARNT[key][0]} {learnt[here].mean():.0%}",
            flush=True,
        )


def main() -> None:
    """Fit every replicate; report each block of seeds, and where there are several all of them together."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for key, blocks in BLOCKS.items():
            every: list[int] = []
            scores: list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]] = []
            for seeds in blocks:
                found = list(pool.map(replicate_scores, [key] * len(seeds), seeds))
                report(key, list(seeds), *(np.array(parts) for parts in zip(*found, strict=True)))
                every, scores = [*every, *seeds], scores + found
            if len(blocks) > 1:
                report(key, every, *(np.array(parts) for parts in zip(*scores, strict=True)))

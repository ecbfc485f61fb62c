"""What the comparison with simpler members costs: core-seconds of a fit of `joint` without it and with it.

Settings are the default ones and compiled code is warmed up first. Core-seconds do not depend on how many cores there
are; the comparison may cost at most as much again as the fit.
"""

import time
import warnings

from funcal import calibrate
from funcal.problem import CalibrationProblem
from funcal.testbed import get_problem

FIRST_SEED, REPLICATES = 300, 3
PROBLEMS = ("synthetic-1", "synthetic-2", "synthetic-3", "spot-weld", "pva")
ALLOWED = 1.0


def core_seconds(problem: CalibrationProblem, seed: int, compare: bool) -> float:
    """Of one fit."""
    began = time.process_time()
    calibrate(problem, "joint", seed=seed, compare=compare)
    return time.process_time() - began


def main() -> None:
    """Print the sums over the replicates of each problem."""
    warnings.simplefilter("ignore")  # measured responses beyond the runs' are part of these problems
    print(f"the comparison may cost at most {ALLOWED:g} times as much again as the fit")
    print(f"{'problem':14s} {'fit':>8s} {'with comparison':>16s} {'ratio':>7s}   core-seconds")
    for name in PROBLEMS:
        try:
            cases = [get_problem(name).draw(FIRST_SEED + k) for k in range(REPLICATES)]
        except Exception as error:
            print(f"{name:14s} left out: {error}")
            continue
        fit, both = 0.0, 0.0
        for seed, case in enumerate(cases, FIRST_SEED):
            problem = CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())
            if seed == FIRST_SEED:
                core_seconds(problem, seed, compare=True)
            fit += core_seconds(problem, seed, compare=False)
            both += core_seconds(problem, seed, compare=True)
        print(f"{name:14s} {fit:8.1f} {both:16.1f} {both / fit - 1.0:7.2f}", flush=True)

"""What `funcal fit --tune` chooses: the variant, the lead of the best one over it, and the cost against a plain fit.

Settings are the default ones; the truth behind each problem says what a good choice is. Spot weld needs its data.
"""

import time
import warnings
from typing import Any

from funcal import calibrate
from funcal.problem import CalibrationProblem
from funcal.testbed import get_problem

SEEDS = (0,)
PROBLEMS = ("constant-truth", "synthetic-1", "synthetic-2", "biased-model", "two-branches", "spot-weld")


def timed_fit(problem: CalibrationProblem, seed: int, tune: bool) -> tuple[dict[str, Any], float]:
    """The report of a fit, and its core-seconds."""
    began = time.process_time()
    report = calibrate(problem, "joint", seed=seed, tune=tune).fit.report
    return report, time.process_time() - began


def main() -> None:
    """Print one line per draw of each problem."""
    warnings.simplefilter("ignore")  # measured responses beyond the runs' are part of these problems
    print(f"{'problem':16s} {'seed':>4s}  {'chosen':30s} {'best':30s} {'its lead':>10s} {'cost':>7s}")
    for name in PROBLEMS:
        for seed in SEEDS:
            try:
                case = get_problem(name).draw(seed)
            except Exception as error:
                print(f"{name:16s} left out: {error}")
                break
            problem = CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())
            _, plain = timed_fit(problem, seed, tune=False)
            report, tuned = timed_fit(problem, seed, tune=True)
            found = report["tuning"]["variant"]
            row = next(row for row in found["candidates"] if row["variant"] == found["chosen"])
            lead = f"{row['elpd_difference']:.1f} ± {row['difference_se']:.1f}"
            print(
                f"{name:16s} {seed:4d}  {found['chosen']:30s} {found['best']:30s} {lead:>10s} {tuned / plain:6.1f}x",
                flush=True,
            )

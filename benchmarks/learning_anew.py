"""What it is worth that chains whose emulator block disagrees learn from their draws and begin anew.

A saturating response with 59 scattered runs, their inputs rounded as in a file: the emulator has a narrow mode, where
chains start, and most of its mass in a wide region beside it. Some streams of random numbers leave the mode only after
the warm-up. The same streams with and without learning anew, in one run; core-seconds, compiled code already cached.
"""

import time
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.joint_sampler import main_member
from funcal.joint.anchor_information import anchor_ensemble
from funcal.joint.run_chains import SamplerSettings
from funcal.matching import MatchingSettings
from funcal.mixing import NUISANCE_RHAT_LIMIT, split_rhat
from funcal.problem import CalibrationProblem

NUM_STREAMS = 10
NUM_RUNS, FAILED = 60, 7


def saturating_problem() -> CalibrationProblem:
    """Ten doses measured twice, absorption falling with dose, scattered runs."""
    rng = np.random.default_rng(11)

    def response(dose: np.ndarray, absorption: np.ndarray) -> np.ndarray:
        return 20.0 * absorption * dose / (1.0 + absorption * dose) + 0.3 * dose

    dose = np.repeat(np.arange(1.0, 11.0), 2)
    measured = response(dose, 0.9 * np.exp(-0.12 * dose) + 0.1) + 0.25 * rng.standard_normal(dose.size)
    at, absorption = rng.uniform(0.5, 10.5, NUM_RUNS), rng.uniform(0.05, 1.1, NUM_RUNS)
    runs = pd.DataFrame({"dose": at.round(3), "absorption": absorption.round(4)})
    runs["y"] = response(at, absorption).round(5)
    return CalibrationProblem.from_tables(
        pd.DataFrame({"dose": dose, "y": measured.round(4)}),
        runs.drop(index=FAILED),
        control=["dose"],
        functional=["absorption"],
        response="y",
    )


def main() -> None:
    """Print draws and core-seconds of every stream both ways, and the ratio of their sums."""
    problem = saturating_problem()
    scaled = problem.scaled()
    ensemble = anchor_ensemble(problem, MatchingSettings(), size=8, rng=np.random.default_rng(0))
    brief = SamplerSettings(chains=1, warmup=50, draws=20, max_draws=20, disagreement=np.inf)
    main_member(scaled, ensemble, brief)
    ways = {"going on": replace(SamplerSettings(), disagreement=np.inf), "learning anew": SamplerSettings()}
    spent = dict.fromkeys(ways, 0.0)
    print(f"{'stream':>6s}" + "".join(f"{way + ': draws':>22s}{'core-s':>8s}{'R-hat':>7s}" for way in ways))
    for seed in range(1, NUM_STREAMS + 1):
        cells = ""
        for way, settings in ways.items():
            began = time.process_time()
            draws = main_member(scaled, ensemble, settings, seed).draws
            seconds = time.process_time() - began
            spent[way] += seconds
            cells += f"{draws.u.shape[1]:22d}{seconds:8.1f}{split_rhat(draws.phi).max():7.3f}"
        print(f"{seed:6d}{cells}", flush=True)
    print(
        f"core-seconds of all streams: {spent['going on']:.0f} going on, {spent['learning anew']:.0f} learning "
        f"anew, {spent['going on'] / spent['learning anew']:.1f} times; R-hat is the emulator's, at most "
        f"{NUISANCE_RHAT_LIMIT:g} allowed"
    )

"""The default method's sampler: seconds until every R-hat and ESS target is met, and ESS per second against NumPyro.

Compiled code is warmed up first. The comparison with NumPyro's NUTS runs both samplers on the same density from the
same starting points in one process, on one core, one chain at a time, and counts warm-up in both; single chains differ
widely, so effective draws and seconds are summed over several. It is left out where NumPyro is not installed
(`pip install funcal[bench]`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from funcal.errors import FuncalError
from funcal.joint.anchor_information import AnchorEnsemble, anchor_ensemble
from funcal.joint.calibration_members import (
    CalibrationMember,
    MemberRecipe,
    Variant,
    discrepancy_suspected,
    emulator_of_runs,
)
from funcal.joint.emulator_mode import find_emulator_mode
from funcal.joint.model import JointModel
from funcal.joint.prior import JointPrior
from funcal.joint.run_chains import SamplerSettings
from funcal.joint.starting_points import starting_block
from funcal.matching import MatchingSettings
from funcal.mixing import bulk_ess
from funcal.problem import CalibrationProblem, ScaledProblem
from funcal.testbed import get_problem
from funcal.testbed.held_out_problem import HeldOutProblem

#: Problem of the testbed and the seconds that it may take on two cores.
TARGETS = {
    "synthetic-1": 5.0,
    "spot-weld": 5.0,
    "synthetic-2": 20.0,
    "synthetic-3": 20.0,
    "pva-raw": 20.0,
    "ten-dimensional": 60.0,
}
#: Streams of random numbers per problem: how many draws the targets take is partly luck.
NUM_STREAMS = 3
REQUIRED_RATIO = 5.0
#: Problems on which NumPyro is run too, small enough to wait for, and with how many chains of each sampler.
COMPARED = {"synthetic-1": 4, "synthetic-3": 1}


def problem_of(name: str) -> CalibrationProblem | None:
    """The first draw of a testbed problem, or all of its real data; None where these are not at hand."""
    chosen = get_problem(name)
    try:
        if isinstance(chosen, HeldOutProblem):
            physical, runs = chosen.read()
        else:
            case = chosen.draw(0)
            physical, runs = case.physical, case.runs
    except FuncalError as error:
        print(f"{name:16s} left out: {error}")
        return None
    return CalibrationProblem.from_tables(physical, runs, **chosen.roles.keywords())


def main_member(
    scaled: ScaledProblem, ensemble: AnchorEnsemble, sampler: SamplerSettings, seed: int = 1
) -> CalibrationMember:
    """The main member as `joint` fits it, chains started at the anchors."""
    prior = JointPrior()
    nugget, emulator = emulator_of_runs(scaled, prior)
    variant = Variant(True, "linear" if discrepancy_suspected(scaled) else "none", nugget)
    recipe = MemberRecipe(prior, list(ensemble.values), None, emulator, sampler)
    return recipe.fit(scaled, variant, np.random.SeedSequence(seed), lambda done, total, stage: None)


def times_to_target(problem: CalibrationProblem) -> list[tuple[float, float, float, int]]:
    """Seconds, worst R-hat, worst ESS and draws per chain of fits of the main member, after a warm-up of the compiler.

    One fit for each stream of random numbers, the quickest first.
    """
    scaled = problem.scaled()
    ensemble = anchor_ensemble(problem, MatchingSettings(), size=8, rng=np.random.default_rng(0))

    def run(sampler: SamplerSettings, seed: int) -> tuple[float, float, float, int]:
        began = time.perf_counter()
        member = main_member(scaled, ensemble, sampler, seed)
        return time.perf_counter() - began, member.draws.rhat, member.draws.ess, member.draws.u.shape[1]

    run(SamplerSettings(chains=1, warmup=50, draws=20, max_draws=20, disagreement=np.inf), 0)
    return sorted(run(SamplerSettings(), seed) for seed in range(1, NUM_STREAMS + 1))


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one core for the time of the block, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def ess_per_second(problem: CalibrationProblem, num_chains: int) -> tuple[float, float]:
    """Smallest ESS of θ and ψ at the sites per second, summed over single chains: ours, and NumPyro's."""
    from benchmarks.jax_joint_density import numpyro_draws

    scaled = problem.scaled()
    rng = np.random.default_rng(0)
    ensemble = anchor_ensemble(problem, MatchingSettings(), size=4, rng=rng)
    brief = SamplerSettings(chains=1, warmup=50, draws=20, max_draws=20, disagreement=np.inf)
    model = main_member(scaled, ensemble, brief).model
    mode, _ = find_emulator_mode(model)
    ours, theirs = np.zeros(2), np.zeros(2)
    for seed in range(num_chains):
        began = time.perf_counter()
        sampler = SamplerSettings(chains=1, draws=600, max_draws=600, disagreement=np.inf)
        draws = main_member(scaled, ensemble, sampler, seed).draws.u
        ours += time.perf_counter() - began, _worst_ess(draws, model)
        start = np.concatenate([starting_block(model, ensemble.values[seed % 4], rng), mode])[None]
        samples, seconds = numpyro_draws(model, start, warmup=400, draws=600, seed=seed)
        theirs += seconds, _worst_ess(np.asarray(samples)[..., : model.layout.size], model)
    return ours[1] / ours[0], theirs[1] / theirs[0]


def _worst_ess(u: np.ndarray, model: JointModel) -> float:
    """Smallest bulk ESS over the latent values of θ at the sites and of ψ."""
    from funcal.joint.site_functions import allocate_sites, place_sites

    sites = allocate_sites(model)
    latent = np.empty((*u.shape[:2], *sites.latent.shape))
    for chain in range(u.shape[0]):
        for draw in range(u.shape[1]):
            place_sites(np.ascontiguousarray(u[chain, draw]), model, sites)
            latent[chain, draw] = sites.latent
    flat = latent.reshape(*u.shape[:2], -1)
    _, unique = np.unique(flat[0, 0], return_index=True)
    return float(bulk_ess(flat[:, :, unique]).min())


def main() -> None:
    """Print both tables."""
    print(f"medians of {NUM_STREAMS} fits, and the slowest")
    print(
        f"{'problem':16s} {'seconds':>8s} {'slowest':>8s} {'allowed':>8s} {'R-hat':>6s} {'ESS':>6s} {'draws':>6s}"
    )
    for name, allowed in TARGETS.items():
        problem = problem_of(name)
        if problem is not None:
            found = times_to_target(problem)
            slowest = found[-1][0]
            seconds, rhat, ess, draws = np.median(np.array(found), axis=0)
            print(
                f"{name:16s} {seconds:8.1f} {slowest:8.1f} {allowed:8.0f} {rhat:6.3f} {ess:6.0f} {draws:6.0f}",
                flush=True,
            )
    try:
        import numpyro  # noqa: F401
    except ImportError:
        print("NumPyro is not installed: its comparison is left out (pip install funcal[bench])")
        return
    print(f"\nat least {REQUIRED_RATIO:g} times NumPyro's ESS per second is asked for")
    print(f"{'problem':16s} {'ours ESS/s':>11s} {'NumPyro ESS/s':>14s} {'ratio':>7s}")
    for name, num_chains in COMPARED.items():
        problem = problem_of(name)
        if problem is not None:
            with one_core():
                ours, theirs = ess_per_second(problem, num_chains)
            print(f"{name:16s} {ours:11.1f} {theirs:14.2f} {ours / theirs:7.1f}", flush=True)

"""Warm-up, sampling and stopping of several chains in threads, in segments between which the caller is heard.

Adaptation happens between segments, where the chains wait for one another, and draws that chains have learnt from are
not kept; each chain draws from its own stream. So the result depends on the seed alone, not on how the threads are
scheduled.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from ..mixing import NUISANCE_RHAT_LIMIT, bulk_ess, split_rhat
from ..problem.arrays import FloatArray
from .adaptation import adapt, emulator_reference, set_out
from .chain import ChainState, allocate_chain
from .model import JointModel
from .moves import choose_moves
from .no_u_turn import MAX_DEPTH
from .site_functions import pilot_coordinates
from .sweep import SegmentDraws, allocate_segment, run_segment

__all__ = ["JointDraws", "SamplerSettings", "sample_posterior"]

LESSONS = 2
"""Times that chains whose blocks disagree, though nothing that is shown does, learn from their draws and begin anew.
Few runs often leave the emulator a narrow mode, where it starts, beside a wide region with most of the mass: a warm-up
that has not left the mode has taught moves too short for the rest."""
ADAPTING_DEPTH = 6
"""Longest trajectories in warm-up, 2⁶ steps: longer ones only mean that the metric has not been learnt yet."""
EXCHANGE_EVERY = 5
"""Sweeps between attempts of tempered companions to exchange states."""


@dataclass(frozen=True)
class SamplerSettings:
    """How long to sample.

    Attributes
    ----------
    chains
        Number of chains.
    warmup
        Sweeps of adaptation per chain.
    draws
        Kept sweeps per chain at least; sampling goes on until the targets are met.
    max_draws
        Kept sweeps per chain at most.
    target_ess, target_rhat
        Bulk effective sample size (all chains together) and R-hat that every θ, ψ and response, and σ, must reach;
        the blocks themselves, nuisances to the user, must have an R-hat of at most `NUISANCE_RHAT_LIMIT`.
    disagreement
        R-hat beyond which the chains are taken to sit in different modes (infinity: never). After the first `draws`
        chains that slice moves carry then make more of them, and begin their draws anew; other chains stop there. Where
        it is the blocks' R-hat alone, the draws so far become a window of the warm-up.
    max_depth
        A trajectory has at most 2^max_depth steps.
    """

    chains: int = 4
    warmup: int = 300
    draws: int = 400
    max_draws: int = 4000
    target_ess: float = 400.0
    target_rhat: float = 1.01
    disagreement: float = 1.1
    max_depth: int = MAX_DEPTH


@dataclass(frozen=True)
class JointDraws:
    """Kept draws of all chains: each array is (chain, draw, …).

    Attributes
    ----------
    u, phi
        Calibration and emulator blocks.
    values : (chain, draw, m, dθ + dψ)
        Scaled calibration values at the sites.
    response_mean, response_sd : (chain, draw, m)
        Noise-free response at the sites given both tables and the draw's parameters.
    stats : (chain, draw, 5)
        Log density, acceptance, gradient steps, divergence, emulator evaluations.
    rhat, ess
        Worst over θ, ψ and the response at the sites, and the noise.
    """

    u: FloatArray
    phi: FloatArray
    values: FloatArray
    response_mean: FloatArray
    response_sd: FloatArray
    stats: FloatArray
    rhat: float
    ess: float


def sample_posterior(
    model: JointModel,
    starts: Sequence[FloatArray],
    emulator_start: FloatArray,
    emulator_shape: FloatArray,
    *,
    seeds: Sequence[np.random.SeedSequence],
    settings: SamplerSettings,
    progress: Callable[[int, int, str], None],
    ladder: Sequence[float] = (1.0,),
) -> JointDraws:
    """Sample the joint posterior.

    Parameters
    ----------
    model
    starts
        One calibration block per chain.
    emulator_start, emulator_shape
        Mode of the emulator block and factor of its covariance.
    seeds
        One per chain.
    settings
    progress
        Called with (sweeps done, sweeps expected at most, stage), all chains together. The stage is empty at first;
        tempered companions, chains that begin anew, and draws beyond `settings.draws`, count from zero in stages of
        their own.
    ladder
        Powers of the sites' likelihood, 1 first: each chain is run with a companion at every further power and
        exchanges states with it (parallel tempering), so that it can pass from mode to mode.
    """
    tempered = len(ladder) > 1
    moves = choose_moves(model, settings.max_depth, tempered=tempered)
    chains = [
        allocate_chain(
            model, start, emulator_start, emulator_shape, whole=moves.whole, travelling=moves.travelling
        )
        for start in starts
        for _ in ladder
    ]
    streams = [np.random.default_rng(child) for seed in seeds for child in seed.spawn(len(ladder))]
    exchange = [np.random.default_rng(seed.spawn(1)[0]) for seed in seeds]
    workers = min(len(chains), os.cpu_count() or 1)
    persistent, lessons = False, 0
    windows = warmup_windows(settings.warmup)
    expected = len(chains) * (sum(windows) + settings.draws)
    done, stage = 0, " with tempered companions" if tempered else ""
    kept: list[list[SegmentDraws]] = []
    rhat = np.inf

    with ThreadPoolExecutor(workers) as pool, threadpool_limits(limits=1):

        def run_all(length: int, adapting: bool) -> list[SegmentDraws]:
            if not tempered:
                return run_together(length, adapting)
            parts = []
            for _ in range(max(1, length // EXCHANGE_EVERY)):
                parts.append(run_together(EXCHANGE_EVERY, adapting))
                exchange_states(chains, models, parts[-1], ladder, exchange)
            return joined(parts)

        def run_together(length: int, adapting: bool) -> list[SegmentDraws]:
            nonlocal done
            segments = [allocate_segment(model, length) for _ in chains]
            reach = min(moves.depth, ADAPTING_DEPTH) if adapting else moves.depth
            jobs = [
                pool.submit(
                    run_segment,
                    stream,
                    chain,
                    own,
                    segment,
                    adapting,
                    moves.emulator_every,
                    moves.slices,
                    reach,
                    moves.travelling,
                )
                for stream, chain, own, segment in zip(streams, chains, models, segments, strict=True)
            ]
            for job in jobs:
                job.result()
                done += length
                progress(min(done, expected), expected, stage)
            return segments

        models = [
            set_out(chain, model._replace(temperature=ladder[index % len(ladder)]))
            for index, chain in enumerate(chains)
        ]

        def learn(segments: list[SegmentDraws]) -> None:
            nonlocal models
            reference = emulator_reference(segments, emulator_shape)
            models = adapt(chains, models, segments, reference, len(ladder))

        for length in windows[:-1]:
            learn(run_all(length, True))
        run_all(windows[-1], True)
        total = 0
        while total < settings.max_draws:
            length = settings.draws if total == 0 else max(50, total // 8)
            length = min(length, settings.max_draws - total)
            kept.append(run_all(length, False)[:: len(ladder)])
            total += length
            drawn = joined(kept)
            watched = watched_quantities(drawn, model)
            rhat, nuisance = float(split_rhat(watched).max()), blocks_rhat(drawn)
            met = rhat <= settings.target_rhat and bulk_ess(watched).min() >= settings.target_ess
            if met and nuisance <= NUISANCE_RHAT_LIMIT:
                break
            anew = ""
            if not tempered and rhat > settings.disagreement:
                if not moves.carried:
                    break
                if not persistent:
                    persistent, moves, anew = True, moves.with_more_slices(), " across modes, at most"
            elif not tempered and nuisance > settings.disagreement and lessons < LESSONS:
                if total < settings.max_draws:
                    lessons, anew = lessons + 1, " anew" + lessons * " again" + ", at most"
                    learn(drawn)
                    run_all(windows[-1], True)
            elif total == settings.draws and not (persistent or lessons):
                done, expected, stage = 0, len(chains) * (settings.max_draws - total), stage + " on, at most"
            if anew:
                kept.clear()
                total, done, expected, stage = 0, 0, len(chains) * settings.max_draws, anew

    def gather(name: str) -> FloatArray:
        return np.stack([getattr(chain, name) for chain in drawn])

    return JointDraws(
        u=gather("u"),
        phi=gather("phi"),
        values=gather("values"),
        response_mean=gather("response_mean"),
        response_sd=gather("response_sd"),
        stats=gather("stats"),
        rhat=rhat,
        ess=float(bulk_ess(watched).min()),
    )


def warmup_windows(warmup: int) -> list[int]:
    """Lengths of the warm-up's windows: a short first one, doubling ones for the metric, a last one for the step."""
    first = max(warmup // 6, 10)
    last = max(warmup // 8, 10)
    middle = max(warmup - first - last, 30)
    return [first, middle // 7, 2 * middle // 7, middle - middle // 7 - 2 * middle // 7, last]


def exchange_states(
    chains: Sequence[ChainState],
    models: Sequence[JointModel],
    segments: Sequence[SegmentDraws],
    ladder: Sequence[float],
    streams: Sequence[np.random.Generator],
) -> None:
    """Let neighbours on each chain's ladder exchange states, with Metropolis's probability, from the top down."""
    for chain, rng in enumerate(streams):
        first = chain * len(ladder)
        states = [(segments[first + k].u[-1], segments[first + k].phi[-1]) for k in range(len(ladder))]
        likelihoods = [float(chains[first + k].sites.likelihood[0]) for k in range(len(ladder))]
        for k in range(len(ladder) - 2, -1, -1):
            gain = (ladder[k] - ladder[k + 1]) * (likelihoods[k + 1] - likelihoods[k])
            if np.log(rng.random()) < gain:
                states[k], states[k + 1] = states[k + 1], states[k]
                likelihoods[k], likelihoods[k + 1] = likelihoods[k + 1], likelihoods[k]
        for k, (u, phi) in enumerate(states):
            member = chains[first + k]
            member.u[:] = pilot_coordinates(u, models[first + k], member.sites)
            member.phi[:] = phi


def joined(kept: list[list[SegmentDraws]]) -> list[SegmentDraws]:
    """Every chain's segments, put end to end."""
    return [SegmentDraws(*map(np.concatenate, zip(*parts, strict=True))) for parts in zip(*kept, strict=True)]


def blocks_rhat(chains: Sequence[SegmentDraws]) -> float:
    """Largest R-hat over both blocks as they are sampled: nuisances may mix more slowly, but a report judges them."""
    blocks = [np.hstack([chain.u, chain.phi]) for chain in chains]
    return float(split_rhat(np.stack(blocks)).max())


def watched_quantities(chains: Sequence[SegmentDraws], model: JointModel) -> FloatArray:
    """What must mix, (chain, draw, quantity): θ and ψ, the response at the sites and the noise."""
    values = np.stack([chain.values for chain in chains])
    num_functional = model.layout.num_functional
    watched = [
        values[..., :num_functional].reshape(*values.shape[:2], -1),
        values[:, :, 0, num_functional:],  # a global parameter has the same value at every site
        np.stack([chain.response_mean for chain in chains]),
    ]
    if model.layout.has_noise:  # σ, as it is reported: its distances from the median are not those of ln σ
        watched.append(np.exp([chain.u[:, [model.layout.log_noise]] for chain in chains]))
    return np.concatenate(watched, axis=2)

"""Several chains in threads, each with its own seed, in segments so that progress is seen and Ctrl-C works.

The compiled sweep releases the GIL. A chain's draws depend on its own seed alone, so the result is the same bit for
bit whatever the number of threads and however the segments fall.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import numpy as np

from ..errors import SamplingError
from ..problem import FloatArray
from .draws import Draws
from .parameters import ChainState, ParameterLayout, PosteriorModel
from .sweep import record, warm_up

__all__ = ["run_chains"]

#: Sweeps between two looks at the clock and at the keyboard.
SEGMENT = 250
StartFn = Callable[[np.random.Generator], ChainState]
ProgressFn = Callable[[int, int, str], None]


def run_chains(
    model: PosteriorModel,
    start_fn: StartFn,
    first_steps: FloatArray,
    *,
    seed: np.random.SeedSequence,
    num_chains: int = 4,
    warmup: int = 5000,
    draws: int = 5000,
    thin: int = 1,
    progress: ProgressFn | None = None,
) -> Draws:
    """Sample the posterior.

    Parameters
    ----------
    model
    start_fn
        Makes a starting state from a generator; called once per chain.
    first_steps : (num_steps,)
        Step sizes before adaptation.
    seed
        One child is spawned for each chain.
    num_chains, warmup, draws, thin
        `draws` are kept in each chain, one every `thin` sweeps, after `warmup` sweeps that adapt the steps.
    progress
        Called with sweeps done, sweeps in all, and a label.

    Raises
    ------
    SamplingError
        If the covariance of the responses becomes singular, or a draw is not finite.
    """
    layout = ParameterLayout.of_model(model)
    values = np.empty((num_chains, draws, layout.num_recorded))
    statistics = np.empty((num_chains, draws, 2))
    pointwise = np.empty((num_chains, draws, layout.num_sites))
    steps = np.tile(first_steps, (num_chains, 1))
    total = num_chains * (warmup + draws * thin)
    done = np.zeros(num_chains, dtype=np.int64)
    stop = threading.Event()

    def advance(chain: int, child: np.random.SeedSequence) -> None:
        rng = np.random.default_rng(child)
        state = start_fn(rng)
        for first in range(0, warmup, SEGMENT):
            if stop.is_set():
                return
            length = min(SEGMENT, warmup - first)
            warm_up(rng, model, state, steps[chain], first, length)
            done[chain] += length
        batch = max(1, SEGMENT // thin)
        for first in range(0, draws, batch):
            if stop.is_set():
                return
            part = slice(first, min(first + batch, draws))
            record(
                rng,
                model,
                state,
                steps[chain],
                thin,
                values[chain, part],
                statistics[chain, part],
                pointwise[chain, part],
            )
            done[chain] += (part.stop - part.start) * thin

    workers = min(num_chains, os.cpu_count() or 1)
    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="funcal-chain") as executor:
        futures = [executor.submit(advance, c, child) for c, child in enumerate(seed.spawn(num_chains))]
        try:
            pending = set(futures)
            while pending:
                finished, pending = wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                if progress is not None:
                    progress(int(done.sum()), total, "sampling")
        except ValueError as error:
            stop.set()
            raise SamplingError(
                "a positive definite covariance of the physical responses was expected; a chain found a singular one: "
                "check for physical points that nearly coincide, or give the noise sd of the measurements"
            ) from error
        except BaseException:
            stop.set()
            raise
    if not np.isfinite(values).all():
        raise SamplingError(
            "finite posterior draws were expected; at least one is not finite: check the scale of the columns"
        )
    return Draws(
        values=values,
        log_density=statistics[..., 0],
        acceptance_rate=statistics[..., 1],
        log_likelihood=pointwise,
        steps=steps,
        layout=layout,
    )

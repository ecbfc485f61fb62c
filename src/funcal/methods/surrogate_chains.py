"""Chains of the Bayesian rivals: one thread and one spawned seed each, in segments so that progress can be seen."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ..errors import SettingsError
from ..problem import FloatArray
from ..result import Fit, Progress

__all__ = ["AdaptiveWalk", "ChainSettings", "Segment", "SegmentMaker", "run_chains", "thinned_draws"]

SEGMENT = 250
#: Acceptance rates between which a random walk's step is left alone, and the factor by which it is changed else.
ACCEPT_LOW, ACCEPT_HIGH, STEP_FACTOR = 0.2, 0.4, 1.3

#: Steps of a walk before anything is known of its coordinates, and the least afterwards.
FIRST_STEP, SMALLEST_STEP = 0.5, 1e-3

#: (rng, number of sweeps, whether to adapt) to (draws (sweeps, p), acceptance rate); keeps the chain's state.
Segment = Callable[[np.random.Generator, int, bool], tuple[FloatArray, float]]
#: Starts a chain at random.
SegmentMaker = Callable[[np.random.Generator], Segment]


class AdaptiveWalk:
    """A random walk whose covariance is learnt in warm-up: that of the latest draws, at a scale by acceptance.

    Parameters
    ----------
    size
        Number of coordinates.
    fixed
        Coordinates that do not move.
    """

    def __init__(self, size: int, fixed: tuple[int, ...] = ()) -> None:
        self.moving = np.setdiff1d(np.arange(size), fixed)
        # The scale at which a walk on a normal posterior of known covariance is fastest.
        self.scale = 2.4 / np.sqrt(max(1, len(self.moving)))
        self.factor = np.zeros((size, size))
        self.factor[self.moving, self.moving] = FIRST_STEP
        self.latest = np.empty((0, len(self.moving)))

    def adapt(self, draws: FloatArray, rate: float) -> None:
        """Learn from a segment: its draws (sweeps, size) and its acceptance rate."""
        if len(self.moving) == 0:
            return
        self.scale *= STEP_FACTOR if rate > ACCEPT_HIGH else 1.0 / STEP_FACTOR if rate < ACCEPT_LOW else 1.0
        self.latest = np.concatenate([self.latest[-SEGMENT:], draws[:, self.moving]])
        covariance = np.atleast_2d(np.cov(self.latest, rowvar=False))
        covariance += SMALLEST_STEP**2 * np.eye(len(covariance))
        self.factor = np.zeros_like(self.factor)
        self.factor[np.ix_(self.moving, self.moving)] = self.scale * np.linalg.cholesky(covariance)


@dataclass(frozen=True)
class ChainSettings:
    """Length of the chains: `chains` chains of `warmup` adapted and `draws` kept sweeps."""

    chains: int = 4
    warmup: int = 1_000
    draws: int = 1_500

    def __post_init__(self) -> None:
        if self.chains < 1 or self.warmup < SEGMENT or self.draws < 1:
            raise SettingsError(
                f"at least one chain, {SEGMENT} warm-up sweeps and one draw are needed; "
                f"{self.chains}, {self.warmup} and {self.draws} were given"
            )


def run_chains(
    make_segment: SegmentMaker,
    settings: ChainSettings,
    seed: np.random.SeedSequence,
    progress: Progress,
    label: str,
) -> tuple[FloatArray, FloatArray]:
    """Draws (chain, draw, p) and mean acceptance rates (chain,); the same for the same seed, however scheduled.

    Parameters
    ----------
    make_segment
        Builds a chain at its random start and returns the function that advances it; its third argument says
        whether steps are still adapted.
    """
    total = settings.chains * (settings.warmup + settings.draws)
    done = [0]

    def run(stream: np.random.SeedSequence) -> tuple[FloatArray, float]:
        rng = np.random.default_rng(stream)
        segment = make_segment(rng)
        kept: list[FloatArray] = []
        rates: list[float] = []
        for length, adapting in ((settings.warmup, True), (settings.draws, False)):
            for start in range(0, length, SEGMENT):
                count = min(SEGMENT, length - start)
                draws, rate = segment(rng, count, adapting)
                if not adapting:
                    kept.append(draws)
                    rates.append(rate)
                done[0] += count
                progress(min(done[0], total), total, label)
        return np.concatenate(kept), float(np.mean(rates))

    with threadpool_limits(1), ThreadPoolExecutor(settings.chains) as pool:
        results = list(pool.map(run, seed.spawn(settings.chains)))
    return np.stack([draws for draws, _ in results]), np.array([rate for _, rate in results])


def thinned_draws(fit: Fit, most: int) -> npt.NDArray[np.int64]:
    """Indices of at most `most` draws, evenly spaced over all chains laid end to end."""
    total = fit.num_chains * fit.num_draws
    return np.linspace(0, total - 1, min(most, total)).astype(np.int64)

"""One chain of the modular Kennedy–O'Hagan posterior: its density as arrays, its random start and its segments."""

import numpy as np
from scipy import linalg

from ..gaussian_process import StaticSurrogate, squared_exponential
from ..problem import FloatArray
from ..problem.scaled_problem import ScaledProblem
from .kennedy_ohagan_sampler import DiscrepancyModel, MomentRuns, advance_chain
from .kennedy_ohagan_settings import KennedyOHaganSettings
from .site_noise import site_noise
from .surrogate_chains import AdaptiveWalk, Segment, SegmentMaker
from .surrogate_moments import SurrogateMoments

__all__ = ["discrepancy_model", "koh_chains"]


def discrepancy_model(
    scaled: ScaledProblem, surrogate: StaticSurrogate, settings: KennedyOHaganSettings
) -> DiscrepancyModel:
    """The posterior as arrays; the surrogate's factor is used here and not again."""
    noise = site_noise(scaled)
    sites, dx, num_t = scaled.x_sites, scaled.x_sites.shape[1], scaled.t_runs.shape[1]
    moments = SurrogateMoments(surrogate, sites, np.empty((0, dx)))
    grid = moments.grid()
    if grid is not None:
        coefficients = grid.coefficients(moments.exact_rows(grid.nodes))
        sizes = np.array(grid.sizes, dtype=np.int64)
        inverse_factor = np.empty((0, 0))
    else:
        coefficients, sizes = np.empty((len(sites), 0)), np.zeros(num_t, dtype=np.int64)
        inverse_factor = np.ascontiguousarray(
            linalg.solve_triangular(surrogate.factor, np.eye(len(surrogate.factor)), lower=True)
        )
    return DiscrepancyModel(
        # Fresh copies: compiled code has one signature for writable arrays and another for read-only ones.
        y=np.array(scaled.y_sites),
        weights=np.array(noise.weights),
        squared=np.ascontiguousarray(np.moveaxis((sites[:, None] - sites[None]) ** 2, -1, 0)),
        coefficients=coefficients,
        sizes=sizes,
        runs=MomentRuns(
            run_site=np.array(squared_exponential(scaled.x_runs, sites, surrogate.rates[:dx]), order="C"),
            site_site=np.array(squared_exponential(sites, sites, surrogate.rates[:dx]), order="C"),
            inverse_factor=inverse_factor,
            alpha=np.array(surrogate.weights),
            t_runs=np.array(scaled.t_runs, order="C"),
            t_rates=np.array(surrogate.rates[dx:]),
            moments=np.array([surrogate.mean, surrogate.variance]),
        ),
        priors=settings.priors(),
        within_ss=float(noise.within_ss),
        within_dof=float(noise.within_dof),
        noise_known=noise.known,
    )


def koh_chains(
    scaled: ScaledProblem, surrogate: StaticSurrogate, settings: KennedyOHaganSettings
) -> SegmentMaker:
    """A function that starts a chain of koh and returns its `Segment`."""
    model = discrepancy_model(scaled, surrogate, settings)
    priors, num_t, dx = model.priors, scaled.t_runs.shape[1], scaled.x_sites.shape[1]

    def make(rng: np.random.Generator) -> Segment:
        state = np.concatenate([rng.normal(0.0, 1.0, num_t), priors[:2, 0], np.full(dx, priors[2, 0])])
        walk = AdaptiveWalk(len(state))

        def segment(rng: np.random.Generator, count: int, adapting: bool) -> tuple[FloatArray, float]:
            draws = np.empty((count, len(state)))
            rate = advance_chain(rng, state, walk.factor, model, draws)
            if adapting:
                walk.adapt(draws, rate)
            return draws, rate

        return segment

    return make

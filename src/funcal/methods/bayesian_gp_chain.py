"""One chain of NBC: its random start, its segments, and the pilot and the walk that it learns in warm-up."""

import numpy as np

from ..problem import FloatArray
from ..problem.scaled_problem import ScaledProblem
from .bayesian_gp_coordinates import Pilot
from .bayesian_gp_sampler import SiteModel, advance_chain
from .bayesian_gp_settings import BayesianGpSettings
from .site_noise import site_noise
from .surrogate_chains import AdaptiveWalk, Segment, SegmentMaker
from .surrogate_compiled import site_surrogate
from .surrogate_model import SurrogateAtControls

__all__ = ["fit_pilot", "nbc_chains"]

# Keeps the slopes of a pilot finite where a chain has not moved.
RIDGE = 1e-6


def nbc_chains(
    scaled: ScaledProblem, at_sites: SurrogateAtControls, settings: BayesianGpSettings
) -> SegmentMaker:
    """A function that starts a chain of nbc and returns its `Segment`."""
    noise = site_noise(scaled)
    num_sites, dt, dpsi = len(scaled.y_sites), scaled.num_functional, scaled.num_global
    squared = ((scaled.x_sites[:, None] - scaled.x_sites[None]) ** 2).sum(axis=-1)
    priors = np.array(
        [
            settings.noise_shape,
            1.0 / settings.noise_scale,
            settings.theta_shape,
            1.0 / settings.theta_scale,
            settings.rho_b,
        ]
    )

    model = SiteModel(
        # Fresh copies: compiled code has one signature for writable arrays and another for read-only ones.
        y=np.array(scaled.y_sites),
        weights=np.array(noise.weights),
        squared=squared,
        surrogate=site_surrogate(at_sites),
        num_functional=dt,
        priors=priors,
        within_ss=float(noise.within_ss),
        within_dof=float(noise.within_dof),
        noise_known=noise.known,
    )
    num_latent, num_hyper = dt * num_sites + dpsi, 2 * dt + 1

    def make(rng: np.random.Generator) -> Segment:
        state = np.zeros(num_latent + num_hyper)
        # Chains start at different constants, with ρ near ½ and precisions at their prior means.
        state[: dt * num_sites] = np.repeat(rng.normal(0.0, 1.0, dt), num_sites)
        state[dt * num_sites : num_latent] = rng.normal(0.0, 1.0, dpsi)
        state[num_latent + dt : -1] = np.log(settings.theta_shape * settings.theta_scale)
        state[-1] = 0.0 if noise.known else np.log(settings.noise_shape * settings.noise_scale)
        # Without slopes the pilot's coordinates are the prior's.
        pilot = Pilot(np.zeros(num_sites), np.zeros((num_sites, dt + dpsi)), np.zeros(num_sites))
        latest = np.empty((0, num_latent + num_sites))
        walk = AdaptiveWalk(num_hyper, fixed=(num_hyper - 1,) if noise.known else ())

        def segment(rng: np.random.Generator, count: int, adapting: bool) -> tuple[FloatArray, float]:
            nonlocal pilot, latest
            draws, means = np.empty((count, len(state))), np.empty((count, num_sites))
            rate = advance_chain(rng, state, walk.factor, pilot, model, draws, means)
            if adapting:
                walk.adapt(draws[:, num_latent:], rate)
                latest = np.concatenate([latest[-count:], np.hstack([draws[:, :num_latent], means])])
                pilot = fit_pilot(latest[:, :num_latent], latest[:, num_latent:], dt)
            return draws, rate

        return segment

    return make


def fit_pilot(latent: FloatArray, means: FloatArray, num_functional: int) -> Pilot:
    """Least squares of m(x_i) on the latent values that it depends on, site by site, over draws.

    Parameters
    ----------
    latent
        η at the sites and probit of ψ, (draws, dθ·m + dψ).
    means
        (draws, m).
    """
    num_draws, num_sites = means.shape
    first_global = num_functional * num_sites
    functions = latent[:, :first_global].reshape(num_draws, num_functional, num_sites)
    others = np.repeat(latent[:, first_global:, None], num_sites, axis=2)
    inputs = np.moveaxis(np.concatenate([functions, others], axis=1), 2, 0)
    average, response = inputs.mean(axis=1), means.T
    centred, residual = inputs - average[:, None, :], response - response.mean(axis=1, keepdims=True)
    normal = np.einsum("mda,mdb->mab", centred, centred) + RIDGE * num_draws * np.eye(inputs.shape[2])
    slopes = np.linalg.solve(normal, np.einsum("mda,md->ma", centred, residual)[:, :, None])[:, :, 0]
    misfit = ((residual - np.einsum("mda,ma->md", centred, slopes)) ** 2).mean(axis=1)
    return Pilot(response.mean(axis=1) - (slopes * average).sum(axis=1), slopes, misfit)

"""Geweke's joint distribution test of the paper's sampler under the proper priors.

Two ways to draw (parameters, y) jointly must agree: parameters from the prior; or a chain that alternates the
production sweep with a fresh y given the parameters. Moments of every parameter and some products are compared by
z scores, with batch means for the chain. The threshold is Bonferroni's for a false-alarm rate of 1 in 1000 per test;
kernels that are wrong on purpose must exceed it.

Geweke, J. (2004). Getting it right. Journal of the American Statistical Association 99, 799-804.
"""

import math

import numpy as np
import pytest
import scipy.stats
from numba import njit

from funcal.posterior import ParameterLayout, SiteData, posterior_model, start_state
from funcal.posterior.log_density import JITTER, noise_variance, refresh
from funcal.posterior.sweep import sweep
from funcal.priors import ThetaCentre, WorkingUnits, proper_prior
from funcal.priors.densities import log_scale_density
from funcal.problem import AffineScaling

FALSE_ALARM = 1e-3
NUM_BATCHES = 100
SWEEPS = 300_000

CORRECT, ONE_SIDED, NO_JACOBIAN = 0, 1, 2


@njit
def redraw_response(rng, model, state):
    """Draw y and the replicates' sum of squares given the parameters, in place."""
    m = model.response.shape[0]
    magnitude, noise = math.exp(state.log_magnitude[0]), math.exp(state.log_noise[0])
    covariance = magnitude * np.exp(-state.exponent)
    for i in range(m):
        covariance[i, i] = magnitude * (1.0 + JITTER) + noise_variance(model, noise, i)
    root = np.linalg.cholesky(covariance)
    z = np.empty(m)
    for i in range(m):
        z[i] = rng.standard_normal()
    model.response[:] = root @ z
    if model.within[0] > 0.0:
        model.within[1] = 2.0 * noise * rng.standard_gamma(0.5 * model.within[0])
    refresh(model, state)


@njit
def wrong_noise_step(rng, model, state, kind):
    """Move ln σ² by a proposal that only goes up, or with a prior that lacks its Jacobian."""
    old = state.log_noise[0]
    step = rng.standard_normal()
    new = old + (abs(step) if kind == ONE_SIDED else step)
    before = state.log_likelihood[0]
    prior = model.noise_prior
    ratio = log_scale_density(prior[0], prior[1], prior[2], new) - log_scale_density(
        prior[0], prior[1], prior[2], old
    )
    if kind == NO_JACOBIAN:
        ratio -= 0.5 * (new - old)
    state.log_noise[0] = new
    refresh(model, state)
    if math.log(rng.random()) >= ratio + state.log_likelihood[0] - before:
        state.log_noise[0] = old
        refresh(model, state)


@njit
def successive_conditional(rng, model, state, steps, kind, out):
    """Alternate sweeps and fresh data; record the parameters."""
    accepted = np.zeros(steps.shape[0])
    refresh(model, state)
    for t in range(out.shape[0]):
        redraw_response(rng, model, state)
        sweep(rng, model, state, steps, accepted)
        if kind != CORRECT:
            wrong_noise_step(rng, model, state, kind)
        place = 0
        for block in (
            state.theta.ravel(),
            state.psi,
            np.log(state.spread),
            np.log(state.global_spread),
            state.log_length,
            state.log_magnitude,
            state.log_noise,
        ):
            for value in block:
                out[t, place] = value
                place += 1


def posterior_of_four_sites():
    """Four sites with replicates, one control, one θ, one ψ, correlated prior, box bounds, a floor for ν."""
    x = np.array([[0.0], [0.2], [0.7], [1.0]])
    one = AffineScaling(np.zeros(1), np.ones(1))
    box = np.array([[0.0, 1.0]])
    units = WorkingUnits(one, one, one, box, box, 0.0, 1.0, 1.0)
    correlation = 0.9 * np.exp(-3.0 * (x - x.T) ** 2) + 0.1 * np.eye(4)
    centre = ThetaCentre(
        np.array([[0.3], [0.5], [0.6], [0.4]]), np.array([0.45]), np.zeros(1), np.linalg.inv(correlation)
    )
    prior = proper_prior(centre, units, num_controls=1, spread_floor=0.05)
    sites = SiteData(x, np.zeros(4), np.array([1.0, 2.0, 1.0, 3.0]), within_ss=0.1, within_dof=3)
    return posterior_model(sites, prior), correlation


def draws_from_the_prior(model, correlation, rng, num_draws):
    """Independent draws of the parameters: joint in (Θ, ν²) and (ψ, τ²), cut to their support."""
    kept = []
    root = np.linalg.cholesky(correlation)
    while len(kept) < num_draws:
        spread = scipy.stats.invgamma.rvs(2.0, scale=0.15**2, size=num_draws, random_state=rng)
        theta = model.theta_mean[:, 0] + np.sqrt(spread)[:, None] * (
            rng.standard_normal((num_draws, 4)) @ root.T
        )
        tau = scipy.stats.invgamma.rvs(2.1, scale=0.1, size=num_draws, random_state=rng)
        psi = 0.45 + np.sqrt(tau) * rng.standard_normal(num_draws)
        inside = (
            np.all((theta > -0.1) & (theta < 1.1), axis=1) & (psi > -0.1) & (psi < 1.1) & (spread > 0.05**2)
        )
        length = rng.normal(0.5, 1.0, (num_draws, 3))
        magnitude = rng.normal(0.0, 1.0, num_draws)
        noise = 2.0 * np.log(np.abs(rng.normal(0.0, 0.3, num_draws)))
        rows = np.column_stack([theta, psi, np.log(spread), np.log(tau), length, magnitude, noise])
        kept.extend(rows[inside])
    return np.array(kept[:num_draws])


def moments(rows):
    """First and second moments of every parameter, and a few products."""
    products = [
        rows[:, 0] * rows[:, 1],
        rows[:, 0] * rows[:, 5],
        rows[:, 8] * rows[:, 10],
        rows[:, 10] * rows[:, 11],
    ]
    return np.column_stack([rows, rows**2, *products])


def joint_test_p_value(kind, seed, num_sweeps=SWEEPS):
    """Smallest p-value over all moments, times their number (Bonferroni)."""
    rng = np.random.default_rng(seed)
    model, correlation = posterior_of_four_sites()
    direct = moments(draws_from_the_prior(model, correlation, rng, 100_000))
    state = start_state(
        model, rng, functional_range=np.ones(1), global_range=np.ones(1), response_variance=1.0
    )
    layout = ParameterLayout.of_model(model)
    steps = np.concatenate([np.full(4, 0.25), [0.4], np.full(3, 1.2), [1.0], [1.5]])
    out = np.empty((num_sweeps, layout.num_recorded))
    successive_conditional(rng, model, state, steps, kind, out)
    chain = moments(out)
    batches = chain.reshape(NUM_BATCHES, -1, chain.shape[1]).mean(axis=1)
    variance = batches.var(axis=0, ddof=1) / NUM_BATCHES + direct.var(axis=0, ddof=1) / len(direct)
    z = (batches.mean(axis=0) - direct.mean(axis=0)) / np.sqrt(variance)
    p = 2.0 * scipy.stats.t.sf(np.abs(z), NUM_BATCHES - 1)
    return float(p.min() * len(p)), z


@pytest.mark.statistical
def test_the_sweep_passes_the_joint_test(rng):
    """The production sweep leaves the joint law of parameters and data alone; false-alarm rate 1 in 1000."""
    p_value, z = joint_test_p_value(CORRECT, rng.integers(2**32))
    assert p_value > FALSE_ALARM, z.round(1)


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [ONE_SIDED, NO_JACOBIAN], ids=["one-sided proposal", "no Jacobian"])
def test_a_wrong_kernel_fails_the_joint_test(rng, kind):
    """Negative control: a one-sided proposal, or a prior without its Jacobian, is found out."""
    p_value, _ = joint_test_p_value(kind, rng.integers(2**32))
    assert p_value < FALSE_ALARM

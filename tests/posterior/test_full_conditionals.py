"""Each update against its conditional in closed form."""

import numpy as np
import pytest
import scipy.stats

from funcal.posterior.full_conditionals import (
    _truncated_inverse_gamma,
    draw_global_spread,
    draw_spread,
    update_psi,
)
from funcal.posterior.log_density import refresh
from funcal.posterior.theta_walk import shift_theta, update_theta

# Kolmogorov–Smirnov tests below reject at 10⁻⁴ each: a false alarm once in 10 000 seeds.
ALARM = 1e-4


@pytest.mark.statistical
def test_spread_has_the_conjugate_conditional(make, rng):
    """ν² ~ IG(shape + m/2, scale + SS/2); false-alarm rate 10⁻⁴."""
    model, state = make(6)
    squares = np.sum((state.theta[:, 0] - model.theta_mean[:, 0]) ** 2)
    draws = []
    for _ in range(4000):
        draw_spread(rng, model, state)
        draws.append(state.spread[0])
    target = scipy.stats.invgamma(2.0 + 3.0, scale=0.15**2 + 0.5 * squares)
    assert scipy.stats.kstest(draws, target.cdf).pvalue > ALARM
    # negative control: the conditional without the prior's scale must be told apart
    wrong = scipy.stats.invgamma(2.0 + 3.0, scale=0.5 * squares)
    assert scipy.stats.kstest(draws, wrong.cdf).pvalue < ALARM


@pytest.mark.statistical
def test_the_papers_spread_has_the_printed_conditional(make, rng):
    """With the flat prior ν² ~ IG(m/2, SS/2), as printed; false-alarm rate 10⁻⁴."""
    model, state = make(6, paper=True)
    model.spread_prior[0, 2:] = [0.0, np.inf]
    squares = np.sum((state.theta[:, 0] - model.theta_mean[:, 0]) ** 2)
    draws = []
    for _ in range(4000):
        draw_spread(rng, model, state)
        draws.append(state.spread[0])
    assert scipy.stats.kstest(draws, scipy.stats.invgamma(3.0, scale=0.5 * squares).cdf).pvalue > ALARM


@pytest.mark.statistical
def test_global_spread_has_the_conjugate_conditional(make, rng):
    """τ² ~ IG(½ + α, ½(ψ − ψ^a)² + β); false-alarm rate 10⁻⁴."""
    model, state = make(6, 1, 1, 1)
    state.psi[0] = 0.7
    draws = []
    for _ in range(4000):
        draw_global_spread(rng, model, state)
        draws.append(state.global_spread[0])
    target = scipy.stats.invgamma(2.6, scale=0.1 + 0.5 * 0.3**2)
    assert scipy.stats.kstest(draws, target.cdf).pvalue > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize(("lower", "upper"), [(0.05, 0.2), (2.0, 3.0), (0.0, 0.005)])
def test_truncated_inverse_gamma_is_exact_in_bulk_and_tail(rng, lower, upper):
    """Plain draws and slice steps have the same truncated law; false-alarm rate 10⁻⁴ each, on thinned draws."""
    target = scipy.stats.invgamma(4.0, scale=0.4)
    current = 0.5 * (lower + upper)
    draws = []
    for t in range(20_000):
        current = _truncated_inverse_gamma(rng, 4.0, 0.4, lower, upper, current)
        if t % 10 == 0:
            draws.append(current)
    low, high = target.cdf(lower), target.cdf(upper)
    assert scipy.stats.kstest(draws, lambda v: (target.cdf(v) - low) / (high - low)).pvalue > ALARM


@pytest.mark.statistical
def test_psi_has_its_prior_as_conditional(make, rng):
    """ψ | τ² is N(ψ^a, τ²) cut to its box, whatever the data; false-alarm rate 10⁻⁴, on thinned draws."""
    model, state = make(6, 1, 1, 1)
    state.global_spread[0] = 0.04
    draws, accepted = [], np.zeros(1)
    for t in range(40_000):
        update_psi(rng, model, state, np.array([0.5]), accepted)
        if t % 20 == 0:
            draws.append(state.psi[0])
    target = scipy.stats.truncnorm((-0.1 - 0.4) / 0.2, (1.1 - 0.4) / 0.2, loc=0.4, scale=0.2)
    assert scipy.stats.kstest(draws, target.cdf).pvalue > ALARM


@pytest.mark.parametrize("process", [False, True])
@pytest.mark.parametrize("shape", [(2, 1, 1), (6, 1, 1), (9, 2, 2), (16, 3, 1)])
def test_bordered_updates_are_a_fresh_inverse(make, rng, shape, process):
    """After many single-row moves, inverse, weights and likelihood equal those of a new factorisation."""
    model, state = make(*shape, process=process)
    refresh(model, state)
    num_steps = state.theta.size
    accepted = np.zeros(num_steps)
    before = state.theta.copy()
    for _ in range(20):
        update_theta(rng, model, state, np.full(num_steps, 0.2), accepted)
    assert not np.allclose(before, state.theta)
    cached = [state.inverse.copy(), state.weights.copy(), state.exponent.copy(), state.log_likelihood.copy()]
    refresh(model, state)
    for old, new in zip(
        cached, [state.inverse, state.weights, state.exponent, state.log_likelihood], strict=True
    ):
        np.testing.assert_allclose(old, new, rtol=1e-7, atol=1e-7 * np.abs(new).max())


def test_a_shift_leaves_the_likelihood_and_the_support(make, rng):
    """All of Θ_k moves by one number and stays in its box."""
    model, state = make(6)
    refresh(model, state)
    likelihood = state.log_likelihood[0]
    moved = 0
    for _ in range(50):
        before = state.theta.copy()
        shift_theta(rng, model, state)
        np.testing.assert_allclose(np.ptp(state.theta - before), 0.0, atol=1e-12)
        moved += not np.array_equal(before, state.theta)
        assert np.all((state.theta >= -0.1) & (state.theta <= 1.1))
    assert moved > 10
    refresh(model, state)
    assert state.log_likelihood[0] == pytest.approx(likelihood, rel=1e-10)

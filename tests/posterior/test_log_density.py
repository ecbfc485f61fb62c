"""The likelihood and the posterior density of Eq. (Posterior4)."""

import numpy as np
import pytest
import scipy.stats

from funcal.posterior.log_density import JITTER, leave_one_out, log_posterior, refresh


def covariance_of(model, state):
    """Σ + σ²I, entry by entry as the paper prints it."""
    m = len(model.response)
    dx = model.control_distance.shape[0]
    length = np.exp(state.log_length)
    gamma, noise = np.exp(state.log_magnitude[0]), np.exp(state.log_noise[0])
    matrix = np.empty((m, m))
    for i in range(m):
        for j in range(m):
            exponent = sum(length[c] * model.control_distance[c, i, j] for c in range(dx))
            for k in range(state.theta.shape[1]):
                exponent += length[dx + k] * (state.theta[i, k] - state.theta[j, k]) ** 2
            matrix[i, j] = gamma * np.exp(-exponent)
            if i == j:
                matrix[i, j] += gamma * JITTER + noise * model.noise_weight[i] + model.known_noise[i]
    return matrix


@pytest.mark.parametrize("shape", [(6, 1, 1, 0), (8, 3, 2, 1), (2, 1, 1, 0)])
@pytest.mark.parametrize("known", [False, True])
def test_likelihood_is_scipys_multivariate_normal(make, shape, known):
    """N(0, Σ + σ²I) by an independent implementation."""
    model, state = make(*shape, known=known)
    refresh(model, state)
    expected = scipy.stats.multivariate_normal.logpdf(model.response, cov=covariance_of(model, state))
    assert state.log_likelihood[0] == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(
        state.inverse, np.linalg.inv(covariance_of(model, state)), rtol=1e-6, atol=1e-8
    )


def test_replicates_enter_as_if_every_measurement_were_a_row(make):
    """Site means with σ²/count plus the sum of squares within sites equal the likelihood of all raw rows."""
    rng = np.random.default_rng(3)
    count = np.array([1, 3, 2, 4])
    model, state = make(4, replicates=True)
    model.noise_weight[:] = 1.0 / count
    site = np.repeat(np.arange(4), count)

    def both(log_noise):
        state.log_noise[0] = log_noise
        refresh(model, state)
        smooth = covariance_of(model, state) - np.diag(np.exp(log_noise) / count)
        raw = smooth[np.ix_(site, site)] + np.exp(log_noise) * np.eye(len(site))
        return state.log_likelihood[0], scipy.stats.multivariate_normal.logpdf(rows, cov=raw)

    rows = model.response[site] + 0.3 * rng.standard_normal(len(site))
    means = np.bincount(site, rows) / count
    model.response[:] = means
    model.within[:] = [len(site) - 4, np.sum((rows - means[site]) ** 2)]
    (first, first_raw), (second, second_raw) = both(-2.0), both(-0.5)
    assert first - second == pytest.approx(first_raw - second_raw)


def test_the_literal_likelihood_ignores_psi(make):
    """ψ is in no entry of Σ: any value gives the same likelihood (point 1)."""
    model, state = make(6, 1, 1, 2)
    refresh(model, state)
    before = state.log_likelihood[0]
    state.psi[:] = 100.0
    state.log_length[2:] += 1.0
    refresh(model, state)
    assert state.log_likelihood[0] == before


def test_the_literal_likelihood_ignores_a_common_shift_of_theta(make):
    """θ + c at all sites gives the same likelihood (point 2)."""
    model, state = make(6, 2, 2)
    refresh(model, state)
    before = state.log_likelihood[0]
    state.theta[:, 0] += 7.0
    refresh(model, state)
    assert state.log_likelihood[0] == pytest.approx(before, rel=1e-12)


def test_a_single_theta_does_change_the_likelihood(make):
    """The invariance is to common shifts only."""
    model, state = make(6)
    refresh(model, state)
    before = state.log_likelihood[0]
    state.theta[2, 0] += 0.3
    refresh(model, state)
    assert abs(state.log_likelihood[0] - before) > 1e-3


def test_posterior_density_is_the_sum_of_its_parts(make):
    """Every factor of Eq. (Posterior4), from scipy.stats."""
    model, state = make(5, 1, 2, 1)
    state.theta[:] = np.clip(state.theta, 0.0, 1.0)
    refresh(model, state)
    expected = state.log_likelihood[0]
    for k in range(2):
        expected += scipy.stats.norm.logpdf(
            state.theta[:, k], model.theta_mean[:, k], np.sqrt(state.spread[k])
        ).sum()
        expected += scipy.stats.invgamma.logpdf(state.spread[k], 2.0, scale=0.15**2)
    expected += scipy.stats.norm.logpdf(state.psi[0], 0.4, np.sqrt(state.global_spread[0]))
    expected += scipy.stats.invgamma.logpdf(state.global_spread[0], 2.1, scale=0.1)
    expected += scipy.stats.norm.logpdf(state.log_length, 0.5, 1.0).sum()
    expected += scipy.stats.norm.logpdf(state.log_magnitude[0], 0.0, 1.0)
    sd = np.exp(0.5 * state.log_noise[0])
    expected += scipy.stats.halfnorm.logpdf(sd, scale=0.3) + np.log(sd / 2.0)
    assert log_posterior(model, state) == pytest.approx(expected)


def test_outside_the_support_there_is_no_density(make):
    """θ beyond its box plus a tenth is impossible under the proper prior (point 12)."""
    model, state = make(5)
    state.theta[1, 0] = 1.2
    refresh(model, state)
    assert log_posterior(model, state) == -np.inf


def test_leave_one_out_is_the_conditional_of_each_response(make):
    """The density of y_i given the others, from the partitioned normal."""
    model, state = make(6)
    refresh(model, state)
    out = np.empty(6)
    leave_one_out(model, state, out)
    covariance = covariance_of(model, state)
    for i in range(6):
        rest = np.delete(np.arange(6), i)
        weights = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, i])
        mean = weights @ model.response[rest]
        sd = np.sqrt(covariance[i, i] - weights @ covariance[rest, i])
        assert out[i] == pytest.approx(scipy.stats.norm.logpdf(model.response[i], mean, sd))


def test_a_singular_covariance_is_an_error(make):
    """A covariance that cannot be factorised is never used."""
    model, state = make(4)
    state.log_magnitude[0] = np.nan
    with pytest.raises(ValueError, match="not positive definite"):
        refresh(model, state)

"""The Gaussian process predictive of each draw, and how draws are combined."""

import numpy as np
import pytest
import scipy.stats

from funcal.posterior.log_density import JITTER
from funcal.prediction import predict_responses, printed_variance


def kernel(a, b, length, gamma):
    return gamma * np.exp(-(((a[:, None, :] - b[None, :, :]) ** 2) @ length))


def case(rng, num_draws=5, num_sites=6, num_new=4):
    x, x_new = rng.random((num_sites, 2)), rng.random((num_new, 2))
    theta, theta_new = rng.random((num_draws, num_sites, 1)), rng.random((num_draws, num_new, 1))
    y = rng.standard_normal(num_sites)
    noise = 0.01 + rng.random((num_draws, num_sites))
    length, gamma = 0.5 + rng.random((num_draws, 3)), 0.5 + rng.random(num_draws)
    mean, variance = np.empty((num_draws, num_new)), np.empty((num_draws, num_new))
    predict_responses(x, theta, y, noise, x_new, theta_new, length, gamma, mean, variance)
    return locals()


def test_the_predictive_is_the_conditional_of_a_joint_normal(rng):
    """Eq. (PredDistFor1Sample), by plain linear algebra on the joint covariance."""
    c = case(rng)
    for t in range(5):
        v = np.hstack([c["x"], c["theta"][t]])
        v_new = np.hstack([c["x_new"], c["theta_new"][t]])
        length, gamma = c["length"][t], c["gamma"][t]
        inner = kernel(v, v, length, gamma) + np.diag(c["noise"][t] + gamma * JITTER)
        cross = kernel(v_new, v, length, gamma)
        np.testing.assert_allclose(c["mean"][t], cross @ np.linalg.solve(inner, c["y"]))
        expected = gamma - np.sum(cross * np.linalg.solve(inner, cross.T).T, axis=1)
        np.testing.assert_allclose(c["variance"][t], expected)


def test_far_from_every_site_the_prior_is_back(rng):
    """Mean 0 and variance γ where nothing is correlated."""
    c = case(rng)
    mean, variance = np.empty((5, 4)), np.empty((5, 4))
    predict_responses(
        c["x"],
        c["theta"],
        c["y"],
        c["noise"],
        c["x_new"] + 100.0,
        c["theta_new"],
        c["length"],
        c["gamma"],
        mean,
        variance,
    )
    np.testing.assert_allclose(mean, 0.0, atol=1e-12)
    np.testing.assert_allclose(variance, np.tile(c["gamma"][:, None], (1, 4)))


def test_without_noise_a_site_is_interpolated(rng):
    """At a site with its own θ and hardly any noise, the prediction is the measurement."""
    c = case(rng)
    mean, variance = np.empty((5, 6)), np.empty((5, 6))
    predict_responses(
        c["x"],
        c["theta"],
        c["y"],
        np.full((5, 6), 1e-9),
        c["x"],
        c["theta"],
        c["length"],
        c["gamma"],
        mean,
        variance,
    )
    np.testing.assert_allclose(mean, np.tile(c["y"], (5, 1)), atol=1e-3)
    assert variance.max() < 1e-5


def test_the_printed_rule_shrinks_and_total_variance_does_not(rng):
    """(1/T²) Σ s² halves when the draws double (point 15); the mixture's variance stays."""
    variance, mean = 0.5 + rng.random((4000, 1)), rng.standard_normal((4000, 1))

    def total(count):
        return (variance[:count].mean() + mean[:count].var()).item()

    assert printed_variance(variance)[0] == pytest.approx(
        0.5 * printed_variance(variance[:2000])[0], rel=0.05
    )
    assert total(4000) == pytest.approx(total(2000), rel=0.1)
    assert total(4000) == pytest.approx(scipy.stats.norm(0, 1).var() + 1.0, rel=0.1)

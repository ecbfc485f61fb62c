"""θ at new controls: Proposition 1 and the settings around it."""

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from funcal.prediction import ThetaProcessSettings, predict_theta
from funcal.prediction.functional_parameters import ProcessParameters, _krige, tune_process

X = np.linspace(0.0, 1.0, 8)[:, None]


def test_the_weights_are_proposition_one():
    """θ* = Σ_x*X (Σ_XX + σ^θ I)⁻¹ Θ, term by term."""
    process = ProcessParameters(np.array([3.0]), 0.7, 0.05)
    x_new = np.array([[0.33], [0.9]])
    weights, variance = _krige(process, X, x_new)
    inner = 0.7 * np.exp(-3.0 * (X - X.T) ** 2) + 0.05 * np.eye(8)
    cross = 0.7 * np.exp(-3.0 * (x_new - X.T) ** 2)
    np.testing.assert_allclose(weights, cross @ np.linalg.inv(inner), rtol=1e-8)
    np.testing.assert_allclose(variance, 0.7 - np.diag(cross @ np.linalg.inv(inner) @ cross.T), rtol=1e-8)


@pytest.mark.parametrize("noise", [None, 0.02])
def test_tuning_finds_the_maximum_of_the_marginal_likelihood(noise):
    """No direct search beats the tuned values by more than rounding (Eq. MargnialLikeTheta)."""
    values = np.sin(4.0 * X[:, 0]) + 0.2 * np.array([1, -1, -1, 1, 1, -1, 1, -1])
    values -= values.mean()

    def cost(log_length, log_magnitude, log_noise):
        covariance = np.exp(log_magnitude) * np.exp(-np.exp(log_length) * (X - X.T) ** 2)
        covariance += np.exp(log_noise) * np.eye(8)
        return -scipy.stats.multivariate_normal.logpdf(values, cov=covariance)

    tuned = tune_process(X, values, noise=noise, tuning_prior=False)
    at_tuned = cost(np.log(tuned.length[0]), np.log(tuned.magnitude), np.log(tuned.noise))
    start = [np.log(tuned.length[0]), np.log(tuned.magnitude), np.log(tuned.noise)]
    if noise is None:
        other = scipy.optimize.minimize(lambda p: cost(*p), start, method="Nelder-Mead").fun
    else:
        other = scipy.optimize.minimize(lambda p: cost(*p, start[2]), start[:2], method="Nelder-Mead").fun
    assert at_tuned == pytest.approx(other, abs=2e-3)


def test_gradient_of_the_tuning_agrees_with_differences(monkeypatch):
    """The analytic gradient is the derivative of the objective."""
    seen = {}

    def capture(objective, point, **options):
        seen["error"] = scipy.optimize.check_grad(
            lambda p: objective(p)[0], lambda p: objective(p)[1], point + 0.3
        )
        return original(objective, point, **options)

    original = scipy.optimize.minimize
    monkeypatch.setattr(scipy.optimize, "minimize", capture)
    tune_process(np.hstack([X, X**2]), np.sin(4.0 * X[:, 0]))
    assert seen["error"] < 1e-4


def theta_draws(rng, num_draws=400, slope=1.0):
    truth = 0.9 - 0.4 * slope * X[:, 0]
    return (truth + 0.03 * rng.standard_normal((num_draws, 8)))[:, :, None]


def test_a_smooth_theta_is_recovered_between_the_sites(rng):
    """The mean over draws follows the curve; its interval covers it."""
    x_new = np.array([[0.21], [0.55], [0.97]])
    theta = predict_theta(theta_draws(rng), X, x_new, rng=rng, settings=ThetaProcessSettings())
    truth = 0.9 - 0.4 * x_new[:, 0]
    assert theta.shape == (400, 3, 1)
    np.testing.assert_allclose(theta[:, :, 0].mean(axis=0), truth, atol=0.03)
    assert np.all(np.abs(theta[:, :, 0].mean(axis=0) - truth) < 3.0 * theta[:, :, 0].std(axis=0))


def test_draws_are_wider_than_means(rng):
    """prediction="draw" adds the kriging variance that the paper drops (point 16)."""
    draws, far = theta_draws(rng), np.array([[2.0]])
    wide = predict_theta(draws, X, far, rng=rng, settings=ThetaProcessSettings(prediction="draw"))
    narrow = predict_theta(draws, X, far, rng=rng, settings=ThetaProcessSettings(prediction="mean"))
    assert wide.std() > 2.0 * narrow.std()
    np.testing.assert_allclose(wide.mean(), narrow.mean(), atol=5.0 * wide.std() / np.sqrt(400))


def test_far_away_theta_goes_to_the_mean_of_the_draw_and_not_to_zero(rng):
    """centring="draw" (point 17); "zero" pulls to 0, as printed."""
    draws, far = theta_draws(rng, slope=0.0), np.array([[50.0]])
    for centring, expected in (("draw", 0.9), ("zero", 0.0)):
        settings = ThetaProcessSettings(prediction="mean", centring=centring)
        theta = predict_theta(draws, X, far, rng=rng, settings=settings)
        assert theta.mean() == pytest.approx(expected, abs=0.02)


def test_tuning_per_draw_agrees_with_tuning_once_on_easy_data(rng):
    """Both tunings (point 18) see the same curve."""
    draws, x_new = theta_draws(rng, num_draws=40), np.array([[0.4]])
    found = [
        predict_theta(
            draws, X, x_new, rng=rng, settings=ThetaProcessSettings(prediction="mean", tuning=tuning)
        )
        for tuning in ("once", "per_draw")
    ]
    np.testing.assert_allclose(found[0].mean(), found[1].mean(), atol=0.02)


def test_bounds_are_kept(rng):
    """No θ leaves its support."""
    draws = theta_draws(rng)
    theta = predict_theta(
        draws, X, np.array([[3.0]]), rng=rng, settings=ThetaProcessSettings(), bounds=np.array([[0.6, 0.8]])
    )
    assert theta.min() >= 0.6
    assert theta.max() <= 0.8


def test_constant_theta_can_be_tuned(rng):
    """Draws that agree everywhere do not break the likelihood."""
    theta = predict_theta(np.full((10, 8, 1), 0.5), X, X[:2], rng=rng, settings=ThetaProcessSettings())
    np.testing.assert_allclose(theta, 0.5, atol=1e-4)

"""Prediction at new controls given one posterior draw, against normal conditioning written out with NumPy."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from funcal.joint.emulator_prior import emulator_size
from funcal.joint.model import JointModel, build_model
from funcal.joint.prior import JointPrior
from funcal.joint.response import predict_response
from funcal.joint.site_functions import allocate_sites, place_sites
from funcal.problem import ScaledProblem

PRIOR = JointPrior(jitter=1e-3)
NEW = np.array([[0.35, 0.6], [0.9, 0.1], [1.1, -0.1]])


def a_draw(problem: ScaledProblem) -> tuple[JointModel, np.ndarray, np.ndarray]:
    """A model and one point (u, φ) at which θ stays inside its box, where the clamp is the identity."""
    rng = np.random.default_rng(4)
    model = build_model(problem, prior=PRIOR, discrepancy="linear")
    u = 0.5 * rng.standard_normal(model.layout.size)
    u[model.layout.level : model.layout.log_variation] = 0.0
    u[model.layout.log_variation : model.layout.log_roughness] = math.log(0.1)
    return model, u, 0.5 + 0.3 * rng.standard_normal(emulator_size(model))


def function_moments(model: JointModel, u: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and sd of f_k at the new controls given the whitened function at the sites."""
    layout, (m, dx) = model.layout, model.x_sites.shape
    points = np.vstack([model.x_sites, NEW])
    rho = np.exp(u[layout.log_roughness + k * dx : layout.log_roughness + (k + 1) * dx])
    stretch = u[layout.stretch + k * dx : layout.stretch + (k + 1) * dx]
    axes = np.expm1(stretch * (points - 0.5)) / stretch
    a = np.sqrt(10.0 * np.einsum("ijc,c->ij", (axes[:, None] - axes[None]) ** 2, rho))
    covariance = (1 + a + a**2 / 3) * np.exp(-a) + 1e-8 * np.eye(len(points))
    covariance += model.prior.line_variance * axes @ axes.T
    covariance *= math.exp(2 * u[layout.log_variation + k])
    here = np.linalg.cholesky(covariance[:m, :m]) @ u[k * m : (k + 1) * m]
    weights = np.linalg.solve(covariance[:m, :m], covariance[:m, m:])
    left = covariance[m:, m:] - covariance[m:, :m] @ weights
    return ndtr(u[layout.level + k]) + here @ weights, np.sqrt(np.diag(left))


def test_functions_follow_their_process(two_functions_one_global: ScaledProblem) -> None:
    """θ(x*) of many predictions from one draw has the mean and sd of the conditional normal, at 4.5 standard errors.

    Twelve comparisons, each false with probability 7e-6. A process of half the roughness fails, and one without its
    straight line.
    """
    model, u, phi = a_draw(two_functions_one_global)
    times = 2_000
    _, _, calibration = predict_response(
        model, np.tile(u, (times, 1)), np.tile(phi, (times, 1)), NEW, rng=np.random.default_rng(0)
    )

    def agrees(of: JointModel, at: np.ndarray) -> bool:
        for k in range(2):
            mean, sd = function_moments(of, at, k)
            latent = calibration[:, :, k]
            error = np.abs(latent.mean(axis=0) - mean) / (sd / math.sqrt(len(latent)))
            spread = np.abs(latent.std(axis=0) / sd - 1.0) * math.sqrt(2 * len(latent))
            if max(error.max(), spread.max()) > 4.5:
                return False
        return True

    assert agrees(model, u)
    smoother = u.copy()
    smoother[model.layout.log_roughness : model.layout.global_latent] -= math.log(2.0)
    assert not agrees(model, smoother)
    assert not agrees(model._replace(prior=model.prior._replace(line_variance=0.0)), u)


def test_response_is_the_conditional_normal(two_functions_one_global: ScaledProblem) -> None:
    """Given its calibration values, η + δ at new controls has the mean and variance of one joint normal, to 1e-8."""
    model, u, phi = a_draw(two_functions_one_global)
    mean, variance, calibration = predict_response(
        model, u[None], phi[None], NEW, rng=np.random.default_rng(1)
    )
    sites = allocate_sites(model)
    place_sites(u, model, sites)
    n, m, d = len(model.y_runs), len(model.y_sites), model.x_runs.shape[1] + model.t_runs.shape[1]
    x = np.vstack([model.x_runs, model.x_sites, NEW])
    t = np.vstack([model.t_runs, sites.values, calibration[0]])
    z = np.hstack([x, t])
    gap = (z[:, None] - z[None]) ** 2 * np.exp(phi[:d])
    trend = (x - 0.5) @ (x - 0.5).T / x.shape[1] + (t - 0.5) @ (t - 0.5).T
    covariance = model.prior.mean_variance + model.prior.slope_variance * trend
    along_x = np.exp(-gap[..., : x.shape[1]].sum(axis=2))
    varying = math.exp(phi[d]) * np.exp(-gap.sum(axis=2))
    varying += math.exp(phi[d + 1]) * along_x * (1 + 4 * (t - 0.5) @ (t - 0.5).T)
    amplitude = np.exp((z - 0.5) @ phi[d + 2 :])
    covariance = covariance + amplitude[:, None] * amplitude * varying
    covariance[:n, :n] += model.prior.jitter * np.eye(n)
    tau = np.exp(u[model.layout.log_discrepancy :])
    centred = 2 * x[n:] - 1
    covariance[n:, n:] += tau[0] ** 2 + tau[1] ** 2 * centred @ centred.T
    noise = math.exp(2 * u[model.layout.log_noise]) * model.inverse_counts
    seen = n + m
    covariance[n:seen, n:seen] += np.diag(noise)
    weights = np.linalg.solve(covariance[:seen, :seen], covariance[:seen, seen:])
    expected = np.concatenate([model.y_runs, model.y_sites]) @ weights
    left = covariance[seen:, seen:] - covariance[seen:, :seen] @ weights
    assert mean[0] == pytest.approx(expected, abs=1e-8)
    assert variance[0] == pytest.approx(np.diag(left), abs=1e-8)

"""The joint model's log density and its hand-written gradients against SciPy and finite differences."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from funcal.joint.calibration_density import calibration_log_density
from funcal.joint.emulator import allocate_emulator, set_emulator
from funcal.joint.emulator_gradient import allocate_gradient, runs_log_density
from funcal.joint.emulator_prior import emulator_size
from funcal.joint.model import JointModel, build_model
from funcal.joint.prior import JointPrior
from funcal.joint.site_functions import allocate_sites, pilot_coordinates, place_sites
from funcal.joint.whole_density import whole_log_density
from funcal.problem import ScaledProblem

#: A jitter that leaves the runs' covariance well conditioned, so that 1e-8 is a test of formulas, not of rounding.
EASY = JointPrior(jitter=1e-3, slope_variance=0.5)


def density(model: JointModel, u: np.ndarray, phi: np.ndarray) -> tuple[float, np.ndarray]:
    """Joint log density and its gradient in u by the compiled code."""
    emulator, gradient = allocate_emulator(model), np.empty(u.size)
    set_emulator(phi, model, emulator)
    value = calibration_log_density(u, model, emulator, allocate_sites(model), gradient)
    return value + emulator.runs_density[0], gradient


def scipy_density(model: JointModel, u: np.ndarray, phi: np.ndarray) -> float:
    """The same from the model's definition, one (n + m)-variate normal and named priors, by SciPy."""
    layout, prior = model.layout, model.prior
    m, dx = model.x_sites.shape
    n, d = len(model.y_runs), dx + model.t_runs.shape[1]
    values = np.empty((m, d - dx))
    total = 0.0
    for k in range(layout.num_functional):
        g = u[k * m : (k + 1) * m]
        level = u[layout.level + k]
        s = math.exp(u[layout.log_variation + k])
        rho = np.exp(u[layout.log_roughness + k * dx : layout.log_roughness + (k + 1) * dx])
        stretch = u[layout.stretch + k * dx : layout.stretch + (k + 1) * dx]
        axes = np.expm1(stretch * (model.x_sites - 0.5)) / stretch
        a = np.sqrt(10.0 * np.einsum("ijc,c->ij", (axes[:, None] - axes[None]) ** 2, rho))
        covariance = (1 + a + a**2 / 3) * np.exp(-a) + 1e-8 * np.eye(m)
        covariance += prior.line_variance * axes @ axes.T
        f = ndtr(level) + s * np.linalg.cholesky(covariance) @ g
        values[:, k] = (np.logaddexp(0, 25 * f) - np.logaddexp(0, 25 * (f - 1))) / 25
        total += stats.norm.logpdf(g).sum() + stats.norm.logpdf(level, scale=prior.level_sd)
        total += stats.halfnorm.logpdf(s, scale=prior.variation_scale) + math.log(s)
        total += stats.norm.logpdf(np.log(rho), prior.log_roughness_mean, prior.log_roughness_sd).sum()
        total += stats.norm.logpdf(stretch, prior.stretch_mean, prior.stretch_sd).sum()
    for h in range(layout.num_global):
        values[:, layout.num_functional + h] = ndtr(u[layout.global_latent + h])
        total += stats.norm.logpdf(u[layout.global_latent + h])
    noise = np.diag(model.known_variance)
    if layout.has_noise:
        sigma = math.exp(u[layout.log_noise])
        noise = noise + np.diag(sigma**2 * model.inverse_counts)
        total += stats.rayleigh.logpdf(sigma, scale=prior.noise_scale) + math.log(sigma)
        total += -model.within_dof * math.log(sigma) - 0.5 * model.within_ss / sigma**2
    tau = np.exp(u[layout.log_discrepancy :])
    delta = np.zeros((m, m))
    if layout.discrepancy > 0:
        delta += tau[0] ** 2
        total += stats.halfnorm.logpdf(tau[0], scale=prior.discrepancy_scale) + math.log(tau[0])
    if layout.discrepancy > 1:
        centred = 2 * model.x_sites - 1
        squared = ((model.x_sites[:, None] - model.x_sites[None]) ** 2).sum(axis=2)
        delta += tau[1] ** 2 * (centred @ centred.T if layout.discrepancy == 2 else np.exp(-tau[2] * squared))
        total += stats.halfnorm.logpdf(tau[1], scale=prior.discrepancy_scale) + math.log(tau[1])
    if layout.discrepancy > 2:
        mean, sd = prior.log_discrepancy_roughness_mean, prior.log_discrepancy_roughness_sd
        total += stats.norm.logpdf(math.log(tau[2]), mean, sd)
    z = np.vstack([np.hstack([model.x_runs, model.t_runs]), np.hstack([model.x_sites, values])])
    gap = (z[:, None] - z[None]) ** 2 * np.exp(phi[:d])
    num_controls = model.x_runs.shape[1]
    product = (z[:, num_controls:] - 0.5) @ (z[:, num_controls:] - 0.5).T
    controls = z[:, :num_controls] - 0.5
    trend = controls @ controls.T / num_controls + product
    covariance = prior.mean_variance + prior.slope_variance * trend
    varying = math.exp(phi[d]) * np.exp(-gap.sum(axis=2))
    varying += math.exp(phi[d + 1]) * np.exp(-gap[..., :num_controls].sum(axis=2)) * (1 + 4 * product)
    amplitude = np.exp((z - 0.5) @ phi[d + 2 : 2 * d + 2])
    covariance = covariance + amplitude[:, None] * amplitude * varying
    own = math.exp(phi[-1]) if model.has_nugget else 0.0
    covariance[:n, :n] += (prior.jitter + own) * np.eye(n)
    covariance[n:, n:] += noise + delta
    y = np.concatenate([model.y_runs, model.y_sites])
    total += stats.multivariate_normal(cov=covariance).logpdf(y)
    total += stats.norm.logpdf(phi[:d], prior.log_decay_mean, prior.log_decay_sd).sum()
    total += stats.norm.logpdf(phi[d], prior.log_variance_mean, prior.log_variance_sd)
    total += stats.norm.logpdf(phi[d + 1], prior.log_linear_mean, prior.log_linear_sd)
    total += stats.norm.logpdf(phi[d + 2 : 2 * d + 2], 0, prior.growth_sd).sum()
    if model.has_nugget:
        total += stats.norm.logpdf(phi[-1], prior.log_nugget_mean, prior.log_nugget_sd)
    return float(total)


@pytest.mark.parametrize("discrepancy", ["none", "constant", "linear", "gp"])
@pytest.mark.parametrize("varies", [True, False])
def test_density_is_scipys(two_functions_one_global: ScaledProblem, discrepancy: str, varies: bool) -> None:
    """The log density equals SciPy's to 1e-8 at random points, for every kind of δ, θ(x) and constant θ."""
    model = build_model(
        two_functions_one_global, prior=EASY, discrepancy=discrepancy, theta_varies=varies, nugget=varies
    )
    rng = np.random.default_rng(1)
    for _ in range(5):
        u = 0.5 * rng.standard_normal(model.layout.size)
        phi = 0.5 + 0.5 * rng.standard_normal(emulator_size(model))
        value, _ = density(model, u, phi)
        assert value == pytest.approx(scipy_density(model, u, phi), abs=1e-8)


@pytest.mark.parametrize("discrepancy", ["none", "gp"])
def test_both_blocks_at_once_are_the_same_density(
    two_functions_one_global: ScaledProblem, discrepancy: str
) -> None:
    """The density of both blocks at once equals SciPy's to 1e-8, and its gradient central differences."""
    rng = np.random.default_rng(5)
    model = build_model(two_functions_one_global, prior=EASY, discrepancy=discrepancy, nugget=True)
    u = 0.5 * rng.standard_normal(model.layout.size)
    point = np.concatenate([u, 0.5 + 0.3 * rng.standard_normal(emulator_size(model))])
    sites, gradient = allocate_sites(model), np.empty(point.size)

    def value(at: np.ndarray) -> float:
        return float(whole_log_density(at, model, sites, np.empty(at.size)))

    found = whole_log_density(point, model, sites, gradient)
    assert found == pytest.approx(scipy_density(model, u, point[u.size :]), abs=1e-8)
    numeric = [(value(point + 1e-5 * e) - value(point - 1e-5 * e)) / 2e-5 for e in np.eye(point.size)]
    np.testing.assert_allclose(gradient, numeric, atol=2e-5 * np.abs(gradient).max())


def with_pilot(model: JointModel, rng: np.random.Generator) -> JointModel:
    """The model in coordinates of a random pilot."""
    shape = model.anchor_latent.shape
    num_global = model.layout.num_global
    return model._replace(
        pilot_precision=rng.uniform(0, 20, shape),
        pilot_shift=5 * rng.standard_normal(shape),
        pilot_tilt=rng.standard_normal((2 * num_global, *shape)),
        pilot_origin=rng.uniform(size=num_global),
    )


@pytest.mark.parametrize("discrepancy", ["none", "linear", "gp"])
@pytest.mark.parametrize("piloted", [False, True])
def test_gradient_is_the_derivative(
    two_functions_one_global: ScaledProblem, discrepancy: str, piloted: bool
) -> None:
    """Every component of the hand-written gradient agrees with central differences."""
    rng = np.random.default_rng(2)
    shape = (6, 3)
    model = build_model(
        two_functions_one_global,
        prior=EASY,
        discrepancy=discrepancy,
        anchor_latent=rng.uniform(size=shape),
        anchor_precision=rng.uniform(0, 3, size=shape),
    )
    model = with_pilot(model, rng) if piloted else model
    u = 0.4 * rng.standard_normal(model.layout.size)
    phi = 0.5 + 0.3 * rng.standard_normal(emulator_size(model))
    _, gradient = density(model, u, phi)
    step = 1e-5
    numeric = [
        (density(model, u + step * e, phi)[0] - density(model, u - step * e, phi)[0]) / (2 * step)
        for e in np.eye(u.size)
    ]
    np.testing.assert_allclose(gradient, numeric, atol=2e-5 * np.abs(gradient).max())


def test_runs_gradient_is_the_derivative(one_function: ScaledProblem) -> None:
    """The gradient of the runs' marginal likelihood agrees with central differences, nugget included."""
    model = build_model(one_function, prior=EASY, nugget=True)
    phi = np.array([0.4, 0.9, -0.2, 0.3, 0.7, -0.5, -4.0])
    memory = allocate_gradient(model.y_runs.size)
    _, gradient = runs_log_density(phi, model, memory)
    differences = [
        [runs_log_density(phi + sign * 1e-5 * e, model, memory)[0] for sign in (1, -1)]
        for e in np.eye(phi.size)
    ]
    numeric = [(above - below) / 2e-5 for above, below in differences]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6)


def test_coordinates_change_the_point_not_the_distribution(one_function: ScaledProblem) -> None:
    """Moving to a pilot's coordinates and back gives the same point; densities differ by the Jacobian alone."""
    rng = np.random.default_rng(3)
    model = build_model(one_function, prior=EASY)
    piloted, sites = with_pilot(model, rng), allocate_sites(model)
    u, phi = 0.5 * rng.standard_normal(model.layout.size), np.array([0.5, 0.5, 0.0, 0.0, 0.4, -0.3])
    moved = pilot_coordinates(u, piloted, sites)
    place_sites(moved, piloted, sites)
    np.testing.assert_allclose(sites.whitened[0], u[:5], atol=1e-12)
    jacobian = -np.log(np.diag(sites.pilot_factors[0])).sum()
    assert density(piloted, moved, phi)[0] == pytest.approx(density(model, u, phi)[0] + jacobian, abs=1e-9)

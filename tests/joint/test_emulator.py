"""The emulator where its covariance is as ill-conditioned as the prior allows, and where the paper's kernel fails."""

import numpy as np
import pytest

from funcal.joint.emulator import allocate_emulator, set_emulator
from funcal.joint.emulator_covariance import prior_cross, prior_variance
from funcal.joint.emulator_gradient import allocate_gradient, runs_log_density
from funcal.joint.emulator_mode import find_emulator_mode
from funcal.joint.emulator_prior import emulator_log_prior
from funcal.joint.model import JointModel, build_model
from funcal.joint.prior import JointPrior

from .conftest import scaled_problem


@pytest.fixture
def linear_model() -> JointModel:
    """Runs of θ + ψ x², which the kernel's linear part explains to the last digit."""
    model = build_model(scaled_problem(6, 150, 1, 1, 1))
    y = model.t_runs[:, 0] + model.t_runs[:, 1] * model.x_runs[:, 0] ** 2
    return model._replace(y_runs=(y - y.mean()) / y.std())


def claims(model: JointModel, phi: np.ndarray, x: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of η at new inputs given the runs."""
    emulator = allocate_emulator(model)
    set_emulator(phi, model, emulator)
    whitened = emulator.half @ prior_cross(phi, model.x_runs, model.t_runs, x, t, model)
    own = np.array([prior_variance(phi, x[i], t[i], model) for i in range(len(x))])
    return whitened.T @ emulator.whitened_y, own - np.sum(whitened**2, axis=0)


@pytest.mark.parametrize("log_linear", [2.0, 6.5, 9.0])
def test_large_variances_cost_no_digits(linear_model: JointModel, log_linear: float) -> None:
    """At the largest variance in reach the emulator still returns the runs, and variances are not negative."""
    phi = np.array([-4.3, -3.5, -4.0, -5.1, log_linear, 0.0, 0.0, 0.0])
    mean, variance = claims(linear_model, phi, linear_model.x_runs, linear_model.t_runs)
    np.testing.assert_allclose(mean, linear_model.y_runs, atol=5e-3)
    assert np.all(variance > -1e-7)
    assert np.all(variance < 2 * linear_model.prior.jitter)


def test_linear_part_knows_what_lies_between_the_controls_of_the_runs() -> None:
    """Runs θ g(x) on six controls: the claim between them is near the error; without the linear part far above it."""
    model = build_model(scaled_problem(6, 30, 1, 1, 0))
    x = np.tile(np.linspace(0, 1, 6), 5)[:, None]
    y = model.t_runs[:, 0] * (1.0 + np.sin(4.0 * x[:, 0]) ** 2)
    model = model._replace(x_runs=x, y_runs=(y - y.mean()) / y.std())
    x_new, t_new = np.linspace(0.05, 0.95, 10)[:, None], np.full((10, 1), 0.4)
    truth = (0.4 * (1.0 + np.sin(4.0 * x_new[:, 0]) ** 2) - y.mean()) / y.std()
    without = JointPrior(log_linear_mean=-25.0, log_linear_sd=0.01, growth_sd=1e-4).numbers(1)
    found = {}
    for name, candidate in (("linear", model), ("paper", model._replace(prior=without))):
        mode, _ = find_emulator_mode(candidate)
        mean, variance = claims(candidate, mode, x_new, t_new)
        claimed = float(np.sqrt(variance.mean()))
        found[name] = (
            runs_log_density(mode, candidate, allocate_gradient(30))[0] - emulator_log_prior(mode, candidate),
            float(np.sqrt(np.mean((mean - truth) ** 2))),
            claimed,
        )
    assert found["linear"][0] > found["paper"][0] + 10  # log likelihood
    assert found["linear"][1] < 3 * found["linear"][2] < 20 * found["linear"][1]
    assert found["paper"][2] > 3 * found["linear"][2]


def test_amplitude_is_sure_where_the_response_hardly_varies() -> None:
    """Runs x⁴ sin(9 t): at small x, all but flat, the claim is near the error; without the amplitude far above it."""
    model = build_model(scaled_problem(6, 40, 1, 1, 0))
    x, t = model.x_runs[:, 0], model.t_runs[:, 0]
    y = x**4 * np.sin(9.0 * t)
    model = model._replace(y_runs=(y - y.mean()) / y.std())
    rng = np.random.default_rng(0)
    x_new, t_new = rng.uniform(0.1, 0.3, (50, 1)), rng.uniform(0.1, 0.9, (50, 1))
    truth = (x_new[:, 0] ** 4 * np.sin(9.0 * t_new[:, 0]) - y.mean()) / y.std()
    claimed = {}
    for growth_sd in (0.5, 1e-4):
        candidate = model._replace(prior=JointPrior(growth_sd=growth_sd).numbers(1))
        mode, _ = find_emulator_mode(candidate)
        mean, variance = claims(candidate, mode, x_new, t_new)
        claimed[growth_sd] = float(np.sqrt(variance.mean()))
        error = float(np.sqrt(np.mean((mean - truth) ** 2)))
        assert error < 3 * claimed[growth_sd]
    assert claimed[1e-4] > 5 * claimed[0.5]


def test_mode_of_a_large_table_is_a_mode() -> None:
    """Begun on every second run, the search still ends where the density of all the runs is flat."""
    model = build_model(scaled_problem(5, 620, 1, 1, 0))
    mode, shape = find_emulator_mode(model)
    memory = allocate_gradient(620)
    height, gradient = runs_log_density(mode, model, memory)
    # in units of the posterior's standard deviations
    assert np.linalg.norm(shape.T @ gradient) < 0.2
    for direction in np.eye(mode.size):
        assert runs_log_density(mode + 0.3 * direction, model, memory)[0] < height

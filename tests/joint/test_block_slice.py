"""Slice moves of the calibration block: their target is the posterior, and without data they draw from the prior."""

import numpy as np
import pytest

from funcal.joint.block_slice import _prior_scales, block_log_likelihood, move_block
from funcal.joint.calibration_density import calibration_log_density
from funcal.joint.emulator import allocate_emulator, set_emulator
from funcal.joint.emulator_prior import emulator_size
from funcal.joint.model import JointModel, build_model
from funcal.joint.site_functions import allocate_sites, place_sites
from funcal.problem import ScaledProblem

NUM_MOVES = 4000


@pytest.fixture
def model(two_functions_one_global: ScaledProblem) -> JointModel:
    """Every kind of coordinate: functions, a global parameter, noise, a discrepancy with roughness; replicates too."""
    return build_model(two_functions_one_global, discrepancy="gp")


def test_prior_and_likelihood_make_the_posterior(model: JointModel, rng: np.random.Generator) -> None:
    """The density that the ellipse is drawn from times the slice's own is the calibration block's, up to a constant."""
    emulator, sites = allocate_emulator(model), allocate_sites(model)
    set_emulator(np.zeros(emulator_size(model)), model, emulator)
    centre, scale, normals = _prior_scales(model)
    gaps = []
    for _ in range(5):
        u = 0.5 * rng.standard_normal(model.layout.size)
        standard = (np.where(normals > 0, np.exp(u), u) - centre) / scale
        log_prior = -0.5 * np.sum(standard**2) + np.sum(normals * u)  # volume element of the normals' space
        posterior = calibration_log_density(u, model, emulator, sites, np.empty(u.size))
        gaps.append(posterior - log_prior - block_log_likelihood(u, model, emulator, sites, True))
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)


def test_without_data_the_prior_is_drawn(model: JointModel, rng: np.random.Generator) -> None:
    """Means and mean squares of the standard normal numbers behind the block, and of the lengths of one or two."""
    empty = model._replace(temperature=0.0, within_ss=0.0, within_dof=0.0)
    emulator, sites = allocate_emulator(empty), allocate_sites(empty)
    set_emulator(np.zeros(emulator_size(empty)), empty, emulator)
    centre, scale, normals = _prior_scales(empty)
    u = np.zeros(empty.layout.size)
    draws = np.empty((NUM_MOVES, u.size))
    likelihood = block_log_likelihood(u, empty, emulator, sites, True)
    for draw in draws:
        likelihood = move_block(rng, u, empty, emulator, sites, True, likelihood)
        draw[:] = (np.where(normals > 0, np.exp(u), u) - centre) / scale
    mean = np.array([0.0, np.sqrt(2.0 / np.pi), np.sqrt(np.pi / 2.0)])
    assert set(normals) == {0, 1, 2}
    np.testing.assert_allclose(draws.mean(axis=0), mean[normals], atol=0.1)
    np.testing.assert_allclose((draws**2).mean(axis=0), np.maximum(normals, 1), atol=0.2)


def test_held_sizes_stay(model: JointModel, rng: np.random.Generator) -> None:
    """With the sizes held only g, β and ψ move."""
    emulator, sites = allocate_emulator(model), allocate_sites(model)
    set_emulator(np.zeros(emulator_size(model)), model, emulator)
    u = 0.1 * rng.standard_normal(model.layout.size)
    before = u.copy()
    place_sites(u, model, sites)
    likelihood = block_log_likelihood(u, model, emulator, sites, False)
    likelihood = move_block(rng, u, model, emulator, sites, False, likelihood)
    assert likelihood == block_log_likelihood(u, model, emulator, sites, False)
    layout = model.layout
    held = [*range(layout.log_variation, layout.global_latent), *range(layout.log_noise, layout.size)]
    moved = np.setdiff1d(np.arange(layout.size), held)
    np.testing.assert_array_equal(u[held], before[held])
    assert np.all(u[moved] != before[moved])

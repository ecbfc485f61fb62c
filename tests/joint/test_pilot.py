"""The pilot of a chain's coordinates: it follows a ridge, and no point is out of its reach."""

import numpy as np
import pytest
from scipy.special import ndtr

from funcal.joint.calibration_density import calibration_log_density
from funcal.joint.emulator import allocate_emulator, set_emulator
from funcal.joint.emulator_prior import emulator_size
from funcal.joint.model import JointModel, build_model
from funcal.joint.pilot import learnt_pilot
from funcal.joint.site_functions import allocate_sites, pilot_coordinates, place_sites
from funcal.problem import ScaledProblem

NUM_DRAWS = 60


@pytest.fixture
def model(two_functions_one_global: ScaledProblem) -> JointModel:
    """Two functions and one global parameter at six sites."""
    return build_model(two_functions_one_global)


def draws_on_a_ridge(model: JointModel, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Latent values (T, 6, 3) with f = 0.3 + 0.5 ψ - 0.2 ψ², and their information."""
    rng = np.random.default_rng(1)
    latent = np.empty((NUM_DRAWS, *model.anchor_latent.shape))
    latent[..., 2] = spread * rng.standard_normal((NUM_DRAWS, 1))
    psi = ndtr(latent[..., 2])
    latent[..., :2] = (0.3 + 0.5 * psi - 0.2 * psi**2)[..., None]
    return latent, rng.uniform(50.0, 100.0, latent.shape)


def test_the_pilot_follows_a_ridge(model: JointModel) -> None:
    """On a quadratic ridge every point has coordinates near those at its crest: |ξ| stays far below 1."""
    latent, information = draws_on_a_ridge(model, 1.0)
    piloted = learnt_pilot(model, latent, information, np.zeros_like(latent))
    np.testing.assert_allclose(piloted.pilot_precision, information.mean(axis=0))
    gap = ndtr(latent[:, 0, 2]) - piloted.pilot_origin[0]
    for site in range(6):
        shift = piloted.pilot_shift[site, 0] / piloted.pilot_precision[site, 0]
        centre = shift + piloted.pilot_tilt[0, site, 0] * gap + piloted.pilot_tilt[1, site, 0] * gap**2
        np.testing.assert_allclose(centre, latent[:, site, 0], atol=2e-3)


def test_a_parameter_that_hardly_moved_tilts_nothing(model: JointModel) -> None:
    """Where ψ moved by a ten-thousandth of its box its draws say nothing of a ridge."""
    latent, information = draws_on_a_ridge(model, 2.5e-4)
    noisy = latent + 0.01 * np.random.default_rng(2).standard_normal(latent.shape)
    noisy[..., 2] = latent[..., 2]
    piloted = learnt_pilot(model, noisy, information, np.zeros_like(latent))
    assert np.abs(piloted.pilot_tilt[..., :2]).max() < 0.05


def test_a_point_far_from_a_sharp_pilot_has_a_density(model: JointModel) -> None:
    """ξ of several hundred is a legal point: there the density is finite and the point is found again."""
    rng = np.random.default_rng(3)
    u = 0.5 * rng.standard_normal(model.layout.size)
    precision = np.full(model.anchor_latent.shape, 1e6)
    piloted = model._replace(pilot_precision=precision, pilot_shift=0.9 * precision)
    emulator, sites = allocate_emulator(model), allocate_sites(model)
    moved = pilot_coordinates(u, piloted, sites)
    assert np.abs(moved).max() > 100.0
    set_emulator(np.full(emulator_size(model), 0.5), piloted, emulator)
    assert np.isfinite(calibration_log_density(moved, piloted, emulator, sites, np.empty(u.size)))
    place_sites(moved, piloted, sites)
    np.testing.assert_allclose(sites.whitened[0], u[:6], atol=1e-8)

"""Moves of the emulator, alone or with the noise: their target is the posterior, and without data σ has its prior."""

from dataclasses import replace

import numpy as np
import pytest

from funcal.joint.chain import ChainState, allocate_chain
from funcal.joint.emulator import set_emulator
from funcal.joint.emulator_covariance import runs_covariance
from funcal.joint.emulator_prior import emulator_size
from funcal.joint.emulator_slice import _log_density, move_emulator
from funcal.joint.factors import large_cholesky
from funcal.joint.model import JointModel, build_model
from funcal.joint.site_functions import place_sites
from funcal.joint.whole_density import whole_log_density
from funcal.problem import ScaledProblem

NUM_MOVES = 4000


@pytest.fixture
def model(one_function: ScaledProblem) -> JointModel:
    """Five sites, every other with replicates, twelve runs, and a constant δ."""
    return build_model(one_function, discrepancy="constant")


def chain_of(model: JointModel, rng: np.random.Generator) -> ChainState:
    """A chain somewhere, its emulator and sites filled."""
    u, phi = 0.3 * rng.standard_normal(model.layout.size), 0.3 * rng.standard_normal(emulator_size(model))
    chain = allocate_chain(model, u, phi, 0.5 * np.eye(phi.size), whole=True)
    set_emulator(chain.phi, model, chain.emulator)
    place_sites(chain.u, model, chain.sites)
    return chain


def test_target_is_the_posterior_of_emulator_and_noise(model: JointModel, rng: np.random.Generator) -> None:
    """With all else held, the slice's density and σ's volume element are that of both blocks but for a constant."""
    chain, gaps = chain_of(model, rng), []
    for _ in range(5):
        chain.phi[:] += 0.5 * rng.standard_normal(chain.phi.size)
        chain.u[model.layout.log_noise] += 0.5 * rng.standard_normal()
        point = np.concatenate([chain.u, chain.phi])
        whole = whole_log_density(point, model, chain.sites, np.empty(point.size))
        factor = large_cholesky(runs_covariance(chain.phi, model))
        own = _log_density(chain.phi, factor, chain, model, True)
        own += 2.0 * chain.u[model.layout.log_noise]
        gaps.append(whole - own)
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)


def test_without_sites_the_noise_has_its_prior(model: JointModel, rng: np.random.Generator) -> None:
    """σ is the length of two normals whatever the emulator does: mean and mean square, within five errors or so."""
    empty = model._replace(temperature=0.0, within_ss=0.0, within_dof=0.0)
    chain = chain_of(empty, rng)
    standard = np.empty(NUM_MOVES)
    for move in range(NUM_MOVES):
        move_emulator(rng, chain, empty, True)
        standard[move] = np.exp(chain.u[empty.layout.log_noise]) / empty.prior.noise_scale
    assert standard.mean() == pytest.approx(np.sqrt(np.pi / 2.0), abs=0.1)
    assert np.mean(standard**2) == pytest.approx(2.0, abs=0.25)


def test_what_moves(model: JointModel, rng: np.random.Generator) -> None:
    """The noise moves only where asked, the emulator always; the chain's memory is that of where it is then."""
    chain = chain_of(model, rng)
    noise = model.layout.log_noise
    for noise_moves in (False, True):
        u, phi = chain.u.copy(), chain.phi.copy()
        move_emulator(rng, chain, model, noise_moves)
        assert np.all(chain.phi != phi)
        assert np.array_equal(np.flatnonzero(chain.u != u), [noise] if noise_moves else [])
        kept = chain.sites.noise_covariance.copy()
        place_sites(chain.u, model, chain.sites)
        np.testing.assert_array_equal(kept, chain.sites.noise_covariance)
        np.testing.assert_allclose(chain.emulator.factor, large_cholesky(runs_covariance(chain.phi, model)))


def test_known_noise_is_left_alone(one_function: ScaledProblem, rng: np.random.Generator) -> None:
    """Where the user knows the noise there is nothing to move but the emulator."""
    known = build_model(replace(one_function, known_variance=np.full(5, 0.01), within_ss=0.0, within_dof=0))
    chain = chain_of(known, rng)
    u = chain.u.copy()
    assert move_emulator(rng, chain, known, True) >= 1
    np.testing.assert_array_equal(chain.u, u)

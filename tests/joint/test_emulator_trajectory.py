"""Hamiltonian moves of the emulator: their density and its derivative, and the posterior that slices have too."""

from typing import Any

import numpy as np
import pytest

from funcal.joint import moves, run_chains
from funcal.joint.chain import ChainState, allocate_chain
from funcal.joint.emulator import log_density_of_both_tables, set_emulator
from funcal.joint.emulator_covariance import runs_covariance
from funcal.joint.emulator_gradient import emulator_log_density
from funcal.joint.emulator_mode import find_emulator_mode
from funcal.joint.emulator_slice import move_emulator
from funcal.joint.emulator_trajectory import NUM_LEAPS, travel_emulator
from funcal.joint.factors import large_cholesky
from funcal.joint.model import JointModel, build_model
from funcal.joint.moves import SLICES_WITH_MANY_INPUTS
from funcal.joint.run_chains import SamplerSettings, sample_posterior
from funcal.joint.site_functions import place_sites
from funcal.joint.starting_points import starting_block
from funcal.mixing import mean_ess
from funcal.problem import ScaledProblem

NUM_MOVES = 4000


def chain_of(model: JointModel, rng: np.random.Generator) -> ChainState:
    """A chain at the mode of the runs, its reference the normal approximation there, its sites somewhere."""
    phi, shape = find_emulator_mode(model)
    chain = allocate_chain(
        model, 0.3 * rng.standard_normal(model.layout.size), phi, shape, whole=False, travelling=True
    )
    set_emulator(chain.phi, model, chain.emulator)
    place_sites(chain.u, model, chain.sites)
    return chain


@pytest.mark.parametrize("nugget", [False, True])
def test_density_and_gradient(
    two_functions_one_global: ScaledProblem, rng: np.random.Generator, nugget: bool
) -> None:
    """The density is the slice's, by another factorisation; its gradient is that of finite differences."""
    model = build_model(two_functions_one_global, discrepancy="linear", nugget=nugget)
    chain = chain_of(model, rng)
    phi = chain.phi + 0.2 * rng.standard_normal(chain.phi.size)
    factor = large_cholesky(runs_covariance(phi, model))
    expected = log_density_of_both_tables(
        phi, factor, chain.sites.values, chain.sites.noise_covariance, model
    )
    gradient, unused = np.empty(phi.size), np.empty(phi.size)
    assert emulator_log_density(phi, model, chain.sites, chain.memory, gradient) == pytest.approx(
        expected, rel=1e-9
    )
    differences = [
        (
            emulator_log_density(phi + 1e-5 * e, model, chain.sites, chain.memory, unused)
            - emulator_log_density(phi - 1e-5 * e, model, chain.sites, chain.memory, unused)
        )
        / 2e-5
        for e in np.eye(phi.size)
    ]
    np.testing.assert_allclose(gradient, differences, rtol=1e-4, atol=1e-4)


def test_out_of_reach_is_refused(one_function: ScaledProblem, rng: np.random.Generator) -> None:
    """A trajectory that leaves what can be computed is refused, and the chain stays as it was."""
    chain = chain_of(build_model(one_function), rng)
    phi, factor = chain.phi.copy(), chain.emulator.factor.copy()
    evaluations, acceptance = travel_emulator(rng, chain, build_model(one_function), 1e3)
    assert (evaluations, acceptance) == (2, 0.0)
    np.testing.assert_array_equal(chain.phi, phi)
    np.testing.assert_array_equal(chain.emulator.factor, factor)


def moments(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of φ and φ² over one chain's moves (T, p), and their Monte Carlo standard errors."""
    both = np.hstack([draws, draws**2])
    return both.mean(axis=0), both.std(axis=0) / np.sqrt(mean_ess(both[None]))


@pytest.mark.statistical
def test_trajectories_and_slices_have_one_posterior(
    one_function: ScaledProblem, rng: np.random.Generator
) -> None:
    """Means of φ and φ² given the sites agree within five standard errors: a false alarm in a hundred thousand runs.

    Negative control: draws that are half a standard deviation off do not.
    """
    model = build_model(one_function)
    chain = chain_of(model, rng)
    travelled, sliced = np.empty((2, NUM_MOVES, chain.phi.size))
    for draw in travelled:
        travel_emulator(rng, chain, model, 0.5)
        draw[:] = chain.phi
    for draw in sliced:
        move_emulator(rng, chain, model, False)
        draw[:] = chain.phi
    (mean, error), (other, other_error) = moments(travelled), moments(sliced)
    assert np.max(np.abs(mean - other) / np.hypot(error, other_error)) < 5.0
    shifted, _ = moments(travelled + 0.5 * travelled.std(axis=0))
    assert np.max(np.abs(shifted - other) / np.hypot(error, other_error)) > 5.0


def test_emulators_of_many_inputs_travel(
    one_function: ScaledProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With φ beyond the limit the sampler takes trajectories, whose number of evaluations is always the same."""
    monkeypatch.setattr(moves, "WHOLE_SIZE", 0)
    model = build_model(one_function)
    emulator = find_emulator_mode(model)
    evaluations = {}
    for limit in (0, 100):
        monkeypatch.setattr(moves, "TRAVELLING_SIZE", limit)
        draws = sample_posterior(
            model,
            [starting_block(model, np.full((5, 1), 0.5), np.random.default_rng(0))],
            *emulator,
            seeds=np.random.SeedSequence(1).spawn(1),
            settings=SamplerSettings(chains=1, warmup=60, draws=60, max_draws=60, disagreement=np.inf),
            progress=lambda done, total, stage: None,
        )
        evaluations[limit] = set(draws.stats[0, :, 4])
    whole = NUM_LEAPS + 1.0
    assert evaluations[0] <= {0.0, *np.arange(2.0, whole + 1.0)}  # none at every other sweep
    assert {0.0, whole} <= evaluations[0]
    assert 1.0 in evaluations[100]


@pytest.mark.parametrize(("limit", "expected"), [(0, {SLICES_WITH_MANY_INPUTS}), (100, {0})])
def test_slices_go_with_travelling(
    one_function: ScaledProblem, monkeypatch: pytest.MonkeyPatch, limit: int, expected: set[int]
) -> None:
    """A problem too large for slice moves has them all the same where its emulator travels, and only there."""
    asked = set()

    def run_segment(*arguments: Any) -> None:
        asked.add(arguments[6])
        run_chains_segment(*arguments)

    run_chains_segment = run_chains.run_segment
    monkeypatch.setattr(run_chains, "run_segment", run_segment)
    monkeypatch.setattr(moves, "WHOLE_SIZE", 0)
    monkeypatch.setattr(moves, "SLICES", ())
    monkeypatch.setattr(moves, "TRAVELLING_SIZE", limit)
    model = build_model(one_function)
    sample_posterior(
        model,
        [starting_block(model, np.full((5, 1), 0.5), np.random.default_rng(0))],
        *find_emulator_mode(model),
        seeds=np.random.SeedSequence(1).spawn(1),
        settings=SamplerSettings(chains=1, warmup=20, draws=5, max_draws=5, disagreement=np.inf),
        progress=lambda done, total, stage: None,
    )
    assert asked == expected

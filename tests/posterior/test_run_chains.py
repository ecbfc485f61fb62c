"""Chains in threads: reproducible, independent, interruptible, and honest about an improper posterior."""

import sys

import numpy as np
import pytest

from funcal.diagnostics.convergence import assess_convergence
from funcal.errors import SamplingError
from funcal.posterior import ParameterLayout, draws_in_user_units, first_steps, run_chains, start_state
from funcal.priors import WorkingUnits
from funcal.problem import AffineScaling


def sample(model, seed=1, **options):
    layout = ParameterLayout.of_model(model)
    ranges = {
        "functional_range": np.ones(layout.num_functional),
        "global_range": np.ones(layout.num_global),
    }
    return run_chains(
        model,
        lambda rng: start_state(model, rng, response_variance=1.0, **ranges),
        first_steps(layout, **ranges),
        seed=np.random.SeedSequence(seed),
        **{"num_chains": 3, "warmup": 300, "draws": 200, **options},
    )


def test_one_seed_gives_the_same_bits(make, monkeypatch):
    """The same seed gives the same draws, whatever the number of threads and the length of segments."""
    model, _ = make(6, 1, 1, 1)
    first = sample(model)
    module = sys.modules["funcal.posterior.run_chains"]  # the package exports the function of the same name
    monkeypatch.setattr(module.os, "cpu_count", lambda: 1)
    monkeypatch.setattr(module, "SEGMENT", 77)
    second = sample(model)
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.steps, second.steps)
    np.testing.assert_array_equal(first.log_density, second.log_density)


def test_chains_and_seeds_differ(make):
    """Each chain has its own spawned seed; another seed gives other draws."""
    model, _ = make(6)
    draws = sample(model)
    assert not np.array_equal(draws.values[0], draws.values[1])
    assert not np.array_equal(draws.values, sample(model, seed=2).values)


def test_progress_ends_with_everything_done(make):
    """Progress never passes the total and reaches it."""
    model, _ = make(6)
    seen = []
    sample(model, thin=3, draws=50, progress=lambda done, total, label: seen.append((done, total, label)))
    assert seen[-1] == (3 * (300 + 150), 3 * (300 + 150), "sampling")
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


def test_thinning_keeps_every_nth_sweep(make):
    """Thinned draws are a subset of the same chain's draws."""
    model, _ = make(6)
    every = sample(model, draws=60, num_chains=1)
    third = sample(model, draws=20, num_chains=1, thin=3)
    np.testing.assert_array_equal(every.values[:, 2::3], third.values)


def test_an_interrupt_stops_the_chains(make):
    """An exception in the main thread ends the work instead of waiting for all sweeps."""
    model, _ = make(6)

    def interrupt(done, total, label):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sample(model, draws=2_000_000, progress=interrupt)


def test_a_failed_chain_is_a_sampling_error(make):
    """A singular covariance is reported in a sentence that says what to do."""
    model, _ = make(6)
    model.control_distance[:] = np.nan
    with pytest.raises(SamplingError, match="nearly coincide"):
        sample(model)


def test_chains_start_away_from_the_anchors(make):
    """Θ = Θ^a would hold ν² at 0 for ever (point 4); every start is scattered and inside the support."""
    model, _ = make(30, 1, 2)
    state = start_state(
        model,
        np.random.default_rng(0),
        functional_range=np.ones(2),
        global_range=np.ones(0),
        response_variance=1.0,
    )
    assert np.all(state.theta != model.theta_mean)
    assert np.all((state.theta > -0.1) & (state.theta < 1.1))
    assert 0.05 < np.std(state.theta - model.theta_mean) < 0.15


def test_draws_come_back_in_user_units(make):
    """θ, ν, ℓ, γ and σ carry the units of their variables."""
    model, _ = make(4, 1, 1, 1)
    draws = sample(model, draws=5)
    units = WorkingUnits(
        control=AffineScaling(np.array([1.0]), np.array([10.0])),
        functional=AffineScaling(np.array([5.0]), np.array([2.0])),
        global_=AffineScaling(np.array([-1.0]), np.array([4.0])),
        functional_box=np.array([[0.0, 1.0]]),
        global_box=np.array([[0.0, 1.0]]),
        response_centre=3.0,
        response_scale=7.0,
        response_variance=1.0,
    )
    named, user = draws.by_name(), draws_in_user_units(draws, units)
    np.testing.assert_allclose(user["theta"], 5.0 + 2.0 * named["theta"])
    np.testing.assert_allclose(user["psi"], -1.0 + 4.0 * named["psi"])
    np.testing.assert_allclose(user["nu"], 2.0 * np.sqrt(named["spread"]))
    np.testing.assert_allclose(user["length_control"][..., 0], np.exp(named["log_length"][..., 0]) / 100.0)
    np.testing.assert_allclose(user["length_functional"][..., 0], np.exp(named["log_length"][..., 1]) / 4.0)
    np.testing.assert_allclose(user["gamma"], 49.0 * np.exp(named["log_magnitude"][..., 0]))
    np.testing.assert_allclose(user["noise_sd"], 7.0 * np.exp(0.5 * named["log_noise"][..., 0]))


@pytest.mark.statistical
def test_the_literal_prior_of_the_spread_is_flagged_as_not_stationary(make):
    """With π(ν²) = 1/ν² on (0, ∞) there is no posterior to converge to: R-hat of ν says so; the proper prior passes."""
    options = {"num_chains": 4, "warmup": 2000, "draws": 5000}

    def rhat_of_spread(model):
        draws = sample(model, **options)
        found = assess_convergence({"nu": np.log(draws.by_name()["spread"])}, {})
        assert found is not None
        return found.rhat_max

    proper, _ = make(6)
    assert rhat_of_spread(proper) < 1.02
    literal, _ = make(6, paper=True)
    literal.spread_prior[:] = [0.0, 0.0, 0.0, np.inf]
    literal.theta_bounds[:] = [-np.inf, np.inf]
    assert rhat_of_spread(literal) > 1.1

"""The compiled sweep against the NumPy one, and what warm-up may and may not change."""

import numpy as np
import pytest

from funcal.posterior import ParameterLayout
from funcal.posterior.log_density import log_posterior
from funcal.posterior.sweep import TARGET_ACCEPTANCE, record, warm_up

CASES = {
    "one control": {},
    "sixteen sites": {"num_sites": 16},
    "three controls, two θ, two ψ": {"num_sites": 7, "num_controls": 3, "num_functional": 2, "num_global": 2},
    "replicates": {"replicates": True},
    "known noise": {"known": True},
    "correlated prior": {"process": True},
    "printed prior": {"paper": True, "num_global": 1},
}


def run(model, state, steps, num_draws, seed):
    layout = ParameterLayout.of_model(model)
    draws = np.empty((num_draws, layout.num_recorded))
    statistics = np.empty((num_draws, 2))
    pointwise = np.empty((num_draws, layout.num_sites))
    record(np.random.default_rng(seed), model, state, steps, 1, draws, statistics, pointwise)
    return draws, statistics


@pytest.mark.parametrize("case", CASES)
def test_compiled_and_numpy_sweeps_walk_the_same_path(make, numpy_version, case):
    """Same random numbers, same decisions: 100 sweeps agree to rounding with full refactorisation at every step."""
    model, state = make(**CASES[case])
    steps = np.full(ParameterLayout.of_model(model).num_steps, 0.2)
    warm_up(np.random.default_rng(0), model, state, steps, 0, 200)
    other = numpy_version.NumpyState.from_chain(state)
    draws, _ = run(model, state, steps, 100, seed=1)
    rng = np.random.default_rng(1)
    for row in draws:
        numpy_version.numpy_sweep(rng, model, other, steps)
        np.testing.assert_allclose(other.as_row(), row, rtol=1e-8, atol=1e-10)


def test_recorded_density_is_that_of_the_recorded_state(make):
    """The last row's log density is the state's."""
    model, state = make(6, 1, 1, 1)
    steps = np.full(ParameterLayout.of_model(model).num_steps, 0.2)
    draws, statistics = run(model, state, steps, 20, seed=2)
    assert statistics[-1, 0] == pytest.approx(log_posterior(model, state))
    np.testing.assert_array_equal(draws[-1, :6], state.theta.ravel())


def test_adaptation_reaches_its_target_and_then_stops(make):
    """Warm-up brings acceptance to 0.44; recording leaves the steps alone."""
    model, state = make(6)
    steps = np.full(ParameterLayout.of_model(model).num_steps, 5.0)
    warm_up(np.random.default_rng(0), model, state, steps, 0, 3000)
    frozen = steps.copy()
    _, statistics = run(model, state, steps, 4000, seed=3)
    np.testing.assert_array_equal(steps, frozen)
    # 0.05 is many standard errors of 4000 sweeps of ten walks; adaptation itself is the larger error
    assert statistics[:, 1].mean() == pytest.approx(TARGET_ACCEPTANCE, abs=0.05)


def test_known_noise_is_not_sampled(make):
    """σ² is no parameter where the user knows the noise."""
    model, state = make(6, known=True)
    steps = np.full(ParameterLayout.of_model(model).num_steps, 0.2)
    draws, _ = run(model, state, steps, 50, seed=4)
    assert np.ptp(draws[:, -1]) == 0.0

"""Sweeps per second of the compiled sampler against a straightforward NumPy/SciPy version of the same sweep.

Both versions are timed in turn, several times, on the same posterior; the ratio is that of the medians.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from benchmarks.numpy_sweep import NumpyState, numpy_sweep
from funcal.posterior import (
    ChainState,
    ParameterLayout,
    PosteriorModel,
    SiteData,
    first_steps,
    posterior_model,
    start_state,
)
from funcal.posterior.sweep import record, warm_up
from funcal.priors import ThetaCentre, WorkingUnits, proper_prior
from funcal.problem import AffineScaling

#: Sites of the paper's first and second synthetic problems.
SIZES = (6, 16)
#: Sweeps of a first prototype's timing, and of each timed piece.
FULL_RUN, COMPILED_SWEEPS, NUMPY_SWEEPS = 12_000, 2_000, 30
REPEATS = 7
#: The least ratio that is acceptable.
REQUIRED = 100.0


def posterior_of_size(num_sites: int) -> tuple[PosteriorModel, ChainState, np.ndarray]:
    """Build a posterior with one control and one θ, a warmed-up state and its step sizes."""
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 1.0, num_sites)[:, None]
    theta = rng.random((num_sites, 1))
    y = np.sin(3.0 * x[:, 0]) + theta[:, 0]
    one, none = AffineScaling(np.zeros(1), np.ones(1)), AffineScaling(np.zeros(0), np.ones(0))
    units = WorkingUnits(one, one, none, np.array([[0.0, 1.0]]), np.zeros((0, 2)), 0.0, 1.0, 1.0)
    centre = ThetaCentre(theta, np.zeros(0), np.zeros(0), np.eye(num_sites))
    sites = SiteData(x, (y - y.mean()) / y.std(), np.ones(num_sites))
    model = posterior_model(sites, proper_prior(centre, units, num_controls=1))
    ranges = {"functional_range": np.ones(1), "global_range": np.ones(0)}
    state = start_state(model, rng, response_variance=1.0, **ranges)
    steps = first_steps(ParameterLayout.of_model(model), **ranges)
    warm_up(rng, model, state, steps, 0, 3000)
    return model, state, steps


def seconds_per_compiled_sweep(
    model: PosteriorModel, state: ChainState, steps: np.ndarray, num_sweeps: int
) -> float:
    """Time the compiled sweep, recording every draw."""
    layout = ParameterLayout.of_model(model)
    draws = np.empty((num_sweeps, layout.num_recorded))
    kept, pointwise = np.empty((num_sweeps, 2)), np.empty((num_sweeps, layout.num_sites))
    rng = np.random.default_rng(1)
    start = time.perf_counter()
    record(rng, model, state, steps, 1, draws, kept, pointwise)
    return (time.perf_counter() - start) / num_sweeps


def seconds_per_numpy_sweep(
    model: PosteriorModel, state: ChainState, steps: np.ndarray, num_sweeps: int
) -> float:
    """Time the NumPy sweep."""
    own, rng = NumpyState.from_chain(state), np.random.default_rng(1)
    start = time.perf_counter()
    for _ in range(num_sweeps):
        numpy_sweep(rng, model, own, steps)
    return (time.perf_counter() - start) / num_sweeps


def main() -> None:
    """Print sweeps per second of both and their ratio, at m = 6 and m = 16."""
    print("Metropolis-within-Gibbs sweep of Appendix A, one chain")
    for num_sites in SIZES:
        model, state, steps = posterior_of_size(num_sites)
        seconds_per_compiled_sweep(model, state, steps, 10)  # loads the compiled code
        compiled, plain = [], []
        for _ in range(REPEATS):
            compiled.append(seconds_per_compiled_sweep(model, state, steps, COMPILED_SWEEPS))
            plain.append(seconds_per_numpy_sweep(model, state, steps, NUMPY_SWEEPS))
        fast, slow = statistics.median(compiled), statistics.median(plain)
        full = seconds_per_compiled_sweep(model, state, steps, FULL_RUN) * FULL_RUN
        verdict = "ok" if slow / fast >= REQUIRED else f"BELOW {REQUIRED:.0f}x"
        print(
            f"  m = {num_sites:2d}: compiled {1.0 / fast:9.0f} sweeps/s, NumPy/SciPy {1.0 / slow:7.1f} sweeps/s, "
            f"ratio {slow / fast:5.0f}x ({verdict}); {FULL_RUN} sweeps in {full:.2f} s"
        )


if __name__ == "__main__":
    main()

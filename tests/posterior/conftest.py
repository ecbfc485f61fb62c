"""Small posteriors with every feature: several controls, θ and ψ, replicates, truncation."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from funcal.posterior import ChainState, PosteriorModel, SiteData, posterior_model, start_state
from funcal.priors import ThetaCentre, WorkingUnits, densities, proper_prior
from funcal.problem import AffineScaling

MakeFn = Callable[..., tuple[PosteriorModel, ChainState]]


def make_posterior(
    num_sites: int = 6,
    num_controls: int = 1,
    num_functional: int = 1,
    num_global: int = 0,
    *,
    replicates: bool = False,
    known: bool = False,
    process: bool = False,
    paper: bool = False,
    seed: int = 0,
) -> tuple[PosteriorModel, ChainState]:
    """Build a posterior on unit ranges and a state to start from."""
    rng = np.random.default_rng(seed)
    x = rng.random((num_sites, num_controls))
    theta = rng.random((num_sites, num_functional))
    y = np.sin(3.0 * x[:, 0]) + theta.sum(axis=1)
    y = (y - y.mean()) / y.std()

    def identity(size: int) -> AffineScaling:
        return AffineScaling(np.zeros(size), np.ones(size))

    box = np.array([[0.0, 1.0]])
    units = WorkingUnits(
        identity(num_controls),
        identity(num_functional),
        identity(num_global),
        np.repeat(box, num_functional, axis=0),
        np.repeat(box, num_global, axis=0),
        0.0,
        1.0,
        1.0,
    )
    precision = np.eye(num_sites)
    if process:
        distance = ((x[:, None, :] - x[None, :, :]) ** 2).sum(-1)
        precision = np.linalg.inv(np.exp(-3.0 * distance) + 0.1 * np.eye(num_sites))
    centre = ThetaCentre(theta, np.full(num_global, 0.4), np.zeros(num_global), precision)
    count = np.arange(1.0, num_sites + 1) if replicates else np.ones(num_sites)
    sites = SiteData(
        x,
        y,
        count,
        known_variance=np.full(num_sites, 0.04) if known else None,
        within_ss=0.3 if replicates else 0.0,
        within_dof=int(count.sum()) - num_sites,
    )
    model = posterior_model(sites, proper_prior(centre, units, num_controls=num_controls))
    if paper:
        model.length_prior[:] = [densities.GAMMA, 2.0, 2.0]
        model.magnitude_prior[:] = [densities.UNIFORM, np.log(1e-3), np.log(1e3)]
        model.noise_prior[:] = [densities.UNIFORM, np.log(1e-6), np.log(10.0)]
        model.spread_prior[:] = [0.0, 0.0, 1e-6, 1.0]
    state = start_state(
        model,
        rng,
        functional_range=np.ones(num_functional),
        global_range=np.ones(num_global),
        response_variance=1.0,
    )
    return model, state


@pytest.fixture
def make() -> MakeFn:
    """Maker of small posteriors."""
    return make_posterior


@pytest.fixture(scope="session")
def numpy_version() -> ModuleType:
    """The straightforward NumPy sweep of the benchmarks, an independent implementation."""
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "numpy_sweep.py"
    spec = importlib.util.spec_from_file_location("numpy_sweep", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["numpy_sweep"] = module
    spec.loader.exec_module(module)
    return module

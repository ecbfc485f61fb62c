"""The posterior against NumPyro's NUTS on the same density (needs `funcal[bench]`)."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from funcal.joint.emulator_mode import find_emulator_mode
from funcal.joint.model import build_model
from funcal.joint.prior_predictive import draw_from_prior
from funcal.joint.run_chains import SamplerSettings, sample_posterior
from funcal.mixing import bulk_ess
from funcal.problem import ScaledProblem


@pytest.fixture
def oracle() -> ModuleType:
    """The density written afresh in JAX, from the benchmarks."""
    pytest.importorskip("numpyro", reason="NumPyro is not installed; pip install funcal[bench]")
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "jax_joint_density.py"
    specification = importlib.util.spec_from_file_location("jax_joint_density", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("name", ["one_function", "two_functions_one_global"])
def test_posterior_is_numpyros(name: str, request: pytest.FixtureRequest, oracle: ModuleType) -> None:
    """Means of every parameter and of its square agree within 4 MCSE (false alarms: about 6e-5 per comparison)."""
    problem: ScaledProblem = request.getfixturevalue(name)
    model = build_model(problem)
    mode, shape = find_emulator_mode(model)
    starts = list(draw_from_prior(model, 4, np.random.default_rng(0))[0] * 0.3)
    ours = sample_posterior(
        model,
        starts,
        mode,
        shape,
        seeds=np.random.SeedSequence(1).spawn(4),
        settings=SamplerSettings(draws=2000, max_draws=2000, disagreement=np.inf),
        progress=lambda done, total, stage: None,
    )
    one = np.concatenate([ours.u, ours.phi], axis=2)
    begin = np.array([np.concatenate([start, mode]) for start in starts])
    samples, _ = oracle.numpyro_draws(model, begin, warmup=1000, draws=2000, seed=0)
    other = np.asarray(samples)
    for power in (1, 2):
        a, b = one**power, other**power
        error = np.sqrt(a.var(axis=(0, 1)) / bulk_ess(a) + b.var(axis=(0, 1)) / bulk_ess(b))
        assert np.all(np.abs(a.mean(axis=(0, 1)) - b.mean(axis=(0, 1))) < 4 * error)

"""Simulation-based calibration of the joint sampler: ranks of the truth among posterior draws are uniform.

Parameters and both tables are drawn from the model; then the rank of every true value among its posterior draws is
uniform (Talts et al. 2018). Kolmogorov-Smirnov tests at 1e-4 over all parameters together (Bonferroni): the stated
false-alarm rate. The negative control simulates with five times the noise that it reports, and must fail.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from funcal.joint import moves as moves_of_a_sweep
from funcal.joint.emulator_mode import find_emulator_mode
from funcal.joint.model import JointModel, build_model
from funcal.joint.prior import JointPrior
from funcal.joint.prior_predictive import draw_from_prior, simulate_tables
from funcal.joint.run_chains import SamplerSettings, sample_posterior
from funcal.problem import AffineScaling, ProblemScaling, ScaledProblem

FALSE_ALARM = 1e-4
#: How φ moves: with the calibration block at once, by slices of its own, or along trajectories. The limits that decide
#: it are those of `moves`; problems as small as these would always move both blocks at once.
MOVES = {
    "both blocks": {},
    "slices": {"WHOLE_SIZE": 0},
    "trajectories": {"WHOLE_SIZE": 0, "TRAVELLING_SIZE": 0},
}
#: Priors narrow enough that simulated computer models are neither white noise nor overflow.
PRIOR = JointPrior(log_decay_sd=0.7, log_variance_sd=0.5, jitter=1e-4)


def template(discrepancy: str = "none") -> JointModel:
    """Four sites, ten runs, one control, one functional and one global parameter; responses to be filled in.

    Those of the sites have a standard deviation of 1 here, which is the unit of the noise's prior.
    """
    rng = np.random.default_rng(0)
    unit = ProblemScaling(
        AffineScaling(np.zeros(1), np.ones(1)),
        AffineScaling(np.zeros(2), np.ones(2)),
        AffineScaling(np.zeros(1), np.ones(1)),
    )
    problem = ScaledProblem(
        np.linspace(0, 1, 4)[:, None],
        np.array([-1.0, 1.0, -1.0, 1.0]),
        np.array([1.0, 2.0, 1.0, 3.0]),
        None,
        1.0,
        3,
        rng.uniform(size=(10, 1)),
        rng.uniform(size=(10, 2)),
        np.zeros(10),
        1,
        1,
        unit,
    )
    return build_model(problem, prior=PRIOR, discrepancy=discrepancy)


def ranks(
    num_replicates: int, seed: int, *, noise_factor: float = 1.0, discrepancy: str = "none"
) -> np.ndarray:
    """Normalised ranks (replicate, parameter) of (u, φ) and the log noise among thinned posterior draws."""
    base = template(discrepancy)
    sampler = SamplerSettings(chains=2, warmup=150, draws=120, max_draws=120, disagreement=np.inf)
    found = []
    for stream in np.random.SeedSequence(seed).spawn(num_replicates):
        rng = np.random.default_rng(stream)
        u, phi = (block[0] for block in draw_from_prior(base, 1, rng))
        shown = u.copy()
        u[base.layout.log_noise] += np.log(noise_factor)
        y_runs, y_sites, within_ss = simulate_tables(base, u, phi, rng)
        model = base._replace(y_runs=y_runs, y_sites=y_sites, within_ss=within_ss)
        mode, shape = find_emulator_mode(model)
        draws = sample_posterior(
            model,
            list(draw_from_prior(model, 2, rng)[0]),
            mode,
            shape,
            seeds=stream.spawn(2),
            settings=replace(sampler),
            progress=lambda done, total, stage: None,
        )
        posterior = np.concatenate([draws.u, draws.phi], axis=2)[:, ::6].reshape(-1, u.size + phi.size)
        truth = np.concatenate([shown, phi])
        found.append(
            (np.sum(posterior < truth, axis=0) + rng.uniform(size=truth.size)) / (len(posterior) + 1)
        )
    return np.array(found)


def smallest_p_value(found: np.ndarray) -> float:
    """Bonferroni-corrected Kolmogorov-Smirnov p-value over all parameters."""
    p_values = [stats.kstest(column, "uniform").pvalue for column in found.T]
    return float(min(p_values) * len(p_values))


@pytest.fixture(params=MOVES)
def moves(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Chains whose emulator moves in one of the three ways."""
    for limit, value in MOVES[request.param].items():
        monkeypatch.setattr(moves_of_a_sweep, limit, value)
    return str(request.param)


@pytest.mark.statistical
def test_ranks_are_uniform_in_short(moves: str) -> None:
    """Twenty-five replicates: no parameter's ranks depart from uniform, however the emulator moves."""
    assert smallest_p_value(ranks(25, 1)) > FALSE_ALARM, moves


@pytest.mark.statistical
def test_a_broken_simulation_is_caught() -> None:
    """Five times the noise that is reported gives ranks of the noise that no uniform sample has."""
    assert smallest_p_value(ranks(25, 2, noise_factor=5.0)) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("discrepancy", ["none", "gp"])
def test_ranks_are_uniform(discrepancy: str, moves: str) -> None:
    """Two hundred replicates, without and with a discrepancy, however the emulator moves."""
    assert smallest_p_value(ranks(200, 3, discrepancy=discrepancy)) > FALSE_ALARM, moves

"""Draws from the prior: distributed as the pages say, in the user's units, under the names of a posterior."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import funcal
from funcal.errors import SettingsError
from funcal.joint.model import build_model
from funcal.joint.prior import JointPrior
from funcal.joint.prior_predictive import draw_from_prior, prior_site_draws, simulate_tables
from funcal.problem import ScaledProblem

FALSE_ALARM = 1e-4


@pytest.mark.statistical
def test_sites_alone_are_distributed_as_in_both_tables(two_functions_one_global: ScaledProblem) -> None:
    """Responses drawn without the runs are those of the joint simulation (false alarms 1e-4); with less noise not."""
    model = build_model(two_functions_one_global, discrepancy="linear", prior=JointPrior(noise_scale=2.0))
    rng = np.random.default_rng(0)
    u, phi = draw_from_prior(model, 2000, rng)
    joint = np.array([simulate_tables(model, u[t], phi[t], rng)[1] for t in range(2000)])
    alone = prior_site_draws(model, 2000, rng)[2]
    quiet = build_model(two_functions_one_global, prior=replace(JointPrior(), noise_scale=0.1))
    other = prior_site_draws(quiet, 2000, rng)[2]
    assert stats.ks_2samp(np.diff(joint)[:, 0], np.diff(alone)[:, 0]).pvalue > FALSE_ALARM
    assert stats.ks_2samp(np.diff(joint)[:, 0], np.diff(other)[:, 0]).pvalue < FALSE_ALARM


@pytest.mark.statistical
def test_a_constant_is_uniform_in_its_box(problem_one: funcal.CalibrationProblem) -> None:
    """Without variation θ is uniform in the user's box, with it not; the noise is Rayleigh (false alarms 1e-4)."""
    low, high = problem_one.bounds[0]
    box = stats.uniform(low, high - low)
    still = funcal.prior_predictive(problem_one, 2000, seed=1, prior={"variation_scale": 1e-9})
    moving = funcal.prior_predictive(problem_one, 2000, seed=1)
    for site in (0, 5):
        values = [drawn.prior["theta"].values[0, :, site, 0] for drawn in (still, moving)]
        assert stats.kstest(values[0], box.cdf).pvalue > FALSE_ALARM
        assert stats.kstest(values[1], box.cdf).pvalue < FALSE_ALARM
        assert low <= values[1].min() < values[1].max() <= high
    noise = moving.prior["noise_sd"].values[0]
    spread = problem_one.physical.response.std()
    assert stats.kstest(noise, stats.rayleigh(scale=0.4 * spread).cdf).pvalue > FALSE_ALARM
    assert stats.kstest(noise, stats.rayleigh(scale=0.5 * spread).cdf).pvalue < FALSE_ALARM


def test_draws_stand_beside_a_posterior(problem_one: funcal.CalibrationProblem) -> None:
    """The groups are ArviZ's, the measured response has its column's name, and a seed decides all of it."""
    drawn = funcal.prior_predictive(problem_one, 20, seed=1)
    assert set(drawn.groups()) == {"prior", "prior_predictive", "observed_data"}
    assert drawn.prior["theta"].dims == ("chain", "draw", "site", "functional")
    assert drawn.prior_predictive["y"].shape == (1, 20, problem_one.num_sites)
    assert np.array_equal(drawn.observed_data["y"], problem_one.physical.response)
    again, other = (funcal.prior_predictive(problem_one, 20, seed=seed) for seed in (1, 2))
    assert drawn.prior_predictive.equals(again.prior_predictive)
    assert not drawn.prior_predictive.equals(other.prior_predictive)
    posterior = funcal.calibrate(problem_one, "mean", seed=1).to_arviz()
    posterior.extend(drawn)
    assert {"posterior", "prior", "prior_predictive"} <= set(posterior.groups())


@pytest.mark.parametrize("count", [0, True, 2.5])
def test_a_number_of_draws_that_cannot_be(problem_one: funcal.CalibrationProblem, count: object) -> None:
    """One sentence."""
    with pytest.raises(SettingsError, match="num_draws is a whole number, one or more"):
        funcal.prior_predictive(problem_one, count)  # type: ignore[arg-type]

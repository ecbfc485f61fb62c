"""Leave-one-out densities against brute force, and the exact ones of the plain members."""

import math

import numpy as np
import pytest
from scipy import stats

from funcal.joint.calibration_density import site_system
from funcal.joint.emulator import allocate_emulator, set_emulator
from funcal.joint.leave_one_out import leave_one_out_densities
from funcal.joint.model import build_model
from funcal.joint.physical_process import fit_physical_process
from funcal.joint.site_functions import allocate_sites, place_sites
from funcal.joint.straight_line import fit_straight_line
from funcal.problem import ScaledProblem


@pytest.mark.parametrize("varies", [False, True])
def test_densities_are_those_of_the_conditional(one_function: ScaledProblem, varies: bool) -> None:
    """Integrated densities equal a fine grid over the left-out θ of exact normal conditionals."""
    model = build_model(one_function, discrepancy="gp", theta_varies=varies)
    rng = np.random.default_rng(4)
    u, phi = 0.5 * rng.standard_normal(model.layout.size), np.array([0.3, 0.6, 0.2, -0.4])
    u[-4] = math.log(0.3)
    found = leave_one_out_densities(model, u[None], phi[None])[0]
    emulator, sites = allocate_emulator(model), allocate_sites(model)
    set_emulator(phi, model, emulator)
    place_sites(u, model, sites)
    for i in range(5):
        nodes, weights = [sites.latent[i, 0]], [1.0]
        if varies:
            covariance = sites.factors[0] @ sites.factors[0].T
            rest = np.arange(5) != i
            gain = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, i])
            level = stats.norm.cdf(u[model.layout.level])
            centre = level + gain @ (sites.latent[rest, 0] - level)
            sd = math.sqrt(covariance[i, i] - gain @ covariance[rest, i])
            nodes = centre + sd * np.linspace(-7, 7, 401)
            weights = stats.norm.pdf(np.linspace(-7, 7, 401))
            weights = weights / weights.sum()
        density = 0.0
        for node, weight in zip(nodes, weights, strict=True):
            here = sites._replace(values=sites.values.copy())
            if varies:
                here.values[i, 0] = (np.logaddexp(0, 25 * node) - np.logaddexp(0, 25 * (node - 1))) / 25
            _, _, _, covariance, residual = site_system(model, emulator, here)
            inverse = np.linalg.inv(covariance)
            variance = 1.0 / inverse[i, i]
            mean = -variance * (inverse[i] @ residual - inverse[i, i] * residual[i])
            density += weight * stats.norm.pdf(residual[i], mean, math.sqrt(variance))
        assert found[i] == pytest.approx(math.log(density), abs=2e-3 if varies else 1e-7)


def test_straight_line_is_refitted_without_each_site(one_function: ScaledProblem) -> None:
    """The line's left-out densities are Student's t of a refit, checked by integrating over σ by quadrature."""
    line = fit_straight_line(one_function)
    assert line is not None
    keep = np.arange(5) != 2
    design = np.column_stack([np.ones(5), one_function.x_sites])
    w = one_function.counts
    gram = design[keep].T @ (design[keep] * w[keep, None])
    b = np.linalg.solve(gram, design[keep].T @ (w[keep] * one_function.y_sites[keep]))
    ss = np.sum(w[keep] * (one_function.y_sites[keep] - design[keep] @ b) ** 2) + one_function.within_ss
    dof = 4 - 2 + one_function.within_dof
    sigma2 = ss / stats.chi2.ppf((np.arange(20000) + 0.5) / 20000, dof)
    spread = np.sqrt(sigma2 * (1 / w[2] + design[2] @ np.linalg.solve(gram, design[2])))
    expected = math.log(np.mean(stats.norm.pdf(one_function.y_sites[2], design[2] @ b, spread)))
    assert line.log_density[2] == pytest.approx(expected, abs=1e-3)


def test_physical_process_predicts_its_own_sites(
    one_function: ScaledProblem, rng: np.random.Generator
) -> None:
    """The process interpolates its sites within its own uncertainty and has finite left-out densities."""
    process = fit_physical_process(one_function, rng)
    mean, variance, _ = process.predict(one_function, one_function.x_sites, 200, rng)
    gap = mean.mean(axis=0) - one_function.y_sites
    assert np.all(np.abs(gap) < 4 * np.sqrt(variance.mean(axis=0) + mean.var(axis=0) + 0.01))
    assert np.all(np.isfinite(process.log_density))
    assert process.weight.sum() == pytest.approx(1.0)

"""Leave-one-out densities against brute force, and the exact ones of the plain members."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from funcal.joint import leave_one_out
from funcal.joint.calibration_density import site_system
from funcal.joint.emulator import allocate_emulator, set_emulator
from funcal.joint.leave_one_out import leave_one_out_densities
from funcal.joint.model import JointModel, build_model
from funcal.joint.physical_process import fit_physical_process
from funcal.joint.prior import JointPrior
from funcal.joint.site_functions import allocate_sites, place_sites
from funcal.joint.straight_line import fit_straight_line
from funcal.problem import ScaledProblem
from funcal.problem.arrays import FloatArray

from .conftest import scaled_problem


def brute_force_densities(model: JointModel, u: FloatArray, phi: FloatArray, num_nodes: int) -> FloatArray:
    """Left-out log densities by a fine grid over the left-out θ (two at most) of exact normal conditionals."""
    emulator, sites = allocate_emulator(model), allocate_sites(model)
    set_emulator(phi, model, emulator)
    place_sites(u, model, sites)
    m, num_functional = sites.values.shape[0], model.layout.num_functional
    steps = np.linspace(-6, 6, num_nodes)
    found = np.empty(m)
    for i in range(m):
        rest = np.arange(m) != i
        axes = []
        for k in range(num_functional):
            covariance = sites.factors[k] @ sites.factors[k].T
            gain = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, i])
            level = stats.norm.cdf(u[model.layout.level + k])
            centre = level + gain @ (sites.latent[rest, k] - level)
            axes.append(centre + math.sqrt(covariance[i, i] - gain @ covariance[rest, i]) * steps)
        terms = []
        for place in np.ndindex(*(num_nodes,) * num_functional):
            here = sites._replace(values=sites.values.copy())
            for k, node in enumerate(place):
                latent = axes[k][node]
                here.values[i, k] = (np.logaddexp(0, 25 * latent) - np.logaddexp(0, 25 * (latent - 1))) / 25
            _, covariance, residual = site_system(model, emulator, here)
            inverse = np.linalg.inv(covariance)
            variance = 1.0 / inverse[i, i]
            mean = -variance * (inverse[i] @ residual - inverse[i, i] * residual[i])
            weight = sum(stats.norm.logpdf(steps[node]) + math.log(steps[1] - steps[0]) for node in place)
            terms.append(weight + stats.norm.logpdf(residual[i], mean, math.sqrt(variance)))
        found[i] = logsumexp(terms)
    return found


@pytest.mark.parametrize("varies", [False, True])
def test_densities_are_those_of_the_conditional(one_function: ScaledProblem, varies: bool) -> None:
    """Integrated densities equal those by brute force, with noise as wide as what θ does to the response.

    At a point with axes that are not stretched; at others a density may be off by half as much again.
    """
    model = build_model(one_function, discrepancy="gp", theta_varies=varies)
    layout = model.layout
    num_stretches = layout.global_latent - layout.stretch
    rng = np.random.default_rng(4)
    drawn = 0.5 * rng.standard_normal(layout.size - num_stretches)
    u, phi = (
        np.insert(drawn, layout.stretch, np.zeros(num_stretches)),
        np.array([0.3, 0.6, 0.2, -0.4, 0.3, -0.5]),
    )
    u[-4] = math.log(0.3)
    found = leave_one_out_densities(model, u[None], phi[None])[0]
    assert found == pytest.approx(brute_force_densities(model, u, phi, 401), abs=2e-3 if varies else 1e-7)


@pytest.mark.parametrize(("num_functional", "num_nodes"), [(1, 4001), (2, 121)])
def test_precise_measurements_are_not_stepped_over(
    num_functional: int, num_nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the noise is far narrower than what θ(x) does to the response, its density is still met.

    To a fifth where y_i can be reached, to a few per cent of the logarithm where it is far outside; half of them to a
    twentieth, at points without a line in θ(x). At other points a y_i just beyond what any θ reaches can be off by
    several times as much. A rule without widths fails.
    """
    problem = scaled_problem(4, 30, 1, num_functional, 0)
    model = build_model(problem, prior=JointPrior(line_variance=0.0))
    rng = np.random.default_rng(4)
    points = 0.5 * rng.standard_normal((3, model.layout.size))
    points[:, model.layout.log_variation : model.layout.log_roughness] = math.log(0.4)
    points[:, model.layout.log_roughness : model.layout.global_latent] = 1.0
    points[:, model.layout.log_noise] = math.log(0.02)
    phi = np.array([0.3, *[0.2] * num_functional, 0.0, 1.0, 0.0, *[0.0] * num_functional])
    expected = np.array([brute_force_densities(model, u, phi, num_nodes) for u in points])

    def errors() -> FloatArray:
        found = leave_one_out_densities(model, points, np.tile(phi, (3, 1)))
        relative: FloatArray = np.abs(found - expected) / np.maximum(0.2, 0.06 * np.abs(expected))
        return np.sort(relative.ravel())

    found = errors()
    assert np.median(found) < 0.25
    assert found[-1] < 1.0
    rules = {axes: (nodes, 1e-6) for axes, (nodes, _) in leave_one_out.RULES.items()}
    monkeypatch.setattr(leave_one_out, "RULES", rules)
    stepped_over = errors()
    assert stepped_over[-1] > 1.0


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

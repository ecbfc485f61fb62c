"""Small named problems for the joint model."""

import numpy as np
import pytest

from funcal.problem import AffineScaling, ProblemScaling, ScaledProblem


def scaled_problem(
    num_sites: int, num_runs: int, num_controls: int, num_functional: int, num_global: int, seed: int = 0
) -> ScaledProblem:
    """A smooth made-up problem on unit boxes, with replicates at every other site."""
    rng = np.random.default_rng(seed)
    num_calibration = num_functional + num_global
    x_sites = np.sort(rng.uniform(size=(num_sites, num_controls)), axis=0)
    x_runs, t_runs = rng.uniform(size=(num_runs, num_controls)), rng.uniform(size=(num_runs, num_calibration))
    y_runs = np.sin(3.0 * x_runs.sum(axis=1)) + t_runs @ np.arange(1, num_calibration + 1)
    y_sites = np.sin(3.0 * x_sites.sum(axis=1)) + 0.5 * num_calibration + 0.1 * rng.standard_normal(num_sites)
    unit = ProblemScaling(
        AffineScaling(np.zeros(num_controls), np.ones(num_controls)),
        AffineScaling(np.zeros(num_calibration), np.ones(num_calibration)),
        AffineScaling(np.zeros(1), np.ones(1)),
    )
    counts = 1.0 + np.arange(num_sites) % 2
    return ScaledProblem(
        x_sites,
        y_sites,
        counts,
        None,
        0.05,
        int(counts.sum()) - num_sites,
        x_runs,
        t_runs,
        y_runs,
        num_functional,
        num_global,
        unit,
    )


@pytest.fixture
def one_function() -> ScaledProblem:
    """Five sites, twelve runs, one control, one functional parameter."""
    return scaled_problem(5, 12, 1, 1, 0)


@pytest.fixture
def two_functions_one_global() -> ScaledProblem:
    """Six sites, twenty runs, two controls, two functional parameters and a global one."""
    return scaled_problem(6, 20, 2, 2, 1)

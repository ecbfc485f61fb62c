"""Which variant a problem needs: noise of the runs, and a discrepancy."""

from dataclasses import replace

import numpy as np

from funcal.joint.calibration_members import discrepancy_suspected, emulator_of_runs
from funcal.joint.emulator_mode import find_emulator_mode
from funcal.joint.model import build_model
from funcal.joint.prior import JointPrior
from funcal.problem import ScaledProblem


def test_smooth_runs_get_no_nugget(one_function: ScaledProblem) -> None:
    """Runs of a smooth function, all at different inputs, are taken as deterministic."""
    assert not emulator_of_runs(one_function, JointPrior())[0]


def test_replicates_that_differ_get_a_nugget(one_function: ScaledProblem) -> None:
    """Two runs with the same inputs and different responses make the computer model stochastic."""
    doubled = replace(
        one_function,
        x_runs=np.vstack([one_function.x_runs, one_function.x_runs[:1]]),
        t_runs=np.vstack([one_function.t_runs, one_function.t_runs[:1]]),
        y_runs=np.append(one_function.y_runs, one_function.y_runs[0] + 0.2),
    )
    noisy, (mode, shape) = emulator_of_runs(doubled, JointPrior())
    assert noisy
    assert mode.shape == (7,)  # with a nugget
    assert shape.shape == (7, 7)


def test_unreplicated_noise_is_seen(rng: np.random.Generator) -> None:
    """Rough noise on many runs of a smooth function is told from a rough function by the evidence."""
    from .conftest import scaled_problem

    smooth = scaled_problem(5, 60, 1, 1, 0)
    rough = replace(smooth, y_runs=smooth.y_runs + 0.2 * rng.standard_normal(60))
    for problem, expected in ((smooth, False), (rough, True)):
        noisy, emulator = emulator_of_runs(problem, JointPrior())
        assert noisy is expected
        for found, again in zip(
            emulator, find_emulator_mode(build_model(problem, nugget=noisy)), strict=True
        ):
            np.testing.assert_array_equal(found, again)


def test_runs_that_cannot_reach_the_sites_raise_suspicion(one_function: ScaledProblem) -> None:
    """Measurements far above every run near them ask for a discrepancy; those within reach do not."""
    assert not discrepancy_suspected(one_function)
    assert discrepancy_suspected(replace(one_function, y_sites=one_function.y_sites + 5.0))

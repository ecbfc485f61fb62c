"""What the parts of the emulator's kernel are worth: likelihood of the runs, and error at inputs never run.

A part is left out by a prior that keeps it at nothing: α for the slopes, c for the amplitude. *Likelihood* is that of
the runs at the mode, in logarithm, without the prior. *Off by* is the error at random inputs of the computer model, at
the test points' controls, in standard deviations of the runs' response; *claimed* is the median standard deviation that
the emulator gives there, at least the jitter's; *z²* the mean squared ratio of the two, 1 where the claim is honest.
"""

import warnings

import numpy as np

from funcal.joint.calibration_members import emulator_of_runs
from funcal.joint.emulator import allocate_emulator, set_emulator
from funcal.joint.emulator_covariance import prior_cross, prior_variance
from funcal.joint.emulator_gradient import allocate_gradient, runs_log_density
from funcal.joint.emulator_prior import emulator_log_prior
from funcal.joint.model import build_model
from funcal.joint.prior import JointPrior
from funcal.problem import CalibrationProblem
from funcal.testbed import get_problem

PROBLEMS = ("synthetic-1", "synthetic-2", "synthetic-3", "two-functional")
SEEDS = range(500, 505)
POINTS = 200
KERNELS = {
    "paper's": JointPrior(log_linear_mean=-25.0, log_linear_sd=0.01, growth_sd=1e-4),
    "with slopes": JointPrior(growth_sd=1e-4),
    "and amplitude": JointPrior(),
}


def measure(key: str, seed: int, prior: JointPrior) -> tuple[float, float, float, float]:
    """Log likelihood of the runs, error, claimed standard deviation and z² of the emulator of one problem."""
    problem = get_problem(key)
    case = problem.draw(seed, 0)
    given = CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())
    scaled, scaling = given.scaled(), given.scaled().scaling
    nugget, (mode, _) = emulator_of_runs(scaled, prior)
    model = build_model(scaled, prior=prior, nugget=nugget)
    emulator = allocate_emulator(model)
    set_emulator(mode, model, emulator)
    rng = np.random.default_rng(seed)
    controls = np.asarray(case.test_frame(), dtype=np.float64)
    x = scaling.control.to_unit(controls[rng.integers(len(controls), size=POINTS)])
    t = rng.random((POINTS, model.t_runs.shape[1]))
    truth = problem.computer_model(scaling.control.from_unit(x), scaling.calibration.from_unit(t))
    cross = prior_cross(mode, model.x_runs, model.t_runs, x, t, model)
    mean = scaling.response_from_unit(cross.T @ emulator.weights)
    off = (mean - truth) / scaling.response_sd
    here = np.array([prior_variance(mode, x[i], t[i], model) for i in range(POINTS)])
    variance = np.maximum(here - np.sum((emulator.half @ cross) ** 2, axis=0), prior.jitter)
    return (
        runs_log_density(mode, model, allocate_gradient(model.y_runs.size))[0]
        - emulator_log_prior(mode, model),
        float(np.sqrt(np.mean(off**2))),
        float(np.median(np.sqrt(variance))),
        float(np.mean(off**2 / variance)),
    )


def main() -> None:
    """Print medians over the seeds."""
    warnings.simplefilter("ignore")  # measured responses beyond the runs': they are not used here
    print(f"{'problem':<16}{'kernel':<14}{'likelihood':>14}{'off by':>10}{'claimed':>10}{'z2':>8}")
    for key in PROBLEMS:
        for name, prior in KERNELS.items():
            likelihood, off, claimed, ratio = np.median([measure(key, seed, prior) for seed in SEEDS], axis=0)
            print(
                f"{key:<16}{name:<14}{likelihood:>14.1f}{off:>10.4f}{claimed:>10.4f}{ratio:>8.2f}", flush=True
            )

"""Problems made of formulas: a computer model, the truth, a design, and measurement noise.

Noise is N(0, 0.05) with 0.05 the *variance*, as the paper's notation says (its N(0, σ²)); errors are judged
against the noise-free response at the test points.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from .benchmark_problem import BenchmarkCase, ColumnRoles, PaperConstants

__all__ = ["NOISE_VARIANCE", "SyntheticProblem", "uniform_controls"]

FloatArray = npt.NDArray[np.float64]
DrawControls = Callable[[np.random.Generator], FloatArray]

# Section 6: "we add a noise drawn from N(0, 0.05) to each generated y^p".
NOISE_VARIANCE = 0.05


@dataclass(frozen=True)
class SyntheticProblem:
    """A problem whose truth is a formula.

    Attributes
    ----------
    computer_model
        F^s: (n, dx) controls and (n, dθ + dψ) calibration vectors to n responses.
    true_response
        F^p: (q, dx) to q noise-free responses.
    true_functional
        F^θ: (q, dx) to (q, dθ).
    true_global
        ψ.
    calibration_box
        Interval from which the runs' calibration vectors are drawn, one per column.
    sites, test_controls
        Draw the measured and the test control vectors.
    num_runs
        Runs in all, dealt to the sites in turn (site 0, 1, …, m-1, 0, …).
    run_controls
        Draws the runs' control vectors when they do not sit on the sites.
    """

    key: str
    title: str
    roles: ColumnRoles
    computer_model: Callable[[FloatArray, FloatArray], FloatArray]
    true_response: Callable[[FloatArray], FloatArray]
    true_functional: Callable[[FloatArray], FloatArray]
    calibration_box: tuple[tuple[float, float], ...]
    sites: DrawControls
    test_controls: DrawControls
    num_runs: int
    true_global: tuple[float, ...] = ()
    run_controls: Callable[[np.random.Generator, int], FloatArray] | None = None
    noise_variance: float = NOISE_VARIANCE
    constants: PaperConstants = field(default_factory=PaperConstants)

    @property
    def num_folds(self) -> int:
        """A seed gives one case."""
        return 1

    def draw(self, seed: int, fold: int = 0) -> BenchmarkCase:
        """Draw design, noise and test points of one seed."""
        # The key enters the stream so that problems do not share their random numbers.
        rng = np.random.default_rng([seed, zlib.crc32(self.key.encode())])
        sites = self.sites(rng)
        response = self.true_response(sites) + rng.normal(0.0, np.sqrt(self.noise_variance), len(sites))
        if self.run_controls is None:
            run_controls = sites[np.sort(np.arange(self.num_runs) % len(sites))]
        else:
            run_controls = self.run_controls(rng, self.num_runs)
        low, high = np.asarray(self.calibration_box).T
        calibration = rng.uniform(low, high, (self.num_runs, len(low)))
        outputs = self.computer_model(run_controls, calibration)
        test_controls = self.test_controls(rng)
        names = [*self.roles.functional, *self.roles.global_]
        runs = pd.DataFrame(
            np.hstack([run_controls, calibration]), columns=pd.Index([*self.roles.control, *names])
        )
        physical = pd.DataFrame(sites, columns=pd.Index(self.roles.control))
        return BenchmarkCase(
            problem=self.key,
            seed=seed,
            fold=fold,
            physical=physical.assign(**{self.roles.response: response}),
            runs=runs.assign(**{self.roles.response: outputs}),
            roles=self.roles,
            test_controls=test_controls,
            test_response=self.true_response(test_controls),
            test_functional=self.true_functional(test_controls),
            test_global=np.asarray(self.true_global) if self.true_global else None,
            response_sd=float(np.std(response, ddof=1)),
            constants=self.constants,
        )


def uniform_controls(low: float, high: float, num_points: int, num_controls: int = 1) -> DrawControls:
    """A function that draws control vectors uniformly on a cube."""

    def draw(rng: np.random.Generator) -> FloatArray:
        return rng.uniform(low, high, (num_points, num_controls))

    return draw

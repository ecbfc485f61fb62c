"""What a rule of prediction weights is worth: median RMSE of y of every rule on the same fits of `joint`.

Seeds and splits from 900 on, which nothing was chosen on, with the study's settings. Errors of spot weld are in mm and
of PVA in standard deviations of the response, pooled over the folds of a split. The real data are needed for both.
"""

import os
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from funcal import calibrate
from funcal.joint.comparison import PLAIN_MEMBERS
from funcal.joint.member_weights import WITH_DISCREPANCY, exact_leave_one_out, prediction_weights
from funcal.problem import CalibrationProblem
from funcal.problem.arrays import FloatArray
from funcal.study.plan import STUDY_SETTINGS
from funcal.testbed import get_problem

FIRST_SEED = 900
REPLICATES = {"spot-weld": 14, "pva": 12, "synthetic-1": 16, "synthetic-2": 12, "synthetic-3": 16}
IN_STANDARD_DEVIATIONS = ("pva",)
NO_NEED, ALWAYS_NEED = -np.inf, np.inf


@dataclass(frozen=True)
class ScoredFit:
    """One fit: what leave-one-out said of each member, and by how much each misses the test points."""

    num_sites: int
    elpd: dict[str, float]
    stacking: dict[str, float]
    need: float
    beyond: np.ndarray
    error: dict[str, FloatArray]

    def missed(self, weights: Mapping[str, float]) -> FloatArray:
        """Errors of the mean of a mixture with the same weights everywhere."""
        return np.asarray(sum(weight * self.error[name] for name, weight in weights.items() if weight))

    def default(self, need: float, beyond_runs: bool = False) -> dict[str, float]:
        """The weights of `joint`, were its need of a discrepancy the one given."""
        scores = {
            name: exact_leave_one_out(np.full(self.num_sites, value / self.num_sites))
            for name, value in self.elpd.items()
        }
        return prediction_weights(scores, PLAIN_MEMBERS, need, beyond_runs=beyond_runs)

    def by_rule(self, need: float) -> FloatArray:
        """Errors of `joint`, with one set of weights within the range of the runs and one beyond it."""
        within, beyond = self.default(need), self.default(need, beyond_runs=True)
        return np.where(self.beyond, self.missed(beyond), self.missed(within))

    def by_density(self) -> dict[str, float]:
        """In proportion to exp(elpd) over the calibrated members and the physical process."""
        names = [name for name in self.elpd if name != PLAIN_MEMBERS[1]]
        return dict(zip(names, softmax([self.elpd[name] for name in names]).tolist(), strict=True))


RULES: dict[str, Callable[[ScoredFit], FloatArray]] = {
    "the rule of joint": lambda fit: fit.by_rule(fit.need),
    "the same beyond the runs": lambda fit: fit.missed(fit.default(fit.need)),
    "the rule, no need of δ": lambda fit: fit.by_rule(NO_NEED),
    "gp, line unless they lose": lambda fit: fit.by_rule(ALWAYS_NEED),
    "exp(elpd)": lambda fit: fit.missed(fit.by_density()),
    "stacking": lambda fit: fit.missed(fit.stacking),
    "gp alone": lambda fit: fit.error["gp"],
    "line alone": lambda fit: fit.error["linear"],
    "θ(x) alone": lambda fit: fit.error["varying"],
    "θ(x) with δ alone": lambda fit: fit.error["varying" + WITH_DISCREPANCY],
}


def score(key: str, seed: int, fold: int) -> tuple[ScoredFit, float]:
    """One fit and the scale of its errors."""
    warnings.simplefilter("ignore")  # measured responses beyond the runs' are part of these problems
    case = get_problem(key).draw(seed, fold)
    problem = CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())
    fitted = calibrate(problem, "joint", seed=seed, **STUDY_SETTINGS["joint"])
    report = fitted.fit.report
    table = {row["member"]: row for row in report["comparison"]}
    removed = report["verdicts"]["simulator_helps"]["evidence"]["misfit_removed_by_discrepancy"]
    alone = {name: fitted.predict(case.test_frame(), member=name) for name in table}
    found = ScoredFit(
        len(problem.scaled().y_sites),
        {name: row["elpd"] for name, row in table.items()},
        {name: row["stacking_weight"] for name, row in table.items()},
        -float(np.log1p(-removed)),
        alone["gp"].outside_runs,
        {name: prediction.response.mean - case.test_response for name, prediction in alone.items()},
    )
    return found, case.response_sd if key in IN_STANDARD_DEVIATIONS else 1.0


def main() -> None:
    """Print the median, and in brackets the mean, over seeds or splits of each rule's error on each problem."""
    errors: dict[str, dict[str, list[float]]] = {rule: {key: [] for key in REPLICATES} for rule in RULES}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for key, replicates in REPLICATES.items():
            folds = get_problem(key).num_folds
            seeds = range(FIRST_SEED, FIRST_SEED + replicates)
            cases = [(key, seed, fold) for seed in seeds for fold in range(folds)]
            scored = list(pool.map(score, *zip(*cases, strict=True)))
            for first in range(0, len(scored), folds):
                for rule, missed in RULES.items():
                    parts = [missed(fit) / scale for fit, scale in scored[first : first + folds]]
                    errors[rule][key].append(float(np.sqrt(np.mean(np.concatenate(parts) ** 2))))
    print(f"{'weights':<28}" + "".join(f"{key:>16}" for key in REPLICATES))
    for rule, found in errors.items():
        cells = (f"{np.median(values):.3f} ({np.mean(values):.3f})" for values in found.values())
        print(f"{rule:<28}" + "".join(f"{cell:>16}" for cell in cells))

"""Real data: the measurements are split in folds, and each fold is predicted from the others.

The paper says four-fold and prints the sizes of a three-fold split; four folds are used here, with a new random
split for every seed. Whatever is computed from measurements (a shift, scalings, anchors) sees the training part only.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ..errors import SettingsError
from .benchmark_problem import BenchmarkCase, ColumnRoles, PaperConstants

__all__ = ["HeldOutProblem", "split_in_folds"]

Shift = Callable[[pd.DataFrame, pd.DataFrame], float]


def split_in_folds(num_points: int, num_folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """A random partition of range(num_points) into folds whose sizes differ by at most one."""
    return [np.sort(fold) for fold in np.array_split(rng.permutation(num_points), num_folds)]


@dataclass(frozen=True)
class HeldOutProblem:
    """A problem of real data, judged on held-out sites.

    Attributes
    ----------
    read
        Reads (physical, runs).
    shift
        From the training part of the measurements and the runs, a constant added to every measured response of the
        fold, held-out ones too; None for none.
    """

    key: str
    title: str
    roles: ColumnRoles
    read: Callable[[], tuple[pd.DataFrame, pd.DataFrame]]
    noise_variance: float
    num_folds: int = 4
    shift: Shift | None = None
    constants: PaperConstants = field(default_factory=PaperConstants)

    def draw(self, seed: int, fold: int = 0) -> BenchmarkCase:
        """The training tables and held-out measurements of one fold of the split that `seed` draws.

        Raises
        ------
        SettingsError
            When there is no such fold.
        """
        if not 0 <= fold < self.num_folds:
            raise SettingsError(f"{self.key} has folds 0 to {self.num_folds - 1}; fold {fold} was asked for")
        physical, runs = self.read()
        controls = list(self.roles.control)
        sites = physical.groupby(controls, sort=True)[self.roles.response].mean().reset_index()
        rng = np.random.default_rng([seed, zlib.crc32(self.key.encode())])
        held_out = sites.iloc[split_in_folds(len(sites), self.num_folds, rng)[fold]]
        is_held_out = pd.MultiIndex.from_frame(physical[controls]).isin(
            pd.MultiIndex.from_frame(held_out[controls])
        )
        training = physical[~is_held_out].reset_index(drop=True)
        constant = 0.0 if self.shift is None else self.shift(training, runs)
        training = training.assign(**{self.roles.response: training[self.roles.response] + constant})
        return BenchmarkCase(
            problem=self.key,
            seed=seed,
            fold=fold,
            physical=training,
            runs=runs,
            roles=self.roles,
            test_controls=held_out[controls].to_numpy(dtype=np.float64),
            test_response=held_out[self.roles.response].to_numpy(dtype=np.float64) + constant,
            test_functional=None,
            test_global=None,
            response_sd=float(sites[self.roles.response].std(ddof=1)),
            test_noise_variance=self.noise_variance,
            constants=self.constants,
        )

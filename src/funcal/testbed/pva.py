"""PVA-treated buckypaper (Pourhabib et al. 2015), read from the user's data folder.

The paper's eleven points are those inside the computer model's range, 0.5 ≤ x ≤ 1; its 150 runs are 149 in the public
file. The measurements lie some 660 MPa above every run nearby, and the authors of the rivals shift them by
mean(y^s) - mean(y^p | 0.5 < x < 1) before they calibrate. `pva` does so inside each training fold; `pva-raw` does not.
Errors in the paper are in units of sd(y^p).
"""

from dataclasses import replace

import pandas as pd

from .benchmark_problem import ColumnRoles, PaperConstants
from .data_location import read_table
from .held_out_problem import HeldOutProblem

__all__ = ["mean_shift", "pva", "pva_raw"]

ROLES = ColumnRoles(("pva_amount",), ("effectiveness",), "modulus")
# Pooled sd of the five replicates is 198 MPa, so a mean of five has 88.
MEAN_VARIANCE = 88.0**2


def mean_shift(training: pd.DataFrame, runs: pd.DataFrame) -> float:
    """mean(y^s) - mean(y^p | 0.5 < x < 1) of the training part."""
    inside = training["pva_amount"].between(0.5, 1.0, inclusive="neither")
    return float(runs["modulus"].mean() - training.loc[inside, "modulus"].mean())


def _read() -> tuple[pd.DataFrame, pd.DataFrame]:
    physical = read_table("pva_buckypaper", "physical_11_subset_0.5_1.0.csv")
    runs = read_table("pva_buckypaper", "model_149_runs.csv")
    return physical.rename(columns={"modulus_mean": "modulus"}), runs


def pva() -> HeldOutProblem:
    """Shifted inside each training fold, as the authors of the rivals do."""
    title = "PVA buckypaper: one control, one functional variable, shifted (sd units in the paper)"
    return replace(pva_raw(), key="pva", title=title, shift=mean_shift)


def pva_raw() -> HeldOutProblem:
    """As measured: the computer model is biased by about -660 MPa."""
    return HeldOutProblem(
        key="pva-raw",
        title="PVA buckypaper as measured, not shifted",
        roles=ROLES,
        read=_read,
        noise_variance=MEAN_VARIANCE,
        constants=PaperConstants(radius=0.5),
    )

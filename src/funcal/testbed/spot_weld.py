"""Spot welding (Bayarri et al. 2007, doi 10.1198/004017007000000092), read from the user's data folder.

Twelve settings with ten replicates each, 35 runs of a computer model with three controls and one tuning parameter.
The paper uses the twelve means.
"""

from dataclasses import replace

import pandas as pd

from .benchmark_problem import ColumnRoles, PaperConstants
from .data_location import read_table
from .held_out_problem import HeldOutProblem

__all__ = ["spot_weld", "spot_weld_replicates"]

# Pooled variance of the replicates, mm², over the ten of a mean.
MEAN_VARIANCE = 0.2006 / 10
ROLES = ColumnRoles(("load", "current", "gauge"), ("tuning",), "diameter")


def _read_runs() -> pd.DataFrame:
    return read_table("spotweld", "model_35_runs.csv").rename(columns={"thickness": "gauge"})


def _read_means() -> tuple[pd.DataFrame, pd.DataFrame]:
    return read_table("spotweld", "physical_12_means.csv"), _read_runs()


def _read_replicates() -> tuple[pd.DataFrame, pd.DataFrame]:
    field = read_table("spotweld", "field_120_replicates.csv").rename(columns={"thickness": "gauge"})
    return field, _read_runs()


def spot_weld() -> HeldOutProblem:
    """The paper's form: twelve means, four folds, errors in mm."""
    return HeldOutProblem(
        key="spot-weld",
        title="Spot welding: three controls, one functional variable, 12 means (mm)",
        roles=ROLES,
        read=_read_means,
        noise_variance=MEAN_VARIANCE,
        constants=PaperConstants(radius=4.0),
    )


def spot_weld_replicates() -> HeldOutProblem:
    """All 120 measurements; a held-out site is judged by its mean."""
    title = "Spot welding with its 120 replicates (mm)"
    return replace(spot_weld(), key="spot-weld-replicates", title=title, read=_read_replicates)

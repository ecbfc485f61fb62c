"""Appendix E for a study: tests on the out-of-sample residuals of one replicate of each problem."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..diagnostics.residual_tests import FEWEST, analyse_residuals

__all__ = ["residual_table"]


def residual_table(records: Iterable[Mapping[str, Any]], method: str) -> pd.DataFrame:
    """One row per problem and test for the first replicate of `method` (all folds of a split together)."""
    chosen: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        if record["method"] == method and record["variant"] == "" and record["status"] == "ok":
            chosen.setdefault(record["problem"], []).append(record)
    frames = []
    for problem, group in chosen.items():
        first = min(int(record["seed"]) for record in group)
        folds = [record for record in group if int(record["seed"]) == first]
        controls = np.concatenate([np.asarray(record["x_test"], dtype=np.float64) for record in folds])
        fitted = np.concatenate([np.asarray(record["y_mean"], dtype=np.float64) for record in folds])
        truth = np.concatenate([np.asarray(record["y_true"], dtype=np.float64) for record in folds])
        if len(truth) < FEWEST:
            continue
        frame = analyse_residuals(controls, truth - fitted, fitted).to_frame()
        frame.insert(0, "problem", problem)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

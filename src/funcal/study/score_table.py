"""Records to scores: one row per problem, method and replicate, then medians with ranges and paired comparisons.

The folds of a split are pooled: their squared errors are averaged before the root is taken. A replicate of which a
fold failed has no scores, and is counted.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..diagnostics.scores import coverage, interval_score, root_mean_square
from ..methods.registry import METHOD_KEYS
from ..problem import FloatArray

__all__ = ["METRICS", "aggregate", "over_folds", "paired_comparison", "tidy_scores"]

METRICS = (
    "rmse_y",
    "rmse_y_sd",
    "rmse_t",
    "rmse_theta",
    "rmse_psi",
    "coverage_y",
    "coverage_theta",
    "interval_score_y",
    "crps_y",
    "seconds",
)
GROUP = ["problem", "method", "variant"]
# Bootstrap replicates of a paired comparison; the stream is fixed, so that a table does not change.
NUM_BOOTSTRAP, BOOTSTRAP_SEED = 2_000, 0


def tidy_scores(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """One row per problem, method, variant and seed."""
    by_replicate: dict[tuple[str, str, str, int], list[Mapping[str, Any]]] = {}
    for record in records:
        key = (record["problem"], record["method"], record["variant"], int(record["seed"]))
        by_replicate.setdefault(key, []).append(record)
    rows = []
    for key, folds in by_replicate.items():
        row: dict[str, Any] = dict(zip([*GROUP, "seed"], key, strict=True))
        row["folds"] = len(folds)
        row["failed"] = sum(record["status"] == "failed" for record in folds)
        row["unsupported"] = sum(record["status"] == "unsupported" for record in folds)
        row.update(_scores(folds) if row["failed"] + row["unsupported"] == 0 else {})
        rows.append(row)
    columns = [*GROUP, "seed", "folds", "failed", "unsupported", "converged", *METRICS]
    table = pd.DataFrame(rows, columns=pd.Index(columns))
    # Methods in the registry's order, not the alphabet's.
    table["place"] = [METHOD_KEYS.index(method) for method in table["method"]]
    return table.sort_values(["problem", "place", "variant", "seed"], ignore_index=True).drop(columns="place")


def over_folds(folds: list[Mapping[str, Any]], name: str) -> FloatArray:
    """An entry of the records of one split's folds, put end to end."""
    return np.concatenate([np.asarray(record[name], dtype=np.float64) for record in folds])


def _scores(folds: list[Mapping[str, Any]]) -> dict[str, Any]:
    truth = over_folds(folds, "y_true")
    error = over_folds(folds, "y_mean") - truth
    lower, upper = over_folds(folds, "y_lower"), over_folds(folds, "y_upper")
    verdicts = [record["converged"] for record in folds if record["converged"] is not None]
    rmse = root_mean_square(error)
    scores: dict[str, Any] = {
        "rmse_y": rmse,
        "rmse_y_sd": rmse / float(folds[0]["response_sd"]),
        "coverage_y": coverage(lower, upper, truth),
        "interval_score_y": interval_score(lower, upper, truth),
        "crps_y": float(over_folds(folds, "crps").mean()),
        "seconds": float(np.mean([record["timing"]["fit_seconds"] for record in folds])),
        "converged": float(np.mean(verdicts)) if verdicts else None,
    }
    if "t_true" in folds[0] and "t_mean" in folds[0]:
        t_true, t_mean = over_folds(folds, "t_true"), over_folds(folds, "t_mean")
        if t_true.shape == t_mean.shape:
            split = int(folds[0]["num_functional"])
            t_error = t_mean - t_true
            inside = (over_folds(folds, "t_lower") <= t_true) & (t_true <= over_folds(folds, "t_upper"))
            scores["rmse_t"] = root_mean_square(t_error)
            if split:
                scores["rmse_theta"] = root_mean_square(t_error[:, :split])
                scores["coverage_theta"] = float(inside[:, :split].mean())
            if split < t_error.shape[1]:
                scores["rmse_psi"] = root_mean_square(t_error[:, split:])
    return scores


def aggregate(scores: pd.DataFrame) -> pd.DataFrame:
    """Median and 10–90 % range of each metric, long form: one row per problem, method, variant and metric.

    Coverage is averaged, since the median of a share over a few points says little.
    """
    rows = []
    for key, group in scores.groupby(GROUP, sort=False):
        for metric in METRICS:
            values = group[metric].astype(float).dropna().to_numpy()
            if len(values) == 0:
                continue
            centre = np.mean(values) if metric.startswith("coverage") else np.median(values)
            low, high = np.quantile(values, [0.1, 0.9])
            names = dict(zip(GROUP, key, strict=True))
            rows.append(
                {**names, "metric": metric, "value": centre, "q10": low, "q90": high, "n": len(values)}
            )
    return pd.DataFrame(rows, columns=pd.Index([*GROUP, "metric", "value", "q10", "q90", "n"]))


def paired_comparison(scores: pd.DataFrame, reference: str, metric: str = "rmse_y") -> pd.DataFrame:
    """Each method against `reference` on the same replicates.

    Returns
    -------
    DataFrame
        Median over replicates of the ratio method / reference with a 95 % bootstrap interval, and the share of
        replicates on which the reference has the smaller error.
    """
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    rows = []
    default = scores[(scores["method"] == reference) & (scores["variant"] == "")]
    for key, group in scores.groupby(GROUP, sort=False):
        problem, method, variant = key
        if method == reference and variant == "":
            continue
        base = default[default["problem"] == problem].set_index("seed")[metric]
        joined = pd.concat(
            [group.set_index("seed")[metric], base], axis=1, keys=["method", "reference"]
        ).dropna()
        if len(joined) == 0:
            continue
        ratio = joined["method"].to_numpy(dtype=float) / joined["reference"].to_numpy(dtype=float)
        samples = np.median(ratio[rng.integers(0, len(ratio), (NUM_BOOTSTRAP, len(ratio)))], axis=1)
        low, high = np.quantile(samples, [0.025, 0.975])
        rows.append(
            {
                "problem": problem,
                "method": method,
                "variant": variant,
                "ratio": float(np.median(ratio)),
                "lower": float(low),
                "upper": float(high),
                "reference_better": float(np.mean(ratio > 1.0)),
                "n": len(ratio),
            }
        )
    columns = ["problem", "method", "variant", "ratio", "lower", "upper", "reference_better", "n"]
    return pd.DataFrame(rows, columns=pd.Index(columns))

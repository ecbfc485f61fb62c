"""Every method on a user's own data by cross-validation, and what to make of it in plain words.

Held-out measurements are noisy, so errors include the noise; differences between methods are judged on the same splits.
Splits of one data set are not independent data sets, so the words are cautious: "clearly" needs nine splits in ten.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import FuncalError, FuncalWarning, SettingsError
from ..execution import run_in_processes
from ..methods.calibrate import calibrate
from ..methods.registry import METHOD_KEYS, find_method
from ..problem import CalibrationProblem
from ..result import Progress, check_supported, silent
from .score_table import tidy_scores
from .text_tables import Section, to_markdown
from .trial import LEVEL, predictions_record

__all__ = ["Comparison", "compare_methods", "comparison_table", "conclude", "write_comparison"]

#: Methods that do not use the computer model.
WITHOUT_MODEL = ("gp", "linear", "mean")
#: A method is clearly better when it wins on this share of at least that many splits, probably on the lower share.
CLEARLY, PROBABLY, ENOUGH_SPLITS = 0.9, 0.7, 5


@dataclass(frozen=True)
class Comparison:
    """Scores by method and split (see `tidy_scores`), and the messages of what failed."""

    scores: pd.DataFrame
    num_sites: int
    num_folds: int
    num_splits: int
    response_sd: float
    messages: dict[str, str]


@dataclass(frozen=True)
class _HeldOut:
    """One task: a method on one fold of one split."""

    method: str
    split: int
    fold: int
    sites: tuple[int, ...]
    seed: int


def compare_methods(
    problem: CalibrationProblem,
    methods: Sequence[str] | None = None,
    *,
    num_folds: int = 4,
    num_splits: int = 5,
    seed: int = 1,
    workers: int | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Cross-validate the methods on a problem.

    Parameters
    ----------
    methods
        Keys; all methods that support the problem if None.
    num_folds, num_splits
        Folds of a split (at most the number of sites), and random splits.

    Raises
    ------
    SettingsError
        When there are too few sites to hold any out, or a named method cannot do the problem.
    """
    folds = min(num_folds, problem.num_sites)
    if folds < 2 or problem.num_sites < 4:
        raise SettingsError(
            "cross-validation needs at least 4 sites and 2 folds; "
            f"found {problem.num_sites} sites and {num_folds} folds"
        )
    if num_splits < 1:
        raise SettingsError(f"at least one split is needed; {num_splits} was given")
    chosen = list(METHOD_KEYS if methods is None else methods)
    messages: dict[str, str] = {}
    for key in list(chosen):
        try:
            check_supported(find_method(key), problem)
        except SettingsError as error:
            if methods is not None:
                raise
            messages[key] = str(error)
            chosen.remove(key)
    groups = _tasks(problem.num_sites, chosen, folds, num_splits, seed)
    total, records = sum(len(group) for group in groups), []
    outcomes = run_in_processes(partial(_predict_held_out, problem), groups, workers)
    for done, outcome in enumerate(outcomes, start=1):
        record = outcome.value
        if outcome.error:
            record = {**_head(outcome.item), "status": "failed", "message": outcome.error}
        if record["status"] != "ok":
            messages[record["method"]] = record["message"]
        records.append(record)
        progress(done, total, "folds")
    spread = float(np.std(problem.physical.response, ddof=1))
    return Comparison(tidy_scores(records), problem.num_sites, folds, num_splits, spread, messages)


def _tasks(
    num_sites: int, methods: Sequence[str], num_folds: int, num_splits: int, seed: int
) -> list[list[_HeldOut]]:
    """Groups by held-out set, so that methods share what they compute from the training part."""
    groups = []
    for split in range(num_splits):
        order = np.random.default_rng([seed, split]).permutation(num_sites)
        for fold, sites in enumerate(np.array_split(order, num_folds)):
            held_out = tuple(int(site) for site in np.sort(sites))
            groups.append([_HeldOut(key, split, fold, held_out, seed) for key in methods])
    return groups


def _head(task: _HeldOut) -> dict[str, Any]:
    return {"problem": "data", "method": task.method, "variant": "", "seed": task.split, "fold": task.fold}


def _predict_held_out(problem: CalibrationProblem, task: _HeldOut) -> dict[str, Any]:
    """Fit on the other sites and predict the held-out ones."""
    held_out = np.array(task.sites)
    training = problem.subset(np.setdiff1d(np.arange(problem.num_sites), held_out))
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuncalWarning)
            calibration = calibrate(training, task.method, seed=task.seed)
            seconds = time.perf_counter() - start
            prediction = calibration.predict(problem.physical.control[held_out], level=LEVEL)
    except FuncalError as error:
        return {**_head(task), "status": "failed", "message": str(error)}
    values = predictions_record(prediction, problem.physical.response[held_out], noisy=True)
    convergence = calibration.convergence
    return {
        **_head(task),
        **values,
        "status": "ok",
        "message": "",
        "converged": None if convergence is None else bool(convergence.converged),
        "response_sd": float(np.std(problem.physical.response, ddof=1)),
        "timing": {"fit_seconds": seconds},
    }


def comparison_table(comparison: Comparison) -> list[dict[str, Any]]:
    """One row per method, best median RMSE first."""
    rows: list[dict[str, Any]] = []
    for method, group in comparison.scores.groupby("method", sort=False):
        rmse = group["rmse_y"].astype(float).dropna()
        found = len(rmse) > 0
        rows.append(
            {
                "method": str(method),
                "rmse": float(rmse.median()) if found else None,
                "rmse_q10": float(rmse.quantile(0.1)) if found else None,
                "rmse_q90": float(rmse.quantile(0.9)) if found else None,
                "rmse_sd_units": float(rmse.median() / comparison.response_sd) if found else None,
                "coverage": float(group["coverage_y"].astype(float).mean()) if found else None,
                "crps": float(group["crps_y"].astype(float).median()) if found else None,
                "seconds": float(group["seconds"].astype(float).median()) if found else None,
                "failed": int(group["failed"].sum()),
            }
        )
    return sorted(rows, key=lambda row: float("inf") if row["rmse"] is None else row["rmse"])


def _wins(scores: pd.DataFrame, one: str, other: str) -> float:
    """Share of splits on which `one` has the smaller error."""
    wide = scores.pivot(index="seed", columns="method", values="rmse_y").astype(float)[[one, other]].dropna()
    return float(np.mean(wide[one] < wide[other]))


def _adverb(share: float, num_splits: int) -> str:
    """How sure a win on this share of the splits is; empty where it says nothing."""
    if share >= CLEARLY and num_splits >= ENOUGH_SPLITS:
        return "clearly"
    return "probably" if share >= PROBABLY and num_splits > 1 else ""


def conclude(comparison: Comparison) -> str:
    """One paragraph: which method to use, whether the computer model helps, how sure that is."""
    rows = [row for row in comparison_table(comparison) if row["rmse"] is not None]
    if not rows:
        return "No method gave a prediction on these data, so nothing can be said; the messages say why."
    best, single = rows[0], comparison.num_splits == 1
    splits = "1 random split" if single else f"{comparison.num_splits} random splits"
    sentences = [
        f"Use {best['method']}: over {splits} its error on held-out measurements is "
        f"{best['rmse']:.3g} (median), {100 * best['rmse_sd_units']:.0f} % of the measurements' spread."
    ]
    if len(rows) > 1:
        second = rows[1]
        share = _wins(comparison.scores, best["method"], second["method"])
        adverb = _adverb(share, comparison.num_splits)
        judgement = f"{adverb} better" if adverb else "no different beyond the noise of the splits"
        sentences.append(
            f"The next best, {second['method']}, has {second['rmse']:.3g}; "
            + (
                "one split cannot tell them apart, so ask for more (--splits)."
                if single
                else f"{best['method']} is {judgement} (smaller error on {100 * share:.0f} % of the splits)."
            )
        )
    with_model = [row for row in rows if row["method"] not in WITHOUT_MODEL]
    without = [row for row in rows if row["method"] in WITHOUT_MODEL]
    if with_model and without:
        share = _wins(comparison.scores, with_model[0]["method"], without[0]["method"])
        names = f"{with_model[0]['method']} ({with_model[0]['rmse']:.3g}) against {without[0]['method']}"
        names += f" ({without[0]['rmse']:.3g}, measurements alone)"
        helps, hinders = (_adverb(part, comparison.num_splits) for part in (share, 1.0 - share))
        if helps:
            sentences.append(f"The computer model {helps} helps: {names}.")
        elif hinders:
            sentences.append(f"For prediction the computer model {hinders} does not help here: {names}.")
        else:
            sentences.append(f"Whether the computer model helps cannot be told from these data: {names}.")
    covered = best["coverage"]
    sentences.append(
        f"Its 95 % intervals held {100 * covered:.0f} % of the held-out measurements"
        + (
            "."
            if covered >= 0.85
            else ": they are too narrow, so trust the ranking of the errors more than the intervals."
        )
    )
    few = "only " if comparison.num_splits < ENOUGH_SPLITS else ""
    sentences.append(
        f"How sure this is: it rests on {comparison.num_sites} sites and {few}{splits} of them"
        f"{'' if single else ', which are not independent of one another'}; new measurements would be a better judge."
    )
    failed = sorted(comparison.messages)
    if failed:
        sentences.append(f"Without a (complete) result: {', '.join(failed)}.")
    return " ".join(sentences)


def write_comparison(comparison: Comparison, folder: str | Path) -> None:
    """Write scores.csv and comparison.md."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    comparison.scores.to_csv(place / "scores.csv", index=False)
    table = comparison_table(comparison)
    header = tuple(table[0])
    rows = tuple(
        tuple(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values())
        for row in table
    )
    notes = tuple((key, text) for key, text in comparison.messages.items())
    sections = [
        Section("Methods on held-out measurements", conclude(comparison), header, rows),
        Section("Messages", "", ("method", "message"), notes),
    ]
    text = to_markdown("Comparison of methods", "funcal compare", sections)
    (place / "comparison.md").write_text(text, encoding="utf-8")

"""Run what is left of a plan and record it."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ..errors import ResultError
from ..execution import run_in_processes, run_on_cluster
from ..result import Progress, silent
from .plan import StudyPlan, TrialDescription
from .records import RecordStore
from .trial import run_trial

__all__ = ["run_study"]


def run_study(
    plan: StudyPlan,
    folder: str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    retry_failed: bool = False,
    progress: Progress = silent,
) -> RecordStore:
    """Run every trial of `plan` that has no record in `folder` yet.

    Parameters
    ----------
    workers
        Local processes; the number of cores if None.
    scheduler
        Address of a Dask scheduler to use instead.
    retry_failed
        Run trials again whose record says that they failed.

    Returns
    -------
    RecordStore
    """
    store = RecordStore(folder)
    with store.writing() as writer:
        _keep_plan(plan, store.folder)
        known = store.read()
        finished = {
            key for key, record in known.items() if not (retry_failed and record["status"] == "failed")
        }
        groups = [[trial for trial in group if trial.key not in finished] for group in plan.groups()]
        total = sum(len(group) for group in plan.groups())
        done = total - sum(len(group) for group in groups)
        progress(done, total, "trials")
        if scheduler is None:
            outcomes = run_in_processes(run_trial, groups, workers)
        else:
            outcomes = run_on_cluster(run_trial, groups, scheduler)
        for outcome in outcomes:
            writer.append(outcome.value if not outcome.error else _lost(outcome.item, outcome.error))
            done += 1
            progress(done, total, "trials")
    return store


def _lost(trial: TrialDescription, error: str) -> dict[str, Any]:
    """The record of a trial whose process gave nothing back."""
    return {
        "key": trial.key,
        "problem": trial.problem,
        "seed": trial.seed,
        "fold": trial.fold,
        "method": trial.method,
        "variant": trial.variant,
        "status": "failed",
        "message": error,
    }


def _keep_plan(plan: StudyPlan, folder: Path) -> None:
    """Write the plan beside its records, whole or not at all."""
    path = folder / "plan.json"
    if path.exists() and not os.access(path, os.W_OK):
        raise ResultError(f"{path} cannot be written; choose another --out")
    handle, name = tempfile.mkstemp(dir=folder, suffix=".json")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(plan.to_values(), file, indent=2)
    os.replace(name, path)

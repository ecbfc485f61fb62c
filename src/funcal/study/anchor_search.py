"""How long the anchors take against the number of runs (Section 6.2), and the graph's constants (Table 2)."""

import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..errors import FuncalError, FuncalWarning
from ..matching import MatchingSettings, find_anchors
from ..problem import CalibrationProblem
from ..testbed import BenchmarkCase, get_problem
from ..testbed.synthetic_one import synthetic_one

__all__ = ["anchor_search"]

RUN_COUNTS = (100, 200, 300, 400, 500)
NUM_REPEATS = 5
MODELS: tuple[Literal["path", "tree"], ...] = ("path", "tree")


def _problem_of(case: BenchmarkCase) -> CalibrationProblem:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuncalWarning)
        return CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())  # type: ignore[arg-type]


def _time_models() -> list[dict[str, Any]]:
    """Seconds of path and tree on problem 1 with more runs; medians over draws, the first (compiling) one left out."""
    rows = []
    for num_runs in RUN_COUNTS:
        problem = synthetic_one(num_runs)
        for model in MODELS:
            settings = MatchingSettings(model=model)
            seconds, statuses = [], set()
            for seed in range(NUM_REPEATS + 1):
                anchors = find_anchors(_problem_of(problem.draw(seed)), settings)
                seconds.append(anchors.seconds)
                statuses.add(anchors.status)
            rows.append(
                {
                    "runs": num_runs,
                    "model": model,
                    "seconds": float(np.median(seconds[1:])),
                    "longest": float(max(seconds[1:])),
                    "status": ", ".join(sorted(statuses)),
                }
            )
    return rows


def _graph_constants(problems: tuple[str, ...]) -> list[dict[str, Any]]:
    """λ, r and M as chosen automatically for the first case of each problem (standardised scale)."""
    rows: list[dict[str, Any]] = []
    for key in problems:
        try:
            anchors = find_anchors(_problem_of(get_problem(key).draw(0)), MatchingSettings(model="tree"))
        except FuncalError as error:
            rows.append({"problem": key, "message": str(error)})
            continue
        rows.append(
            {
                "problem": key,
                "lambda": anchors.lambda_,
                "radius": anchors.radius,
                "penalty": anchors.penalty,
                "seconds": anchors.seconds,
                "status": anchors.status,
            }
        )
    return rows


def anchor_search(folder: Path, problems: tuple[str, ...]) -> dict[str, Any]:
    """Both tables, measured once and kept in `folder`."""
    path = folder / "anchor-search.json"
    if path.exists():
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if [row["problem"] for row in kept["graph"]] == list(problems):
            return kept
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuncalWarning)
        values = {"times": _time_models(), "graph": _graph_constants(problems)}
    handle, name = tempfile.mkstemp(dir=folder, suffix=".json")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(values, file, indent=2)
    os.replace(name, path)
    return values

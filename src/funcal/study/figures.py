"""Figures in the manner of the paper's (Figures 4 and 5): 95 % bands for y and θ on the test points of a problem.

With one control the test points are ordered by it; with more they are shown by their index, in the order of the truth.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..plots.figure_files import BAND, LINE, TRUTH, new_figure, write_figure
from .score_table import over_folds

__all__ = ["draw_bands"]


def _panel(
    axes: Any, at: Any, record: Mapping[str, Any], order: Any, prefix: str, column: int | None
) -> None:
    def values(name: str) -> Any:
        array = np.asarray(record[f"{prefix}_{name}"], dtype=np.float64)
        return (array if column is None else array[:, column])[order]

    axes.fill_between(at, values("lower"), values("upper"), color=BAND, alpha=0.35, label="95 % interval")
    axes.plot(at, values("mean"), color=LINE, marker="o", label="prediction")
    if f"{prefix}_true" in record:
        label = "truth" if "t_true" in record else "measured"
        axes.plot(at, values("true"), color=TRUTH, marker="s", linestyle="--", label=label)


def draw_bands(records: Iterable[Mapping[str, Any]], method: str, folder: Path) -> dict[str, str]:
    """One PNG per problem for the first replicate of `method`, all folds of a split together; file names by problem."""
    replicates: dict[str, dict[int, list[Mapping[str, Any]]]] = {}
    for record in records:
        if record["method"] == method and record["variant"] == "" and record["status"] == "ok":
            seeds = replicates.setdefault(record["problem"], {})
            seeds.setdefault(record["seed"], []).append(record)
    names = {}
    for problem, seeds in replicates.items():
        names[problem] = f"bands-{problem}-{method}.png"
        figure = _bands(_joined(seeds[min(seeds)]))
        figure.suptitle(f"{problem}: {method}, replicate {min(seeds)}")
        write_figure(figure, folder / names[problem])
    return names


def _joined(folds: list[Mapping[str, Any]]) -> dict[str, Any]:
    """One record with the test points of all folds."""
    joined = dict(folds[0])
    for name in joined:
        if name == "x_test" or name.startswith(("y_", "t_")):
            joined[name] = over_folds(folds, name)
    return joined


def _bands(record: Mapping[str, Any]) -> Figure:
    """Panels of the response and, where their truth is known, of the calibration variables."""
    controls = np.asarray(record["x_test"], dtype=np.float64)
    single = controls.shape[1] == 1
    order = np.argsort(controls[:, 0] if single else np.asarray(record["y_true"]), kind="stable")
    at = controls[order, 0] if single else np.arange(1, len(order) + 1)
    variables = record.get("calibration_names", []) if "t_true" in record else []
    figure = new_figure(4.2 * (1 + len(variables)), 3.4)
    panels = figure.subplots(1, 1 + len(variables), squeeze=False)[0]
    _panel(panels[0], at, record, order, "y", None)
    panels[0].set_title("response")
    for column, name in enumerate(variables):
        _panel(panels[1 + column], at, record, order, "t", column)
        panels[1 + column].set_title(name)
    for axes in panels:
        axes.set_xlabel("control" if single else "test point")
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=not single))
    panels[0].legend(fontsize="small")
    return figure

"""The directory of a fit: posterior, anchors, predictions at the sites, residuals, figures, summary, manifest."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ..diagnostics.residual_tests import FEWEST, analyse_residuals
from ..plots.figure_files import write_figure
from ..plots.residuals import plot_residuals
from ..plots.result_figures import result_figures
from .manifest import manifest_values
from .output_directory import MANIFEST, new_directory, write_table, write_text
from .summary_values import summary_values

if TYPE_CHECKING:
    from ..problem import AnchorPoints, CalibrationProblem
    from ..result import Calibration

__all__ = ["write_result", "write_result_files"]


def write_result(
    calibration: "Calibration", out: str | os.PathLike[str], *, inputs: tuple[str, str], force: bool
) -> Path:
    """Write the directory `out`, whole or not at all."""
    with new_directory(out, force=force) as directory:
        write_result_files(calibration, directory, inputs=inputs)
    return Path(out)


def write_result_files(calibration: "Calibration", directory: Path, *, inputs: tuple[str, str]) -> None:
    """Write every file of a result into an existing directory."""
    calibration.save(directory / "posterior.nc")
    problem = calibration.problem
    if calibration.anchors is not None:
        write_table(_anchor_table(problem, calibration.anchors), directory / "anchors.csv")
    at_sites = calibration.predict(problem.physical.control)
    write_table(at_sites.to_frame(), directory / "sites.csv")
    figures = result_figures(calibration, at_sites)
    if problem.num_sites >= FEWEST:
        # Residuals of the fit itself: smaller than those of new measurements, which `funcal compare` looks at.
        residuals = analyse_residuals(
            problem.physical.control,
            problem.physical.response - at_sites.response.mean,
            at_sites.response.mean,
            control_names=problem.roles.control,
        )
        write_table(residuals.to_frame(), directory / "residual_tests.csv")
        write_text(f"In-sample residuals. {residuals.power}\n", directory / "residual_tests.txt")
        figures["residuals"] = plot_residuals(residuals, problem.roles.response)
    for name, figure in figures.items():
        write_figure(figure, directory / "figures" / f"{name}.png")
    summary = json.dumps(summary_values(calibration), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(summary + "\n", directory / "summary.json")
    manifest = json.dumps(manifest_values(calibration, inputs), indent=2, ensure_ascii=False)
    write_text(manifest + "\n", directory / MANIFEST)


def _anchor_table(problem: "CalibrationProblem", anchors: "AnchorPoints") -> pd.DataFrame:
    """One row per anchor: the site's controls, the run's row, its calibration vector and its misfit."""
    table = pd.DataFrame(problem.physical.control[anchors.site], columns=list(problem.roles.control))
    table.insert(0, "site", anchors.site)
    table["run_row"] = problem.runs.row[anchors.run]
    for index, name in enumerate(problem.roles.calibration):
        table[name] = problem.runs.calibration[anchors.run, index]
    table["measured"] = problem.physical.response[anchors.site]
    table["computed"] = problem.runs.response[anchors.run]
    table["misfit"] = anchors.misfit
    return table

"""Measurements against the calibrated model: a curve for one control, measured against fitted otherwise."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from .figure_files import BAND, INK, LINE, MARK, new_figure

if TYPE_CHECKING:
    from ..result import Calibration, Prediction

__all__ = ["plot_measured_against_fitted", "plot_response_curve"]


def plot_response_curve(calibration: "Calibration", curve: "Prediction") -> Figure:
    """The response over the one control, with runs and measurements."""
    problem = calibration.problem
    figure = new_figure()
    axis = figure.subplots()
    x = curve.controls.iloc[:, 0].to_numpy()
    percent = f"{100 * curve.level:g} %"
    seen = curve.observation
    axis.fill_between(
        x, seen.lower, seen.upper, color=BAND, alpha=0.18, lw=0, label=f"new measurement, {percent}"
    )
    axis.fill_between(
        x,
        curve.response.lower,
        curve.response.upper,
        color=BAND,
        alpha=0.45,
        lw=0,
        label=f"noise-free response, {percent}",
    )
    axis.plot(x, curve.response.mean, color=LINE, lw=2, label="posterior mean")
    axis.plot(
        problem.runs.control[:, 0], problem.runs.response, ".", color="0.65", ms=4, label="computer runs"
    )
    site = problem.physical.observation_site
    axis.plot(
        problem.physical.control[site, 0],
        problem.physical.observations,
        "o",
        color=MARK,
        ms=5,
        label="measured",
    )
    axis.set_xlabel(problem.roles.control[0])
    axis.set_ylabel(problem.roles.response)
    axis.legend(fontsize=8, frameon=False)
    return figure


def plot_measured_against_fitted(calibration: "Calibration", at_sites: "Prediction") -> Figure:
    """Measured responses over fitted ones, with intervals of a new measurement."""
    problem = calibration.problem
    figure = new_figure(5.0, 4.6)
    axis = figure.subplots()
    fitted, seen = at_sites.response, at_sites.observation
    spread = np.vstack([fitted.mean - seen.lower, seen.upper - fitted.mean])
    axis.errorbar(
        fitted.mean, problem.physical.response, xerr=spread, fmt="o", color=LINE, ecolor=BAND, elinewidth=2
    )
    low = min(float(seen.lower.min()), float(problem.physical.response.min()))
    high = max(float(seen.upper.max()), float(problem.physical.response.max()))
    axis.plot([low, high], [low, high], color=INK, lw=0.8)
    axis.set_xlabel(f"fitted {problem.roles.response} ({100 * at_sites.level:g} % interval of a measurement)")
    axis.set_ylabel(f"measured {problem.roles.response}")
    return figure

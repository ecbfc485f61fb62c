"""A calibration against the truth of a test problem with one control: θ(x) and the response."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from .figure_files import BAND, LINE, MARK, TRUTH, legend_below, new_figure
from .marked_stretches import mark_stretches

if TYPE_CHECKING:
    from ..result import Calibration
    from ..testbed import BenchmarkCase

__all__ = ["plot_against_truth"]

NUM_CURVE_POINTS = 121


def plot_against_truth(calibration: "Calibration", case: "BenchmarkCase") -> Figure:
    """Two panels: θ(x) and y(x), each with its 95 % band, the data and the truth at the test points."""
    problem = calibration.problem
    low = min(float(case.test_controls.min()), float(problem.physical.control.min()))
    high = max(float(case.test_controls.max()), float(problem.physical.control.max()))
    curve = calibration.predict(np.linspace(low, high, NUM_CURVE_POINTS))
    x = curve.controls.iloc[:, 0].to_numpy()
    order = np.argsort(case.test_controls[:, 0])
    x_test = case.test_controls[order, 0]
    figure = new_figure(10.0, 4.6)
    left, right = figure.subplots(1, 2)
    name = problem.roles.functional[0]
    if name in curve.calibration and case.test_functional is not None:
        theta = curve.calibration[name]
        left.fill_between(x, theta.lower, theta.upper, color=BAND, alpha=0.35, lw=0, label="95 % interval")
        left.plot(x, theta.mean, color=LINE, lw=2, label="posterior mean")
        left.plot(x_test, case.test_functional[order, 0], "x", color=TRUTH, ms=6, mew=2, label="truth")
        if calibration.anchors is not None:
            anchors = calibration.anchors
            sites = problem.physical.control[anchors.site, 0]
            left.plot(sites, anchors.functional[:, 0], "D", color=MARK, mfc="none", ms=6, label="anchors")
        mark_stretches(left, calibration, curve, name)
        left.set(xlabel=problem.roles.control[0], ylabel=f"{name}(x)")
        left.set_title(f"What cannot be measured: {name}(x)", fontsize=11, loc="left")
        legend_below(left)
    response = curve.response
    right.fill_between(x, response.lower, response.upper, color=BAND, alpha=0.35, lw=0, label="95 % interval")
    right.plot(x, response.mean, color=LINE, lw=2, label="posterior mean")
    right.plot(
        problem.runs.control[:, 0], problem.runs.response, ".", color="0.65", ms=5, label="computer runs"
    )
    right.plot(
        problem.physical.control[:, 0], problem.physical.response, "o", color=MARK, ms=6, label="measured"
    )
    right.plot(x_test, case.test_response[order], "x", color=TRUTH, ms=6, mew=2, label="truth")
    right.set(xlabel=problem.roles.control[0], ylabel=problem.roles.response)
    right.set_title("What can: the response", fontsize=11, loc="left")
    legend_below(right)
    return figure

"""θ(x) with its band, the anchors and the runs' box; against one control, or site by site.

Stretches where θ was not learnt or is extrapolated are shaded.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .figure_files import BAND, INK, LINE, MARK, legend_below, new_figure
from .marked_stretches import mark_stretches, psi_note

if TYPE_CHECKING:
    from ..result import Calibration, Prediction

__all__ = ["plot_calibration_curves"]


def plot_calibration_curves(calibration: "Calibration", curve: "Prediction") -> Figure:
    """One panel per functional variable.

    Parameters
    ----------
    calibration : Calibration
    curve : Prediction
        At a grid of the control where there is one control, at the sites otherwise.
    """
    problem = calibration.problem
    names = [name for name in problem.roles.functional if name in curve.calibration]
    figure = new_figure(height=4.0 * max(1, len(names)))
    axes = np.atleast_1d(figure.subplots(max(1, len(names)), 1, squeeze=False)[:, 0])
    for axis, name in zip(axes, names, strict=False):
        _draw(axis, calibration, curve, name)
    return figure


def _draw(axis: Axes, calibration: "Calibration", curve: "Prediction", name: str) -> None:
    problem = calibration.problem
    marginal = curve.calibration[name]
    low, high = problem.bounds[problem.roles.functional.index(name)]
    percent = f"{100 * curve.level:g} %"
    if problem.num_controls == 1:
        x = curve.controls.iloc[:, 0].to_numpy()
        axis.fill_between(
            x, marginal.lower, marginal.upper, color=BAND, alpha=0.35, lw=0, label=f"{percent} interval"
        )
        axis.plot(x, marginal.mean, color=LINE, lw=2, label="posterior mean")
        axis.set_xlabel(problem.roles.control[0])
        place: Any = problem.physical.control[:, 0]
    else:
        place = np.arange(len(curve)) + 1
        spread = np.vstack([marginal.mean - marginal.lower, marginal.upper - marginal.mean])
        axis.errorbar(place, marginal.mean, yerr=spread, fmt="o", color=LINE, ecolor=BAND, elinewidth=3,
                      label=f"posterior mean, {percent} interval")  # fmt: skip
        axis.set_xlabel("site")
        axis.set_xlim(0.5, len(curve) + 0.5)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    anchors = calibration.anchors
    if anchors is not None:
        chosen = anchors.functional[:, problem.roles.functional.index(name)]
        axis.plot(np.asarray(place)[anchors.site], chosen, "D", color=MARK, ms=5, mfc="none", label="anchors")
    for end in (low, high):
        axis.axhline(end, color=INK, lw=0.7, ls=":")
    mark_stretches(axis, calibration, curve, name)
    axis.set_ylabel(f"{name}(x)")
    title = f"{name}(x): functional calibration variable (dotted: its box){psi_note(calibration)}"
    axis.set_title(title, fontsize=10, loc="left")
    legend_below(axis)

"""The figures of one fit, by file name."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from .calibration_curves import plot_calibration_curves
from .response_curves import plot_measured_against_fitted, plot_response_curve

if TYPE_CHECKING:
    from ..result import Calibration, Prediction

__all__ = ["result_figures"]

#: Points of a curve over one control.
NUM_CURVE_POINTS = 101


def result_figures(calibration: "Calibration", at_sites: "Prediction") -> dict[str, Figure]:
    """Curves of θ(x) and of the response over one control; site by site where there are more."""
    problem = calibration.problem
    figures = {}
    curve = at_sites
    if problem.num_controls == 1:
        controls = np.concatenate([problem.physical.control[:, 0], problem.runs.control[:, 0]])
        curve = calibration.predict(np.linspace(controls.min(), controls.max(), NUM_CURVE_POINTS))
        figures["response"] = plot_response_curve(calibration, curve)
    else:
        figures["response"] = plot_measured_against_fitted(calibration, at_sites)
    if any(name in curve.calibration for name in problem.roles.functional):
        figures["calibration"] = plot_calibration_curves(calibration, curve)
    return figures

"""The two residual plots."""

import numpy as np

from funcal.diagnostics.residual_tests import analyse_residuals
from funcal.plots.figure_files import write_figure
from funcal.plots.residuals import plot_residuals


def test_both_panels_show_every_residual(rng, tmp_path):
    """Residuals against fitted values on the left, ordered against normal quantiles on the right."""
    residuals, fitted = rng.standard_normal(12), rng.random(12)
    figure = plot_residuals(analyse_residuals(rng.random((12, 1)), residuals, fitted), "y")
    left, right = figure.axes
    points = [line for line in left.lines if len(line.get_xdata()) == 12]
    np.testing.assert_array_equal(points[0].get_xdata(), fitted)
    np.testing.assert_array_equal(points[0].get_ydata(), residuals)
    ordered = next(line for line in right.lines if len(line.get_xdata()) == 12)
    np.testing.assert_array_equal(ordered.get_ydata(), np.sort(residuals))
    assert np.all(np.diff(ordered.get_xdata()) > 0)
    write_figure(figure, tmp_path / "residuals.png")
    assert (tmp_path / "residuals.png").stat().st_size > 1000

"""Residuals against fitted values, and their normal probability plot (Appendix E)."""

import numpy as np
import scipy.stats
from matplotlib.figure import Figure

from ..diagnostics.residual_tests import ResidualAnalysis
from .figure_files import INK, LINE, MARK, new_figure

__all__ = ["plot_residuals"]


def plot_residuals(analysis: ResidualAnalysis, response_name: str = "response") -> Figure:
    """Draw both panels of the paper's Figures 6 and 7.

    Parameters
    ----------
    analysis
    response_name
        Name of the response, for the axes.
    """
    figure = new_figure(9.0, 4.0)
    left, right = figure.subplots(1, 2)
    left.axhline(0.0, color=INK, lw=0.8)
    left.plot(analysis.fitted, analysis.residuals, "o", color=MARK, ms=5)
    left.set_xlabel(f"fitted {response_name}")
    left.set_ylabel("residual")
    left.set_title(f"residuals, n = {analysis.num_residuals}", fontsize=10)

    ordered = np.sort(analysis.residuals)
    # Blom's plotting positions: nearly unbiased for the expected normal order statistics
    positions = (np.arange(1, len(ordered) + 1) - 0.375) / (len(ordered) + 0.25)
    expected = scipy.stats.norm.ppf(positions)
    right.plot(expected, ordered, "o", color=MARK, ms=5)
    right.axline((0.0, float(ordered.mean())), slope=float(ordered.std(ddof=1)), color=LINE, lw=1.2)
    right.set_xlabel("normal quantile")
    right.set_ylabel("ordered residual")
    right.set_title("normal probability plot", fontsize=10)
    return figure

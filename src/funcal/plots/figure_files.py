"""Writing a figure without a display and without touching pyplot's state."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

__all__ = ["BAND", "INK", "LINE", "MARK", "TRUTH", "legend_below", "new_figure", "write_figure"]

#: One palette for all figures (colour-blind safe, after Okabe and Ito).
INK, LINE, BAND, MARK, TRUTH = "#222222", "#0072B2", "#56B4E9", "#D55E00", "#009E73"
DOTS_PER_INCH = 150


def new_figure(width: float = 7.0, height: float = 4.2) -> Figure:
    """An empty figure with a tight layout."""
    return Figure(figsize=(width, height), layout="constrained")


def legend_below(axis: Axes) -> None:
    """A legend under the panel, where it hides nothing; two columns, so that long words stay in the picture."""
    axis.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(0.0, -0.14), ncols=2)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a PNG file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=DOTS_PER_INCH)

"""Writing a figure without a display and without touching pyplot's state."""

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

__all__ = ["BAND", "INK", "LINE", "MARK", "TRUTH", "new_figure", "write_figure"]

#: One palette for all figures (colour-blind safe, after Okabe and Ito).
INK, LINE, BAND, MARK, TRUTH = "#222222", "#0072B2", "#56B4E9", "#D55E00", "#009E73"
DOTS_PER_INCH = 150


def new_figure(width: float = 7.0, height: float = 4.2) -> Figure:
    """An empty figure with a tight layout."""
    return Figure(figsize=(width, height), layout="constrained")


def write_figure(figure: Figure, path: Path) -> None:
    """Write a PNG file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=DOTS_PER_INCH)

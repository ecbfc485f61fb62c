"""Stretches of a θ(x) figure that deserve less trust: not learnt from the data, or extrapolated.

What was not learnt comes from the fit's identifiability report, site by site; a site stands for the stretch of the
control that is nearer to it than to any other site. Methods that do not report it have extrapolation marked only.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

if TYPE_CHECKING:
    from ..result import Calibration, Prediction

__all__ = ["mark_stretches", "psi_note"]

#: Light bands behind everything else: hatched where not learnt, plain where extrapolated.
NOT_LEARNT: dict[str, Any] = {
    "facecolor": "0.98",
    "edgecolor": "0.85",
    "hatch": "///",
    "lw": 0.0,
    "zorder": 0,
}
TRADES_OFF: dict[str, Any] = {**NOT_LEARNT, "hatch": "\\\\\\"}
EXTRAPOLATED: dict[str, Any] = {"facecolor": "0.92", "edgecolor": "none", "lw": 0.0, "zorder": -1}


def mark_stretches(axis: Axes, calibration: "Calibration", curve: "Prediction", name: str) -> None:
    """Shade where θ_name(x) was not learnt, trades off with a ψ, or is extrapolated, with legend entries.

    Parameters
    ----------
    axis
        Over the control where there is one, else over the numbers of the sites from 1.
    calibration
    curve
        What the panel shows: at a grid of the control, or at the sites.
    name
        The functional variable of the panel.
    """
    for sites, label, style in _site_marks(calibration, name):
        for first, last in _site_spans(calibration, curve, sites):
            axis.axvspan(first, last, label=label, **style)
            label = "_nolegend_"
    spans, label = _extrapolated(calibration, curve)
    for first, last in spans:
        axis.axvspan(first, last, label=label, **EXTRAPOLATED)
        label = "_nolegend_"


def psi_note(calibration: "Calibration") -> str:
    """Which ψ were not learnt, as the end of a title; empty where all were."""
    found = _report(calibration).get("psi", {})
    names = [name for name, values in found.items() if not values["learnt"]]
    return f"; {', '.join(names)} not learnt" if names else ""


def _report(calibration: "Calibration") -> dict[str, Any]:
    found: dict[str, Any] = calibration.fit.report.get("identifiability", {})
    return found


def _site_marks(calibration: "Calibration", name: str) -> list[tuple[list[int], str, dict[str, Any]]]:
    """Sites to mark with their label and style; a site that was not learnt at all is not marked twice."""
    report = _report(calibration)
    lost = list(report.get("theta", {}).get(name, {}).get("not_learnt_sites", []))
    marks = [(lost, "not learnt here", NOT_LEARNT)]
    for ridge in report.get("flat_directions", []):
        if ridge["functional"] == name:
            rest = [site for site in ridge["sites"] if site not in lost]
            marks.append((rest, f"not learnt here on its own: trades off with {ridge['global']}", TRADES_OFF))
    return marks


def _site_spans(
    calibration: "Calibration", curve: "Prediction", sites: list[int]
) -> list[tuple[float, float]]:
    """Intervals of the horizontal axis that these sites stand for, neighbours joined."""
    problem = calibration.problem
    if problem.num_controls == 1:
        x, shown = problem.physical.control[:, 0], curve.controls.iloc[:, 0]
        order = np.argsort(x)
        middles = 0.5 * (x[order][1:] + x[order][:-1])
        edges = np.concatenate([[shown.min()], middles, [shown.max()]])
    else:
        order, edges = np.arange(problem.num_sites), np.arange(problem.num_sites + 1) + 0.5
    return _joined(np.isin(order, sites), edges)


def _joined(marked: np.ndarray, edges: np.ndarray) -> list[tuple[float, float]]:
    """Intervals between edges, (k + 1,), whose mark, (k,), is set; adjoining ones as one."""
    steps = np.diff(np.concatenate([[0], marked.astype(int), [0]]))
    return [
        (float(edges[first]), float(edges[last]))
        for first, last in zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True)
    ]


def _extrapolated(calibration: "Calibration", curve: "Prediction") -> tuple[list[tuple[float, float]], str]:
    """Intervals beyond the runs or, where there is one control, beyond the outermost sites; and their label."""
    problem = calibration.problem
    beyond_runs = np.asarray(curve.outside_runs)
    beyond_sites = np.zeros(len(curve), dtype=bool)
    edges = np.arange(len(curve) + 1) + 0.5
    if problem.num_controls == 1:
        x, sites = curve.controls.iloc[:, 0].to_numpy(), problem.physical.control[:, 0]
        beyond_sites = (x < sites.min()) | (x > sites.max())
        # each point of the curve stands for what lies nearer to it than to its neighbours
        edges = np.concatenate([x[:1], 0.5 * (x[1:] + x[:-1]), x[-1:]])
    named = [name for name, found in (("runs", beyond_runs), ("sites", beyond_sites)) if found.any()]
    return _joined(beyond_runs | beyond_sites, edges), f"extrapolated: beyond the {' or '.join(named)}"

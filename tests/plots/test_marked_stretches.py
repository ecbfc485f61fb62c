"""What was not learnt, or is extrapolated, shows in the figures of θ(x)."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import funcal
from funcal.plots.calibration_curves import plot_calibration_curves
from funcal.plots.result_figures import result_figures


def with_report(calibration: funcal.Calibration, **found: Any) -> funcal.Calibration:
    """The calibration with another identifiability report."""
    report = {**calibration.fit.report, "identifiability": found}
    return replace(calibration, fit=replace(calibration.fit, report=report))


def bands(axis: Any) -> dict[str, list[tuple[float, float]]]:
    """Shaded stretches of a panel by the label of their kind, from left to right."""
    kinds: dict[str, list[tuple[float, float]]] = {}
    label = ""
    for patch in axis.patches:
        if not patch.get_label().startswith("_"):
            label = patch.get_label()
        box = patch.get_extents().transformed(axis.transData.inverted())
        kinds.setdefault(label, []).append((box.x0, box.x1))
    return kinds


@pytest.fixture
def one_control(problem_one: funcal.CalibrationProblem) -> funcal.Calibration:
    """Problem 1 (sites 0.5, 1.5, …, 5.5; runs at the sites) by an estimator that takes no time."""
    return funcal.calibrate(problem_one, "constant", seed=1)


def panel(calibration: funcal.Calibration) -> Any:
    """The panel of θ(x) among the figures of a fit."""
    at_sites = calibration.predict(calibration.problem.physical.control)
    return result_figures(calibration, at_sites)["calibration"].axes[0]


def test_nothing_to_mark(one_control: funcal.Calibration) -> None:
    """Everything learnt, nothing extrapolated: no band, with a report and without."""
    assert bands(panel(one_control)) == {}
    learnt = with_report(one_control, theta={"theta": {"not_learnt_sites": []}}, psi={}, flat_directions=[])
    assert bands(panel(learnt)) == {}


def test_stretches_of_neighbouring_sites_are_joined(one_control: funcal.Calibration) -> None:
    """Sites 2, 3 and 6 of six: from half-way to the neighbours, and to the end of the curve; one legend entry."""
    axis = panel(with_report(one_control, theta={"theta": {"not_learnt_sites": [1, 2, 5]}}))
    found = bands(axis)
    assert list(found) == ["not learnt here"]
    np.testing.assert_allclose(found["not learnt here"], [(1.0, 3.0), (5.0, 5.5)])
    assert all(patch.get_hatch() for patch in axis.patches)
    words = [text.get_text() for text in axis.get_legend().get_texts()]
    assert words.count("not learnt here") == 1


def test_a_ridge_has_a_band_of_its_own(one_control: funcal.Calibration) -> None:
    """Sites that trade off with ψ have a band of their own, without those not learnt at all; the title names ψ."""
    ridge = {"functional": "theta", "global": "psi", "sites": [3, 4, 5]}
    other = {"functional": "another", "global": "psi", "sites": [0]}
    axis = panel(
        with_report(
            one_control,
            theta={"theta": {"not_learnt_sites": [5]}},
            psi={"psi": {"learnt": False}},
            flat_directions=[ridge, other],
        )
    )
    found = bands(axis)
    np.testing.assert_allclose(found["not learnt here"], [(5.0, 5.5)])
    np.testing.assert_allclose(found["not learnt here on its own: trades off with psi"], [(3.0, 5.0)])
    assert "psi not learnt" in axis.get_title(loc="left")


def test_extrapolation_is_marked(one_control: funcal.Calibration) -> None:
    """Beyond the sites and the runs at both ends, and nowhere else."""
    curve = one_control.predict(np.linspace(-1.0, 7.0, 801))
    axis = plot_calibration_curves(one_control, curve).axes[0]
    found = bands(axis)
    assert list(found) == ["extrapolated: beyond the runs or sites"]
    np.testing.assert_allclose(next(iter(found.values())), [(-1.0, 0.5), (5.5, 7.0)], atol=0.011)


def test_runs_wider_than_the_sites(problem_one_tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """The curve goes to the end of the runs; what lies beyond the last site is said to."""
    physical, runs = problem_one_tables
    problem = funcal.CalibrationProblem.from_tables(
        physical.iloc[:-2], runs, control="x", functional="theta", response="y"
    )
    found = bands(panel(funcal.calibrate(problem, "constant", seed=1)))
    assert list(found) == ["extrapolated: beyond the sites"]
    np.testing.assert_allclose(next(iter(found.values())), [(3.5, 5.5)], atol=0.06)


def test_several_controls_are_marked_site_by_site() -> None:
    """With two controls the axis counts sites, and so do the bands."""
    rng = np.random.default_rng(2)
    grid = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 0.5, 1.0)])
    runs = pd.DataFrame(np.repeat(grid, 5, axis=0), columns=["a", "b"]).assign(t=rng.random(30))
    runs["y"] = runs.a + runs.t
    physical = pd.DataFrame(grid, columns=["a", "b"]).assign(y=grid[:, 0] + 0.5)
    problem = funcal.CalibrationProblem.from_tables(
        physical, runs, control=["a", "b"], functional="t", response="y"
    )
    calibration = funcal.calibrate(problem, "constant", seed=1)
    axis = panel(with_report(calibration, theta={"t": {"not_learnt_sites": [0, 3, 4]}}))
    np.testing.assert_allclose(bands(axis)["not learnt here"], [(0.5, 1.5), (3.5, 5.5)])
    assert axis.get_xlim() == (0.5, 6.5)

"""The two plain answers, on leave-one-out densities whose answer is known."""

import numpy as np
import pytest

from funcal.joint.member_weights import LeaveOneOut, exact_leave_one_out
from funcal.joint.verdicts import simulator_helps, theta_varies

SITES = 12
#: Differences over the sites with standard deviation one: a total of `gain` has a standard error of √12 · 1.04.
WIGGLE = np.tile([1.0, -1.0], SITES // 2)


def scores(gain: float, wiggle: float) -> dict[str, object]:
    """A calibrated member ahead of the straight line by `gain` in all, give or take `wiggle` at each site."""
    base = np.full(SITES, -1.0)
    return {
        "varying": exact_leave_one_out(base + gain / SITES + wiggle * WIGGLE),
        "constant": exact_leave_one_out(base),
        "linear": exact_leave_one_out(base),
    }


@pytest.mark.parametrize(
    ("gain", "wiggle", "answer"),
    [
        (5.0, 0.3, "yes"),
        (5.0, 3.0, "unclear"),
        (0.5, 0.01, "unclear"),
        (-1.1, 0.4, "unclear"),
        (-5.0, 0.3, "no"),
    ],
)
def test_computer_model_helps(gain: float, wiggle: float, answer: str) -> None:
    """Yes and no need more than a standard error and more than one unit of log density."""
    members = {name: score for name, score in scores(gain, wiggle).items() if name != "constant"}
    stacking = {"varying": 0.9, "linear": 0.1}
    verdict = simulator_helps(members, ("gp", "linear"), stacking, stacking, 0.0)  # type: ignore[arg-type]
    assert verdict["answer"] == answer
    assert verdict["evidence"]["elpd_gain"] == pytest.approx(gain)


@pytest.mark.parametrize(
    ("gain", "spread", "answer"),
    [(5.0, 0.4, "yes"), (0.2, 0.4, "yes"), (-0.2, 0.4, "unclear"), (0.2, 0.01, "no"), (-5.0, 0.4, "no")],
)
def test_theta_varies(gain: float, spread: float, answer: str) -> None:
    """Leave-one-out decides, and where it is close the posterior of the range of θ over the sites."""
    values = np.linspace(0.3, 0.3 + spread, SITES)[None, :, None] * np.ones((50, 1, 1))
    assert theta_varies(scores(gain, 0.1), values, "")["answer"] == answer  # type: ignore[arg-type]


def test_rough_leave_one_out_is_said() -> None:
    """Where importance sampling is doubtful the evidence says at how many sites; elsewhere it says nothing."""
    members = scores(5.0, 0.1)
    values = np.linspace(0.3, 0.7, SITES)[None, :, None] * np.ones((50, 1, 1))
    assert "rough" not in theta_varies(members, values, "")["evidence"]["words"]  # type: ignore[arg-type]
    rough = members["varying"].log_density  # type: ignore[attr-defined]
    members["varying"] = LeaveOneOut(rough, np.r_[0.9, 1.2, np.zeros(SITES - 2)])
    words = theta_varies(members, values, "")["evidence"]["words"]  # type: ignore[arg-type]
    assert "rough at 2 of 12 sites (Pareto k up to 1.2)" in words

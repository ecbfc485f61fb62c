"""Stacking weights against ArviZ; the weights of a prediction."""

import warnings

import numpy as np
import pytest

from funcal.joint.member_weights import (
    LeaveOneOut,
    exact_leave_one_out,
    need_of_discrepancy,
    prediction_weights,
    psis_leave_one_out,
    stacking_weights,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import arviz


def test_weights_are_arviz(rng: np.random.Generator) -> None:
    """Bare stacking weights equal ArviZ's on the same pointwise densities."""
    densities = {
        name: shift + 0.3 * rng.standard_normal((400, 25)) * np.array([[1.0]]) + 0.5 * rng.standard_normal(25)
        for name, shift in (("a", 0.0), ("b", -0.1), ("c", -1.0))
    }
    scores = {name: psis_leave_one_out(values, 4) for name, values in densities.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = {
            name: arviz.from_dict(
                posterior={"u": values.reshape(4, 100, 25)[..., 0]},
                log_likelihood={"y": values.reshape(4, 100, 25)},
            )
            for name, values in densities.items()
        }
        expected = arviz.compare(data, method="stacking", ic="loo")["weight"]
    weights = stacking_weights(scores)
    for name, weight in weights.items():
        assert weight == pytest.approx(expected[name], abs=0.01)


def test_the_better_member_takes_the_weight() -> None:
    """Where one member is better at every site, it has all the weight."""
    scores = {
        "better": exact_leave_one_out(np.full(5, 0.0)),
        "worse": exact_leave_one_out(np.full(5, -0.5)),
    }
    assert stacking_weights(scores)["better"] == pytest.approx(1.0, abs=1e-6)


PLAIN = ("gp", "linear")


def test_a_model_in_need_of_a_discrepancy_has_the_burden_of_proof() -> None:
    """Where it needs δ, the process on the measurements predicts alone unless it is clearly beaten."""
    scores = {
        "varying": exact_leave_one_out(np.full(4, -1.2)),
        "varying+discrepancy": exact_leave_one_out(np.array([-0.4, -1.2, -0.8, -0.8])),
        "gp": exact_leave_one_out(np.full(4, -0.9)),
        "linear": exact_leave_one_out(np.full(4, -0.8)),
    }
    alone = {"varying": 0.0, "varying+discrepancy": 0.0, "gp": 1.0, "linear": 0.0}
    assert prediction_weights(scores, PLAIN, need=0.3) == alone
    assert prediction_weights(scores, PLAIN, need=0.0)["varying+discrepancy"] > 0.3
    scores["gp"] = exact_leave_one_out(np.full(4, -1.5))
    assert prediction_weights(scores, PLAIN, need=0.3)["varying+discrepancy"] > 0.5


def close_scores(physical: float) -> dict[str, LeaveOneOut]:
    """Calibrated members with elpd -2, -3 and -1.96, and a physical process with `physical`."""
    return {
        "varying": exact_leave_one_out(np.array([-0.5, -0.4, -0.6, -0.5])),
        "constant": exact_leave_one_out(np.array([-0.7, -0.8, -0.7, -0.8])),
        "varying+discrepancy": exact_leave_one_out(np.full(4, -0.49)),
        "gp": exact_leave_one_out(np.full(4, physical / 4)),
        "linear": exact_leave_one_out(np.full(4, -0.4)),
    }


@pytest.mark.parametrize("physical", [0.5, -5.0])
def test_clear_winners_are_weighed_by_their_density(physical: float) -> None:
    """Where one side wins clearly the weights are those of exp(elpd), and the line has none of its own."""
    weights = prediction_weights(close_scores(physical), PLAIN, need=0.0)
    unnormalised = np.exp([-2.0, -3.0, -1.96, physical])
    expected = unnormalised / unnormalised.sum()
    assert list(weights.values())[:4] == pytest.approx(expected.tolist())
    assert weights["linear"] == 0.0


@pytest.mark.parametrize("physical", [-0.5, -3.5])
def test_undecided_sides_share(physical: float) -> None:
    """Where no side wins clearly the process has a third, and the calibrated members the rest by exp(elpd)."""
    weights = prediction_weights(close_scores(physical), PLAIN, need=0.0)
    unnormalised = np.exp([-2.0, -3.0, -1.96])
    expected = 2.0 / 3.0 * unnormalised / unnormalised.sum()
    assert list(weights.values())[:3] == pytest.approx(expected.tolist())
    assert weights["gp"] == pytest.approx(1.0 / 3.0)
    assert weights["linear"] == 0.0


def test_the_need_of_a_discrepancy_compares_the_closest_fits() -> None:
    """It is the logarithm of how much closer the closest fit with δ is than the closest without."""
    misfits = {"varying": 1.0, "constant": 2.0, "varying+discrepancy": 0.95, "constant+discrepancy": 0.8}
    assert need_of_discrepancy(misfits) == pytest.approx(np.log(1.0 / 0.8))
    assert need_of_discrepancy({**misfits, "constant": 0.8}) == pytest.approx(0.0)

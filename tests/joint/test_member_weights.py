"""Stacking weights against ArviZ; the weights of a prediction."""

import warnings

import numpy as np
import pytest
from scipy.special import expit

from funcal.joint.member_weights import (
    LeaveOneOut,
    clear_gain,
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


def scores(**elpd: float) -> dict[str, LeaveOneOut]:
    """Members with these elpd over nine sites, where a clear win is one by 1.8."""
    return {name: exact_leave_one_out(np.full(9, value / 9)) for name, value in elpd.items()}


CALIBRATED = {"varying": -2.0, "constant": -3.0, "varying+discrepancy": -1.9}
BY_DENSITY = np.exp(np.array(list(CALIBRATED.values())) / 2)
BY_DENSITY /= BY_DENSITY.sum()


def test_a_clear_gain_grows_with_the_root_of_the_sites() -> None:
    """Noise of a sum of so many terms."""
    assert clear_gain(9) == pytest.approx(1.8)
    assert clear_gain(36) == pytest.approx(2.0 * clear_gain(9))


@pytest.mark.parametrize(("physical", "share"), [(-2.5, 0.0), (-3.65, 0.0), (-3.75, expit(1.85))])
def test_a_model_in_need_of_a_discrepancy_has_the_burden_of_proof(physical: float, share: float) -> None:
    """Where it needs δ, the process on the measurements predicts alone unless it is clearly beaten."""
    weights = prediction_weights(scores(**CALIBRATED, gp=physical, linear=-9.0), PLAIN, need=0.3)
    assert list(weights.values()) == pytest.approx([*(share * BY_DENSITY), 1.0 - share, 0.0])


@pytest.mark.parametrize("physical", [1.0, -5.0])
def test_clear_winners_are_weighed_by_their_density(physical: float) -> None:
    """Where one side wins clearly, the sides are weighed by the exp(elpd) of their best."""
    weights = prediction_weights(scores(**CALIBRATED, gp=physical, linear=-9.0), PLAIN, need=0.0)
    share = expit(-1.9 - physical)
    assert list(weights.values()) == pytest.approx([*(share * BY_DENSITY), 1.0 - share, 0.0])


@pytest.mark.parametrize("physical", [-0.2, -3.6])
def test_undecided_sides_share(physical: float) -> None:
    """Where no side wins clearly the calibrated members have three fifths, shared by exp(elpd / 2)."""
    weights = prediction_weights(scores(**CALIBRATED, gp=physical, linear=-9.0), PLAIN, need=0.0)
    assert list(weights.values()) == pytest.approx([*(0.6 * BY_DENSITY), 0.4, 0.0])


@pytest.mark.parametrize(
    ("physical", "share"), [(-0.2, 0.0), (-3.6, 0.0), (-3.8, expit(1.9))], ids=["behind", "ahead", "wins"]
)
def test_beyond_the_runs_an_undecided_model_does_not_predict(physical: float, share: float) -> None:
    """Outside the range of the runs the plain members predict alone unless the computer model wins clearly."""
    compared = scores(**CALIBRATED, gp=physical, linear=-9.0)
    weights = prediction_weights(compared, PLAIN, need=0.0, beyond_runs=True)
    assert list(weights.values()) == pytest.approx([*(share * BY_DENSITY), 1.0 - share, 0.0])
    within = prediction_weights(compared, PLAIN, need=0.0)
    assert (weights == within) == (share > 0.0)


@pytest.mark.parametrize(
    ("line", "parts"), [(-3.7, (0.5, 0.5)), (-0.3, (0.5, 0.5)), (-3.9, (1.0, 0.0)), (-0.1, (0.0, 1.0))]
)
def test_plain_members_predict_in_equal_parts_unless_one_loses(
    line: float, parts: tuple[float, float]
) -> None:
    """The process with elpd -2 and the line: leave-one-out must decide before either is left out."""
    weights = prediction_weights(scores(**CALIBRATED, gp=-2.0, linear=line), PLAIN, need=0.3)
    assert (weights["gp"], weights["linear"]) == pytest.approx(parts)


def test_without_a_line_the_process_predicts() -> None:
    """Too few sites for a straight line: it is not among the members."""
    weights = prediction_weights(scores(**CALIBRATED, gp=-2.0), PLAIN, need=0.3)
    assert weights == {**dict.fromkeys(CALIBRATED, 0.0), "gp": 1.0}


def test_the_need_of_a_discrepancy_compares_the_closest_fits() -> None:
    """It is the logarithm of how much closer the closest fit with δ is than the closest without."""
    misfits = {"varying": 1.0, "constant": 2.0, "varying+discrepancy": 0.95, "constant+discrepancy": 0.8}
    assert need_of_discrepancy(misfits) == pytest.approx(np.log(1.0 / 0.8))
    assert need_of_discrepancy({**misfits, "constant": 0.8}) == pytest.approx(0.0)

"""Stacking weights against ArviZ; the weights of a prediction."""

import warnings

import numpy as np
import pytest

from funcal.joint.member_weights import (
    exact_leave_one_out,
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


def test_plain_members_predict_unless_beaten() -> None:
    """A calibrated member that is no better than the plain mixture has no weight; the plain ones share."""
    scores = {
        "varying": exact_leave_one_out(np.array([-1.0, -1.2, -0.8, -1.0])),
        "gp": exact_leave_one_out(np.full(4, -0.9)),
        "linear": exact_leave_one_out(np.full(4, -0.9)),
    }
    assert prediction_weights(scores, PLAIN) == {"varying": 0.0, "gp": 0.5, "linear": 0.5}


def test_a_better_calibrated_member_is_weighed_by_its_density() -> None:
    """Beyond the burden of proof the weights are those of exp(elpd), the plain mixture counting once."""
    scores = {
        "varying": exact_leave_one_out(np.array([-0.5, -0.4, -0.6, -0.5])),
        "constant": exact_leave_one_out(np.array([-0.7, -0.8, -0.7, -0.8])),
        "gp": exact_leave_one_out(np.full(4, -1.0)),
        "linear": exact_leave_one_out(np.full(4, -1.0)),
    }
    weights = prediction_weights(scores, PLAIN)
    unnormalised = np.exp([-2.0, -3.0, -4.0])
    expected = unnormalised / unnormalised.sum()
    assert [weights["varying"], weights["constant"], 2.0 * weights["gp"]] == pytest.approx(expected.tolist())
    assert weights["gp"] == weights["linear"]

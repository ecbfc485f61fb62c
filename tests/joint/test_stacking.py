"""Stacking weights against ArviZ."""

import warnings

import numpy as np
import pytest

from funcal.joint.stacking import exact_leave_one_out, psis_leave_one_out, stacking_weights

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

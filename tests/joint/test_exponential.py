"""Exponentials of a vector against the library's, in extended precision."""

import numpy as np
import pytest

from funcal.joint.exponential import exponentiate


@pytest.mark.parametrize("size", [1, 3, 16, 47, 2001])
def test_within_two_units_in_the_last_place(size: int, rng: np.random.Generator) -> None:
    """Over the range of normal floats, at any length, whatever part of it the vector instructions leave over."""
    values = np.concatenate([[0.0], rng.uniform(-700.0, 700.0, size), rng.normal(0.0, 1.0, size)])
    expected = np.exp(values.astype(np.longdouble))
    found = values.copy()
    exponentiate(found)
    assert found[0] == 1.0
    assert np.max(np.abs(found / expected - 1.0)) < 2.0 * np.finfo(float).eps


def test_beyond_floats_it_stays_finite_and_nan_stays_nan() -> None:
    """Too small is next to nothing, too large the largest there is, and what is no number is not made one."""
    values = np.array([-1e5, -np.inf, 1e5, np.inf, np.nan])
    exponentiate(values)
    assert np.all(values[:2] < 1e-307)
    assert np.all(np.isfinite(values[2:4]))
    assert np.all(values[2:4] > 1e307)
    assert np.isnan(values[4])

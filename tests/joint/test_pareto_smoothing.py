"""Pareto-smoothed importance sampling against ArviZ."""

import warnings

import numpy as np
import pytest

from funcal.joint.member_weights import psis_leave_one_out

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import arviz


@pytest.mark.parametrize("num_chains", [1, 4])
def test_leave_one_out_is_arviz(rng: np.random.Generator, num_chains: int) -> None:
    """Densities and Pareto k equal ArviZ's, from light tails to hopeless ones."""
    densities = np.linspace(0.1, 3.0, 8) * rng.standard_t(4.0, (600, 8)) - 2.0
    shaped = densities.reshape(num_chains, -1, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = arviz.from_dict(posterior={"u": shaped[..., 0]}, log_likelihood={"y": shaped})
        expected = arviz.loo(data, pointwise=True)
    found = psis_leave_one_out(densities, num_chains)
    np.testing.assert_allclose(found.log_density, expected.loo_i.values, rtol=1e-9)
    np.testing.assert_allclose(found.pareto_k, expected.pareto_k.values, rtol=1e-9)


def test_a_tail_too_short_is_unreliable() -> None:
    """Equal densities have no tail: the density is theirs and Pareto k infinite, as in ArviZ."""
    found = psis_leave_one_out(np.full((40, 2), -1.5), 4)
    np.testing.assert_allclose(found.log_density, -1.5)
    assert np.all(np.isinf(found.pareto_k))

"""R-hat and effective sample size against ArviZ."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from funcal.mixing import bulk_ess, mean_ess, split_rhat, tail_ess

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import arviz


@pytest.fixture
def chains(rng: np.random.Generator) -> np.ndarray:
    """Four chains of 300 draws of three quantities: independent, slowly mixing, and one chain astray."""
    noise = rng.standard_normal((4, 300, 3))
    for t in range(1, 300):
        noise[:, t, 1] = 0.9 * noise[:, t - 1, 1] + 0.4 * noise[:, t, 1]
    noise[0, :, 2] += 1.0
    return noise


def test_rhat_is_arviz(chains: np.ndarray) -> None:
    """Split, rank-normalised and folded R-hat equals ArviZ's."""
    expected = [float(arviz.rhat(chains[:, :, q])) for q in range(3)]
    np.testing.assert_allclose(split_rhat(chains), expected, rtol=1e-9)


@pytest.mark.parametrize(("method", "ess"), [("bulk", bulk_ess), ("tail", tail_ess), ("mean", mean_ess)])
def test_ess_is_arviz(chains: np.ndarray, method: str, ess: Callable[[np.ndarray], np.ndarray]) -> None:
    """Effective sample sizes agree with ArviZ's within 2 %: the truncation of the sequence differs slightly."""
    expected = [float(arviz.ess(chains[:, :, q], method=method)) for q in range(3)]
    np.testing.assert_allclose(ess(chains), expected, rtol=0.02)


def test_a_quantity_that_never_moves(rng: np.random.Generator) -> None:
    """The same value everywhere is agreement; chains that stay at different values are none."""
    draws = rng.standard_normal((4, 100, 3))
    draws[..., 1] = 0.7
    draws[..., 2] = np.arange(4.0)[:, None]
    rhat, ess = split_rhat(draws), bulk_ess(draws)
    assert rhat[1] == 1.0
    assert ess[1] == 400.0
    assert rhat[2] > 100.0
    assert ess[2] < 10.0
    assert rhat[0] == pytest.approx(split_rhat(draws[..., :1])[0])

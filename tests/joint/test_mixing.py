"""R-hat and effective sample size against ArviZ."""

import warnings

import numpy as np
import pytest

from funcal.joint.mixing import bulk_ess, split_rhat

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


def test_ess_is_arviz(chains: np.ndarray) -> None:
    """Bulk effective sample size agrees with ArviZ's within 2 %: the truncation of the sequence differs slightly."""
    expected = [float(arviz.ess(chains[:, :, q], method="bulk")) for q in range(3)]
    np.testing.assert_allclose(bulk_ess(chains), expected, rtol=0.02)

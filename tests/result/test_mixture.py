"""Mixture moments and quantiles against SciPy and plain simulation."""

import numpy as np
import pytest
from scipy import stats

from funcal.result.mixture import mixture_moments, mixture_quantile


def test_one_component_is_a_normal_distribution() -> None:
    """Quantiles of a single component are SciPy's."""
    mean, variance = np.array([[1.0, -3.0]]), np.array([[4.0, 0.25]])
    for probability in (0.025, 0.5, 0.9):
        expected = stats.norm.ppf(probability, mean[0], np.sqrt(variance[0]))
        np.testing.assert_allclose(mixture_quantile(mean, variance, probability), expected, rtol=1e-10)


def test_the_quantile_solves_the_mixture_cdf(rng: np.random.Generator) -> None:
    """The CDF at the quantile is the probability, weights included."""
    mean, variance = rng.normal(size=(50, 3)), rng.gamma(1.0, size=(50, 3))
    weight = rng.uniform(size=50)
    quantile = mixture_quantile(mean, variance, 0.3, weight)
    cdf = (weight[:, None] * stats.norm.cdf(quantile, mean, np.sqrt(variance))).sum(axis=0) / weight.sum()
    np.testing.assert_allclose(cdf, 0.3, atol=1e-12)


def test_components_without_variance_give_the_empirical_quantile() -> None:
    """Zero variances reduce to a step function; the quantile lies on its step."""
    mean = np.arange(101.0)[:, None]
    assert mixture_quantile(mean, np.zeros_like(mean), 0.5)[0] == pytest.approx(50.0, abs=0.51)


def test_total_variance(rng: np.random.Generator) -> None:
    """Mean of variances plus variance of means; it does not shrink as components double (point 15)."""
    mean, variance = rng.normal(size=(40, 2)), rng.gamma(1.0, size=(40, 2))
    center, total = mixture_moments(mean, variance)
    np.testing.assert_allclose(center, mean.mean(axis=0))
    np.testing.assert_allclose(total, variance.mean(axis=0) + mean.var(axis=0))
    np.testing.assert_allclose(mixture_moments(np.tile(mean, (2, 1)), np.tile(variance, (2, 1)))[1], total)

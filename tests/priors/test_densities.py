"""Log densities against scipy.stats."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from funcal.priors import densities


@pytest.mark.parametrize("u", [-2.0, 0.3, 1.7])
def test_normal_is_scipys(u: float) -> None:
    """The log-normal prior of γ."""
    assert densities.normal_log_density(u, 0.5, 1.3) == pytest.approx(scipy.stats.norm.logpdf(u, 0.5, 1.3))


@pytest.mark.parametrize("length", [1.01, 2.32, 10.7])
def test_the_papers_log_gamma_is_a_gamma_of_the_logarithm(length: float) -> None:
    """ℓ has the density of exp(Gamma(2, rate 2)), by change of variable from scipy's gamma."""
    u = math.log(length)
    of_length = densities.gamma_log_density(u, 2.0, 2.0) - u
    assert of_length == pytest.approx(scipy.stats.gamma.logpdf(u, 2.0, scale=0.5) - math.log(length))
    # the printed form: (1/ℓ) log(ℓ)^(α−1) exp(−β log ℓ), normalised by β^α / Γ(α) = 4
    assert of_length == pytest.approx(
        math.log(4.0 / length * math.log(length) * math.exp(-2.0 * math.log(length)))
    )


def test_the_papers_log_gamma_is_not_scipys() -> None:
    """The support is ℓ > 1; scipy's loggamma has the whole line."""
    assert densities.gamma_log_density(-0.1, 2.0, 2.0) == -math.inf
    assert np.isfinite(scipy.stats.loggamma.logpdf(-0.1, 2.0))


def test_median_of_the_papers_log_gamma() -> None:
    """Half of the prior mass lies below ℓ = 2.32."""
    mass, _ = scipy.integrate.quad(
        lambda u: math.exp(densities.gamma_log_density(u, 2.0, 2.0)), 0, math.log(2.32)
    )
    assert mass == pytest.approx(0.5, abs=2e-3)


@pytest.mark.parametrize("value", [0.01, 0.5, 4.0])
def test_inverse_gamma_is_scipys(value: float) -> None:
    """ν² and τ²."""
    expected = scipy.stats.invgamma.logpdf(value, 2.1, scale=0.1)
    assert densities.inverse_gamma_log_density(value, 2.1, 0.1) == pytest.approx(expected)


@pytest.mark.parametrize("sd", [0.01, 0.3, 0.9])
def test_half_normal_of_the_sd_has_its_jacobian(sd: float) -> None:
    """The logarithm of σ² has the half-normal density of σ times dσ/d(ln σ²) = σ/2."""
    expected = scipy.stats.halfnorm.logpdf(sd, scale=0.3) + math.log(sd / 2.0)
    # scipy's half-normal integrates to one over σ > 0; ours too
    assert densities.half_normal_sd_log_density(2.0 * math.log(sd), 0.3) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("kind", "first", "second", "lower", "upper"),
    [
        (densities.NORMAL, 0.5, 1.0, -12, 12),
        (densities.GAMMA, 2.0, 2.0, 0, 40),
        (densities.UNIFORM, -3.0, 2.0, -3, 2),
        (densities.HALF_NORMAL_SD, 0.3, 0.0, -60, 6),
    ],
)
def test_every_kind_integrates_to_one(
    kind: int, first: float, second: float, lower: float, upper: float
) -> None:
    """Each density of ln(parameter) is proper."""
    grid = np.linspace(lower, upper, 200_001)[1:-1]
    values = [math.exp(densities.log_scale_density(float(kind), first, second, u)) for u in grid]
    assert np.trapezoid(values, grid) == pytest.approx(1.0, abs=1e-4)


def test_uniform_outside_its_bounds_is_impossible() -> None:
    """The truncated log-uniform prior has no mass beyond its bounds."""
    assert densities.uniform_log_density(2.1, -3.0, 2.0) == -math.inf
    assert densities.uniform_log_density(0.0, -3.0, 2.0) == pytest.approx(
        scipy.stats.uniform.logpdf(0.0, -3.0, 5.0)
    )

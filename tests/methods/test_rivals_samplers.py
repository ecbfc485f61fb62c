"""The compiled samplers of nbc and koh: priors in closed form, one-site posteriors by quadrature, negative controls."""

import numpy as np
import pytest
from scipy import stats

from funcal.methods import bayesian_gp_sampler, kennedy_ohagan_sampler

NUM_SITES = 4


def _nbc_draws(
    rng: np.random.Generator, weight: float, num_sweeps: int, num_sites: int = NUM_SITES
) -> np.ndarray:
    """Draws of nbc with one θ and one ψ on a made-up surrogate of six runs."""
    x = np.linspace(0, 1, num_sites)
    size = num_sites + 1 + 2 + 1
    state = np.zeros(size)
    steps = np.full(1 + 1 + 1 + num_sites + 1, 1.0)
    draws, accepted = np.empty((num_sweeps, size)), np.zeros(len(steps))
    t_runs = np.linspace(0.05, 0.95, 12).reshape(6, 2)
    weighted = np.tile(np.array([0.5, -1.0, 0.8, 1.2, -0.3, 0.4]), (num_sites, 1))
    bayesian_gp_sampler.advance_chain(
        rng, state, steps, accepted, draws, np.full(num_sites, 0.4), np.full(num_sites, weight),
        (x[:, None] - x[None]) ** 2, weighted, t_runs, np.array([2.0, 1.0]), 0.1, 1,
        np.array([8.0, 1 / 8.0, 2.0, 1.0, 1.0]), 0.0, 0.0, True,
    )  # fmt: skip
    return draws


@pytest.mark.statistical
def test_nbc_samples_its_prior_where_data_say_nothing(rng: np.random.Generator) -> None:
    """With weightless data: λ_θ ~ Gamma(2, 1), -log ρ ~ Exp(1), ψ ~ U(0, 1), √λ_θ η ~ N(0, 1).

    Four Kolmogorov–Smirnov tests on 2 000 draws thinned by 40, each at 1e-4: a false alarm in one of 2 500 runs.
    Negative controls: the same draws against neighbouring priors are rejected.
    """
    draws = _nbc_draws(rng, 1e-14, 80_000)[39::40]
    psi = 1 / (1 + np.exp(-draws[:, NUM_SITES]))
    rate, precision = np.exp(draws[:, NUM_SITES + 1]), np.exp(draws[:, NUM_SITES + 2])
    whitened = draws[:, 1] * np.sqrt(precision)
    for values, law in (
        (psi, stats.uniform()),
        (rate, stats.expon()),
        (precision, stats.gamma(2.0)),
        (whitened, stats.norm()),
    ):
        assert stats.kstest(values, law.cdf).pvalue > 1e-4
    assert stats.kstest(precision, stats.gamma(2.4).cdf).pvalue < 1e-4
    assert stats.kstest(psi, stats.beta(1.2, 1.2).cdf).pvalue < 1e-4


@pytest.mark.statistical
def test_nbc_posterior_of_one_site_by_quadrature(rng: np.random.Generator) -> None:
    """One site, noise known: E[t] and E[ψ] against integration over (η, ψ) with λ_θ integrated out.

    η has the prior of a t distribution with 4 degrees of freedom and scale 1/√2. Tolerance four Monte-Carlo errors
    (batch means): false-alarm rate about 1e-4. Negative control: the prior means differ by more than that.
    """
    draws = _nbc_draws(rng, 30.0, 60_000, num_sites=1)
    t, psi = 1 / (1 + np.exp(-draws[:, 0])), 1 / (1 + np.exp(-draws[:, 1]))
    eta_grid, psi_grid = np.linspace(-12, 12, 1201), (np.arange(400) + 0.5) / 400
    t_grid = 1 / (1 + np.exp(-eta_grid))
    t_runs = np.linspace(0.05, 0.95, 12).reshape(6, 2)
    weights = np.array([0.5, -1.0, 0.8, 1.2, -0.3, 0.4])
    exponent = 2.0 * (t_grid[:, None, None] - t_runs[:, 0]) ** 2 + (psi_grid[:, None] - t_runs[:, 1]) ** 2
    mean = 0.1 + np.exp(-exponent) @ weights
    density = stats.t(4, scale=np.sqrt(0.5)).pdf(eta_grid)[:, None] * np.exp(-0.5 * 30.0 * (0.4 - mean) ** 2)
    density /= density.sum()
    for sample, values in ((t, t_grid[:, None]), (psi, psi_grid[None, :])):
        expected = float((density * values).sum())
        batches = sample.reshape(60, -1).mean(axis=1)
        error = batches.std(ddof=1) / np.sqrt(60)
        assert abs(sample.mean() - expected) < 4 * error
        assert abs(0.5 - expected) > 4 * error


@pytest.mark.statistical
def test_koh_samples_its_prior_where_data_say_nothing(rng: np.random.Generator) -> None:
    """With weightless data: t ~ U(0, 1) and normal priors on the log hyper-parameters.

    Four Kolmogorov–Smirnov tests on 2 000 thinned draws, each at 1e-4. Negative control: a shifted prior is rejected.
    """
    x = np.linspace(0, 1, 3)
    runs = rng.uniform(size=(5, 1))
    state, steps = np.array([0.0, -2.0, -4.0, 0.5]), np.array([3.0, 3.0, 3.0, 2.0])
    draws, accepted = np.empty((60_000, 4)), np.zeros(4)
    site_site = np.exp(-((x[:, None] - x[None]) ** 2))
    run_site = np.exp(-((runs - x[None]) ** 2))
    kennedy_ohagan_sampler.advance_chain(
        rng, state, steps, accepted, draws, np.zeros(3), np.full(3, 1e-14), ((x[:, None] - x[None]) ** 2)[None],
        run_site, site_site, np.tril(0.1 * np.ones((5, 5))), rng.standard_normal(5), runs, np.array([1.0]),
        np.array([0.0, 1.0]), np.array([[-2.0, 1.5], [-4.0, 1.5], [0.5, 1.0]]), 0.0, 0.0, True,
    )  # fmt: skip
    thinned = draws[29::30]
    t = 1 / (1 + np.exp(-thinned[:, 0]))
    assert stats.kstest(t, stats.uniform().cdf).pvalue > 1e-4
    for column, law in ((1, stats.norm(-2, 1.5)), (2, stats.norm(-4, 1.5)), (3, stats.norm(0.5, 1.0))):
        assert stats.kstest(thinned[:, column], law.cdf).pvalue > 1e-4
    assert stats.kstest(thinned[:, 3], stats.norm(0.7, 1.0).cdf).pvalue < 1e-4


def test_koh_log_posterior_equals_scipys_normal_density(rng: np.random.Generator) -> None:
    """The likelihood part: V + σ_δ²R_δ + σ²/a, through scipy, as differences between two states."""
    x = rng.uniform(size=(5, 2))
    squared = np.moveaxis((x[:, None] - x[None]) ** 2, -1, 0).copy()
    root = rng.standard_normal((5, 5))
    covariance, mean, y = 0.1 * root @ root.T, rng.standard_normal(5), rng.standard_normal(5)
    weights = np.array([1.0, 2.0, 3.0, 1.0, 5.0])
    priors = np.array([[-2.0, 1.5], [-4.0, 1.5], [0.5, 1.0]])

    def ours(state: np.ndarray) -> float:
        return kennedy_ohagan_sampler._log_posterior(
            state,
            1,
            y,
            weights,
            squared,
            mean,
            covariance,
            priors,
            0.7,
            3.0,
            False,
            np.empty((5, 5)),
            np.empty(5),
        )

    def oracle(state: np.ndarray) -> float:
        logit, bias, noise, rates = state[0], np.exp(state[1]), np.exp(state[2]), np.exp(state[3:])
        matrix = (
            covariance + bias * np.exp(-np.einsum("kij,k->ij", squared, rates)) + np.diag(noise / weights)
        )
        value = stats.multivariate_normal.logpdf(y, mean, matrix) - 1.5 * np.log(noise) - 0.35 / noise
        value += stats.logistic.logpdf(logit)
        return value + sum(stats.norm.logpdf(entry, *priors[min(k, 2)]) for k, entry in enumerate(state[1:]))

    one, two = rng.normal(-0.5, 0.5, 5), rng.normal(-0.5, 0.5, 5)
    assert ours(one) - ours(two) == pytest.approx(oracle(one) - oracle(two), abs=1e-6)

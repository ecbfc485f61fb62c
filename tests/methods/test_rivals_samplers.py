"""The compiled samplers of nbc and koh.

Oracles: priors in closed form, a one-site posterior by quadrature, posteriors by importance sampling from the prior,
scipy's normal density; with negative controls.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import funcal
from funcal.methods import bayesian_gp_sampler, kennedy_ohagan_sampler
from funcal.methods.bayesian_gp_coordinates import JITTER, Pilot
from funcal.methods.surrogate_chains import AdaptiveWalk
from funcal.methods.surrogate_compiled import SiteSurrogate
from funcal.testbed import get_problem

NUM_SITES = 4
T_RUNS = np.linspace(0.05, 0.95, 12).reshape(6, 2)
RUN_WEIGHTS = np.array([0.5, -1.0, 0.8, 1.2, -0.3, 0.4])
T_RATES = np.array([2.0, 1.0])
KOH_PRIORS = np.array([[-2.0, 1.5], [-4.0, 1.5], [0.5, 1.0]])


def _nbc_model(weight: float, num_sites: int, noise_known: bool) -> bayesian_gp_sampler.SiteModel:
    """One θ and one ψ on a made-up surrogate of six runs."""
    x = np.linspace(0, 1, num_sites)
    surrogate = SiteSurrogate(
        np.empty((num_sites, 0)),
        np.zeros(2, np.int64),
        np.tile(RUN_WEIGHTS, (num_sites, 1)),
        T_RUNS,
        T_RATES,
        0.1,
    )
    return bayesian_gp_sampler.SiteModel(
        y=np.linspace(0.4, 0.9, num_sites),
        weights=np.full(num_sites, weight),
        squared=(x[:, None] - x[None]) ** 2,
        surrogate=surrogate,
        num_functional=1,
        priors=np.array([8.0, 1 / 8.0, 2.0, 1.0, 1.0]),
        within_ss=0.05,
        within_dof=2.0,
        noise_known=noise_known,
    )


def _nbc_draws(rng: np.random.Generator, model: bayesian_gp_sampler.SiteModel, num_sweeps: int) -> np.ndarray:
    """Draws with a walk of fixed size and a made-up pilot, which must not matter to where they go."""
    num_sites = len(model.y)
    state = np.zeros(num_sites + 1 + 2 + 1)
    pilot = Pilot(np.full(num_sites, 0.2), np.tile([0.3, -0.2], (num_sites, 1)), np.full(num_sites, 0.02))
    draws, means = np.empty((num_sweeps, len(state))), np.empty((num_sweeps, num_sites))
    walk = AdaptiveWalk(3, fixed=(2,) if model.noise_known else ())
    bayesian_gp_sampler.advance_chain(rng, state, walk.factor, pilot, model, draws, means)
    return draws


def _made_up_mean(t: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """The made-up surrogate, written out again."""
    exponent = 2.0 * (t[..., None] - T_RUNS[:, 0]) ** 2 + (psi[..., None] - T_RUNS[:, 1]) ** 2
    return 0.1 + np.exp(-exponent) @ RUN_WEIGHTS


def _batch_error(sample: np.ndarray) -> float:
    """Monte-Carlo error of a chain's mean by 60 batch means."""
    return float(sample.reshape(60, -1).mean(axis=1).std(ddof=1) / np.sqrt(60))


@pytest.mark.statistical
def test_nbc_samples_its_prior_where_data_say_nothing(rng: np.random.Generator) -> None:
    """With weightless data: λ_θ ~ Gamma(2, 1), -log ρ ~ Exp(1), ψ ~ U(0, 1), √λ_θ η ~ N(0, 1).

    Four Kolmogorov–Smirnov tests on 2 000 draws thinned by 20, each at 1e-4: a false alarm in one of 2 500 runs.
    Negative controls: the same draws against neighbouring priors are rejected.
    """
    draws = _nbc_draws(rng, _nbc_model(1e-14, NUM_SITES, True), 40_000)[19::20]
    psi = stats.norm.cdf(draws[:, NUM_SITES])
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
    assert stats.kstest(psi, stats.beta(1.5, 1.5).cdf).pvalue < 1e-4


@pytest.mark.statistical
def test_nbc_posterior_of_one_site_by_quadrature(rng: np.random.Generator) -> None:
    """One site, noise known: E[t] and E[ψ] against integration over (η, ψ) with λ_θ integrated out.

    η has the prior of a t distribution with 4 degrees of freedom and scale 1/√2. Tolerance four Monte-Carlo errors
    (batch means): false-alarm rate about 1e-4. Negative control: the prior means differ by more than that.
    """
    draws = _nbc_draws(rng, _nbc_model(30.0, 1, True), 30_000)
    t, psi = 1 / (1 + np.exp(-draws[:, 0])), stats.norm.cdf(draws[:, 1])
    eta_grid, psi_grid = np.linspace(-12, 12, 1201), (np.arange(400) + 0.5) / 400
    t_grid = 1 / (1 + np.exp(-eta_grid))
    mean = _made_up_mean(t_grid[:, None], psi_grid[None, :])
    density = stats.t(4, scale=np.sqrt(0.5)).pdf(eta_grid)[:, None] * np.exp(-0.5 * 30.0 * (0.4 - mean) ** 2)
    density /= density.sum()
    for sample, values in ((t, t_grid[:, None]), (psi, psi_grid[None, :])):
        expected = float((density * values).sum())
        assert abs(sample.mean() - expected) < 4 * _batch_error(sample)
        assert abs(0.5 - expected) > 4 * _batch_error(sample)


@pytest.mark.statistical
def test_nbc_posterior_of_three_sites_by_importance_sampling(rng: np.random.Generator) -> None:
    """Noise unknown, replicates: means of t, ψ, ν, log λ_θ and log λ_y against 400 000 weighted prior draws.

    Tolerance four errors of both estimates together: false-alarm rate about 4e-4 for six numbers. Negative control: the
    prior mean of log λ_y is rejected.
    """
    model = _nbc_model(1.0, 3, False)
    draws = _nbc_draws(rng, model, 30_000)
    count = 400_000
    nu, precision = np.log(rng.exponential(size=count)), rng.gamma(2.0, 1.0, count)
    noise, psi = rng.gamma(8.0, 8.0, count), rng.uniform(size=count)
    correlation = np.exp(-np.exp(nu)[:, None, None] * model.squared) + JITTER * np.eye(3)
    eta = np.einsum("bij,bj->bi", np.linalg.cholesky(correlation), rng.standard_normal((count, 3)))
    t = 1 / (1 + np.exp(-eta / np.sqrt(precision)[:, None]))
    residual_ss = ((model.y - _made_up_mean(t, psi[:, None])) ** 2).sum(axis=1) + model.within_ss
    log_weight = 0.5 * (3 + model.within_dof) * np.log(noise) - 0.5 * noise * residual_ss
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    sampled = (
        1 / (1 + np.exp(-draws[:, 0])),
        1 / (1 + np.exp(-draws[:, 2])),
        stats.norm.cdf(draws[:, 3]),
        draws[:, 4],
        draws[:, 5],
        draws[:, 6],
    )
    weighted = (t[:, 0], t[:, 2], psi, nu, np.log(precision), np.log(noise))
    for ours, theirs in zip(sampled, weighted, strict=True):
        expected = float(weight @ theirs)
        error = np.hypot(_batch_error(ours), np.sqrt(np.sum((weight * (theirs - expected)) ** 2)))
        assert abs(ours.mean() - expected) < 4 * error
    assert abs(np.log(noise).mean() - float(weight @ np.log(noise))) > 4 * error


def _koh_model(
    rng: np.random.Generator, weight: float, noise_known: bool
) -> kennedy_ohagan_sampler.DiscrepancyModel:
    """One t and three sites on five made-up runs, run by run."""
    x, runs = np.linspace(0, 1, 3), rng.uniform(size=(5, 1))
    return kennedy_ohagan_sampler.DiscrepancyModel(
        y=np.array([0.3, -0.2, 0.8]),
        weights=np.full(3, weight),
        squared=((x[:, None] - x[None]) ** 2)[None],
        coefficients=np.empty((3, 0)),
        sizes=np.zeros(1, np.int64),
        runs=kennedy_ohagan_sampler.MomentRuns(
            run_site=np.exp(-((runs - x[None]) ** 2)),
            site_site=np.exp(-((x[:, None] - x[None]) ** 2)),
            inverse_factor=np.tril(0.1 * np.ones((5, 5))),
            alpha=rng.standard_normal(5),
            t_runs=runs,
            t_rates=np.array([1.0]),
            moments=np.array([0.0, 1.0]),
        ),
        priors=KOH_PRIORS,
        within_ss=0.02,
        within_dof=2.0,
        noise_known=noise_known,
    )


def _koh_draws(
    rng: np.random.Generator,
    model: kennedy_ohagan_sampler.DiscrepancyModel,
    num_sweeps: int,
    steps: tuple[float, ...] = (1.5, 1.2, 1.2, 1.0),
) -> np.ndarray:
    state, draws = np.array([0.0, -2.0, -4.0, 0.5]), np.empty((num_sweeps, 4))
    kennedy_ohagan_sampler.advance_chain(rng, state, np.diag(steps), model, draws)
    return draws


@pytest.mark.statistical
def test_koh_draws_t_anew_without_favour(rng: np.random.Generator) -> None:
    """Walks of no length leave only the fresh draws of t: uniform where data say nothing, at 1e-4."""
    draws = _koh_draws(rng, _koh_model(rng, 1e-14, True), 4_000, steps=(0.0, 0.0, 0.0, 0.0))
    assert stats.kstest(1 / (1 + np.exp(-draws[1::2, 0])), stats.uniform().cdf).pvalue > 1e-4
    assert np.all(draws[:, 1:] == draws[0, 1:])


@pytest.mark.statistical
def test_koh_samples_its_prior_where_data_say_nothing(rng: np.random.Generator) -> None:
    """With weightless data: t ~ U(0, 1) and normal priors on the log hyper-parameters.

    Four Kolmogorov–Smirnov tests on 2 000 thinned draws, each at 1e-4. Negative control: a shifted prior is rejected.
    """
    thinned = _koh_draws(rng, _koh_model(rng, 1e-14, True), 20_000)[9::10]
    t = 1 / (1 + np.exp(-thinned[:, 0]))
    assert stats.kstest(t, stats.uniform().cdf).pvalue > 1e-4
    for column, law in ((1, stats.norm(-2, 1.5)), (2, stats.norm(-4, 1.5)), (3, stats.norm(0.5, 1.0))):
        assert stats.kstest(thinned[:, column], law.cdf).pvalue > 1e-4
    assert stats.kstest(thinned[:, 3], stats.norm(0.7, 1.0).cdf).pvalue < 1e-4


@pytest.mark.statistical
def test_koh_posterior_by_importance_sampling(rng: np.random.Generator) -> None:
    """Means of t and of the log hyper-parameters against 100 000 weighted prior draws and scipy's formulas.

    Tolerance four errors of both estimates together. Negative control: the prior mean of log σ² is rejected.
    """
    model = _koh_model(rng, 1.0, False)
    draws = _koh_draws(rng, model, 30_000)
    count, runs = 100_000, model.runs
    t = rng.uniform(size=count)
    logs = KOH_PRIORS[:, 0] + KOH_PRIORS[:, 1] * rng.standard_normal((count, 3))
    bias, noise, rate = np.exp(logs).T
    cross = np.exp(-((t[:, None] - runs.t_runs[:, 0]) ** 2))[:, :, None] * runs.run_site
    white = np.einsum("jk,bki->bji", runs.inverse_factor, cross)
    matrix = (
        runs.site_site - np.einsum("bji,bjk->bik", white, white) + (noise[:, None, None] + 1e-10) * np.eye(3)
    )
    matrix += bias[:, None, None] * np.exp(-rate[:, None, None] * model.squared[0])
    residual = model.y - np.einsum("j,bji->bi", runs.alpha, cross)
    quadratic = np.einsum("bi,bi->b", residual, np.linalg.solve(matrix, residual[:, :, None])[:, :, 0])
    log_weight = -0.5 * np.linalg.slogdet(matrix)[1] - 0.5 * quadratic
    log_weight -= 0.5 * model.within_dof * np.log(noise) + 0.5 * model.within_ss / noise
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    ours = (1 / (1 + np.exp(-draws[:, 0])), *draws[:, 1:].T)
    for sample, values in zip(ours, (t, *logs.T), strict=True):
        expected = float(weight @ values)
        error = np.hypot(_batch_error(sample), np.sqrt(np.sum((weight * (values - expected)) ** 2)))
        assert abs(sample.mean() - expected) < 4 * error
    assert abs(float(weight @ logs[:, 1]) - KOH_PRIORS[1, 0]) > 4 * _batch_error(draws[:, 2])


def test_koh_log_posterior_equals_scipys_normal_density(rng: np.random.Generator) -> None:
    """The likelihood part: V + σ_δ²R_δ + σ²/a, through scipy, as differences between two states."""
    x = rng.uniform(size=(5, 2))
    squared = np.moveaxis((x[:, None] - x[None]) ** 2, -1, 0).copy()
    root = rng.standard_normal((5, 5))
    covariance, mean, y = 0.1 * root @ root.T, rng.standard_normal(5), rng.standard_normal(5)
    weights = np.array([1.0, 2.0, 3.0, 1.0, 5.0])
    model = _koh_model(rng, 1.0, False)._replace(y=y, weights=weights, squared=squared)

    def ours(state: np.ndarray) -> float:
        return kennedy_ohagan_sampler._log_posterior(model, state, mean, covariance, np.empty((5, 5)))

    def oracle(state: np.ndarray) -> float:
        logit, bias, noise, rates = state[0], np.exp(state[1]), np.exp(state[2]), np.exp(state[3:])
        matrix = (
            covariance + bias * np.exp(-np.einsum("kij,k->ij", squared, rates)) + np.diag(noise / weights)
        )
        value = stats.multivariate_normal.logpdf(y, mean, matrix) - np.log(noise) - 0.01 / noise
        value += stats.logistic.logpdf(logit)
        return value + sum(
            stats.norm.logpdf(entry, *KOH_PRIORS[min(k, 2)]) for k, entry in enumerate(state[1:])
        )

    one, two = rng.normal(-0.5, 0.5, 5), rng.normal(-0.5, 0.5, 5)
    assert ours(one) - ours(two) == pytest.approx(oracle(one) - oracle(two), abs=1e-6)


@pytest.mark.statistical
@pytest.mark.filterwarnings("ignore::funcal.errors.DataWarning")
@pytest.mark.parametrize("method", ["nbc", "koh"])
@pytest.mark.parametrize("key", ["synthetic-1", "synthetic-2", "synthetic-3"])
def test_chains_agree_at_default_length(method: str, key: str) -> None:
    """R-hat at most 1.01 for θ, ψ and the noise and 1.02 for the rest, with one seed; some seed in twenty may fail."""
    case = get_problem(key).draw(1)
    problem = funcal.CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())
    convergence = funcal.calibrate(problem, method, seed=1).convergence
    assert convergence is not None
    assert convergence.rhat_max <= 1.01
    assert convergence.nuisance_rhat_max <= 1.02
    assert convergence.ess_bulk_min >= 400


@pytest.mark.filterwarnings("ignore::funcal.errors.FuncalWarning")
def test_nbc_with_nothing_but_a_global_variable_and_known_noise() -> None:
    """No function and no hyper-parameter moves, ψ alone: y = ψ x with sd 0.1 on x = 1 … 5, so ψ ± 0.1/√55."""
    x = np.arange(1.0, 6.0)
    runs = pd.DataFrame({"x": np.repeat(x, 7), "psi": np.tile(np.linspace(0, 2, 7), 5)})
    runs["y"] = runs["psi"] * runs["x"]
    physical = pd.DataFrame({"x": x, "y": 1.3 * x, "sd": 0.1})
    problem = funcal.CalibrationProblem.from_tables(
        physical, runs, control="x", global_="psi", response="y", noise_sd="sd"
    )
    psi = funcal.calibrate(problem, "nbc", seed=1).fit.flat("psi")[:, 0]
    assert psi.mean() == pytest.approx(1.3, abs=0.005)
    assert psi.std() == pytest.approx(0.1 / np.sqrt(55.0), rel=0.15)

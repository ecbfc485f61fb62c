"""Split R-hat and effective sample sizes of many quantities at once (Vehtari et al. 2021).

The same numbers as ArviZ's, vectorised over quantities so that a run can be stopped when its targets are met
without spending a noticeable time on asking, or on importing. Where ArviZ has no number, for a quantity that is the
same in every draw (a θ that sits on its box), the chains agree: R-hat is 1 and every draw counts.
"""

import numpy as np
from scipy.special import ndtri

from .problem.arrays import FloatArray

__all__ = ["NUISANCE_RHAT_LIMIT", "bulk_ess", "mean_ess", "split_rhat", "tail_ess"]

NUISANCE_RHAT_LIMIT = 1.05
"""A parameter that no user reads may mix more slowly than those that one does, but not drift."""


def split_rhat(draws: FloatArray) -> FloatArray:
    """Largest of rank-normalised split R-hat of the draws and of their distances from the median.

    Parameters
    ----------
    draws : (chain, draw, quantity)

    Returns
    -------
    (quantity,)
    """
    halves = _split(draws)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_rhat(_rank_normal(halves)), _rhat(_rank_normal(folded)))


def bulk_ess(draws: FloatArray) -> FloatArray:
    """Bulk effective sample size of rank-normalised split chains, (chain, draw, quantity) to (quantity,)."""
    return _ess(_rank_normal(_split(draws)))


def tail_ess(draws: FloatArray) -> FloatArray:
    """Effective sample size of the 5 % or the 95 % quantile, the smaller, (chain, draw, quantity) to (quantity,)."""
    ends = np.quantile(draws, (0.05, 0.95), axis=(0, 1))
    below = [_ess(_split((draws <= end).astype(np.float64))) for end in ends]
    return np.minimum(*below)


def mean_ess(draws: FloatArray) -> FloatArray:
    """Effective sample size of the mean, (chain, draw, quantity) to (quantity,)."""
    return _ess(_split(draws))


def _ess(halves: FloatArray) -> FloatArray:
    """Effective sample size of split chains (chain, draw, quantity)."""
    num_chains, length, num_quantities = halves.shape
    covariance = _autocovariance(halves).mean(axis=0)
    within = covariance[0] * length / (length - 1.0)
    total = within * (length - 1.0) / length + halves.mean(axis=1).var(axis=0, ddof=1)
    moving = total > 0.0
    gap = within - covariance
    correlation = 1.0 - np.divide(gap, total, out=np.ones_like(gap), where=moving)
    correlation[0] = 1.0
    ess = np.full(num_quantities, float(num_chains * length))
    for index in np.flatnonzero(moving):
        ess[index] = num_chains * length / _autocorrelation_time(correlation[:, index], num_chains * length)
    return ess


def _split(draws: FloatArray) -> FloatArray:
    """Each chain cut into halves; a middle draw is left out."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]], axis=0)


def _rank_normal(draws: FloatArray) -> FloatArray:
    """Ranks over all chains, sent through the normal quantile function (Blom's offsets)."""
    flat = draws.reshape(-1, draws.shape[2])
    ranks = np.column_stack([_ranks(column) for column in flat.T])
    normal: FloatArray = ndtri((ranks - 0.375) / (flat.shape[0] + 0.25)).reshape(draws.shape)
    return normal


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1; equal values share the mean of theirs."""
    _, which, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: FloatArray = (np.cumsum(count) - 0.5 * (count - 1.0))[which]
    return ranks


def _rhat(draws: FloatArray) -> FloatArray:
    """Potential scale reduction of chains (chain, draw, quantity)."""
    length = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    total = within * (length - 1.0) / length + between
    still = np.where(between > 0.0, np.inf, 1.0)
    ratio: FloatArray = np.sqrt(np.divide(total, within, out=still, where=within > 0.0))
    return ratio


def _autocovariance(draws: FloatArray) -> FloatArray:
    """Biased autocovariance of each chain at every lag, by the fast Fourier transform."""
    length = draws.shape[1]
    padded = 2 ** int(np.ceil(np.log2(2 * length)))
    centred = draws - draws.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=padded, axis=1)
    covariance: FloatArray = np.fft.irfft(np.abs(spectrum) ** 2, n=padded, axis=1)[:, :length] / length
    return covariance


def _autocorrelation_time(correlation: FloatArray, num_draws: int) -> float:
    """Geyer's initial monotone sequence: sums of neighbouring pairs while positive, made to decrease."""
    num_pairs = (correlation.size - 1) // 2
    pairs = correlation[: 2 * num_pairs].reshape(num_pairs, 2).sum(axis=1)
    negative = np.flatnonzero(pairs[1:] <= 0.0)
    stop = int(negative[0]) + 1 if negative.size else num_pairs
    tail = correlation[2 * stop] if 2 * stop < correlation.size else 0.0
    time = -1.0 + 2.0 * float(np.minimum.accumulate(pairs[:stop]).sum()) + max(float(tail), 0.0)
    # antithetic chains cannot be better than this
    return max(time, 1.0 / float(np.log10(num_draws)))

"""Leave-one-out of each member, their stacking weights (Yao et al. 2018), and the weights that a prediction uses."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from ..problem.arrays import FloatArray

__all__ = [
    "UNRELIABLE_K",
    "WITH_DISCREPANCY",
    "LeaveOneOut",
    "clear_gain",
    "difference",
    "exact_leave_one_out",
    "need_of_discrepancy",
    "prediction_weights",
    "psis_leave_one_out",
    "stacking_weights",
]

NUM_ITERATIONS = 2000
"""Of the expectation-maximisation for the weights; it gains at every one and has long settled by then."""
UNRELIABLE_K = 0.7
"""Pareto k beyond which importance sampling cannot be trusted (Vehtari et al. 2024)."""
WITH_DISCREPANCY = "+discrepancy"
"""How the names of members with δ end."""
NEED = 0.1
"""By how much, in logarithm, δ must bring the fitted responses closer before the computer model needs it."""
SPREAD = 0.6
"""Standard deviation, from site to site, of what one side gains on the other; 0.3 to 0.7 where they predict alike."""
FLATNESS = 0.5
"""Power of exp(elpd) in the weights of the calibrated members: over a few sites its differences are half noise."""
UNDECIDED_SHARE = 0.6
"""Of the calibrated members where leave-one-out does not decide: odds of three to two for a computer model."""


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out log predictive densities of one member.

    Attributes
    ----------
    log_density : (m,)
    pareto_k : (m,)
        Reliability of the importance sampling: doubtful above `UNRELIABLE_K`; 0 where the densities are exact.
    """

    log_density: FloatArray
    pareto_k: FloatArray

    @property
    def elpd(self) -> float:
        """Expected log predictive density: the sum over the sites."""
        return float(self.log_density.sum())

    @property
    def se(self) -> float:
        """Standard error of `elpd`."""
        return float(np.sqrt(self.log_density.size) * self.log_density.std(ddof=1))


def psis_leave_one_out(densities: FloatArray, num_chains: int) -> LeaveOneOut:
    """Pareto-smoothed importance sampling (ArviZ) from pointwise log densities (T, m) of `num_chains` chains."""
    with warnings.catch_warnings():
        # the notice at import, and the advice on large k̂, which goes into the table instead
        warnings.simplefilter("ignore")
        import arviz

        length = len(densities) // num_chains
        shaped = densities[: num_chains * length].reshape(num_chains, length, -1)
        data = arviz.from_dict(posterior={"u": shaped[..., 0]}, log_likelihood={"y": shaped})
        found = arviz.loo(data, pointwise=True)
    return LeaveOneOut(
        np.asarray(found.loo_i, dtype=np.float64), np.asarray(found.pareto_k, dtype=np.float64)
    )


def exact_leave_one_out(log_density: FloatArray) -> LeaveOneOut:
    """A member whose leave-one-out densities are known without sampling."""
    return LeaveOneOut(log_density, np.zeros_like(log_density))


def difference(one: LeaveOneOut, other: LeaveOneOut) -> tuple[float, float]:
    """Difference in elpd, one less other, and its standard error over the sites."""
    gap = one.log_density - other.log_density
    return float(gap.sum()), float(np.sqrt(gap.size) * gap.std(ddof=1))


def clear_gain(num_sites: int) -> float:
    """Difference in elpd beyond which leave-one-out over so many sites decides: about 2 for a dozen."""
    return SPREAD * float(np.sqrt(num_sites))


def stacking_weights(members: Mapping[str, LeaveOneOut]) -> dict[str, float]:
    """Weights that maximise the leave-one-out log score of the mixture.

    Returns
    -------
    dict
        Weights by member, summing to one.
    """
    log_density = np.column_stack([member.log_density for member in members.values()])
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    weight = np.full(density.shape[1], 1.0 / density.shape[1])
    for _ in range(NUM_ITERATIONS):
        share = density * weight
        share /= share.sum(axis=1, keepdims=True)
        weight = share.mean(axis=0)
    return dict(zip(members, weight.tolist(), strict=True))


def prediction_weights(
    members: Mapping[str, LeaveOneOut], plain: tuple[str, ...], need: float, *, beyond_runs: bool = False
) -> dict[str, float]:
    """Weights of the members in a prediction.

    With a dozen sites stacking weights jump from member to member, so the prediction uses steadier ones, in two steps.
    Each side first: the calibrated members in proportion to exp(elpd / 2) (pseudo-BMA, flattened), the plain ones in
    equal parts but for those that lose clearly. Then between the sides, in proportion to exp(elpd) where the best
    calibrated member or the first plain one wins clearly. Where neither does, the calibrated ones have three to two,
    for what the computer model knows; but the plain ones predict alone where it needs a discrepancy (one that explains
    the measurements needs none) and beyond its runs, where it knows nothing.

    Parameters
    ----------
    members
    plain
        Names of the members without the computer model, the richest first: the others are limits of it.
    need
        See `need_of_discrepancy`.
    beyond_runs
        For controls outside the range of the runs.
    """
    calibrated = {name: score.elpd for name, score in members.items() if name not in plain}
    physical = {name: members[name].elpd for name in plain if name in members}
    clear = clear_gain(members[plain[0]].log_density.size)
    gain = max(calibrated.values()) - physical[plain[0]]
    if gain <= clear and (need > NEED or beyond_runs):
        share = 0.0
    elif abs(gain) <= clear:
        share = UNDECIDED_SHARE
    else:
        share = float(expit(gain))
    by_density = share * softmax(FLATNESS * np.array(list(calibrated.values())))
    in_the_running = np.array([elpd >= max(physical.values()) - clear for elpd in physical.values()])
    in_equal_parts = (1.0 - share) * in_the_running / in_the_running.sum()
    weights = dict(zip((*calibrated, *physical), (*by_density, *in_equal_parts), strict=True))
    return {name: float(weights[name]) for name in members}


def need_of_discrepancy(misfits: Mapping[str, float]) -> float:
    """By how much, in logarithm, the closest fit with δ is closer to the measurements than the closest without.

    Leave-one-out says the same with far more noise: its differences come from two samples and a few sites.

    Parameters
    ----------
    misfits
        Of the calibrated members, by name: root mean square of what the fitted responses miss at the sites.
    """
    closest = {with_delta: np.inf for with_delta in (False, True)}
    for name, misfit in misfits.items():
        with_delta = name.endswith(WITH_DISCREPANCY)
        closest[with_delta] = min(closest[with_delta], misfit)
    return float(np.log(closest[False] / closest[True]))

"""Have the chains converged? Split R-hat, bulk and tail ESS and MCSE (Vehtari et al. 2021)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..mixing import NUISANCE_RHAT_LIMIT, bulk_ess, mean_ess, split_rhat, tail_ess
from ..problem import FloatArray

__all__ = ["Convergence", "assess_convergence"]

#: What a user reads results from; everything else is a nuisance parameter.
QUANTITIES_OF_INTEREST = ("theta", "psi", "noise_sd", "response")
#: Vehtari et al. (2021) recommend R-hat below 1.01 and a bulk ESS of 100 per chain.
RHAT_LIMIT, ESS_PER_CHAIN = 1.01, 100
#: Fewer draws than this are an estimate, not a chain.
FEWEST_DRAWS = 8


@dataclass(frozen=True)
class Convergence:
    """Worst diagnostics over the quantities of interest, and over the nuisance parameters.

    `worst` names what the verdict turns on: the quantity whose chains disagree or, where all agree, the one with the
    smallest bulk ESS.
    """

    rhat_max: float
    ess_bulk_min: float
    ess_tail_min: float
    mcse_relative_max: float
    worst: str
    nuisance_rhat_max: float
    nuisance_ess_bulk_min: float
    acceptance_rate: float
    num_divergent: int
    converged: bool
    advice: str

    def to_values(self) -> dict[str, Any]:
        """As plain values, NaN as None."""
        return {
            name: None if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class _Worst:
    """The worst of several quantities, and which they are."""

    rhat: float
    bulk: float
    tail: float
    mcse: float
    name_of_rhat: str = ""
    name_of_bulk: str = ""


def assess_convergence(
    draws: Mapping[str, FloatArray],
    stats: Mapping[str, FloatArray] | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
) -> Convergence | None:
    """Judge the chains; None where there are no chains (an estimator).

    Parameters
    ----------
    draws : mapping of name to (chain, draw, …)
    stats : mapping of name to (chain, draw)
        ``acceptance_rate`` and ``diverging`` are read where present.
    names : mapping of name to the names of its entries, in words
        Trailing dimensions in order, the last running fastest; entries are numbered where absent.
    """
    chains, length = next(iter(draws.values())).shape[:2]
    if length < FEWEST_DRAWS:
        return None
    stats = stats or {}
    interest = {name: draws[name] for name in QUANTITIES_OF_INTEREST if name in draws}
    nuisance = {name: values for name, values in draws.items() if name not in interest}
    found = _worst_of(interest or draws, names or {})
    others = _worst_of(nuisance, names or {})
    needed = ESS_PER_CHAIN * chains
    mixed = found.rhat <= RHAT_LIMIT and not others.rhat > NUISANCE_RHAT_LIMIT
    converged = mixed and found.bulk >= needed
    # the one furthest beyond its own limit
    if others.rhat - NUISANCE_RHAT_LIMIT > max(found.rhat - RHAT_LIMIT, 0.0):
        culprit, advice = (
            others.name_of_rhat,
            _advice_on_rhat(
                f"the nuisance parameter {others.name_of_rhat}", others.rhat, NUISANCE_RHAT_LIMIT
            ),
        )
    elif not mixed:
        culprit, advice = found.name_of_rhat, _advice_on_rhat(found.name_of_rhat, found.rhat, RHAT_LIMIT)
    else:
        culprit, advice = found.name_of_bulk, _advice_on_ess(found.name_of_bulk, found.bulk, needed)
    return Convergence(
        rhat_max=found.rhat,
        ess_bulk_min=found.bulk,
        ess_tail_min=found.tail,
        mcse_relative_max=found.mcse,
        worst=culprit,
        nuisance_rhat_max=others.rhat,
        nuisance_ess_bulk_min=others.bulk,
        acceptance_rate=float(np.mean(stats["acceptance_rate"])) if "acceptance_rate" in stats else np.nan,
        num_divergent=int(np.sum(stats["diverging"])) if "diverging" in stats else 0,
        converged=converged,
        advice="" if converged else advice,
    )


def _worst_of(draws: Mapping[str, FloatArray], names: Mapping[str, Sequence[str]]) -> _Worst:
    """Largest R-hat, smallest bulk and tail ESS and largest MCSE in posterior sds; NaN where nothing varies."""
    columns: list[FloatArray] = []
    words: list[str] = []
    for name, values in draws.items():
        table = values.reshape(*values.shape[:2], -1)
        numbered = [name] if table.shape[2] == 1 else [f"{name}[{k}]" for k in range(table.shape[2])]
        for index, word in zip(range(table.shape[2]), names.get(name, numbered), strict=True):
            if np.all(np.isfinite(table[..., index])) and np.ptp(table[..., index]) > 0.0:
                columns.append(table[..., index])
                words.append(word)
    if not columns:
        return _Worst(np.nan, np.nan, np.nan, np.nan)
    varying = np.stack(columns, axis=2)
    rhat, bulk = split_rhat(varying), bulk_ess(varying)
    return _Worst(
        float(rhat.max()),
        float(bulk.min()),
        float(tail_ess(varying).min()),
        float(np.sqrt(1.0 / mean_ess(varying)).max()),
        words[int(rhat.argmax())],
        words[int(bulk.argmin())],
    )


def _advice_on_rhat(culprit: str, rhat: float, limit: float) -> str:
    """What to do about chains that disagree."""
    if rhat > 1.1:
        return (
            f"NOT CONVERGED: the chains disagree most about {culprit} (R-hat {rhat:.2f}); the posterior may have "
            "several modes or directions that the data do not inform. Raise `warmup` and `draws`, give tighter "
            "`bounds`, or look at the chains one by one before using these results."
        )
    return (
        f"NOT CONVERGED: R-hat of {culprit} is {rhat:.3f} where {limit} is asked for; raise `draws`, for example to "
        "four times as many."
    )


def _advice_on_ess(culprit: str, bulk: float, needed: int) -> str:
    """What to do about chains that agree but are too short."""
    return (
        f"NOT CONVERGED: the bulk effective sample size of {culprit} is {bulk:.0f} where {needed} is asked for; "
        f"raise `draws` about {max(2.0, needed / max(bulk, 1.0)):.0f}-fold."
    )

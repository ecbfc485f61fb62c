"""Have the chains converged? Split R-hat, bulk and tail ESS and MCSE by ArviZ (Vehtari et al. 2021)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..problem import FloatArray
from .arviz_import import import_arviz

__all__ = ["Convergence", "assess_convergence"]

#: What a user reads results from; everything else is a nuisance parameter.
QUANTITIES_OF_INTEREST = ("theta", "psi", "noise_sd", "response")
#: Vehtari et al. (2021) recommend R-hat below 1.01 and a bulk ESS of 100 per chain.
RHAT_LIMIT, ESS_PER_CHAIN = 1.01, 100
#: A nuisance parameter may mix more slowly, but not drift.
NUISANCE_RHAT_LIMIT = 1.05
#: Fewer draws than this are an estimate, not a chain.
FEWEST_DRAWS = 8


@dataclass(frozen=True)
class Convergence:
    """Worst diagnostics over the quantities of interest, and over the nuisance parameters."""

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


def assess_convergence(
    draws: Mapping[str, FloatArray], stats: Mapping[str, FloatArray] | None = None
) -> Convergence | None:
    """Judge the chains; None where there are no chains (an estimator).

    Parameters
    ----------
    draws : mapping of name to (chain, draw, …)
    stats : mapping of name to (chain, draw)
        ``acceptance_rate`` and ``diverging`` are read where present.
    """
    chains, length = next(iter(draws.values())).shape[:2]
    if length < FEWEST_DRAWS:
        return None
    stats = stats or {}
    interest = {name: draws[name] for name in QUANTITIES_OF_INTEREST if name in draws}
    nuisance = {name: values for name, values in draws.items() if name not in interest}
    rhat, bulk, tail, mcse, worst = _worst(interest or dict(draws))
    nuisance_rhat, nuisance_bulk, *_ = _worst(nuisance) if nuisance else (np.nan, np.nan, np.nan, np.nan, "")
    needed = ESS_PER_CHAIN * chains
    converged = rhat <= RHAT_LIMIT and bulk >= needed and not nuisance_rhat > NUISANCE_RHAT_LIMIT
    divergent = int(np.sum(stats["diverging"])) if "diverging" in stats else 0
    return Convergence(
        rhat_max=rhat,
        ess_bulk_min=bulk,
        ess_tail_min=tail,
        mcse_relative_max=mcse,
        worst=worst,
        nuisance_rhat_max=nuisance_rhat,
        nuisance_ess_bulk_min=nuisance_bulk,
        acceptance_rate=float(np.mean(stats["acceptance_rate"])) if "acceptance_rate" in stats else np.nan,
        num_divergent=divergent,
        converged=bool(converged),
        advice="" if converged else _advice(rhat, bulk, needed, nuisance_rhat, worst),
    )


def _worst(draws: Mapping[str, FloatArray]) -> tuple[float, float, float, float, str]:
    """Largest R-hat, smallest bulk and tail ESS, largest MCSE in posterior sds, and the worst parameter."""
    az = import_arviz()
    rhat_max, bulk_min, tail_min, mcse_max, worst = -np.inf, np.inf, np.inf, -np.inf, ""
    for name, values in draws.items():
        columns = values.reshape(*values.shape[:2], -1)
        for index in range(columns.shape[2]):
            chain = np.ascontiguousarray(columns[:, :, index])
            if not np.all(np.isfinite(chain)) or np.ptp(chain) == 0.0:
                continue
            rhat = float(az.rhat(chain))
            bulk = float(az.ess(chain, method="bulk"))
            tail = float(az.ess(chain, method="tail"))
            mcse = float(np.squeeze(az.mcse(chain, method="mean"))) / float(chain.std())
            if rhat > rhat_max:
                worst = name if columns.shape[2] == 1 else f"{name}[{index}]"
            rhat_max, bulk_min = max(rhat_max, rhat), min(bulk_min, bulk)
            tail_min, mcse_max = min(tail_min, tail), max(mcse_max, mcse)
    if not worst:
        return np.nan, np.nan, np.nan, np.nan, ""
    return rhat_max, bulk_min, tail_min, mcse_max, worst


def _advice(rhat: float, bulk: float, needed: int, nuisance_rhat: float, worst: str) -> str:
    """What to do about chains that have not converged, in one sentence."""
    if rhat > 1.1 or nuisance_rhat > 1.1:
        return (
            f"NOT CONVERGED: the chains disagree (R-hat {max(rhat, nuisance_rhat):.2f}, worst {worst}); the posterior "
            "may have several modes or directions that the data do not inform. Raise `warmup` and `draws`, give "
            "tighter `bounds`, or look at the chains one by one before using these results."
        )
    if rhat > RHAT_LIMIT or nuisance_rhat > NUISANCE_RHAT_LIMIT:
        return (
            f"NOT CONVERGED: R-hat is {max(rhat, nuisance_rhat):.3f} (worst {worst}) where 1.01 is asked for; "
            "raise `draws`, for example to four times as many."
        )
    return (
        f"NOT CONVERGED: the bulk effective sample size is {bulk:.0f} (worst {worst}) where {needed} is asked for; "
        f"raise `draws` about {max(2.0, needed / max(bulk, 1.0)):.0f}-fold."
    )

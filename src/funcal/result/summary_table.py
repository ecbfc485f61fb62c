"""The posterior as one table: a row per quantity that a user asked for."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..diagnostics.arviz_import import import_arviz
from ..diagnostics.convergence import FEWEST_DRAWS
from ..problem import FloatArray, site_in_words

if TYPE_CHECKING:
    from .calibration import Calibration

__all__ = ["summary_table"]

COLUMNS = ("mean", "sd", "lower", "upper")


def summary_table(calibration: "Calibration", level: float) -> pd.DataFrame:
    """Mean, sd and central interval of θ at the sites, ψ and the noise sd; ESS and R-hat of chains."""
    if calibration.fit.num_draws < FEWEST_DRAWS:
        return _of_estimates(calibration, level)
    chains = _named_chains(calibration)
    tail = 0.5 * (1.0 - level)
    rows = [[chain.mean(), chain.std(), *np.quantile(chain, [tail, 1.0 - tail])] for chain in chains.values()]
    table = pd.DataFrame(rows, index=pd.Index(chains.keys(), name="quantity"), columns=list(COLUMNS))
    az = import_arviz()
    table["ess_bulk"] = [float(az.ess(chain, method="bulk")) for chain in chains.values()]
    table["rhat"] = [float(az.rhat(chain)) for chain in chains.values()]
    return table


def _named_chains(calibration: "Calibration") -> dict[str, FloatArray]:
    """The chains of each quantity, (chain, draw), by a name that a user understands."""
    problem, draws = calibration.problem, calibration.fit.draws
    chains: dict[str, FloatArray] = {}
    if "theta" in draws:
        for k, name in enumerate(problem.roles.functional):
            for site in range(problem.num_sites):
                chains[f"{name}({site_in_words(problem, site)})"] = draws["theta"][:, :, site, k]
    if "psi" in draws:
        for h, name in enumerate(problem.roles.global_):
            chains[name] = draws["psi"][:, :, h]
    if "noise_sd" in draws:
        chains["noise sd"] = draws["noise_sd"]
    return {name: np.ascontiguousarray(chain) for name, chain in chains.items()}


def _of_estimates(calibration: "Calibration", level: float) -> pd.DataFrame:
    """An estimator has no chains: its uncertainty is that of its prediction at the sites."""
    problem = calibration.problem
    at_sites = calibration.predict(problem.physical.control, level=level).calibration
    rows = {}
    for name, marginal in at_sites.items():
        values = np.column_stack([marginal.mean, marginal.sd, marginal.lower, marginal.upper])
        if name in problem.roles.functional:
            rows.update({f"{name}({site_in_words(problem, site)})": row for site, row in enumerate(values)})
        else:
            rows[name] = values[0]
    return pd.DataFrame(
        list(rows.values()), index=pd.Index(rows.keys(), name="quantity"), columns=list(COLUMNS)
    )

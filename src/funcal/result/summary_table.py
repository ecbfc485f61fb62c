"""The posterior as one table: a row per quantity that a user asked for."""

import numpy as np
import pandas as pd

from ..diagnostics.arviz_import import import_arviz
from ..diagnostics.convergence import FEWEST_DRAWS
from ..problem import CalibrationProblem, FloatArray, site_in_words
from .fit import Fit

__all__ = ["summary_table"]


def summary_table(problem: CalibrationProblem, fit: Fit, level: float) -> pd.DataFrame:
    """Mean, sd, central interval, bulk ESS and R-hat of θ at the sites, ψ and the noise sd."""
    roles = problem.roles
    rows: dict[str, FloatArray] = {}
    if "theta" in fit.draws:
        for k, name in enumerate(roles.functional):
            for site in range(problem.num_sites):
                rows[f"{name}({site_in_words(problem, site)})"] = fit.draws["theta"][:, :, site, k]
    if "psi" in fit.draws:
        for h, name in enumerate(roles.global_):
            rows[name] = fit.draws["psi"][:, :, h]
    if "noise_sd" in fit.draws:
        rows["noise sd"] = fit.draws["noise_sd"]
    tail = 0.5 * (1.0 - level)
    table = pd.DataFrame(
        [[chain.mean(), chain.std(), *np.quantile(chain, [tail, 1.0 - tail])] for chain in rows.values()],
        index=pd.Index(rows.keys(), name="quantity"),
        columns=["mean", "sd", "lower", "upper"],
    )
    if rows and fit.num_draws >= FEWEST_DRAWS:
        az = import_arviz()
        chains = [np.ascontiguousarray(chain) for chain in rows.values()]
        table["ess_bulk"] = [float(az.ess(chain, method="bulk")) for chain in chains]
        table["rhat"] = [float(az.rhat(chain)) for chain in chains]
    return table

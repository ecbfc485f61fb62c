"""`prior_predictive`: what `joint` believes about θ(x), ψ and the measurements before it has seen any."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SettingsError
from ..joint.calibration_members import variant_model
from ..joint.prior_predictive import prior_site_draws
from ..problem import CalibrationProblem
from ..result.arviz_export import prior_to_inference_data
from .calibrate import resolve_seed, resolve_settings
from .joint import DIMENSIONS, JointCalibration, shown_quantities, usual_variant

if TYPE_CHECKING:
    import arviz

__all__ = ["prior_predictive"]


def prior_predictive(
    problem: CalibrationProblem,
    num_draws: int = 500,
    *,
    seed: int | None = None,
    settings: Any = None,
    **overrides: Any,
) -> "arviz.InferenceData":
    """Draw θ(x), ψ, the noise and measurements from the prior of the method `joint`.

    Of the measurements it uses the places and the spread, of the runs the box and the responses' mean and standard
    deviation: the units of the prior. Both together also decide whether there is a δ, unless `discrepancy` says so. No
    chain is run.

    Parameters
    ----------
    problem : CalibrationProblem
    num_draws : int
    seed : int, optional
        Everything random follows from it.
    settings : settings object or mapping, optional
        Settings of `joint`; its defaults otherwise.
    **overrides
        Single settings by name, for example ``prior={"variation_scale": 0.3}``.

    Returns
    -------
    arviz.InferenceData
        Groups ``prior`` (theta, psi and noise_sd, named as in a posterior), ``prior_predictive`` (the measured
        response at the sites) and ``observed_data``: ``calibration.to_arviz().extend(...)`` puts them beside a
        posterior.
    """
    if isinstance(num_draws, bool) or not isinstance(num_draws, int | np.integer) or num_draws < 1:
        raise SettingsError(f"num_draws is a whole number, one or more; got {num_draws!r}.")
    chosen = resolve_settings(JointCalibration(), settings, overrides)
    scaled = problem.scaled()
    variant = usual_variant(problem, chosen, nugget=False)  # the runs' own noise never reaches the sites
    model = variant_model(scaled, variant, chosen.prior)
    rng = np.random.default_rng(resolve_seed(seed))
    u, values, response = prior_site_draws(model, int(num_draws), rng)
    return prior_to_inference_data(
        problem,
        shown_quantities(problem, model.layout, u[None], values[None]),
        scaled.scaling.response_from_unit(response)[None],
        DIMENSIONS,
    )

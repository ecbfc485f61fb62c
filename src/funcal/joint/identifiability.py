"""What the data taught about θ(x) and ψ: contraction from prior to posterior, ridges, and pressure on the box."""

from typing import Any

import numpy as np

from ..problem import CalibrationProblem, outside_runs, site_in_words
from ..problem.arrays import FloatArray
from .model import JointModel
from .prior_predictive import prior_calibration_values

__all__ = ["identifiability_report"]

NOT_LEARNT = 0.5
"""Contraction 1 - var(posterior)/var(prior) below which a value counts as not learnt: the posterior's sd is then at
least 71 % of the prior's."""
RIDGE_CORRELATION = 0.8
"""Posterior correlation of θ(x_i) and ψ beyond which only a combination of them is known."""
NEAR_FACE, PRESSING = 0.03, 0.25
"""A value within 3 % of the box's face presses on it; a quarter of the posterior there is reported."""
PRIOR_DRAWS = 2000
"""Enough for the prior's variance to within 5 %."""


def identifiability_report(
    problem: CalibrationProblem, model: JointModel, values: FloatArray, rng: np.random.Generator
) -> dict[str, Any]:
    """Judge what was learnt.

    Parameters
    ----------
    problem
    model
        Of the member whose posterior is shown.
    values : (T, m, dθ + dψ)
        Scaled posterior draws of the calibration values at the sites.
    rng

    Returns
    -------
    dict
        JSON-able: ``theta`` and ``psi`` (contraction, flags), ``flat_directions``, ``support``, and ``messages`` in
        plain words.
    """
    roles, num_functional = problem.roles, problem.num_functional
    prior = prior_calibration_values(model, PRIOR_DRAWS, rng)
    contraction = 1.0 - values.var(axis=0) / prior.var(axis=0)
    pressing = np.mean((values < NEAR_FACE) | (values > 1.0 - NEAR_FACE), axis=0)
    names = [site_in_words(problem, site) for site in range(problem.num_sites)]
    messages: list[str] = []
    theta: dict[str, Any] = {}
    for k, name in enumerate(roles.functional):
        learnt = contraction[:, k] >= NOT_LEARNT
        theta[name] = {
            "contraction": contraction[:, k].tolist(),
            "not_learnt_sites": np.flatnonzero(~learnt).tolist(),
        }
        if not learnt.all():
            where = "at any site" if not learnt.any() else "at " + "; ".join(np.array(names)[~learnt])
            messages.append(f"{name}(x) is not learnt {where}: the data leave it about as wide as its prior.")
    psi: dict[str, Any] = {}
    for h, name in enumerate(roles.global_):
        share = float(contraction[0, num_functional + h])
        psi[name] = {"contraction": share, "learnt": share >= NOT_LEARNT}
        if share < NOT_LEARNT:
            messages.append(f"{name} is not learnt: the data leave it about as wide as its prior.")
    flat = _flat_directions(problem, values, names)
    messages += [ridge["message"] for ridge in flat]
    calibration = [*roles.functional, *roles.global_]
    pressed = {
        name: {
            "sites": np.flatnonzero(pressing[:, c] > PRESSING).tolist(),
            "largest": float(pressing[:, c].max()),
        }
        for c, name in enumerate(calibration)
    }
    for name, found in pressed.items():
        if found["sites"]:
            messages.append(
                f"{name} presses on the edge of its box (up to {found['largest']:.0%} of the posterior within 3 % "
                "of it); the truth may lie outside the runs, and wider runs or bounds would tell."
            )
    outside = np.flatnonzero(outside_runs(problem, problem.physical.control)).tolist()
    if outside:
        messages.append(
            f"{len(outside)} of {problem.num_sites} sites lie outside the runs' range of the controls."
        )
    return {
        "theta": theta,
        "psi": psi,
        "flat_directions": flat,
        "support": {"pressing_on_box": pressed, "sites_outside_runs": outside},
        "messages": messages,
    }


def _flat_directions(
    problem: CalibrationProblem, values: FloatArray, names: list[str]
) -> list[dict[str, Any]]:
    """Pairs of a functional and a global parameter of which only a combination is known."""
    ridges = []
    num_functional = problem.num_functional
    for k, functional in enumerate(problem.roles.functional):
        for h, other in enumerate(problem.roles.global_):
            column = values[:, 0, num_functional + h]
            correlation = np.array([np.corrcoef(values[:, i, k], column)[0, 1] for i in range(len(names))])
            strong = np.flatnonzero(np.abs(correlation) > RIDGE_CORRELATION)
            if strong.size:
                worst = int(np.argmax(np.abs(correlation)))
                ridges.append(
                    {
                        "functional": functional,
                        "global": other,
                        "sites": strong.tolist(),
                        "correlation": float(correlation[worst]),
                        "message": f"{functional}(x) and {other} trade off (posterior correlation "
                        f"{correlation[worst]:.2f} at {names[worst]}): only their combination is known there.",
                    }
                )
    return ridges

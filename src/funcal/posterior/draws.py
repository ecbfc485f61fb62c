"""Posterior draws by name, in the user's units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..priors import WorkingUnits
from ..problem import FloatArray
from .parameters import ParameterLayout

__all__ = ["Draws", "draws_in_user_units"]


@dataclass(frozen=True)
class Draws:
    """What the chains recorded.

    Attributes
    ----------
    values : (chain, draw, num_recorded)
        Θ, ψ, ν², τ², ln ℓ, ln γ, ln σ² in working units.
    log_density : (chain, draw)
    acceptance_rate : (chain, draw)
        Mean acceptance probability of the random walks of a draw's last sweep.
    log_likelihood : (chain, draw, m)
        log p(y_i | y_−i, parameters) in working units.
    steps : (chain, num_steps)
        Step sizes after warm-up.
    layout : ParameterLayout
    """

    values: FloatArray
    log_density: FloatArray
    acceptance_rate: FloatArray
    log_likelihood: FloatArray
    steps: FloatArray
    layout: ParameterLayout

    def by_name(self) -> dict[str, FloatArray]:
        """Split the recorded rows into named parameters, still in working units."""
        layout = self.layout
        sizes = {
            "theta": layout.num_sites * layout.num_functional,
            "psi": layout.num_global,
            "spread": layout.num_functional,
            "global_spread": layout.num_global,
            "log_length": layout.num_inputs,
            "log_magnitude": 1,
            "log_noise": 1,
        }
        pieces = np.split(self.values, np.cumsum(list(sizes.values()))[:-1], axis=-1)
        named = dict(zip(sizes, pieces, strict=True))
        named["theta"] = named["theta"].reshape(
            *self.values.shape[:2], layout.num_sites, layout.num_functional
        )
        return named


def draws_in_user_units(draws: Draws, units: WorkingUnits) -> dict[str, FloatArray]:
    """Convert recorded draws to what a user reads.

    Returns
    -------
    dict
        ``theta`` (C, D, m, dtheta), ``psi`` (C, D, dpsi), ``nu`` (C, D, dtheta) and ``tau`` (C, D, dpsi) as
        standard deviations, ``length_control``, ``length_functional`` and ``length_global`` as the paper's ℓ (one
        over a squared unit of that variable), ``gamma`` (C, D) in squared units of the response and ``noise_sd``
        (C, D).
    """
    named = draws.by_name()
    layout = draws.layout
    splits = [layout.num_controls, layout.num_controls + layout.num_functional]
    control, functional, global_ = np.split(np.exp(named["log_length"]), splits, axis=-1)
    return {
        "theta": units.functional.from_unit(named["theta"]),
        "psi": units.global_.from_unit(named["psi"]),
        "nu": np.sqrt(named["spread"]) * units.functional.width,
        "tau": np.sqrt(named["global_spread"]) * units.global_.width,
        "length_control": control / units.control.width**2,
        "length_functional": functional / units.functional.width**2,
        "length_global": global_ / units.global_.width**2,
        "gamma": np.exp(named["log_magnitude"][..., 0]) * units.response_scale**2,
        "noise_sd": np.exp(0.5 * named["log_noise"][..., 0]) * units.response_scale,
    }

"""The units in which the posterior is sampled, and what to subtract from the responses.

The paper's priors carry numbers (2.1, 10, 2, 2) without units. ``input_scale="unit"`` sends controls and
calibration variables to [0, 1] and responses to unit standard deviation, so that those numbers mean the same
for every problem; ``"raw"`` keeps the user's units, as printed (`method.md`, points 7 to 9).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..problem import AffineScaling, CalibrationProblem, FloatArray

__all__ = ["Centring", "InputScale", "WorkingUnits"]

InputScale = Literal["unit", "raw"]
Centring = Literal["physical", "runs"]


@dataclass(frozen=True)
class WorkingUnits:
    """Invertible maps between the user's units and the sampler's.

    Attributes
    ----------
    control, functional, global_ : AffineScaling
    functional_box, global_box : (dtheta, 2), (dpsi, 2)
        Box of the calibration variables, in working units.
    response_centre, response_scale : float
        The sampler sees (y − centre) / scale.
    response_variance : float
        Variance of the site means in working units; the yardstick of the priors of γ and σ².
    """

    control: AffineScaling
    functional: AffineScaling
    global_: AffineScaling
    functional_box: FloatArray
    global_box: FloatArray
    response_centre: float
    response_scale: float
    response_variance: float

    @classmethod
    def of_problem(
        cls, problem: CalibrationProblem, *, input_scale: InputScale, centring: Centring
    ) -> WorkingUnits:
        """Choose the units for a problem.

        Parameters
        ----------
        problem
        input_scale
            ``"unit"``: ranges to [0, 1], responses to unit sd. ``"raw"``: the user's units.
        centring
            ``"physical"`` subtracts the mean of the site means, ``"runs"`` the mean of the computer
            responses, as Section 2 prints it (point 8).
        """
        scaling = problem.scaled().scaling
        response = problem.physical.response
        centre = float(np.mean(response if centring == "physical" else problem.runs.response))
        sd = float(np.std(response))
        if sd == 0.0:  # a constant physical response says nothing of its scale; the runs do
            sd = scaling.response_sd
        split = problem.num_functional
        calibration = scaling.calibration
        control = scaling.control
        functional = AffineScaling(calibration.shift[:split], calibration.width[:split])
        global_ = AffineScaling(calibration.shift[split:], calibration.width[split:])
        if input_scale == "raw":
            control = _identity(problem.num_controls)
            functional = _identity(split)
            global_ = _identity(problem.num_global)
        return cls(
            control=control,
            functional=functional,
            global_=global_,
            functional_box=functional.to_unit(problem.bounds[:split].T).T,
            global_box=global_.to_unit(problem.bounds[split:].T).T,
            response_centre=centre,
            response_scale=1.0 if input_scale == "raw" else sd,
            response_variance=sd**2 if input_scale == "raw" else 1.0,
        )


def _identity(num_columns: int) -> AffineScaling:
    return AffineScaling(np.zeros(num_columns), np.ones(num_columns))

"""The two presets: ``proper`` (the default) and ``paper`` (the printed densities of Appendix A).

The printed priors are improper in four places: the posterior mass diverges as ν² → 0, as ν² → ∞, as σ² → 0
and as γ → 0 (`method.md`, points 3 and 5). ``paper`` truncates them there and says so; ``proper`` replaces them.
"""

from __future__ import annotations

import math
import warnings
from typing import Literal

import numpy as np

from ..errors import ImproperPriorWarning
from ..problem import FloatArray
from . import densities
from .calibration_prior import TYPICAL_SPREAD, CalibrationPrior, LogScalePrior, ThetaCentre
from .working_units import WorkingUnits

__all__ = ["PriorPreset", "ThetaBounds", "paper_prior", "proper_prior"]

PriorPreset = Literal["proper", "paper"]
ThetaBounds = Literal["box", "none"]

#: Inverse gamma shape of ν²: the smallest integer with a finite mean, TYPICAL_SPREAD² at that scale.
SPREAD_SHAPE = 2.0
#: Inverse gamma shape of τ², as printed; its scale is 10 in the paper and 0.1 on unit ranges (point 9).
GLOBAL_SHAPE = 2.1
GLOBAL_SCALE_PAPER = 10.0
GLOBAL_SCALE_PROPER = 0.1
#: ln ℓ ~ N(0.5, 1) on unit ranges: median correlation 0.19 across a range, 0.94 across a fifth (point 7).
LENGTH_MEAN, LENGTH_SD = 0.5, 1.0
#: ln ℓ ~ Gamma(2, rate 2), as printed.
LENGTH_SHAPE_PAPER, LENGTH_RATE_PAPER = 2.0, 2.0
#: Half-normal scale of σ, in standard deviations of the response (point 5).
NOISE_SCALE = 0.3
#: Where ``paper`` cuts ν (times the range of θ), γ and σ² (times the variance of the response).
PAPER_SPREAD_BOUNDS = (1e-3, 1.0)
PAPER_MAGNITUDE_BOUNDS = (1e-3, 1e3)
PAPER_NOISE_BOUNDS = (1e-6, 10.0)


def proper_prior(
    centre: ThetaCentre,
    units: WorkingUnits,
    *,
    num_controls: int,
    theta_bounds: ThetaBounds = "box",
    box_margin: float = 0.1,
    spread_floor: float = 0.0,
) -> CalibrationPrior:
    """Build the default prior: proper everywhere, on range-scaled inputs.

    Parameters
    ----------
    centre
    units
        Working units of ``input_scale="unit"``.
    num_controls
    theta_bounds, box_margin
        ``"box"`` keeps θ and ψ in their box, widened by `box_margin` of its width (point 12).
    spread_floor
        Smallest ν as a part of the range of θ; tempers the double use of y^p (point 10).
    """
    ranges = np.ptp(units.functional_box, axis=1)
    scale = (TYPICAL_SPREAD * ranges) ** 2
    num_inputs = num_controls + len(ranges) + len(units.global_box)
    return CalibrationPrior(
        centre=centre,
        theta_bounds=_support(units.functional_box, theta_bounds, box_margin),
        psi_bounds=_support(units.global_box, theta_bounds, box_margin),
        spread=np.column_stack(
            [
                np.full_like(ranges, SPREAD_SHAPE),
                scale,
                (spread_floor * ranges) ** 2,
                np.full_like(ranges, np.inf),
            ]
        ),
        global_spread=np.tile([GLOBAL_SHAPE, GLOBAL_SCALE_PROPER], (len(units.global_box), 1)),
        length=(LogScalePrior(densities.NORMAL, LENGTH_MEAN, LENGTH_SD),) * num_inputs,
        magnitude=LogScalePrior(densities.NORMAL, math.log(units.response_variance), 1.0),
        noise=LogScalePrior(densities.HALF_NORMAL_SD, NOISE_SCALE * math.sqrt(units.response_variance), 0.0),
    )


def paper_prior(
    centre: ThetaCentre,
    units: WorkingUnits,
    *,
    num_controls: int,
    theta_bounds: ThetaBounds = "none",
    box_margin: float = 0.1,
    spread_bounds: tuple[float, float] = PAPER_SPREAD_BOUNDS,
    spread_floor: float = 0.0,
) -> CalibrationPrior:
    """Build the printed prior of Appendix A, truncated where it is improper.

    Parameters
    ----------
    centre, units, num_controls, theta_bounds, box_margin, spread_floor
        As in `proper_prior`.
    spread_bounds
        Truncation of ν as a part of the range of θ; ``(0, inf)`` leaves the improper prior as it is printed.

    Warns
    -----
    ImproperPriorWarning
        Always, with the places of truncation.
    """
    ranges = np.ptp(units.functional_box, axis=1)
    num_inputs = num_controls + len(ranges) + len(units.global_box)
    variance = units.response_variance
    lower, upper = max(spread_bounds[0], spread_floor), spread_bounds[1]
    warnings.warn(
        ImproperPriorWarning(
            "the paper's priors are improper (the posterior has no finite mass as ν → 0, ν → ∞, σ² → 0 and γ → 0), "
            f"so they are truncated: ν to [{lower:g}, {upper:g}] of the range of θ, "
            f"γ to [{PAPER_MAGNITUDE_BOUNDS[0]:g}, {PAPER_MAGNITUDE_BOUNDS[1]:g}] and "
            f"σ² to [{PAPER_NOISE_BOUNDS[0]:g}, {PAPER_NOISE_BOUNDS[1]:g}] of the variance of the responses; "
            'results depend on these bounds, so use prior="proper" unless the printed prior itself is the question'
        ),
        stacklevel=2,
    )
    return CalibrationPrior(
        centre=centre,
        theta_bounds=_support(units.functional_box, theta_bounds, box_margin),
        psi_bounds=_support(units.global_box, theta_bounds, box_margin),
        spread=np.column_stack(
            [np.zeros_like(ranges), np.zeros_like(ranges), (lower * ranges) ** 2, (upper * ranges) ** 2]
        ),
        global_spread=np.tile([GLOBAL_SHAPE, GLOBAL_SCALE_PAPER], (len(units.global_box), 1)),
        length=(LogScalePrior(densities.GAMMA, LENGTH_SHAPE_PAPER, LENGTH_RATE_PAPER),) * num_inputs,
        magnitude=_log_uniform(PAPER_MAGNITUDE_BOUNDS, variance),
        noise=_log_uniform(PAPER_NOISE_BOUNDS, variance),
    )


def _log_uniform(bounds: tuple[float, float], variance: float) -> LogScalePrior:
    return LogScalePrior(densities.UNIFORM, math.log(bounds[0] * variance), math.log(bounds[1] * variance))


def _support(box: FloatArray, theta_bounds: ThetaBounds, margin: float) -> FloatArray:
    if theta_bounds == "none":
        return np.tile([-np.inf, np.inf], (len(box), 1))
    width = np.ptp(box, axis=1) * margin
    return np.column_stack([box[:, 0] - width, box[:, 1] + width])

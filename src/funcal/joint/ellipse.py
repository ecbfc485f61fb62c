"""The bracket of elliptical slice sampling: angles on an ellipse, shrinking towards the present point at angle 0."""

import math

import numpy as np

from ..compiled import kernel

__all__ = ["MAX_SHRINKS", "first_bracket", "shrink_bracket"]

MAX_SHRINKS = 60
"""The bracket has shrunk to the present point long before."""


@kernel
def first_bracket(rng: np.random.Generator) -> tuple[float, float, float]:
    """A first angle, and the whole ellipse as its bracket: (angle, lower, upper)."""
    angle = rng.uniform(0.0, 2.0 * math.pi)
    return angle, angle - 2.0 * math.pi, angle


@kernel
def shrink_bracket(
    rng: np.random.Generator, angle: float, lower: float, upper: float
) -> tuple[float, float, float]:
    """Cut the bracket at a refused angle and draw another from what is left."""
    if angle < 0.0:
        lower = angle
    else:
        upper = angle
    return rng.uniform(lower, upper), lower, upper

"""The prior on the scaled problem: what its numbers are measured in."""

from dataclasses import replace

import numpy as np
import pytest

from funcal.joint.model import build_model
from funcal.joint.prior import LEAST_SPREAD, JointPrior
from funcal.problem import ScaledProblem


@pytest.mark.parametrize("spread", [0.5, 3.0])
def test_noise_is_in_units_of_what_was_measured(one_function: ScaledProblem, spread: float) -> None:
    """Sites that spread twice as far allow for twice the noise, whatever the runs do; nothing else changes."""
    centred = one_function.y_sites - one_function.y_sites.mean()
    measured = replace(one_function, y_sites=spread * centred / centred.std())
    found = build_model(measured).prior
    assert found.noise_scale == pytest.approx(spread * JointPrior().noise_scale)
    assert found._replace(noise_scale=0.0) == build_model(one_function).prior._replace(noise_scale=0.0)


def test_measurements_that_happen_to_be_alike_allow_for_noise(one_function: ScaledProblem) -> None:
    """Equal responses at all sites leave a noise of some share of the runs' spread possible."""
    alike = replace(one_function, y_sites=np.full_like(one_function.y_sites, 0.3))
    assert build_model(alike).prior.noise_scale == pytest.approx(LEAST_SPREAD * JointPrior().noise_scale)

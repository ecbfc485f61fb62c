"""The centre of the prior, from anchors."""

import numpy as np
import pytest

from funcal.errors import SettingsError
from funcal.priors import WorkingUnits, theta_centre
from funcal.problem import AffineScaling, AnchorPoints


def unit_units(width: float = 1.0, shift: float = 0.0, num_global: int = 1) -> WorkingUnits:
    one = AffineScaling(np.zeros(1), np.ones(1))
    box = np.array([[0.0, 1.0]])
    return WorkingUnits(
        one,
        AffineScaling(np.array([shift]), np.array([width])),
        AffineScaling(np.zeros(num_global), np.ones(num_global)),
        box,
        np.tile(box, (num_global, 1)),
        0.0,
        1.0,
        1.0,
    )


def anchors_at(sites: list[int], theta: list[float], psi: list[float]) -> AnchorPoints:
    return AnchorPoints(
        site=np.array(sites),
        run=np.arange(len(sites)),
        misfit=np.zeros(len(sites)),
        functional=np.array(theta)[:, None],
        global_=np.array(psi)[:, None],
        edges=np.zeros((0, 2)),
        model="path",
        solver="test",
        status="optimal",
        cost=0.0,
        lower_bound=0.0,
        gap=0.0,
        seconds=0.0,
        lambda_=0.5,
        radius=np.nan,
        penalty=np.nan,
        weights="corrected",
    )


X = np.linspace(0.0, 1.0, 5)[:, None]


def test_the_centre_is_the_anchors_in_working_units() -> None:
    """Θ^a are the anchors' θ and ψ^a is the mean of their ψ (Section 5)."""
    anchors = anchors_at([0, 1, 2, 3, 4], [2.0, 3.0, 4.0, 5.0, 6.0], [0.1, 0.2, 0.3, 0.4, 0.5])
    centre = theta_centre(anchors, X, unit_units(width=4.0, shift=2.0), theta_prior="iid", decay=3.0)
    np.testing.assert_allclose(centre.theta[:, 0], [0.0, 0.25, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(centre.psi, [0.3])
    np.testing.assert_allclose(centre.precision, np.eye(5))
    assert centre.psi_spread[0] == pytest.approx(np.std([0.1, 0.2, 0.3, 0.4, 0.5]))


def test_a_site_without_an_anchor_lies_between_its_neighbours_and_is_wider() -> None:
    """Its prior mean is kriged from the neighbouring anchors, never borrowed from one run, and it is less certain."""
    anchors = anchors_at([0, 1, 3, 4], [0.1, 0.3, 0.5, 0.7], [0.0] * 4)
    centre = theta_centre(anchors, X, unit_units(), theta_prior="iid", decay=3.0)
    assert 0.3 < centre.theta[2, 0] < 0.5
    deviation = 1.0 / np.sqrt(np.diag(centre.precision))
    assert deviation[2] >= 2.0
    np.testing.assert_allclose(np.delete(deviation, 2), 1.0)


def test_extrapolated_sites_are_wider_than_interpolated_ones() -> None:
    """The neighbours say less about a site at the edge, far from every anchor."""
    anchors = anchors_at([0, 1, 3], [0.0, 0.4, 1.0], [0.0] * 3)
    x = np.array([0.0, 0.1, 0.2, 0.3, 1.0])[:, None]
    centre = theta_centre(anchors, x, unit_units(), theta_prior="iid", decay=30.0)
    deviation = 1.0 / np.sqrt(np.diag(centre.precision))
    assert deviation[4] > deviation[2]


def test_the_process_prior_correlates_neighbours() -> None:
    """theta_prior="gp" has unit variances and correlations that fall with distance."""
    anchors = anchors_at([0, 1, 2, 3, 4], [0.5] * 5, [0.0] * 5)
    centre = theta_centre(anchors, X, unit_units(), theta_prior="gp", decay=3.0)
    covariance = np.linalg.inv(centre.precision)
    np.testing.assert_allclose(np.diag(covariance), 1.0)
    assert covariance[0, 1] > covariance[0, 2] > covariance[0, 4] > 0.0


def test_an_unknown_prior_is_refused_in_a_sentence() -> None:
    """The message says what was expected and what was found."""
    anchors = anchors_at([0, 1, 2, 3, 4], [0.5] * 5, [0.0] * 5)
    with pytest.raises(SettingsError, match='"iid" or "gp"; found'):
        theta_centre(anchors, X, unit_units(), theta_prior="smooth", decay=3.0)  # type: ignore[arg-type]

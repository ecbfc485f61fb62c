"""The prior of the calibration parameters, built from the anchors (Section 5), and of everything else.

Θ_k ~ N(Θ^a_k, ν_k² Q⁻¹) and ψ_h ~ N(ψ^a_h, τ_h²). In the paper Q = I (Eq. thataprior). Two named deviations
change Q only: a site without an anchor gets a wider prior, centred where kriging from the other anchors puts it,
and ``theta_prior="gp"`` makes neighbouring sites move together (`method.md`, points 11 and 24).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..errors import SettingsError
from ..problem import AnchorPoints, FloatArray
from .working_units import WorkingUnits

__all__ = ["CalibrationPrior", "LogScalePrior", "ThetaCentre", "ThetaPrior", "theta_centre"]

ThetaPrior = Literal["iid", "gp"]

#: ν before any data, as a part of the range of θ (point 3); also the yardstick for widening.
TYPICAL_SPREAD = 0.15
#: A site without an anchor is at least this many times as uncertain as one with.
MINIMUM_WIDENING = 2.0
#: Share of independent variation in the "gp" prior; keeps its correlation matrix well conditioned.
NUGGET = 0.05


@dataclass(frozen=True)
class LogScalePrior:
    """Prior of ln(parameter): a kind of `funcal.priors.densities` and its two numbers."""

    kind: int
    first: float
    second: float

    def as_row(self) -> tuple[float, float, float]:
        """Return what compiled code reads."""
        return (float(self.kind), self.first, self.second)


@dataclass(frozen=True)
class ThetaCentre:
    """Where the prior of Θ and ψ is centred, in working units.

    Attributes
    ----------
    theta : (m, dtheta)
        Θ^a, with kriged values where a site has no anchor.
    psi : (dpsi,)
        ψ^a, the mean of the anchors' global vectors.
    psi_spread : (dpsi,)
        Standard deviation of the anchors' global vectors around it (point 28).
    precision : (m, m)
        Q.
    """

    theta: FloatArray
    psi: FloatArray
    psi_spread: FloatArray
    precision: FloatArray


@dataclass(frozen=True)
class CalibrationPrior:
    """Every prior of Eq. (Posterior4), in working units.

    Attributes
    ----------
    centre : ThetaCentre
    theta_bounds, psi_bounds : (dtheta, 2), (dpsi, 2)
        Support; infinite where unbounded. The joint density of (Θ, ν²) and (ψ, τ²) is cut off at the bounds, so
        the conditionals of ν² and τ² stay inverse gamma.
    spread : (dtheta, 4)
        ν_k²: inverse gamma shape and scale, lower and upper bound.
    global_spread : (dpsi, 2)
        τ_h²: inverse gamma shape and scale.
    length : tuple of LogScalePrior
        ln ℓ_j, in the order controls, functional, global.
    magnitude, noise : LogScalePrior
        ln γ and ln σ².
    """

    centre: ThetaCentre
    theta_bounds: FloatArray
    psi_bounds: FloatArray
    spread: FloatArray
    global_spread: FloatArray
    length: tuple[LogScalePrior, ...]
    magnitude: LogScalePrior
    noise: LogScalePrior


def theta_centre(
    anchors: AnchorPoints, x_unit: FloatArray, units: WorkingUnits, *, theta_prior: ThetaPrior, decay: float
) -> ThetaCentre:
    """Turn anchors into the centre and the precision of the prior of Θ and ψ.

    Parameters
    ----------
    anchors
    x_unit : (m, dx)
        Sites with controls in [0, 1].
    units
        Working units of Θ and ψ.
    theta_prior
        ``"iid"`` (Eq. thataprior) or ``"gp"`` (Θ_k ~ N(Θ^a_k, ν_k² R_x), point 11).
    decay
        ℓ of R_x = exp(−decay·|x − x'|²) on unit controls, for ``"gp"`` and for sites without an anchor.

    Raises
    ------
    SettingsError
        If `theta_prior` is neither of the two.
    """
    functional = units.functional.to_unit(anchors.functional)
    global_ = units.global_.to_unit(anchors.global_)
    num_sites = x_unit.shape[0]
    theta = np.empty((num_sites, functional.shape[1]))
    theta[anchors.site] = functional
    widening = np.ones(num_sites)
    empty = np.setdiff1d(np.arange(num_sites), anchors.site)
    if empty.size:
        kriged, share = _krige(x_unit[anchors.site], functional, x_unit[empty], decay)
        theta[empty] = kriged
        typical = TYPICAL_SPREAD * np.ptp(units.functional_box, axis=1)
        relative = float(np.mean(functional.var(axis=0) / typical**2))
        widening[empty] = np.maximum(MINIMUM_WIDENING, np.sqrt(1.0 + relative * share))
    if theta_prior == "iid":
        precision = np.diag(widening**-2.0)
    elif theta_prior == "gp":
        correlation = (1.0 - NUGGET) * _correlation(x_unit, x_unit, decay) + NUGGET * np.eye(num_sites)
        inverse = np.linalg.inv(correlation)
        precision = 0.5 * (inverse + inverse.T) / np.outer(widening, widening)
    else:
        raise SettingsError(f'theta_prior must be "iid" or "gp"; found {theta_prior!r}')
    return ThetaCentre(
        theta=theta, psi=global_.mean(axis=0), psi_spread=global_.std(axis=0), precision=precision
    )


def _correlation(a: FloatArray, b: FloatArray, decay: float) -> FloatArray:
    squared = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=-1)
    result: FloatArray = np.exp(-decay * squared)
    return result


def _krige(
    x_known: FloatArray, values: FloatArray, x_empty: FloatArray, decay: float
) -> tuple[FloatArray, FloatArray]:
    """Interpolate with a constant mean; also return the share of variance that the neighbours leave open."""
    correlation = (1.0 - NUGGET) * _correlation(x_known, x_known, decay) + NUGGET * np.eye(len(x_known))
    cross = (1.0 - NUGGET) * _correlation(x_empty, x_known, decay)
    weights = np.linalg.solve(correlation, cross.T).T
    mean = values.mean(axis=0)
    share = 1.0 - (weights * cross).sum(axis=1)
    return mean + weights @ (values - mean), np.maximum(share, 0.0)

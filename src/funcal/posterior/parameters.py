"""What the posterior of Eq. (Posterior4) depends on, and where a chain stands.

`PosteriorModel` is everything that stays fixed while a chain runs; `ChainState` holds the parameters and the
matrices that follow from them. Both are tuples of arrays because compiled code reads them. A chain is recorded as
one row of numbers per draw; `ParameterLayout` says which number is what.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..priors import CalibrationPrior
from ..problem import FloatArray

__all__ = [
    "ChainState",
    "ParameterLayout",
    "PosteriorModel",
    "SiteData",
    "first_steps",
    "posterior_model",
    "start_state",
]

#: Scatter of the starting Θ around Θ^a, as a part of the range: Θ = Θ^a would hold ν² at 0 for ever (point 4).
START_SCATTER = 0.1
#: Starting points keep this part of the support's width away from its edge.
START_MARGIN = 0.01


@dataclass(frozen=True)
class SiteData:
    """The m sites in working units.

    Attributes
    ----------
    control : (m, dx)
    response : (m,)
        Centred site means.
    count : (m,)
        Measurements behind each mean; the noise variance of a mean is σ²/count (point 14).
    known_variance : (m,) or None
        Noise variance of each mean where the user knows it; σ² is then not a parameter.
    within_ss, within_dof
        Replicate sum of squares around the site means: the rest of the likelihood of σ².
    """

    control: FloatArray
    response: FloatArray
    count: FloatArray
    known_variance: FloatArray | None = None
    within_ss: float = 0.0
    within_dof: int = 0


class PosteriorModel(NamedTuple):
    """Fixed inputs of the posterior, as compiled code reads them."""

    control_distance: FloatArray
    """(dx, m, m) squared differences of the controls."""
    response: FloatArray
    """(m,) y^p, centred."""
    noise_weight: FloatArray
    """(m,) 1/count; 0 where the noise is known."""
    known_noise: FloatArray
    """(m,) known noise variance of the means; 0 where σ² is estimated."""
    within: FloatArray
    """(2,) degrees of freedom and sum of squares within sites."""
    theta_mean: FloatArray
    """(m, dtheta) Θ^a."""
    theta_precision: FloatArray
    """(m, m) Q."""
    theta_bounds: FloatArray
    """(dtheta, 2)."""
    psi_mean: FloatArray
    """(dpsi,) ψ^a."""
    psi_bounds: FloatArray
    """(dpsi, 2)."""
    spread_prior: FloatArray
    """(dtheta, 4) shape, scale, lower and upper bound of ν²."""
    global_spread_prior: FloatArray
    """(dpsi, 2) shape and scale of τ²."""
    length_prior: FloatArray
    """(dx + dtheta + dpsi, 3) kind and numbers of the prior of ln ℓ."""
    magnitude_prior: FloatArray
    """(3,) of ln γ."""
    noise_prior: FloatArray
    """(3,) of ln σ²."""


class ChainState(NamedTuple):
    """Parameters of one chain, and the matrices that follow from them."""

    theta: FloatArray
    """(m, dtheta) Θ."""
    psi: FloatArray
    """(dpsi,) ψ."""
    spread: FloatArray
    """(dtheta,) ν²."""
    global_spread: FloatArray
    """(dpsi,) τ²."""
    log_length: FloatArray
    """(dx + dtheta + dpsi,) ln ℓ."""
    log_magnitude: FloatArray
    """(1,) ln γ."""
    log_noise: FloatArray
    """(1,) ln σ²."""
    exponent: FloatArray
    """(m, m) Σ_j ℓ_j d_j², so that Σ = γ exp(−exponent)."""
    correlation: FloatArray
    """(m, m) exp(−exponent), upper triangle."""
    factor: FloatArray
    """(m, m) upper Cholesky factor of Σ + σ²I."""
    inverse: FloatArray
    """(m, m) (Σ + σ²I)⁻¹."""
    weights: FloatArray
    """(m,) (Σ + σ²I)⁻¹ y^p."""
    log_likelihood: FloatArray
    """(1,) log density of the site means and of the replicates around them."""
    scratch: FloatArray
    """(2m + 4, m): four rows and two matrices of work space."""


@dataclass(frozen=True)
class ParameterLayout:
    """Which entry of a recorded draw, or of the vector of step sizes, is what."""

    num_sites: int
    num_controls: int
    num_functional: int
    num_global: int

    @property
    def num_inputs(self) -> int:
        """Number of length-scale parameters."""
        return self.num_controls + self.num_functional + self.num_global

    @property
    def num_recorded(self) -> int:
        """Numbers in one recorded draw: Θ, ψ, ν², τ², ln ℓ, ln γ, ln σ²."""
        return (self.num_sites + 1) * self.num_functional + 2 * self.num_global + self.num_inputs + 2

    @property
    def num_steps(self) -> int:
        """Random walks: one for each entry of Θ, ψ, ln ℓ, ln γ and ln σ²."""
        return self.num_sites * self.num_functional + self.num_global + self.num_inputs + 2

    @classmethod
    def of_model(cls, model: PosteriorModel) -> ParameterLayout:
        """Read the sizes off a model."""
        num_sites, num_functional = model.theta_mean.shape
        return cls(num_sites, model.control_distance.shape[0], num_functional, model.psi_mean.shape[0])


def posterior_model(sites: SiteData, prior: CalibrationPrior) -> PosteriorModel:
    """Assemble the arrays of the posterior from the data and the prior."""
    known = sites.known_variance
    x = np.ascontiguousarray(sites.control.T)
    noise_weight = 1.0 / sites.count if known is None else np.zeros_like(sites.count)
    return PosteriorModel(
        control_distance=(x[:, :, None] - x[:, None, :]) ** 2,
        response=np.array(sites.response),
        noise_weight=noise_weight,
        known_noise=np.zeros_like(sites.response) if known is None else np.array(known),
        within=np.array([float(sites.within_dof), sites.within_ss]) if known is None else np.zeros(2),
        theta_mean=np.array(prior.centre.theta, order="C"),
        theta_precision=np.array(prior.centre.precision, order="C"),
        theta_bounds=np.array(prior.theta_bounds, order="C"),
        psi_mean=np.array(prior.centre.psi),
        psi_bounds=np.array(prior.psi_bounds, order="C"),
        spread_prior=np.array(prior.spread, order="C"),
        global_spread_prior=np.array(prior.global_spread, order="C"),
        length_prior=np.array([p.as_row() for p in prior.length]),
        magnitude_prior=np.array(prior.magnitude.as_row()),
        noise_prior=np.array(prior.noise.as_row()),
    )


def start_state(
    model: PosteriorModel,
    rng: np.random.Generator,
    *,
    functional_range: FloatArray,
    global_range: FloatArray,
    response_variance: float,
) -> ChainState:
    """Start a chain at Θ^a + 0.1·range·N(0, 1), with middling hyper-parameters (point 4).

    Parameters
    ----------
    model
    rng
    functional_range, global_range : (dtheta,), (dpsi,)
        Ranges of θ and ψ in working units.
    response_variance
        Variance of the site means in working units.
    """
    layout = ParameterLayout.of_model(model)
    m = layout.num_sites
    theta = model.theta_mean + START_SCATTER * functional_range * rng.standard_normal(model.theta_mean.shape)
    psi = model.psi_mean + START_SCATTER * global_range * rng.standard_normal(model.psi_mean.shape)
    spread = np.clip((START_SCATTER * functional_range) ** 2, *_inside(model.spread_prior[:, 2:]))
    return ChainState(
        theta=np.ascontiguousarray(np.clip(theta, *_inside(model.theta_bounds))),
        psi=np.clip(psi, *_inside(model.psi_bounds)),
        spread=spread,
        global_spread=(START_SCATTER * global_range) ** 2,
        # ln ℓ from 0.25 to 1.25 lies in the bulk of both presets
        log_length=0.25 + rng.random(layout.num_inputs),
        log_magnitude=np.array([np.log(response_variance) + 0.5 * rng.standard_normal()]),
        # noise between 0.03 and 0.1 of the response's variance
        log_noise=np.array([np.log(response_variance) - 3.5 + 1.2 * rng.random()]),
        exponent=np.zeros((m, m)),
        correlation=np.zeros((m, m)),
        factor=np.zeros((m, m)),
        inverse=np.zeros((m, m)),
        weights=np.zeros(m),
        log_likelihood=np.zeros(1),
        scratch=np.zeros((2 * m + 4, m)),
    )


def first_steps(
    layout: ParameterLayout, *, functional_range: FloatArray, global_range: FloatArray
) -> FloatArray:
    """Step sizes before adaptation: a tenth of the range for Θ, a third for ψ, a half for logarithms."""
    return np.concatenate(
        [
            np.repeat(0.1 * functional_range, layout.num_sites),
            global_range / 3.0,
            np.full(layout.num_inputs + 2, 0.5),
        ]
    )


def _inside(bounds: FloatArray) -> tuple[FloatArray, FloatArray]:
    width = np.where(np.isfinite(bounds).all(axis=1), bounds[:, 1] - bounds[:, 0], 0.0)
    return bounds[:, 0] + START_MARGIN * width, bounds[:, 1] - START_MARGIN * width

"""θ(x) at the sites: f_k = Φ(β_k) + s_k L(ρ_k, c_k) g_k, and the coordinates ξ in which the sampler moves g.

θ_k = clamp(f_k) with a smooth clamp to [0, 1]: the identity inside the box, bending within a few hundredths of its
faces. A probit of the whole function was tried first; it made functions that touch the box (problem 3 at x = 0) rough
everywhere (`docs/decisions/joint-link.md`). ψ, a single number, is the probit of its latent value, hence uniform.

Data that say much about θ(x_i) make g, a priori standard normal, strongly dependent on β, s, ρ and c a posteriori.
The sampler therefore moves ξ with

    g = H⁻¹ Aᵀ (h - Λ b) + M⁻ᵀ ξ,   A = s L(ρ, c),   H = I + Aᵀ Λ A = M Mᵀ,   b = Φ(β),

the conditional distribution of g if the data said f_i ~ N(h_i / Λ_i, 1 / Λ_i), so that ξ is about standard normal
whatever these are. Where θ and ψ trade against each other, what the data say of f depends on ψ, and h follows
it along the ridge: h_i + Λ_i Σ_h (t_2h,i (ψ_h - o_h) + t_2h+1,i (ψ_h - o_h)²) instead of h_i. The *pilot* (Λ, h, t, o)
is learnt during warm-up; any value is exact, since the Jacobian is counted, and Λ = 0 gives ξ = g.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .discrepancy import fill_noise_covariance
from .factors import cholesky_in_place, cholesky_reverse
from .function_covariance import (
    COVARIANCE_JITTER,
    add_shape_gradient,
    fill_sites_covariance,
    roughnesses,
    stretched_controls,
)
from .model import JointModel

__all__ = [
    "SiteState",
    "add_function_gradient",
    "allocate_sites",
    "clamp",
    "clamp_slope",
    "normal_cdf",
    "normal_pdf",
    "pilot_coordinates",
    "place_sites",
    "place_sizes",
    "place_values",
]

SHARPNESS = 25.0
"""Of the clamp: at the box's faces it is ln 2 / 25 ≈ 0.03 inside them, and beyond 0.1 away it is the identity."""


class SiteState(NamedTuple):
    """Calibration values at the sites and what produced them; overwritten in place.

    `response_mean` and `response_variance` are those of the noise-free η + δ at the sites given both tables;
    `information` and `score` tell what the data say of each latent value, for the pilot; `likelihood` is
    log p(y^p | y^s, φ, u).
    """

    latent: FloatArray
    values: FloatArray
    factors: FloatArray
    whitened: FloatArray
    pilot_factors: FloatArray
    pilot_centres: FloatArray
    noise_covariance: FloatArray
    response_mean: FloatArray
    response_variance: FloatArray
    information: FloatArray
    score: FloatArray
    likelihood: FloatArray


def allocate_sites(model: JointModel) -> SiteState:
    """Memory for one chain's calibration values."""
    m, num_calibration = model.y_sites.size, model.t_runs.shape[1]
    num_functional = model.layout.num_functional
    return SiteState(
        latent=np.zeros((m, num_calibration)),
        values=np.zeros((m, num_calibration)),
        factors=np.zeros((num_functional, m, m)),
        whitened=np.zeros((num_functional, m)),
        pilot_factors=np.zeros((num_functional, m, m)),
        pilot_centres=np.zeros((num_functional, m)),
        noise_covariance=np.zeros((m, m)),
        response_mean=np.zeros(m),
        response_variance=np.zeros(m),
        information=np.zeros((m, num_calibration)),
        score=np.zeros((m, num_calibration)),
        likelihood=np.zeros(1),
    )


@kernel
def normal_cdf(value: float) -> float:
    """Φ."""
    return 0.5 * math.erfc(-value / math.sqrt(2.0))


@kernel
def normal_pdf(value: float) -> float:
    """Standard normal density."""
    return math.exp(-0.5 * value * value) / math.sqrt(2.0 * math.pi)


@kernel
def softplus(value: float) -> float:
    """Smooth positive part ln(1 + e^v), without overflow."""
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))


@kernel
def clamp(value: float) -> float:
    """Smooth clamp of a real number to [0, 1]."""
    return (softplus(SHARPNESS * value) - softplus(SHARPNESS * (value - 1.0))) / SHARPNESS


@kernel
def clamp_slope(value: float) -> float:
    """Derivative of `clamp`."""
    rising = 1.0 / (1.0 + math.exp(-SHARPNESS * value))
    return rising - 1.0 / (1.0 + math.exp(-SHARPNESS * (value - 1.0)))


@kernel
def _pilot_pull(u: FloatArray, model: JointModel, k: int) -> FloatArray:
    """What the pilot says of the k-th function at the sites beyond its level: h(ψ) - Λ Φ(β), (m,)."""
    layout = model.layout
    precision = model.pilot_precision[:, k]
    pull = model.pilot_shift[:, k] - precision * normal_cdf(u[layout.level + k])
    for h in range(layout.num_global):
        gap = normal_cdf(u[layout.global_latent + h]) - model.pilot_origin[h]
        for i in range(pull.size):
            along = model.pilot_tilt[2 * h, i, k] + model.pilot_tilt[2 * h + 1, i, k] * gap
            pull[i] += precision[i] * along * gap
    return pull


@kernel
def _fill_factor(u: FloatArray, model: JointModel, sites: SiteState, k: int) -> bool:
    """Fill A = s L(ρ, c) of the k-th function; False if something overflowed."""
    x, roughness = stretched_controls(model.x_sites, u, model, k), roughnesses(u, model, k)
    factor = sites.factors[k]
    fill_sites_covariance(x, roughness, model.prior.line_variance, factor)
    for i in range(x.shape[0]):
        factor[i, i] += COVARIANCE_JITTER
    if not cholesky_in_place(factor):
        return False
    factor *= math.exp(u[model.layout.log_variation + k])
    return True


@kernel
def _fill_pilot(u: FloatArray, model: JointModel, sites: SiteState, k: int) -> bool:
    """Fill A, M and M⁻¹ Aᵀ (h(ψ) - Λ Φ(β)) of the k-th function; False if something overflowed."""
    if not _fill_factor(u, model, sites, k):
        return False
    m = model.x_sites.shape[0]
    factor, pilot = sites.factors[k], sites.pilot_factors[k]
    scaled = factor.copy()
    for i in range(m):
        scaled[i] *= model.pilot_precision[i, k]
    pilot[:, :] = np.dot(factor.T, scaled)
    for i in range(m):
        pilot[i, i] += 1.0
    if not cholesky_in_place(pilot):
        return False
    pull = _pilot_pull(u, model, k)
    for j in range(m):
        total = 0.0
        for i in range(j, m):
            total += factor[i, j] * pull[i]
        for i in range(j):
            total -= pilot[j, i] * sites.pilot_centres[k, i]
        sites.pilot_centres[k, j] = total / pilot[j, j]
    return True


@kernel
def place_sites(u: FloatArray, model: JointModel, sites: SiteState) -> bool:
    """Fill the calibration values at the sites and the covariance of δ + ε; False if something overflowed."""
    layout = model.layout
    m = model.x_sites.shape[0]
    for k in range(layout.num_functional):
        if not _fill_pilot(u, model, sites, k):
            return False
        pilot, whitened = sites.pilot_factors[k], sites.whitened[k]
        for i in range(m - 1, -1, -1):
            total = sites.pilot_centres[k, i] + u[k * m + i]
            for j in range(i + 1, m):
                total -= pilot[j, i] * whitened[j]
            whitened[i] = total / pilot[i, i]
    _fill_values(u, model, sites)
    fill_noise_covariance(u, model, sites.noise_covariance)
    return True


@kernel
def place_sizes(u: FloatArray, model: JointModel, sites: SiteState) -> bool:
    """Fill what sizes and roughnesses decide, the functions' factors and the covariance of δ + ε; False as above."""
    for k in range(model.layout.num_functional):
        if not _fill_factor(u, model, sites, k):
            return False
    fill_noise_covariance(u, model, sites.noise_covariance)
    return True


@kernel
def place_values(u: FloatArray, model: JointModel, sites: SiteState) -> None:
    """Fill the calibration values of a block that holds whitened functions, the factors in `sites` being its own."""
    m = model.x_sites.shape[0]
    for k in range(model.layout.num_functional):
        sites.whitened[k] = u[k * m : (k + 1) * m]
    _fill_values(u, model, sites)


@kernel
def _fill_values(u: FloatArray, model: JointModel, sites: SiteState) -> None:
    """Latent and calibration values from the whitened functions and the factors in `sites`."""
    layout = model.layout
    m = model.x_sites.shape[0]
    for k in range(layout.num_functional):
        level = normal_cdf(u[layout.level + k])
        for i in range(m):
            total = level
            for j in range(i + 1):
                total += sites.factors[k, i, j] * sites.whitened[k, j]
            sites.latent[i, k] = total
            sites.values[i, k] = clamp(total)
    for h in range(layout.num_global):
        column = layout.num_functional + h
        value = normal_cdf(u[layout.global_latent + h])
        for i in range(m):
            sites.latent[i, column] = u[layout.global_latent + h]
            sites.values[i, column] = value


@kernel
def pilot_coordinates(u: FloatArray, model: JointModel, sites: SiteState) -> FloatArray:
    """The block u with its whitened functions g replaced by coordinates ξ = Mᵀ g - M⁻¹ Aᵀ (h(ψ) - Λ Φ(β))."""
    m = model.x_sites.shape[0]
    moved = u.copy()
    for k in range(model.layout.num_functional):
        _fill_pilot(u, model, sites, k)
        for i in range(m):
            total = -sites.pilot_centres[k, i]
            for j in range(i, m):
                total += sites.pilot_factors[k, j, i] * u[k * m + j]
            moved[k * m + i] = total
    return moved


@kernel
def add_function_gradient(
    u: FloatArray, model: JointModel, sites: SiteState, latent_gradient: FloatArray, gradient: FloatArray
) -> float:
    """Prior of g and Jacobian of ξ → g: returns their log density and adds the gradient in ξ, β, ln s, ln ρ, c and ψ.

    `latent_gradient` (m, dθ + dψ) is the derivative of everything else in the latent values.
    """
    layout = model.layout
    m = model.x_sites.shape[0]
    total = 0.0
    for k in range(layout.num_functional):
        factor, pilot, whitened = sites.factors[k], sites.pilot_factors[k], sites.whitened[k]
        variation = math.exp(u[layout.log_variation + k])
        level_slope = normal_pdf(u[layout.level + k])
        here = latent_gradient[:, k].copy()
        function_adjoint = np.dot(factor.T, here)
        for i in range(m):
            total -= 0.5 * whitened[i] ** 2 + 0.5 * math.log(2.0 * math.pi) + math.log(pilot[i, i])
            function_adjoint[i] -= whitened[i]
        # through g = M⁻ᵀ (M⁻¹ b + ξ), b = Aᵀ (h(ψ) - Λ Φ(β))
        inner, outer = np.empty(m), np.empty(m)
        for i in range(m):
            value = function_adjoint[i]
            for j in range(i):
                value -= pilot[i, j] * inner[j]
            inner[i] = value / pilot[i, i]
        for i in range(m - 1, -1, -1):
            value = inner[i]
            for j in range(i + 1, m):
                value -= pilot[j, i] * outer[j]
            outer[i] = value / pilot[i, i]
        pilot_adjoint = np.zeros((m, m))
        for i in range(m):
            gradient[k * m + i] += inner[i]
            for j in range(i + 1):
                pilot_adjoint[i, j] = -whitened[i] * inner[j] - outer[i] * sites.pilot_centres[k, j]
            pilot_adjoint[i, i] -= 1.0 / pilot[i, i]
        gram_adjoint = np.dot(factor, cholesky_reverse(pilot, pilot_adjoint))
        spread = np.dot(factor, outer)
        for h in range(layout.num_global):
            latent = u[layout.global_latent + h]
            gap = normal_cdf(latent) - model.pilot_origin[h]
            for i in range(m):
                along = model.pilot_tilt[2 * h, i, k] + 2.0 * model.pilot_tilt[2 * h + 1, i, k] * gap
                change = model.pilot_precision[i, k] * along * normal_pdf(latent)
                gradient[layout.global_latent + h] += spread[i] * change
        pull = _pilot_pull(u, model, k)
        factor_adjoint = np.zeros((m, m))
        for i in range(m):
            precision = model.pilot_precision[i, k]
            gradient[layout.level + k] += (here[i] - precision * spread[i]) * level_slope
            for j in range(i + 1):
                adjoint = here[i] * whitened[j] + 2.0 * precision * gram_adjoint[i, j] + pull[i] * outer[j]
                gradient[layout.log_variation + k] += adjoint * factor[i, j]
                factor_adjoint[i, j] = adjoint * variation
        covariance_adjoint = cholesky_reverse(factor / variation, factor_adjoint)
        add_shape_gradient(u, model, k, covariance_adjoint, gradient)
    return total

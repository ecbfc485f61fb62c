"""The joint model of both tables: y^s = η(x, θ, ψ) and y^p = η(x, θ(x), ψ) + δ(x) + ε, as plain arrays.

The free parameters come in two blocks. The *emulator block* φ = (ln ℓ_1 … ln ℓ_d, ln γ, ln α, c_1 … c_d[, ln nugget])
shapes the Gaussian process η; moving it costs one factorisation of the runs' n × n covariance. The *calibration
block* u holds everything that concerns the sites and leaves that factor alone:

====================  ==============  ==========================================================
part of u             length          meaning
====================  ==============  ==========================================================
whitened functions    dθ · m          g_k, standard normal; f_k = Φ(β_k) + s_k L(ρ_k, c_k) g_k
levels                dθ              β_k
log variations        dθ              ln s_k
log roughnesses       dθ · dx         ln ρ_kj
stretches             dθ · dx         c_kj
global latents        dψ              probit of ψ in its box
log noise             1 (0 if known)  ln σ
log discrepancy       0, 1, 2 or 3    ln τ_c (constant), ln τ_v (linear or gp), ln ρ_δ (gp)
====================  ==============  ==========================================================

θ_k(x) = clamp(f_k(x)) and ψ = Φ(latent), in [0, 1] of the box.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..errors import SettingsError
from ..problem import ScaledProblem
from ..problem.arrays import FloatArray
from .prior import JointPrior, PriorNumbers

__all__ = ["DISCREPANCIES", "BlockLayout", "JointModel", "build_model", "calibration_names", "emulator_names"]

DISCREPANCIES = ("none", "constant", "linear", "gp")
"""The kinds of δ(x), by their number in compiled code: each is the one before it and something more."""


class BlockLayout(NamedTuple):
    """Where each part of the calibration block starts, and how much of it there is."""

    num_functional: int
    num_global: int
    level: int
    log_variation: int
    log_roughness: int
    stretch: int
    global_latent: int
    log_noise: int
    has_noise: bool
    log_discrepancy: int
    discrepancy: int
    size: int


class JointModel(NamedTuple):
    """Everything the density needs that does not move; passed whole to compiled code.

    A constant θ is a global parameter: the variant with a constant θ has no functional parameters and one more
    global one, and needs no code of its own. `pilot_precision`, `pilot_shift`, `pilot_tilt` (2 dψ, m, dθ + dψ) and
    `pilot_origin` (dψ,) are the Λ, h, t and o of `site_functions`, zero in a model as it is built; they change the
    coordinates of u, never the distribution. `temperature` is the power of the sites' likelihood: 1, or less in
    tempered companions.
    """

    x_sites: FloatArray
    y_sites: FloatArray
    inverse_counts: FloatArray
    known_variance: FloatArray
    within_ss: float
    within_dof: float
    x_runs: FloatArray
    t_runs: FloatArray
    y_runs: FloatArray
    site_gaps: FloatArray
    anchor_latent: FloatArray
    anchor_precision: FloatArray
    pilot_precision: FloatArray
    pilot_shift: FloatArray
    pilot_tilt: FloatArray
    pilot_origin: FloatArray
    temperature: float
    has_nugget: bool
    layout: BlockLayout
    prior: PriorNumbers


def block_layout(
    num_sites: int, num_controls: int, num_functional: int, num_global: int, has_noise: bool, discrepancy: int
) -> BlockLayout:
    """Offsets of the parts of the calibration block."""
    level = num_functional * num_sites
    log_variation = level + num_functional
    log_roughness = log_variation + num_functional
    stretch = log_roughness + num_functional * num_controls
    global_latent = stretch + num_functional * num_controls
    log_noise = global_latent + num_global
    log_discrepancy = log_noise + int(has_noise)
    return BlockLayout(
        num_functional,
        num_global,
        level,
        log_variation,
        log_roughness,
        stretch,
        global_latent,
        log_noise,
        has_noise,
        log_discrepancy,
        discrepancy,
        log_discrepancy + discrepancy,
    )


def build_model(
    problem: ScaledProblem,
    *,
    prior: JointPrior | None = None,
    discrepancy: str = "none",
    theta_varies: bool = True,
    nugget: bool = False,
    anchor_latent: FloatArray | None = None,
    anchor_precision: FloatArray | None = None,
) -> JointModel:
    """Lay out the joint model of a scaled problem.

    Parameters
    ----------
    problem
    prior
        The default prior if None.
    discrepancy
        One of `DISCREPANCIES`.
    theta_varies
        False makes every functional parameter a constant.
    nugget
        Sample a noise variance of the computer model's own.
    anchor_latent, anchor_precision
        (m, dθ + dψ) pseudo-observations of the latent calibration values at the sites and their
        precisions; 0 precision where there is none.
    """
    if discrepancy not in DISCREPANCIES:
        raise SettingsError(
            f"discrepancy must be one of {', '.join(DISCREPANCIES)}, but it is {discrepancy!r}"
        )
    num_sites, num_controls = problem.x_sites.shape
    num_calibration = problem.num_functional + problem.num_global
    num_functional = problem.num_functional if theta_varies else 0
    known = problem.known_variance
    layout = block_layout(
        num_sites,
        num_controls,
        num_functional,
        num_calibration - num_functional,
        known is None,
        DISCREPANCIES.index(discrepancy),
    )
    shape = (num_sites, num_calibration)
    gaps = (problem.x_sites[:, None, :] - problem.x_sites[None, :, :]) ** 2
    return JointModel(
        x_sites=_contiguous(problem.x_sites),
        y_sites=_contiguous(problem.y_sites),
        inverse_counts=_contiguous(1.0 / problem.counts),
        known_variance=_contiguous(np.zeros(num_sites) if known is None else known),
        within_ss=float(problem.within_ss),
        within_dof=float(problem.within_dof),
        x_runs=_contiguous(problem.x_runs),
        t_runs=_contiguous(problem.t_runs),
        y_runs=_contiguous(problem.y_runs),
        site_gaps=_contiguous(np.moveaxis(gaps, 2, 0)),
        anchor_latent=_contiguous(np.zeros(shape) if anchor_latent is None else anchor_latent),
        anchor_precision=_contiguous(np.zeros(shape) if anchor_precision is None else anchor_precision),
        pilot_precision=np.zeros(shape),
        pilot_shift=np.zeros(shape),
        pilot_tilt=np.zeros((2 * layout.num_global, *shape)),
        pilot_origin=np.zeros(layout.num_global),
        temperature=1.0,
        has_nugget=nugget,
        layout=layout,
        prior=(prior or JointPrior()).numbers(num_controls, float(problem.y_sites.std())),
    )


def _contiguous(values: FloatArray) -> FloatArray:
    """A writable C-ordered copy: one array type, hence one compiled signature."""
    return np.array(values, dtype=np.float64, order="C")


def emulator_names(model: JointModel, inputs: Sequence[str]) -> list[str]:
    """Names of the emulator block, in order."""
    names = [f"log_decay[{name}]" for name in inputs] + ["log_variance", "log_linear"]
    names += [f"growth[{name}]" for name in inputs]
    return [*names, "log_nugget"] if model.has_nugget else names


def calibration_names(model: JointModel) -> list[str]:
    """Names of the calibration block, in order."""
    layout, num_sites, num_controls = model.layout, *model.x_sites.shape
    functional = range(layout.num_functional)
    names = [f"whitened[{k},{i}]" for k in functional for i in range(num_sites)]
    names += [f"level[{k}]" for k in functional]
    names += [f"log_variation[{k}]" for k in functional]
    names += [f"log_roughness[{k},{j}]" for k in functional for j in range(num_controls)]
    names += [f"stretch[{k},{j}]" for k in functional for j in range(num_controls)]
    names += [f"global_latent[{h}]" for h in range(layout.num_global)]
    names += ["log_noise"] if layout.has_noise else []
    return (
        names
        + ["log_discrepancy_constant", "log_discrepancy_varying", "log_discrepancy_roughness"][
            : layout.discrepancy
        ]
    )

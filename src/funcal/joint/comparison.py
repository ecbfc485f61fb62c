"""Fit the rivals of the main member, weigh all by leave-one-out, and keep what the mixed prediction needs."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..problem import ScaledProblem
from ..problem.arrays import FloatArray
from .calibration_members import CalibrationMember, MemberRecipe, Variant
from .leave_one_out import leave_one_out_densities
from .member_weights import (
    LeaveOneOut,
    exact_leave_one_out,
    need_of_discrepancy,
    prediction_weights,
    psis_leave_one_out,
    stacking_weights,
)
from .physical_process import PhysicalProcess, fit_physical_process
from .straight_line import fit_straight_line
from .verdicts import comparison_table, simulator_helps, theta_varies

__all__ = ["PLAIN_MEMBERS", "Comparison", "compare_members", "leave_one_out_of", "pointwise_log_densities"]

PLAIN_MEMBERS = ("gp", "linear")
"""Members that do not use the computer model; the second is a limit of the first."""
LOO_DRAWS = 400
"""Draws per member that leave-one-out is computed from: PSIS needs a few hundred."""


@dataclass(frozen=True)
class Comparison:
    """The members, their leave-one-out scores, weights within the range of the runs and beyond it, and verdicts."""

    members: dict[str, CalibrationMember]
    process: PhysicalProcess
    scores: dict[str, LeaveOneOut]
    weights: dict[str, float]
    weights_beyond_runs: dict[str, float]
    log_likelihood: FloatArray
    table: list[dict[str, Any]]
    verdicts: dict[str, Any]


def pointwise_log_densities(member: CalibrationMember) -> FloatArray:
    """Log density of each site given the others and a draw, (chain, draw, m), at draws spread over the chains."""
    chains, length = member.draws.u.shape[:2]
    stride = max(1, -(-chains * length // LOO_DRAWS))
    u = member.draws.u[:, ::stride]
    phi = member.draws.phi[:, ::stride]
    densities = leave_one_out_densities(
        member.model, u.reshape(-1, u.shape[2]), phi.reshape(-1, phi.shape[2])
    )
    return densities.reshape(chains, u.shape[1], -1)


def leave_one_out_of(member: CalibrationMember) -> LeaveOneOut:
    """PSIS-LOO of a calibrated member."""
    return smoothed(pointwise_log_densities(member))


def smoothed(densities: FloatArray) -> LeaveOneOut:
    """PSIS-LOO from pointwise log densities (chain, draw, m)."""
    return psis_leave_one_out(densities.reshape(-1, densities.shape[2]), len(densities))


def compare_members(
    problem: ScaledProblem,
    main: CalibrationMember,
    recipe: MemberRecipe,
    *,
    discrepancy: str,
    seed: np.random.SeedSequence,
    progress: Callable[[int, int], None],
) -> Comparison:
    """Fit every other member, and compare.

    Parameters
    ----------
    problem
    main
        The member whose posterior is shown.
    recipe
        How the others are sampled: with a fraction of the main one's effort.
    discrepancy
        The kind of δ that members with one have.
    """
    variants = [
        Variant(varies, kind, main.variant.nugget)
        for kind in ("none", discrepancy)
        for varies in (True, False)
        if varies is False or main.variant.theta_varies
    ]
    members = {main.variant.name: main}
    rivals = [variant for variant in variants if variant.name not in members]
    seeds = seed.spawn(len(rivals) + 1)
    for index, (variant, stream) in enumerate(zip(rivals, seeds[1:], strict=True)):
        members[variant.name] = recipe.fit(
            problem,
            variant,
            stream,
            lambda done, total, _, index=index: progress(index * total + done, len(rivals) * total),  # type: ignore[misc]
        )
    names = [variant.name for variant in variants]
    with ThreadPoolExecutor(os.cpu_count()) as pool, threadpool_limits(limits=1):
        densities = dict(
            zip(names, pool.map(pointwise_log_densities, [members[name] for name in names]), strict=True)
        )
    scores = {name: smoothed(found) for name, found in densities.items()}
    process = fit_physical_process(problem, np.random.default_rng(seeds[0]))
    scores["gp"] = exact_leave_one_out(process.log_density)
    line = fit_straight_line(problem)
    if line is not None:
        scores["linear"] = exact_leave_one_out(line.log_density)
    stacking = stacking_weights(scores)
    need = need_of_discrepancy({name: member.misfit for name, member in members.items()})
    weights = prediction_weights(scores, PLAIN_MEMBERS, need)
    beyond_runs = prediction_weights(scores, PLAIN_MEMBERS, need, beyond_runs=True)
    verdicts: dict[str, Any] = {
        "simulator_helps": simulator_helps(scores, PLAIN_MEMBERS, stacking, weights, need)
    }
    if main.variant.theta_varies:
        values = main.draws.values[..., : main.model.layout.num_functional]
        suffix = main.variant.name.removeprefix("varying")
        verdicts["theta_varies"] = theta_varies(scores, values.reshape(-1, *values.shape[2:]), suffix)
    table = comparison_table(scores, stacking, weights)
    return Comparison(
        members, process, scores, weights, beyond_runs, densities[main.variant.name], table, verdicts
    )

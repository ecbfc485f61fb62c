"""Which joint model: θ varying or constant, with which δ, by leave-one-out (`funcal fit --tune`).

Every variant is sampled by short chains and judged by PSIS-LOO on the site means; sites whose Pareto k is too large
for that are left out in earnest (`refitted_sites.py`). The best expected log density wins, unless a simpler variant
comes within two of it or within one standard error of their difference.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import ScaledProblem
from .calibration_members import CalibrationMember, MemberRecipe, Variant
from .member_weights import LeaveOneOut, difference
from .refitted_sites import reliable_leave_one_out
from .verdicts import theta_varies

__all__ = ["VariantTuning", "choose_simplest", "tune_variant"]

SIMPLEST_FIRST = (
    (False, "none"),
    (False, "constant"),
    (False, "linear"),
    (True, "none"),
    (True, "constant"),
    (True, "linear"),
    (False, "gp"),
    (True, "gp"),
)
"""Whether θ varies, and δ. A straight line has fewer free values than a function of x, and one function fewer than
two; between two functions, θ(x) explains the measurements through the computer model and δ(x) beside it."""
CHANCE_LEAD = 2.0
"""Log density that the best of eight noisy scores gains by chance."""
DISAGREEING = 1.1
"""R-hat beyond which short chains sit in different places."""


@dataclass(frozen=True)
class VariantTuning:
    """The chosen variant, and how it was chosen.

    Attributes
    ----------
    variant
    report
        JSON-able: the choice and every candidate with elpd, standard error, difference from the best, worst Pareto k,
        number of sites sampled again without them, and R-hat of the short chains.
    sentence
        The same in words.
    theta_varies
        The verdict on θ from the two candidates with the chosen δ; None where θ cannot vary.
    """

    variant: Variant
    report: dict[str, Any]
    sentence: str
    theta_varies: dict[str, Any] | None


def tune_variant(
    problem: ScaledProblem,
    recipe: MemberRecipe,
    *,
    discrepancy: str,
    nugget: bool,
    seed: np.random.SeedSequence,
    progress: Callable[[int, int], None],
) -> VariantTuning:
    """Sample every variant with short chains and choose one.

    Parameters
    ----------
    problem
    recipe
        How a variant is sampled; its chains are short ones.
    discrepancy
        ``"auto"``, or the kind of δ that the user fixed: then only θ is decided on.
    nugget
        Whether the runs have noise of their own.
    seed
    progress
        Called with (variants done, variants).
    """
    variants = [
        Variant(varies, kind, nugget)
        for varies, kind in SIMPLEST_FIRST
        if discrepancy in ("auto", kind) and (problem.num_functional or not varies)
    ]
    members: dict[str, CalibrationMember] = {}
    scores: dict[str, LeaveOneOut] = {}
    refits: dict[str, int] = {}
    for done, (variant, stream) in enumerate(zip(variants, seed.spawn(len(variants)), strict=True)):
        progress(done, len(variants))
        chain_seed, refit_seed = stream.spawn(2)
        name = _name(variant.theta_varies, variant.discrepancy)
        members[name] = recipe.fit(problem, variant, chain_seed, lambda done, total, stage: None)
        scores[name], refits[name] = reliable_leave_one_out(problem, members[name], recipe, refit_seed)
    progress(len(variants), len(variants))
    best = max(scores, key=lambda name: scores[name].elpd)
    chosen = choose_simplest(scores)
    variant = members[chosen].variant
    rows = {
        name: _row(name, member, scores[name], scores[best], refits[name]) for name, member in members.items()
    }
    return VariantTuning(
        variant,
        {
            "chosen": chosen,
            "best": best,
            "candidates": sorted(rows.values(), key=lambda row: -row["elpd"]),
        },
        _sentence(rows, chosen, best),
        _verdict_on_theta(members, scores, variant),
    )


def choose_simplest(scores: Mapping[str, LeaveOneOut]) -> str:
    """The simplest variant that no other beats clearly: by more than two and more than one standard error.

    Parameters
    ----------
    scores
        By name, the simplest first.
    """
    best = max(scores.values(), key=lambda score: score.elpd)

    def as_good(score: LeaveOneOut) -> bool:
        loss, loss_se = difference(best, score)
        return loss <= max(CHANCE_LEAD, loss_se)

    return next(name for name, score in scores.items() if as_good(score))


def _name(varies: bool, discrepancy: str) -> str:
    """A variant in words."""
    kinds = {"none": "no δ", "constant": "constant δ", "linear": "linear δ", "gp": "δ a Gaussian process"}
    return f"{'θ(x)' if varies else 'constant θ'}, {kinds[discrepancy]}"


def _row(
    name: str, member: CalibrationMember, score: LeaveOneOut, best: LeaveOneOut, num_refitted: int
) -> dict[str, Any]:
    """One line of the table of candidates."""
    loss, loss_se = difference(best, score)
    return {
        "variant": name,
        "theta_varies": member.variant.theta_varies,
        "discrepancy": member.variant.discrepancy,
        "elpd": score.elpd,
        "se": score.se,
        "elpd_difference": loss,
        "difference_se": loss_se,
        "largest_pareto_k": float(score.pareto_k.max()),
        "num_sites_sampled_again": num_refitted,
        "rhat": float(member.draws.rhat),
    }


def _sentence(rows: Mapping[str, dict[str, Any]], chosen: str, best: str) -> str:
    """The choice in words, with what makes it doubtful."""
    words = f"Model variant: {chosen}, chosen among {len(rows)} by leave-one-out"
    if chosen != best:
        lead, lead_se = (rows[chosen][key] for key in ("elpd_difference", "difference_se"))
        words += f"; the best of all, {best}, is less simple and leads by {lead:.1f} ± {lead_se:.1f} only"
    rhat = max(rows[name]["rhat"] for name in (chosen, best))
    if rhat > DISAGREEING:
        words += f"; the short chains disagree (R-hat {rhat:.1f}), so look at the table of candidates"
    return words + "."


def _verdict_on_theta(
    members: Mapping[str, CalibrationMember], scores: Mapping[str, LeaveOneOut], chosen: Variant
) -> dict[str, Any] | None:
    """Whether θ varies, from the two candidates with the chosen δ."""
    varying, constant = (_name(varies, chosen.discrepancy) for varies in (True, False))
    if varying not in members:
        return None
    member = members[varying]
    values = member.draws.values[..., : member.model.layout.num_functional]
    pair = {"varying": scores[varying], "constant": scores[constant]}
    return theta_varies(pair, values.reshape(-1, *values.shape[2:]), "")

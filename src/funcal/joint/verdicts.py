"""Two plain answers: whether θ really varies with x, and whether the computer model helps at all."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..problem.arrays import FloatArray
from .member_weights import UNRELIABLE_K, LeaveOneOut, difference

__all__ = ["comparison_table", "simulator_helps", "theta_varies"]

LEAST_GAIN = 1.0
"""Differences in expected log density below one are too small to speak of, whatever their standard error."""
VARIATION = 0.1
"""A range of θ over the sites of less than a tenth of its box counts as constant."""
SURE, EVEN = 0.95, 0.5
"""Posterior probabilities that count as sure, and as no better than even."""


def comparison_table(
    members: Mapping[str, LeaveOneOut], stacking: Mapping[str, float], weights: Mapping[str, float]
) -> list[dict[str, Any]]:
    """One row per member, best first: elpd, its standard error, difference from the best, reliability, weights."""
    order = sorted(members, key=lambda name: -members[name].elpd)
    best = members[order[0]]
    rows = []
    for name in order:
        loss, loss_se = difference(best, members[name])
        rows.append(
            {
                "member": name,
                "elpd": members[name].elpd,
                "se": members[name].se,
                "elpd_difference": loss,
                "difference_se": loss_se,
                "stacking_weight": stacking[name],
                "prediction_weight": float(weights[name]),
                "largest_pareto_k": float(members[name].pareto_k.max()),
            }
        )
    return rows


def _doubt(*scores: LeaveOneOut) -> str:
    """What to add to a comparison of these members where leave-one-out itself is rough."""
    worst = np.max([score.pareto_k for score in scores], axis=0)
    num_rough = int(np.sum(worst > UNRELIABLE_K))
    if num_rough == 0:
        return ""
    return f"; this is rough at {num_rough} of {worst.size} sites (Pareto k up to {worst.max():.1f})"


def theta_varies(members: Mapping[str, LeaveOneOut], values: FloatArray, suffix: str) -> dict[str, Any]:
    """Whether θ varies with x, from leave-one-out and from the posterior of its range over the sites.

    Parameters
    ----------
    members
    values : (T, m, dθ)
        Scaled posterior draws of θ at the sites.
    suffix
        ``""`` or ``"+discrepancy"``: θ(x) and constant θ are compared with the same δ.
    """
    varying, constant = members["varying" + suffix], members["constant" + suffix]
    gain, gain_se = difference(varying, constant)
    spread = np.ptp(values, axis=1)
    probability = float(np.mean(spread > VARIATION, axis=0).max())
    if gain > max(LEAST_GAIN, 2.0 * gain_se) or (probability >= SURE and gain > 0.0):
        answer = "yes"
    elif (probability < EVEN and gain < LEAST_GAIN) or gain < -max(LEAST_GAIN, 2.0 * gain_se):
        answer = "no"
    else:
        answer = "unclear"
    return {
        "answer": answer,
        "evidence": {
            "elpd_gain_over_constant": gain,
            "se": gain_se,
            "probability_of_range_over_a_tenth_of_the_box": probability,
            "words": f"letting θ vary changes the leave-one-out log density by {gain:+.1f} ± {gain_se:.1f}"
            f"{_doubt(varying, constant)}; its range over the sites exceeds a tenth of the box with probability "
            f"{probability:.2f}",
        },
    }


def simulator_helps(
    members: Mapping[str, LeaveOneOut],
    rivals: tuple[str, ...],
    stacking: Mapping[str, float],
    weights: Mapping[str, float],
    need: float,
) -> dict[str, Any]:
    """Whether the best calibrated member predicts left-out sites better than the best rival without the model.

    `weights` are those of the prediction, reported beside the stacking weights; `need` tells how much closer to the
    measurements a discrepancy brings the fit, in logarithm.
    """
    calibrated = [name for name in members if name not in rivals]
    plain = [name for name in rivals if name in members]
    best = max(calibrated, key=lambda name: members[name].elpd)
    rival = max(plain, key=lambda name: members[name].elpd)
    gain, gain_se = difference(members[best], members[rival])
    share = float(sum(stacking[name] for name in calibrated))
    used = float(sum(weights[name] for name in calibrated))
    closer = 1.0 - float(np.exp(-max(need, 0.0)))
    if gain > max(LEAST_GAIN, gain_se) and share > 0.5:
        answer = "yes"
    elif gain < -max(LEAST_GAIN, gain_se):
        answer = "no"
    else:
        answer = "unclear"
    return {
        "answer": answer,
        "evidence": {
            "best_with_computer_model": best,
            "best_without": rival,
            "elpd_gain": gain,
            "se": gain_se,
            "stacking_weight_of_calibrated_members": share,
            "prediction_weight_of_calibrated_members": used,
            "misfit_removed_by_discrepancy": closer,
            "words": f"the best member with the computer model ({best}) predicts left-out sites with a log density "
            f"{gain:+.1f} ± {gain_se:.1f} of the best without it ({rival})"
            f"{_doubt(members[best], members[rival])}; of the prediction's weight the calibrated "
            f"members have {used:.0%} (stacking alone would give them {share:.0%}); a discrepancy takes "
            f"{closer:.0%} off the misfit",
        },
    }

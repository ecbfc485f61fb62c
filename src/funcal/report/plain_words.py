"""What a calibration says, in sentences."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..result import Calibration

__all__ = ["outcome_sentences"]


def outcome_sentences(calibration: "Calibration") -> list[str]:
    """The outcome of a fit, the most important first."""
    sentences = []
    convergence = calibration.convergence
    if convergence is not None:
        if convergence.converged:
            sentences.append(
                f"Converged: R-hat at most {convergence.rhat_max:.3f}, bulk effective sample size at least "
                f"{convergence.ess_bulk_min:.0f}, {calibration.seconds:.1f} s."
            )
        else:
            sentences.append(convergence.advice)
    else:
        sentences.append(f"Estimated in {calibration.seconds:.1f} s.")
    report = calibration.fit.report
    sentences += _verdict_sentences(report.get("verdicts", {}))
    sentences += [str(sentence) for sentence in report.get("sentences", [])]
    notes = [*report.get("warnings", []), *report.get("identifiability", {}).get("messages", [])]
    sentences += [f"Note: {sentence.rstrip('.')}." for sentence in notes]
    anchors = calibration.anchors
    if anchors is not None and anchors.status == "optimal":
        median = float(np.median(anchors.misfit))
        model = "shortest path" if anchors.model == "path" else "spanning tree"
        sentences.append(
            f"Anchors: {anchors.num_anchors} runs by the {model}, "
            f"proved optimal in {anchors.seconds:.2g} s; median misfit {median:.3g}."
        )
    elif anchors is not None:
        sentences.append(
            f"Anchors: {anchors.num_anchors} runs, NOT proved optimal (status {anchors.status}, gap {anchors.gap:.2g})."
        )
    return sentences


def _verdict_sentences(verdicts: dict[str, dict[str, object]]) -> list[str]:
    questions = {
        "theta_varies": "Does θ really vary with x?",
        "simulator_helps": "Does the computer model help?",
    }
    sentences = []
    for key, question in questions.items():
        if key in verdicts:
            answer, evidence = str(verdicts[key]["answer"]), verdicts[key].get("evidence", {})
            words = str(evidence.get("words", "")) if isinstance(evidence, dict) else ""
            reason = f" {words[0].upper()}{words[1:]}." if words else ""
            sentences.append(f"{question} {answer.capitalize()}.{reason}")
    return sentences

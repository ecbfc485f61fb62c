"""The summary of a calibration as plain values: `summary.json`."""

from typing import TYPE_CHECKING, Any

from .. import __version__
from ..result.plain_values import plain_values
from ..result.settings import settings_to_values
from .plain_words import outcome_sentences

if TYPE_CHECKING:
    from ..result import Calibration

__all__ = ["summary_values"]


def summary_values(calibration: "Calibration") -> dict[str, Any]:
    """Everything a program wants to know of a fit; numbers that are not finite become null."""
    problem, fit = calibration.problem, calibration.fit
    convergence = calibration.convergence
    table = calibration.summary()
    values: dict[str, Any] = {
        "method": calibration.method.key,
        "seed": calibration.seed,
        "seconds": calibration.seconds,
        "version": __version__,
        "sentences": outcome_sentences(calibration),
        "problem": {
            "num_sites": problem.num_sites,
            "num_measurements": problem.physical.num_observations,
            "num_runs": problem.num_runs,
            "num_failed_runs": problem.runs.num_failed,
            "control": problem.roles.control,
            "functional": problem.roles.functional,
            "global": problem.roles.global_,
            "response": problem.roles.response,
            "bounds": dict(zip(problem.roles.calibration, problem.bounds.tolist(), strict=True)),
            "messages": problem.messages,
        },
        "diagnostics": convergence.to_values() if convergence is not None else None,
        "posterior": {str(name): row.to_dict() for name, row in table.iterrows()},
        "settings": settings_to_values(calibration.settings),
    }
    if fit.anchors is not None:
        anchors = fit.anchors
        values["anchors"] = {
            "model": anchors.model,
            "solver": anchors.solver,
            "status": anchors.status,
            "cost": anchors.cost,
            "lower_bound": anchors.lower_bound,
            "gap": anchors.gap,
            "seconds": anchors.seconds,
            "lambda": anchors.lambda_,
            "radius": anchors.radius,
            "penalty": anchors.penalty,
            "weights": anchors.weights,
        }
    values.update({key: value for key, value in fit.report.items() if key not in {"sentences", *values}})
    plain: dict[str, Any] = plain_values(values)
    return plain

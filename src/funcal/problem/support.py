"""Where the runs can and cannot speak for the measurements, before anything is fitted."""

import numpy as np

from .calibration_problem import CalibrationProblem

__all__ = ["outside_runs", "site_in_words", "support_warnings"]

#: A control within this share of the runs' range beyond its ends counts as inside.
EDGE_SHARE = 0.01
#: Ranges of a shared column that differ by more than this are probably in different units.
UNIT_RATIO = 1e3


def outside_runs(problem: CalibrationProblem, control: np.ndarray) -> np.ndarray:
    """Which control vectors lie outside the range of the runs in at least one control."""
    low, high = problem.runs.control.min(axis=0), problem.runs.control.max(axis=0)
    slack = np.maximum(EDGE_SHARE * (high - low), 1e-9 * np.maximum(np.abs(low), np.abs(high)))
    return np.asarray(np.any((control < low - slack) | (control > high + slack), axis=1))


def site_in_words(problem: CalibrationProblem, site: int) -> str:
    """A site by its control values: ``x = 2.5``."""
    values = problem.physical.control[site]
    return ", ".join(f"{name} = {value:g}" for name, value in zip(problem.roles.control, values, strict=True))


def support_warnings(problem: CalibrationProblem) -> list[str]:
    """Sentences on extrapolation, units and responses that no run reaches."""
    found = []
    roles, physical, runs = problem.roles, problem.physical, problem.runs
    for index, name in enumerate(roles.control):
        ours, theirs = np.ptp(physical.control[:, index]), np.ptp(runs.control[:, index])
        if min(ours, theirs) > 0 and max(ours, theirs) / min(ours, theirs) > UNIT_RATIO:
            found.append(
                f"control {name!r} spans {ours:g} in the measurements and {theirs:g} in the runs; "
                "check that both tables use the same unit."
            )
    outside = np.flatnonzero(outside_runs(problem, physical.control))
    if len(outside):
        listed = "; ".join(site_in_words(problem, int(site)) for site in outside[:4])
        more = f" and {len(outside) - 4} more" if len(outside) > 4 else ""
        found.append(
            f"{len(outside)} of {problem.num_sites} sites lie outside the range of the runs ({listed}{more}); "
            "there the computer model is extrapolated."
        )
    low, high = runs.response.min(), runs.response.max()
    beyond = np.flatnonzero((physical.response < low) | (physical.response > high))
    if len(beyond):
        found.append(
            f"{len(beyond)} of {problem.num_sites} measured responses lie outside the responses of the runs "
            f"({low:g} to {high:g}); the model may be biased, or its calibration variables were not varied enough."
        )
    return found

"""Choose λ of the matching by leave-one-out: which λ predicts a left-out site's response best from its neighbours."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import MatchingError, ProblemError
from ..matching import MatchingSettings, find_anchors
from ..problem import CalibrationProblem, FloatArray
from .emulator_mode import find_emulator_mode
from .model import build_model
from .response import plug_in_mean

__all__ = ["tune_matching"]

LAMBDAS = (0.1, 0.25, 0.5, 1.0, 1.5)
"""The paper's candidates (Section 6) and one between."""


def tune_matching(
    problem: CalibrationProblem, settings: MatchingSettings, rng: np.random.Generator
) -> tuple[MatchingSettings, dict[str, Any]]:
    """Score every λ and return the settings with the best one, and the scores.

    For each λ the anchors are found once; then each site's calibration values are replaced by the average of the
    other sites' anchors, weighted by closeness in x, and pushed through the emulator of the runs. A small λ chases
    noise and interpolates badly; a large one flattens θ and misses the response.
    """
    scaled = problem.scaled()
    model = build_model(scaled)
    phi, _ = find_emulator_mode(model)
    gaps = np.sum((scaled.x_sites[:, None] - scaled.x_sites[None]) ** 2, axis=2)
    scores: dict[str, float] = {}
    for lambda_ in LAMBDAS:
        try:
            anchors = find_anchors(
                problem, replace(settings, lambda_=lambda_, solver="heuristic", empty_sites="skip")
            )
        except (MatchingError, ProblemError):
            continue
        scores[f"{lambda_:g}"] = _interpolation_error(
            scaled.t_runs[anchors.run], anchors.site, gaps, model, phi
        )
    if not scores:
        return settings, {"lambda": settings.lambda_, "scores": {}}
    best = min(scores, key=lambda key: scores[key])
    return replace(settings, lambda_=float(best)), {"lambda": float(best), "scores": scores}


def _interpolation_error(
    values: FloatArray, sites: np.ndarray, gaps: FloatArray, model: Any, phi: FloatArray
) -> float:
    """Root mean squared error of the emulator at each site with calibration values from its neighbours."""
    closeness = np.exp(-4.0 * gaps[np.ix_(sites, sites)] / max(float(np.median(gaps)), 1e-12))
    np.fill_diagonal(closeness, 0.0)
    borrowed = (closeness @ values) / np.maximum(closeness.sum(axis=1, keepdims=True), 1e-300)
    mean = plug_in_mean(model, phi, model.x_sites[sites], borrowed)
    return float(np.sqrt(np.mean((mean - model.y_sites[sites]) ** 2)))

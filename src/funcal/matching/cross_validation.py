"""λ, r and M by cross-validation over the sites (`funcal fit --tune`).

The paper leaves their choice open. Here every candidate matches the measured curve again without some of its sites,
and is judged by what its anchors say about them:

1. leave out a fold of sites (one at a time up to `MAX_FOLDS` sites); all runs stay, those of a left-out site go to
   their next nearest one;
2. find the anchors of the other sites with the candidate's λ, r and M;
3. krige the anchors' θ to the left-out site, average their ψ, and ask a surrogate of the runs for the response there;
4. compare it with the measured one.

Nothing of a left-out site's response enters its own prediction: the surrogate is fitted to the runs alone. What is
judged is the matching with a simple interpolation, not the posterior that is built on the anchors later.
"""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import MatchingWarning
from ..gaussian_process import SurrogateSettings, shared_surrogate, squared_exponential
from ..problem import CalibrationProblem, FloatArray
from .anchors import find_anchors
from .matching_settings import MatchingSettings
from .prepared_matching import prepare_matching

__all__ = ["MatchingTuning", "tune_matching"]

LAMBDAS = (0.1, 0.25, 0.5, 1.0, 1.5)
"""The paper's candidates (Section 6) and one between."""
RADIUS_FACTORS = (1.0, 1.5, 2.5)
"""r in units of the smallest radius that joins all sites: neighbours only, their neighbours too, nearly all pairs."""
PENALTIES = (None, 1.0)
"""M: large enough to forbid far edges, or so small that a far edge costs its length in standardised controls."""
MAX_FOLDS = 12
"""Sites are left out one at a time up to this many; beyond it in this many folds, to bound the cost."""
FEWEST_SITES = 3
"""With fewer, too little is left to match when a site is left out."""
DECAY, NOISE_SHARE = 3.0, 0.05
"""How θ is interpolated, as `bnmc` does for sites without an anchor: correlation exp(-3 d²) on controls in [0, 1], and
5 % of independent variation."""


@dataclass(frozen=True)
class MatchingTuning:
    """The chosen settings, and how they were chosen.

    Attributes
    ----------
    settings
        The settings given, with the chosen λ, r and M.
    report
        JSON-able: the choice, and every candidate with its error on left-out sites.
    sentence
        The same in words.
    """

    settings: MatchingSettings
    report: dict[str, Any]
    sentence: str


@dataclass(frozen=True)
class _Candidate:
    """λ, r in units of the smallest radius that joins the sites, and M; None: as the settings have it."""

    lambda_: float
    radius_factor: float | None = None
    penalty: float | None = None

    def apply(self, problem: CalibrationProblem, given: MatchingSettings) -> MatchingSettings:
        """The given settings with these constants."""
        chosen = replace(given, lambda_=self.lambda_, penalty=self.penalty or given.penalty)
        if self.radius_factor is None or self.radius_factor == 1.0:
            return chosen
        _, joining = _graph_of(problem, given)
        return replace(chosen, radius=self.radius_factor * joining)


def tune_matching(problem: CalibrationProblem, settings: MatchingSettings) -> MatchingTuning:
    """Choose λ, r and M together by cross-validation over the sites.

    A path needs λ only. An r or an M that the settings give is kept. The candidate with the smallest squared error
    wins, unless the settings as they are come within one standard error of it: with few sites most differences are
    noise.

    Parameters
    ----------
    problem
    settings
        What is not tuned: the graph, its weights, and where to start from. Trees are found by the heuristic here.
    """
    if problem.num_sites < FEWEST_SITES or not len(problem.bounds):
        report = {"lambda": settings.lambda_, "candidates": []}
        return MatchingTuning(settings, report, "Matching: there are too few sites to tune it.")
    candidates = _candidates(problem, settings)
    errors = _errors_on_left_out_sites(problem, settings, candidates) ** 2
    rmse = np.sqrt(errors.mean(axis=1))
    best = int(np.argmin(rmse))
    gain = errors[0] - errors[best]
    clear = bool(gain.mean() > gain.std(ddof=1) / math.sqrt(len(gain)))
    winner = candidates[best].apply(problem, settings)
    tuned = winner if clear else settings
    report = {
        "lambda": tuned.lambda_,
        "radius": tuned.radius,
        "penalty": tuned.penalty,
        "num_folds": min(problem.num_sites, MAX_FOLDS),
        "chosen": best if clear else 0,
        "best": best,
        "candidates": [
            {
                "lambda": candidate.lambda_,
                "radius_factor": candidate.radius_factor,
                "penalty": candidate.penalty,
                "rmse": float(value),
            }
            for candidate, value in zip(candidates, rmse, strict=True)
        ],
    }
    return MatchingTuning(tuned, report, _sentence(settings, winner, rmse[[0, best]], clear))


def _graph_of(problem: CalibrationProblem, settings: MatchingSettings) -> tuple[str, float]:
    """Which graph the settings mean, and the smallest r that joins all sites (NaN for a path)."""
    prepared = prepare_matching(problem, replace(settings, radius=None, penalty=None, empty_sites="skip"))
    return prepared.model, prepared.radius


def _candidates(problem: CalibrationProblem, settings: MatchingSettings) -> list[_Candidate]:
    """The grid; first the settings as they are."""
    lambdas = dict.fromkeys((settings.lambda_, *LAMBDAS))
    if _graph_of(problem, settings)[0] == "path":
        return [_Candidate(lambda_) for lambda_ in lambdas]
    factors = RADIUS_FACTORS if settings.radius is None else (None,)
    penalties = PENALTIES if settings.penalty is None else (None,)
    return [_Candidate(*values) for values in itertools.product(lambdas, factors, penalties)]


def _errors_on_left_out_sites(
    problem: CalibrationProblem, settings: MatchingSettings, candidates: list[_Candidate]
) -> FloatArray:
    """Predicted less measured response of every site when it is left out, (candidate, m), in the user's units."""
    scaled = problem.scaled()
    surrogate = shared_surrogate(
        np.hstack([scaled.x_runs, scaled.t_runs]), scaled.y_runs, SurrogateSettings()
    )
    num_folds = min(problem.num_sites, MAX_FOLDS)
    fold = np.arange(problem.num_sites) % num_folds
    fast = replace(settings, solver="heuristic", empty_sites="skip")
    predicted = np.empty((len(candidates), problem.num_sites))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MatchingWarning)
        for left_out in (np.flatnonzero(fold == k) for k in range(num_folds)):
            kept = np.setdiff1d(np.arange(problem.num_sites), left_out)
            training = problem.subset(kept)
            x_left = scaled.x_sites[left_out]
            for index, candidate in enumerate(candidates):
                anchors = find_anchors(training, candidate.apply(training, fast))
                values = _borrowed_values(
                    scaled.x_sites[kept[anchors.site]],
                    scaled.t_runs[anchors.run],
                    problem.num_functional,
                    x_left,
                )
                predicted[index, left_out] = surrogate.predict_mean(np.hstack([x_left, values]))
    errors: FloatArray = (predicted - scaled.y_sites) * scaled.scaling.response_sd
    return errors


def _borrowed_values(
    x_anchors: FloatArray, values: FloatArray, num_functional: int, x_left: FloatArray
) -> FloatArray:
    """Calibration values of left-out sites from the anchors of the others: θ kriged, ψ averaged."""
    rates = np.full(x_anchors.shape[1], DECAY)
    covariance = (1.0 - NOISE_SHARE) * squared_exponential(x_anchors, x_anchors, rates)
    covariance[np.diag_indices_from(covariance)] += NOISE_SHARE
    cross = (1.0 - NOISE_SHARE) * squared_exponential(x_left, x_anchors, rates)
    mean = values.mean(axis=0)
    deviation = values - mean
    deviation[:, num_functional:] = 0.0
    kriged = mean + cross @ np.linalg.solve(covariance, deviation)
    inside: FloatArray = np.clip(kriged, 0.0, 1.0)
    return inside


def _in_words(settings: MatchingSettings) -> str:
    """λ, and r and M where they are not left to the default rule."""
    words = f"λ = {settings.lambda_:g}"
    for name, value in (("r", settings.radius), ("M", settings.penalty)):
        words += "" if value is None else f", {name} = {value:.3g}"
    return words


def _sentence(given: MatchingSettings, best: MatchingSettings, rmse: FloatArray, clear: bool) -> str:
    """The choice in words; `rmse` is that of the given settings and of the best ones."""
    if clear:
        return (
            f"Matching: {_in_words(best)}, chosen by cross-validation over the sites (error {rmse[1]:.3g} on left-out "
            f"sites; with {_in_words(given)} {rmse[0]:.3g})."
        )
    return (
        f"Matching: {_in_words(given)} was kept; no other choice predicts left-out sites clearly better (error "
        f"{rmse[0]:.3g}, smallest of all {rmse[1]:.3g})."
    )

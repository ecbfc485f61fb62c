"""Anchors as information, not dogma: an ensemble of matchings under perturbed responses and λ.

Every member re-solves the matching of Sections 3 and 4 with the sites' responses drawn again from their noise and λ
from its range. The members give the chains their starting points, one each, so that several modes are found; and, if
asked for, pseudo-observations of θ(x_i) and ψ with the variance that the ensemble shows.
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np

from ..errors import MatchingError, ProblemError
from ..matching import MatchingSettings, find_anchors, perturbed_anchors
from ..problem import AnchorPoints, CalibrationProblem, ScaledProblem
from ..problem.arrays import FloatArray
from .starting_points import noisy_matches

__all__ = ["AnchorEnsemble", "anchor_ensemble"]

LAMBDA_RANGE = (0.1, 1.5)
"""The paper's range of λ (Section 6), drawn from log-uniformly."""
PROOF_SECONDS = 30.0
"""For the proof that no tree is better than the one shown, unless the user gives a time; the ensemble needs none. With
2 000 runs and 100 sites it takes two; what the first use on a machine compiles counts too."""
NOISE_GUESS = 0.2
"""Noise of a measurement before anything is known, in sd of the runs: between the testbed's 0.03 and 0.4."""


@dataclass(frozen=True)
class AnchorEnsemble:
    """What an ensemble of matchings says.

    Attributes
    ----------
    anchors : AnchorPoints or None
        The matching of the data as measured; None where the problem has none.
    values : (B, m, dθ + dψ)
        Scaled calibration values at the sites, one set per member; a site without runs takes its nearest
        neighbour's.
    """

    anchors: AnchorPoints | None
    values: FloatArray

    def pseudo_observations(self, problem: ScaledProblem) -> tuple[FloatArray, FloatArray]:
        """Mean of the scaled calibration values at each site over the ensemble, and its honest variance, (m, dθ + dψ).

        The variance is the ensemble's spread and half the typical gap between a cluster's runs, squared: the true
        value need not be among the runs.
        """
        mean = self.values.mean(axis=0)
        runs_per_site = max(len(problem.y_runs) / len(problem.y_sites), 1.0)
        variance = self.values.var(axis=0) + (0.5 / runs_per_site) ** 2
        return mean, variance


def anchor_ensemble(
    problem: CalibrationProblem, settings: MatchingSettings, *, size: int, rng: np.random.Generator
) -> AnchorEnsemble:
    """Solve the matching and `size` perturbed copies of it."""
    scaled = problem.scaled()
    if problem.num_functional + problem.num_global == 0:
        return AnchorEnsemble(None, np.zeros((size, len(scaled.y_sites), 0)))
    noise = _site_noise_sd(scaled) * scaled.scaling.response_sd
    responses = problem.physical.response + noise * rng.standard_normal((size, problem.num_sites))
    lambdas = np.exp(rng.uniform(np.log(LAMBDA_RANGE[0]), np.log(LAMBDA_RANGE[1]), size))
    fast = replace(settings, solver="heuristic", empty_sites="skip")
    shown = settings
    if settings.solver == "auto":
        seconds = PROOF_SECONDS if settings.time_limit is None else settings.time_limit
        shown = replace(settings, empty_sites="skip", time_limit=seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            anchors = find_anchors(problem, shown)
            runs = perturbed_anchors(problem, fast, responses, lambdas)
    except (MatchingError, ProblemError):
        # no graph joins the sites: each is matched on its own
        matches = [noisy_matches(scaled, rng) for _ in range(size)]
        return AnchorEnsemble(None, np.array(matches))
    nearest = np.argmin(
        np.sum((scaled.x_sites[:, None] - scaled.x_sites[anchors.site][None]) ** 2, axis=2), axis=1
    )
    return AnchorEnsemble(anchors, scaled.t_runs[runs][:, nearest])


def _site_noise_sd(problem: ScaledProblem) -> FloatArray:
    """Noise of each site mean: known, or from the replicates, or a guess."""
    if problem.known_variance is not None:
        return np.sqrt(problem.known_variance)
    guess = NOISE_GUESS
    if problem.within_dof:
        guess = float(np.sqrt(problem.within_ss / problem.within_dof))
    sd: FloatArray = guess / np.sqrt(problem.counts)
    return sd

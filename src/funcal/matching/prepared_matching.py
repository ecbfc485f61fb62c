"""The matching problem ready to be solved: runs in clusters, r and M chosen."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np

from ..errors import MatchingWarning, SettingsError
from ..problem import CalibrationProblem, FloatArray, IntArray
from .clusters import nearest_sites, require_runs_everywhere
from .edge_weights import CalibrationGraph, calibration_graph, heaviest_near_and_least_far, misfits
from .matching_settings import MatchingSettings
from .radius_and_penalty import choose_penalty, choose_radius, num_site_groups
from .standardise import StandardisedProblem, standardise

__all__ = ["PreparedMatching", "prepare_matching"]


@dataclass(frozen=True)
class PreparedMatching:
    """Standardised data, clusters and constants.

    Attributes
    ----------
    scaled
        The standardised problem.
    cluster
        (n,) site of each run.
    sites
        (k,) sites that have a run, in increasing order.
    x_near
        (n, dx) the runs' controls on the scale of r.
    model
        ``"path"`` or ``"tree"``.
    radius, penalty
        r and M; NaN for the path, which needs neither.
    """

    scaled: StandardisedProblem
    cluster: IntArray
    sites: IntArray
    x_near: FloatArray
    model: str
    radius: float
    penalty: float

    def misfit(self, responses: FloatArray | None = None) -> FloatArray:
        """Standardised misfits of the runs, with the sites' responses or others, (B, m) in raw units."""
        y_sites = self.scaled.y_sites if responses is None else responses / self.scaled.response_range
        return misfits(self.scaled.y_runs, y_sites, self.cluster)

    def graph(self, misfit: FloatArray, lambda_: float, *, printed: bool) -> CalibrationGraph:
        """The undirected calibration graph for given misfits and λ."""
        return calibration_graph(
            self.x_near,
            self.scaled.x_runs,
            self.scaled.t_runs,
            self.cluster,
            misfit,
            lambda_=lambda_,
            radius=self.radius,
            penalty=self.penalty,
            printed=printed,
        )

    def with_penalty_for(self, misfit: FloatArray, lambda_: float) -> PreparedMatching:
        """The same with M chosen for these misfits and this λ."""
        heaviest, least_far = heaviest_near_and_least_far(
            np.ascontiguousarray(self.x_near),
            np.ascontiguousarray(self.scaled.x_runs),
            self.scaled.t_runs,
            self.cluster,
            misfit,
            lambda_,
            self.radius,
        )
        same_scale = self.x_near is self.scaled.x_runs
        floor = self.radius if same_scale or math.isinf(least_far) else least_far
        return replace(self, penalty=choose_penalty(heaviest, len(self.sites), floor))


def prepare_matching(problem: CalibrationProblem, settings: MatchingSettings) -> PreparedMatching:
    """Standardise, cluster, and choose r and M.

    Raises
    ------
    ProblemError
        If a site has no run and ``empty_sites`` is ``"error"``.
    SettingsError
        If a path is asked for with more than one control.

    Warns
    -----
    MatchingWarning
        If r leaves the sites in groups that only penalised edges join.
    """
    if settings.model == "path" and problem.num_controls != 1:
        raise SettingsError(
            f'model "path" needs exactly one control variable, but the problem has {problem.num_controls}; '
            'use model "tree" or "auto".'
        )
    model = (
        "path"
        if settings.model == "path" or (settings.model == "auto" and problem.num_controls == 1)
        else "tree"
    )
    scaled = standardise(problem)
    cluster = nearest_sites(scaled.x_sites, scaled.x_runs)
    if settings.empty_sites == "error":
        require_runs_everywhere(problem, cluster)
    sites = np.unique(cluster)
    raw = settings.radius_scale == "raw"
    prepared = PreparedMatching(
        scaled, cluster, sites, problem.runs.control if raw else scaled.x_runs, model, math.nan, math.nan
    )
    if model == "path":
        return prepared
    x_sites = (problem.physical.control if raw else scaled.x_sites)[sites]
    radius = choose_radius(x_sites) if settings.radius is None else settings.radius
    groups = num_site_groups(x_sites, radius)
    if groups > 1:
        warnings.warn(
            f"The radius r = {radius:.4g} leaves the sites in {groups} groups that only penalised edges can join; "
            f"r = {choose_radius(x_sites):.4g} would join them all.",
            MatchingWarning,
            stacklevel=3,
        )
    prepared = replace(prepared, radius=radius)
    if settings.penalty is not None:
        return replace(prepared, penalty=settings.penalty)
    return prepared.with_penalty_for(prepared.misfit(), settings.lambda_)

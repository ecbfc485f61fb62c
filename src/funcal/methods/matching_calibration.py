"""The paper's method: anchors by matching, a posterior around them, predictions from its draws.

`bnmc` finds the anchors by a generalized minimum spanning tree, for any number of controls; `bnmc-dag` by a shortest
path, for one control. Everything after the anchors (Section 5, Appendix A) is the same for both.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

import numpy as np

from ..errors import SettingsError
from ..matching import find_anchors, tune_matching
from ..posterior import (
    Draws,
    ParameterLayout,
    SiteData,
    draws_in_user_units,
    first_steps,
    posterior_model,
    run_chains,
    start_state,
)
from ..priors import (
    CalibrationPrior,
    WorkingUnits,
    paper_prior,
    proper_prior,
    theta_centre,
)
from ..problem import AnchorPoints, CalibrationProblem, FloatArray
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .matching_calibration_settings import MatchingCalibrationSettings
from .matching_prediction import predict_from_draws

__all__ = ["ShortestPathCalibration", "SpanningTreeCalibration"]

#: Names of the trailing dimensions of the draws.
DIMS = {
    "theta": ("site", "functional"),
    "psi": ("global",),
    "nu": ("functional",),
    "tau": ("global",),
    "length_control": ("control",),
    "length_functional": ("functional",),
    "length_global": ("global",),
}
#: What `predict` takes.
PREDICT_OPTIONS = frozenset({"variance", "num_draws"})
PSI_NOTE = (
    "the paper's likelihood does not contain ψ: its posterior is its prior around the mean of the anchors, and "
    "predictions do not depend on it; method joint learns ψ"
)
LEVEL_NOTE = (
    "the paper's likelihood is unchanged by a common shift of θ: the data inform differences of θ between sites, "
    "its level comes from the anchors alone"
)


class SpanningTreeCalibration:
    """The paper's method with anchors from a generalized minimum spanning tree (Section 4)."""

    key: ClassVar[str] = "bnmc"
    title: ClassVar[str] = "Bayesian non-isometric matching calibration, spanning tree"
    supports: ClassVar[Capabilities] = Capabilities(predict_options=PREDICT_OPTIONS)
    Settings: ClassVar[type[Any]] = MatchingCalibrationSettings
    _graph: ClassVar[Literal["path", "tree"]] = "tree"

    def fit(
        self,
        problem: CalibrationProblem,
        settings: MatchingCalibrationSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Find the anchors (with λ, r and M tuned first, if asked for), build the prior around them, sample.

        Parameters
        ----------
        problem, settings
        seed
            Spawns one child per chain.
        progress
            Called with sweeps done, sweeps in all and a label.

        Raises
        ------
        SettingsError
            If the problem has more than one control and the anchors are to come from a path, or the settings ask for
            the other graph.
        """
        self._check(problem, settings)
        matching = dataclasses.replace(settings.matching, model=self._graph)
        tuned = tune_matching(problem, matching) if settings.tune else None
        anchors = find_anchors(problem, tuned.settings if tuned else matching, progress=progress)
        units = WorkingUnits.of_problem(problem, input_scale=settings.input_scale, centring=settings.centring)
        prior = _prior(problem, anchors, units, settings)
        draws = _sample(problem, prior, units, settings, seed, progress)
        report = _report(problem, anchors, prior, units, settings)
        if tuned:
            report |= {"tuning": {"matching": tuned.report}, "sentences": [tuned.sentence]}
        return _fit(problem, anchors, prior, draws, units, report)

    def predict(
        self,
        problem: CalibrationProblem,
        fit: Fit,
        x_new: FloatArray,
        *,
        rng: np.random.Generator,
        **options: Any,
    ) -> PredictiveSample:
        """Predict θ by Proposition 1 and the response by Eq. (PredDistFor1Sample), for a thinned set of draws.

        Parameters
        ----------
        problem, fit, x_new, rng
        **options
            ``variance``: ``"total"`` (law of total variance) or ``"paper"`` (the printed 1/T² rule, which shrinks
            with the number of draws). ``num_draws``: components of the mixture, 2000 unless given.

        Raises
        ------
        SettingsError
            If an option is unknown.
        """
        variance = options.pop("variance", "total")
        num_draws = int(options.pop("num_draws", 2000))
        if options or variance not in ("total", "paper") or num_draws < 1:
            raise SettingsError(
                f'{self.key} predicts with variance="total" or "paper" and num_draws of at least 1; '
                f"found variance={variance!r}, num_draws={num_draws}"
                + (f" and unknown {', '.join(options)}." if options else ".")
            )
        return predict_from_draws(problem, fit, np.asarray(x_new, dtype=np.float64), rng, variance, num_draws)

    def _check(self, problem: CalibrationProblem, settings: MatchingCalibrationSettings) -> None:
        most = self.supports.max_controls
        if most is not None and problem.num_controls > most:
            raise SettingsError(
                f"{self.key} orders the sites along one control; found {problem.num_controls} controls: use bnmc."
            )
        if settings.matching.model not in ("auto", self._graph):
            raise SettingsError(
                f'{self.key} takes its anchors from a {self._graph}; found matching.model="{settings.matching.model}": '
                "use bnmc for a tree and bnmc-dag for a path."
            )


class ShortestPathCalibration(SpanningTreeCalibration):
    """The paper's method with anchors from a shortest path (Section 3), for one control."""

    key: ClassVar[str] = "bnmc-dag"
    title: ClassVar[str] = "Bayesian non-isometric matching calibration, shortest path"
    supports: ClassVar[Capabilities] = Capabilities(max_controls=1, predict_options=PREDICT_OPTIONS)
    _graph: ClassVar[Literal["path", "tree"]] = "path"


def _prior(
    problem: CalibrationProblem,
    anchors: AnchorPoints,
    units: WorkingUnits,
    settings: MatchingCalibrationSettings,
) -> CalibrationPrior:
    centre = theta_centre(
        anchors,
        problem.scaled().x_sites,
        units,
        theta_prior=settings.theta_prior,
        decay=settings.theta_decay,
    )
    # half the typical gap between the θ of runs in one cluster, as a part of the range (point 10)
    floor = problem.num_sites / (2.0 * problem.num_runs) if settings.spread_floor == "cluster" else 0.0
    if settings.prior == "paper":
        return paper_prior(
            centre,
            units,
            num_controls=problem.num_controls,
            theta_bounds=settings.theta_bounds or "none",
            box_margin=settings.box_margin,
            spread_floor=floor,
        )
    return proper_prior(
        centre,
        units,
        num_controls=problem.num_controls,
        theta_bounds=settings.theta_bounds or "box",
        box_margin=settings.box_margin,
        spread_floor=floor,
    )


def _sample(
    problem: CalibrationProblem,
    prior: CalibrationPrior,
    units: WorkingUnits,
    settings: MatchingCalibrationSettings,
    seed: np.random.SeedSequence,
    progress: Progress,
) -> Draws:
    physical = problem.physical
    known = physical.known_variance
    sites = SiteData(
        control=units.control.to_unit(physical.control),
        response=(physical.response - units.response_centre) / units.response_scale,
        count=physical.count.astype(np.float64),
        known_variance=None if known is None else known / units.response_scale**2,
        within_ss=physical.within_ss / units.response_scale**2,
        within_dof=physical.within_dof,
    )
    model = posterior_model(sites, prior)
    ranges = {
        "functional_range": np.ptp(units.functional_box, axis=1),
        "global_range": np.ptp(units.global_box, axis=1),
    }
    return run_chains(
        model,
        lambda rng: start_state(model, rng, response_variance=units.response_variance, **ranges),
        first_steps(ParameterLayout.of_model(model), **ranges),
        seed=seed,
        num_chains=settings.num_chains,
        warmup=settings.warmup,
        draws=settings.draws,
        thin=settings.thin,
        progress=progress,
    )


def _fit(
    problem: CalibrationProblem,
    anchors: AnchorPoints,
    prior: CalibrationPrior,
    draws: Draws,
    units: WorkingUnits,
    report: dict[str, Any],
) -> Fit:
    named = {name: values for name, values in draws_in_user_units(draws, units).items() if values.size}
    if problem.physical.known_variance is not None:
        del named["noise_sd"]
    support = units.functional.from_unit(prior.theta_bounds.T).T
    return Fit(
        draws=named,
        dims={name: DIMS[name] for name in named if name in DIMS},
        stats={"lp": draws.log_density, "acceptance_rate": draws.acceptance_rate},
        constants={"response_centre": np.array([units.response_centre]), "theta_bounds": support},
        anchors=anchors,
        log_likelihood=draws.log_likelihood - np.log(units.response_scale),
        report=report,
    )


def _report(
    problem: CalibrationProblem,
    anchors: AnchorPoints,
    prior: CalibrationPrior,
    units: WorkingUnits,
    settings: MatchingCalibrationSettings,
) -> dict[str, Any]:
    """Collect what a summary should say; JSON-able."""
    notes = [LEVEL_NOTE]
    if problem.num_global:
        notes.insert(0, PSI_NOTE)
    empty = sorted(set(range(problem.num_sites)) - set(anchors.site.tolist()))
    if empty:
        notes.append(
            f"{len(empty)} of {problem.num_sites} sites have no anchor; their prior is kriged from the other anchors "
            "and wider"
        )
    spread = prior.centre.psi_spread * units.global_.width
    return {
        "graph": {
            "model": anchors.model,
            "solver": anchors.solver,
            "status": anchors.status,
            "cost": float(anchors.cost),
            "lower_bound": float(anchors.lower_bound),
            "gap": float(anchors.gap),
            "seconds": float(anchors.seconds),
            "lambda": float(anchors.lambda_),
            "radius": _finite(anchors.radius),
            "penalty": _finite(anchors.penalty),
            "weights": anchors.weights,
        },
        "prior": settings.prior,
        "theta_process": dataclasses.asdict(settings.theta_process),
        "anchor_psi_spread": dict(zip(problem.roles.global_, map(float, spread), strict=True)),
        "sites_without_anchor": empty,
        "warnings": notes,
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

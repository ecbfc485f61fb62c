"""The method `joint`, funcal's default: one Gaussian process over both tables, θ(x) and ψ learnt from all of it."""

from dataclasses import asdict, replace
from typing import Any, ClassVar

import numpy as np

from ..errors import SettingsError
from ..joint.anchor_information import anchor_ensemble
from ..joint.calibration_members import (
    CalibrationMember,
    MemberRecipe,
    Variant,
    discrepancy_suspected,
    emulator_of_runs,
)
from ..joint.comparison import Comparison, compare_members, pointwise_log_densities
from ..joint.identifiability import identifiability_report
from ..joint.mixed_prediction import StoredMember, predict_mixture, store_members
from ..joint.model import BlockLayout
from ..joint.prior import JointPrior
from ..joint.tuning import VariantTuning, tune_variant
from ..matching import MatchingTuning, tune_matching
from ..problem import CalibrationProblem, FloatArray, outside_runs
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent
from .joint_settings import JointSettings

__all__ = ["DIMENSIONS", "JointCalibration", "shown_quantities", "usual_variant"]

DIMENSIONS = {"theta": ("site", "functional"), "psi": ("global",), "response": ("site",)}
"""Of what is shown, after chain and draw."""


class JointCalibration:
    """The method `joint`."""

    key: ClassVar[str] = "joint"
    title: ClassVar[str] = "Joint Gaussian process over both tables (default)"
    supports: ClassVar[Capabilities] = Capabilities(predict_options=frozenset({"member"}))
    Settings: ClassVar[type[Any]] = JointSettings

    def fit(
        self,
        problem: CalibrationProblem,
        settings: JointSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Sample the posterior of the main member, compare it with its rivals, and say what was learnt."""
        scaled = problem.scaled()
        anchor_seed, main_seed, rival_seed, report_seed, tune_seed = seed.spawn(5)
        matched = tune_matching(problem, settings.matching) if settings.tune else None
        ensemble = anchor_ensemble(
            problem,
            matched.settings if matched else settings.matching,
            size=settings.ensemble_size,
            rng=np.random.default_rng(anchor_seed),
        )
        nugget, emulator = emulator_of_runs(scaled, settings.prior)
        variant = usual_variant(problem, settings, nugget)
        recipe = MemberRecipe(
            settings.prior,
            list(ensemble.values),
            ensemble.pseudo_observations(scaled) if settings.anchors == "inform" else None,
            emulator,
            settings.sampler,
        )
        short = replace(recipe, sampler=settings.rival_sampler)
        tuned = None
        if settings.tune:
            tuned = tune_variant(
                scaled,
                short,
                discrepancy=settings.discrepancy,
                nugget=variant.nugget,
                seed=tune_seed,
                progress=lambda done, total: progress(done, total, "tuning"),
            )
            variant = tuned.variant
        main = recipe.fit(
            scaled, variant, main_seed, lambda done, total, stage: progress(done, total, f"sampling{stage}")
        )
        comparison = None
        if settings.compare:
            comparison = compare_members(
                scaled,
                main,
                short,
                discrepancy=_discrepancy_of_rivals(variant),
                seed=rival_seed,
                progress=lambda done, total: progress(done, total, "comparing"),
            )
        report = _report(problem, settings, main, comparison, np.random.default_rng(report_seed))
        if matched and tuned:
            _add_tuning(report, matched, tuned)
        stored = store_members(main, comparison, settings.prediction_draws)
        return Fit(
            draws=_shown_draws(problem, main, np.random.default_rng(report_seed)),
            dims=DIMENSIONS,
            stats={
                "lp": main.draws.stats[..., 0],
                "acceptance_rate": main.draws.stats[..., 1],
                "num_steps": main.draws.stats[..., 2],
                "diverging": main.draws.stats[..., 3].astype(bool),
            },
            constants=stored.arrays(),
            anchors=ensemble.anchors,
            log_likelihood=comparison.log_likelihood if comparison else pointwise_log_densities(main),
            report=report,
        )

    def predict(
        self,
        problem: CalibrationProblem,
        fit: Fit,
        x_new: FloatArray,
        *,
        rng: np.random.Generator,
        **options: Any,
    ) -> PredictiveSample:
        """Mixture over posterior draws of the members, by their weights there; θ(x) and ψ are the main member's.

        Options
        -------
        member : str
            Predict with one member only (``fit.report["weights"]`` lists them) instead of the mixture.
        """
        report = fit.report
        stored = StoredMember.from_arrays(fit.constants)
        weights, weights_beyond = dict(report["weights"]), dict(report["weights_beyond_runs"])
        member = options.get("member")
        if member is not None and member not in weights:
            raise SettingsError(f"member must be one of {', '.join(weights)}; found {member!r}.")
        if member is not None:
            weights = weights_beyond = {member: 1.0}
        beyond = outside_runs(problem, x_new)
        mixture = predict_mixture(
            problem.scaled(),
            stored,
            [(weights, ~beyond), (weights_beyond, beyond)],
            main=str(report["main"]),
            discrepancy=str(report["discrepancy"]),
            nugget=bool(report["nugget"]),
            prior=JointPrior(**report["prior"]),
            x_new=x_new,
            rng=rng,
        )
        calibration = _in_box(problem, mixture.calibration)
        return PredictiveSample(mixture.mean, mixture.variance, mixture.noise_variance, calibration)


def usual_variant(problem: CalibrationProblem, settings: JointSettings, nugget: bool) -> Variant:
    """The main member where nothing is tuned: θ varies, δ as set or, for ``"auto"``, where the runs fall short."""
    chosen = settings.discrepancy
    if chosen == "auto":
        chosen = "linear" if discrepancy_suspected(problem.scaled()) else "none"
    return Variant(problem.num_functional > 0, chosen, nugget)


def _discrepancy_of_rivals(main: Variant) -> str:
    """The kind of δ that the members with one have."""
    return "linear" if main.discrepancy == "none" else main.discrepancy


def _shown_draws(
    problem: CalibrationProblem, main: CalibrationMember, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """The main member's posterior in the user's units, then its blocks as they were sampled."""
    draws = main.draws
    response = draws.response_mean + draws.response_sd * rng.standard_normal(draws.response_sd.shape)
    shown = shown_quantities(problem, main.model.layout, draws.u, draws.values)
    shown["response"] = problem.scaled().scaling.response_from_unit(response)
    shown["calibration_block"] = draws.u
    shown["emulator_block"] = draws.phi
    return shown


def shown_quantities(
    problem: CalibrationProblem, layout: BlockLayout, u: FloatArray, values: FloatArray
) -> dict[str, FloatArray]:
    """θ at the sites, ψ and the noise in the user's units, from chains of calibration blocks and scaled values."""
    scaling, num_functional = problem.scaled().scaling, problem.num_functional
    raw = _in_box(problem, scaling.calibration.from_unit(values))
    shown: dict[str, FloatArray] = {}
    if num_functional:
        shown["theta"] = raw[..., :num_functional]
    if problem.num_global:
        shown["psi"] = raw[:, :, 0, num_functional:]
    if layout.has_noise:
        shown["noise_sd"] = np.exp(u[..., layout.log_noise]) * scaling.response_sd
    return shown


def _in_box(problem: CalibrationProblem, values: FloatArray) -> FloatArray:
    """Values at the edge of the box, which rounding may put just beyond it."""
    lower, upper = problem.bounds.T
    return np.clip(values, lower, upper)


def _report(
    problem: CalibrationProblem,
    settings: JointSettings,
    main: CalibrationMember,
    comparison: Comparison | None,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """What `summary.json` should say."""
    values = main.draws.values.reshape(-1, *main.draws.values.shape[2:])
    report: dict[str, Any] = {
        "main": main.variant.name,
        "discrepancy": _discrepancy_of_rivals(main.variant),
        "discrepancy_of_main": main.variant.discrepancy,
        "nugget": main.variant.nugget,
        "anchors": settings.anchors,
        "prior": asdict(settings.prior),
        "weights": comparison.weights if comparison else {main.variant.name: 1.0},
        "weights_beyond_runs": comparison.weights_beyond_runs if comparison else {main.variant.name: 1.0},
        "identifiability": identifiability_report(problem, main.model, values, rng),
    }
    if comparison:
        report["comparison"] = comparison.table
        report["verdicts"] = comparison.verdicts
    return report


def _add_tuning(report: dict[str, Any], matched: MatchingTuning, tuned: VariantTuning) -> None:
    """Put both tables of candidates, the sentences and, where θ was made constant, the verdict on it in the report."""
    report["tuning"] = {"matching": matched.report, "variant": tuned.report}
    report["sentences"] = [tuned.sentence, matched.sentence]
    if tuned.theta_varies is not None:
        report["verdicts"] = {"theta_varies": tuned.theta_varies, **report.get("verdicts", {})}

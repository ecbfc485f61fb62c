"""One variant of the joint model, fitted and predicting: θ(x) or constant θ, with or without δ(x)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from ..problem import ScaledProblem
from ..problem.arrays import FloatArray
from .emulator_mode import choose_emulator, find_emulator_mode
from .member_weights import WITH_DISCREPANCY
from .model import JointModel, build_model
from .prior import JointPrior
from .response import predict_response
from .run_chains import JointDraws, SamplerSettings, sample_posterior
from .starting_points import starting_block

__all__ = [
    "CalibrationMember",
    "MemberPrediction",
    "MemberRecipe",
    "Variant",
    "discrepancy_suspected",
    "emulator_of_runs",
    "predict_member",
    "spread_evenly",
    "variant_model",
]


LADDER = (1.0, 0.45, 0.15, 0.04)
"""Powers of the sites' likelihood in tempered chains: at the last the prior rules, and neighbours exchange often."""


@dataclass(frozen=True)
class Variant:
    """Which joint model: does θ vary, what is δ, and has the computer model noise of its own."""

    theta_varies: bool
    discrepancy: str
    nugget: bool = False

    @property
    def name(self) -> str:
        """Key of the member in tables and files."""
        base = "varying" if self.theta_varies else "constant"
        return base if self.discrepancy == "none" else base + WITH_DISCREPANCY


@dataclass(frozen=True)
class CalibrationMember:
    """A fitted variant."""

    variant: Variant
    model: JointModel
    draws: JointDraws

    def flat(self, num_draws: int) -> tuple[FloatArray, FloatArray]:
        """At most `num_draws` draws (u, φ), evenly spread over the chains put end to end."""
        u = self.draws.u.reshape(-1, self.draws.u.shape[2])
        phi = self.draws.phi.reshape(-1, self.draws.phi.shape[2])
        rows = spread_evenly(len(u), num_draws)
        return u[rows], phi[rows]

    @property
    def misfit(self) -> float:
        """Root mean square of what the mean response misses at the sites, each weighted by its precision."""
        gap = self.model.y_sites - self.draws.response_mean.mean(axis=(0, 1))
        variance = self.model.inverse_counts if self.model.layout.has_noise else self.model.known_variance
        return float(np.sqrt(np.average(gap**2, weights=1.0 / variance)))


@dataclass(frozen=True)
class MemberPrediction:
    """T components at q new points, in the user's units: see `funcal.result.PredictiveSample`."""

    mean: FloatArray
    variance: FloatArray
    noise_variance: FloatArray
    calibration: FloatArray


def emulator_of_runs(problem: ScaledProblem, prior: JointPrior) -> tuple[bool, tuple[FloatArray, FloatArray]]:
    """Whether runs with the same inputs differ, or the evidence calls them noisy; and the emulator's mode and shape."""
    if _replicates_differ(problem):
        return True, find_emulator_mode(build_model(problem, prior=prior, nugget=True))
    return choose_emulator(build_model(problem, prior=prior))


def _replicates_differ(problem: ScaledProblem) -> bool:
    """Whether some runs share all their inputs and differ in their response."""
    inputs = np.hstack([problem.x_runs, problem.t_runs])
    _, group = np.unique(inputs, axis=0, return_inverse=True)
    group = group.ravel()
    largest = np.full(group.max() + 1, -np.inf)
    smallest = np.full(group.max() + 1, np.inf)
    np.maximum.at(largest, group, problem.y_runs)
    np.minimum.at(smallest, group, problem.y_runs)
    return bool(np.any(largest - smallest > 1e-9))


def discrepancy_suspected(problem: ScaledProblem) -> bool:
    """Whether a third of the sites lie beyond what the runs near them can reach, by a quarter of the runs' sd."""
    num_near = max(8, len(problem.y_runs) // len(problem.y_sites))
    beyond = 0
    for x, y in zip(problem.x_sites, problem.y_sites, strict=True):
        near = np.argsort(np.sum((problem.x_runs - x) ** 2, axis=1), kind="stable")[:num_near]
        reach = problem.y_runs[near]
        beyond += bool(y > reach.max() + 0.25 or y < reach.min() - 0.25)
    return 3 * beyond > len(problem.y_sites)


def variant_model(
    problem: ScaledProblem,
    variant: Variant,
    prior: JointPrior,
    pseudo_observations: tuple[FloatArray, FloatArray] | None = None,
) -> JointModel:
    """The model of a variant."""
    latent, precision = None, None
    if pseudo_observations is not None:
        num_functional = problem.num_functional if variant.theta_varies else 0
        latent, precision = latent_pseudo_observations(*pseudo_observations, num_functional)
    return build_model(
        problem,
        prior=prior,
        discrepancy=variant.discrepancy,
        theta_varies=variant.theta_varies,
        nugget=variant.nugget,
        anchor_latent=latent,
        anchor_precision=precision,
    )


def latent_pseudo_observations(
    mean: FloatArray, variance: FloatArray, num_functional: int
) -> tuple[FloatArray, FloatArray]:
    """Pseudo-observations of calibration values as those of latent values, with precisions, (m, dθ + dψ).

    A function's latent value is the value itself. A global parameter's is its probit; the sites' anchors are averaged
    and together count once, since nothing makes them independent.
    """
    latent, precision = mean.copy(), 1.0 / variance
    for column in range(num_functional, mean.shape[1]):
        probit = ndtri(np.clip(mean[:, column].mean(), 0.05, 0.95))
        slope = np.exp(-0.5 * probit**2) / np.sqrt(2.0 * np.pi)
        latent[:, column] = probit
        precision[:, column] = slope**2 / variance[:, column].mean() / len(mean)
    return latent, precision


@dataclass(frozen=True)
class MemberRecipe:
    """How members of one problem are sampled.

    Attributes
    ----------
    prior
    start_values
        Calibration values at the sites (m, dθ + dψ), one set per chain, used in turn.
    pseudo_observations
        Means and variances of the calibration values from the anchors, or None.
    emulator
        Mode and shape of the emulator block: it does not depend on the variant.
    sampler
    """

    prior: JointPrior
    start_values: Sequence[FloatArray]
    pseudo_observations: tuple[FloatArray, FloatArray] | None
    emulator: tuple[FloatArray, FloatArray]
    sampler: SamplerSettings

    def fit(
        self,
        problem: ScaledProblem,
        variant: Variant,
        seed: np.random.SeedSequence,
        progress: Callable[[int, int, str], None],
    ) -> CalibrationMember:
        """Sample a variant, again with tempered companions where its chains sit in different modes."""
        model = variant_model(problem, variant, self.prior, self.pseudo_observations)
        start_seed, chain_seed = seed.spawn(2)
        starts = []
        for chain, stream in enumerate(start_seed.spawn(self.sampler.chains)):
            values = self.start_values[chain % len(self.start_values)]
            starts.append(starting_block(model, values, np.random.default_rng(stream)))
        for ladder in ((1.0,), LADDER):
            draws = sample_posterior(
                model,
                starts,
                *self.emulator,
                seeds=chain_seed.spawn(self.sampler.chains),
                settings=self.sampler,
                progress=progress,
                ladder=ladder,
            )
            if draws.rhat <= self.sampler.disagreement:
                break
        return CalibrationMember(variant, model, draws)

    def without_site(self, site: int) -> "MemberRecipe":
        """The recipe for the problem without one site; the emulator depends on the runs alone."""
        pseudo = self.pseudo_observations
        return replace(
            self,
            start_values=[np.delete(values, site, axis=0) for values in self.start_values],
            pseudo_observations=pseudo
            and (np.delete(pseudo[0], site, axis=0), np.delete(pseudo[1], site, axis=0)),
        )


def spread_evenly(total: int, wanted: int) -> np.ndarray:
    """Indices of at most `wanted` of `total` draws, evenly spread."""
    return np.unique(np.linspace(0, total - 1, min(total, wanted)).astype(np.int64))


def predict_member(
    problem: ScaledProblem,
    model: JointModel,
    u: FloatArray,
    phi: FloatArray,
    x_new: FloatArray,
    *,
    rng: np.random.Generator,
) -> MemberPrediction:
    """Predict at new controls in the user's units, one component per draw (u, φ)."""
    scaling = problem.scaling
    mean, variance, values = predict_response(model, u, phi, scaling.control.to_unit(x_new), rng=rng)
    return MemberPrediction(
        scaling.response_from_unit(mean),
        variance * scaling.response_sd**2,
        measurement_variance(model, u) * scaling.response_sd**2,
        scaling.calibration.from_unit(values),
    )


def measurement_variance(model: JointModel, u: FloatArray) -> FloatArray:
    """Scaled variance of one new measurement, per draw; where the noise is known, its mean over the sites."""
    if model.layout.has_noise:
        noise: FloatArray = np.exp(2.0 * u[:, model.layout.log_noise])
        return noise
    return np.full(len(u), float(np.mean(model.known_variance / model.inverse_counts)))

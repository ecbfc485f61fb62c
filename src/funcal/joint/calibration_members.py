"""One variant of the joint model, fitted and predicting: θ(x) or constant θ, with or without δ(x)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..problem import ScaledProblem
from ..problem.arrays import FloatArray
from .emulator_mode import find_emulator_mode
from .model import JointModel, build_model
from .prior import JointPrior
from .response import predict_response
from .run_chains import JointDraws, SamplerSettings, sample_posterior
from .starting_points import noisy_matches, starting_block

__all__ = ["CalibrationMember", "MemberPrediction", "fit_member", "predict_member", "spread_evenly"]


@dataclass(frozen=True)
class CalibrationMember:
    """A fitted variant."""

    model: JointModel
    draws: JointDraws


@dataclass(frozen=True)
class MemberPrediction:
    """T components at q new points, in the user's units: see `funcal.result.PredictiveSample`."""

    mean: FloatArray
    variance: FloatArray
    noise_variance: FloatArray
    calibration: FloatArray


def runs_are_stochastic(problem: ScaledProblem) -> bool:
    """Whether some runs share all their inputs and differ in their response."""
    inputs = np.hstack([problem.x_runs, problem.t_runs])
    _, group = np.unique(inputs, axis=0, return_inverse=True)
    group = group.ravel()
    largest = np.full(group.max() + 1, -np.inf)
    smallest = np.full(group.max() + 1, np.inf)
    np.maximum.at(largest, group, problem.y_runs)
    np.minimum.at(smallest, group, problem.y_runs)
    return bool(np.any(largest - smallest > 1e-9))


def member_model(
    problem: ScaledProblem, *, prior: JointPrior, discrepancy: str, theta_varies: bool
) -> JointModel:
    """The model of a variant; a stochastic computer model gets a nugget."""
    return build_model(
        problem,
        prior=prior,
        discrepancy=discrepancy,
        theta_varies=theta_varies,
        nugget=runs_are_stochastic(problem),
    )


def fit_member(
    problem: ScaledProblem,
    *,
    prior: JointPrior,
    discrepancy: str,
    theta_varies: bool,
    seed: np.random.SeedSequence,
    sampler: SamplerSettings,
    progress: Callable[[int, int], None],
) -> CalibrationMember:
    """Sample one variant from starting points of its own for every chain."""
    model = member_model(problem, prior=prior, discrepancy=discrepancy, theta_varies=theta_varies)
    start_seed, chain_seed = seed.spawn(2)
    mode, shape = find_emulator_mode(model)
    starts = []
    for stream in start_seed.spawn(sampler.chains):
        rng = np.random.default_rng(stream)
        starts.append(starting_block(model, noisy_matches(problem, rng), rng))
    draws = sample_posterior(
        model,
        starts,
        mode,
        shape,
        seeds=chain_seed.spawn(sampler.chains),
        settings=sampler,
        progress=progress,
    )
    return CalibrationMember(model, draws)


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
        measurement_variance(problem, model, u) * scaling.response_sd**2,
        scaling.calibration.from_unit(values),
    )


def measurement_variance(problem: ScaledProblem, model: JointModel, u: FloatArray) -> FloatArray:
    """Scaled variance of one new measurement, per draw; where the noise is known, its mean over the sites."""
    if model.layout.has_noise:
        noise: FloatArray = np.exp(2.0 * u[:, model.layout.log_noise])
        return noise
    return np.full(len(u), float(np.mean(model.known_variance / model.inverse_counts)))

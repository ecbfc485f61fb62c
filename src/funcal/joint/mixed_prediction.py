"""The prediction: a mixture of the members' components in the proportions of their weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..problem import ScaledProblem
from ..problem.arrays import FloatArray
from .calibration_members import (
    CalibrationMember,
    MemberPrediction,
    Variant,
    predict_member,
    spread_evenly,
    variant_model,
)
from .comparison import PLAIN_MEMBERS, Comparison
from .physical_process import PhysicalProcess
from .prior import JointPrior
from .straight_line import fit_straight_line

__all__ = ["NEGLIGIBLE", "StoredMember", "component_counts", "predict_mixture", "store_members"]

NEGLIGIBLE = 0.005
"""A member with less weight than this is left out of the mixture."""


@dataclass(frozen=True)
class StoredMember:
    """Draws of every calibrated member by name, and the physical process's; all plain arrays."""

    blocks: dict[str, tuple[FloatArray, FloatArray]]
    process: PhysicalProcess | None

    def arrays(self) -> dict[str, FloatArray]:
        """As named arrays for a file."""
        named = {}
        for name, (u, phi) in self.blocks.items():
            plain = name.replace("+", "_with_")
            named[f"{plain}__calibration_block"] = u
            named[f"{plain}__emulator_block"] = phi
        if self.process is not None:
            named["gp__roughness"] = self.process.roughness
            named["gp__signal"] = self.process.signal
            named["gp__noise"] = self.process.noise
            named["gp__scale"] = np.array([self.process.centre, self.process.unit])
        return named

    @classmethod
    def from_arrays(cls, named: Mapping[str, FloatArray]) -> "StoredMember":
        """The inverse of `arrays`."""
        blocks = {}
        for key in named:
            plain, _, part = key.partition("__")
            if part == "calibration_block":
                blocks[plain.replace("_with_", "+")] = (
                    np.asarray(named[key]),
                    np.asarray(named[f"{plain}__emulator_block"]),
                )
        process = None
        if "gp__signal" in named:
            signal = np.asarray(named["gp__signal"])
            process = PhysicalProcess(
                np.asarray(named["gp__roughness"]),
                signal,
                np.asarray(named["gp__noise"]),
                np.full(len(signal), 1.0 / len(signal)),
                np.zeros(0),
                float(named["gp__scale"][0]),
                float(named["gp__scale"][1]),
            )
        return cls(blocks, process)


def store_members(main: CalibrationMember, comparison: Comparison | None, num_draws: int) -> StoredMember:
    """Thin every member to what a prediction uses."""
    if comparison is None:
        return StoredMember({main.variant.name: main.flat(num_draws)}, None)
    blocks = {name: member.flat(num_draws) for name, member in comparison.members.items()}
    process = comparison.process
    # evenly spaced quantiles of the weights: a resample without randomness
    rows = np.searchsorted(np.cumsum(process.weight), (np.arange(num_draws) + 0.5) / num_draws)
    rows = np.minimum(rows, len(process.weight) - 1)
    return StoredMember(blocks, process.only(rows))


def predict_mixture(
    problem: ScaledProblem,
    stored: StoredMember,
    weights: Sequence[tuple[Mapping[str, float], np.ndarray]],
    *,
    main: str,
    discrepancy: str,
    nugget: bool,
    prior: JointPrior,
    x_new: FloatArray,
    rng: np.random.Generator,
) -> MemberPrediction:
    """Components of all members at new controls, each member with as many as its weight says.

    `weights` are pairs of weights and the new controls (q,) that they hold for. θ(x) and ψ come from `main`, one draw
    per component.
    """
    total = len(stored.blocks[main][0])
    places = [(component_counts(given, total), where) for given, where in weights if where.any()]
    most = {name: max(counts.get(name, 0) for counts, _ in places) for counts, _ in places for name in counts}
    streams = dict(zip([main, *most], rng.spawn(len(most) + 1), strict=False))

    def calibrated(name: str, count: int) -> MemberPrediction:
        u, phi = stored.blocks[name]
        rows = spread_evenly(len(u), count)
        base, _, extra = name.partition("+")
        variant = Variant(base == "varying", discrepancy if extra else "none", nugget)
        model = variant_model(problem, variant, prior)
        return predict_member(problem, model, u[rows], phi[rows], x_new, rng=streams[name])

    whole = calibrated(main, total)
    found = {main: (whole.mean, whole.variance, whole.noise_variance)}
    for name, count in most.items():
        if name in PLAIN_MEMBERS:
            found[name] = _predict_plain(problem, stored, name, count, x_new, streams[name])
        elif name != main:
            member = calibrated(name, count)
            found[name] = (member.mean, member.variance, member.noise_variance)
    mean, variance, noise = (np.empty((total, len(x_new))) for _ in range(3))
    for counts, where in places:
        # a rival with fewer draws than components repeats them
        rows = {name: np.arange(count) * len(found[name][0]) // count for name, count in counts.items()}
        mean[:, where] = np.concatenate([found[name][0][rows[name]][:, where] for name in counts])
        variance[:, where] = np.concatenate([found[name][1][rows[name]][:, where] for name in counts])
        noise[:, where] = np.concatenate([found[name][2][rows[name]] for name in counts])[:, None]
    return MemberPrediction(mean, variance, noise, whole.calibration)


def component_counts(weights: Mapping[str, float], total: int) -> dict[str, int]:
    """How many of `total` components each member has: its share, rounded so that all add up; negligible ones none."""
    kept = {name: weight for name, weight in weights.items() if weight >= NEGLIGIBLE}
    bounds = np.rint(total * np.cumsum([0.0, *kept.values()]) / sum(kept.values())).astype(int)
    return {name: int(count) for name, count in zip(kept, np.diff(bounds), strict=True) if count}


def _predict_plain(
    problem: ScaledProblem,
    stored: StoredMember,
    name: str,
    count: int,
    x_new: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    scaling = problem.scaling
    scaled_new = scaling.control.to_unit(x_new)
    if name == "gp" and stored.process is not None:
        mean, variance, noise = stored.process.predict(problem, scaled_new, count, rng)
    else:
        line = fit_straight_line(problem)
        if line is None:
            raise ValueError("the straight line was compared and yet cannot be fitted to these sites")
        mean, variance, noise = line.predict(scaled_new, count, rng)
    unit = scaling.response_sd**2
    return scaling.response_from_unit(mean), variance * unit, noise * unit

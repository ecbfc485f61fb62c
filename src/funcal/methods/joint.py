"""The method `joint`, funcal's default: one Gaussian process over both tables, θ(x) and ψ learnt from all of it."""

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from ..joint.calibration_members import fit_member, member_model, predict_member, spread_evenly
from ..joint.prior import JointPrior
from ..joint.run_chains import SamplerSettings
from ..problem import CalibrationProblem, FloatArray
from ..result import Capabilities, Fit, PredictiveSample, Progress, silent

__all__ = ["JointCalibration", "JointSettings"]


@dataclass(frozen=True)
class JointSettings:
    """Settings of `joint`.

    Attributes
    ----------
    chains, warmup, draws, max_draws, target_ess, target_rhat
        See `SamplerSettings`; `draws` is the least number kept per chain.
    discrepancy
        δ(x) between computer model and reality.
    prediction_draws
        Posterior draws that a prediction averages over.
    prior
        See `JointPrior`.
    """

    chains: int = 4
    warmup: int = 400
    draws: int = 400
    max_draws: int = 4000
    target_ess: float = 400.0
    target_rhat: float = 1.01
    discrepancy: Literal["none", "constant", "linear", "gp"] = "none"
    prediction_draws: int = 500
    prior: JointPrior = field(default_factory=JointPrior)

    @property
    def sampler(self) -> SamplerSettings:
        """What concerns the chains."""
        return SamplerSettings(
            self.chains, self.warmup, self.draws, self.max_draws, self.target_ess, self.target_rhat
        )


class JointCalibration:
    """The method `joint`."""

    key: ClassVar[str] = "joint"
    title: ClassVar[str] = "Joint Gaussian process over both tables (default)"
    supports: ClassVar[Capabilities] = Capabilities()
    Settings: ClassVar[type[Any]] = JointSettings

    def fit(
        self,
        problem: CalibrationProblem,
        settings: JointSettings,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Sample the joint posterior."""
        scaled = problem.scaled()
        member = fit_member(
            scaled,
            prior=settings.prior,
            discrepancy=settings.discrepancy,
            theta_varies=True,
            seed=seed,
            sampler=settings.sampler,
            progress=lambda done, total: progress(done, total, "sampling"),
        )
        draws, scaling = member.draws, scaled.scaling
        values = scaling.calibration.from_unit(draws.values)
        num_functional = problem.num_functional
        noise_rng = np.random.default_rng(seed.spawn(1)[0])
        response = draws.response_mean + draws.response_sd * noise_rng.standard_normal(
            draws.response_sd.shape
        )
        shown: dict[str, FloatArray] = {}
        if num_functional:
            shown["theta"] = values[..., :num_functional]
        if problem.num_global:
            shown["psi"] = values[:, :, 0, num_functional:]
        if member.model.layout.has_noise:
            shown["noise_sd"] = np.exp(draws.u[..., member.model.layout.log_noise]) * scaling.response_sd
        shown["response"] = scaling.response_from_unit(response)
        shown["calibration_block"] = draws.u
        shown["emulator_block"] = draws.phi
        stats = {
            "lp": draws.stats[..., 0],
            "acceptance_rate": draws.stats[..., 1],
            "num_steps": draws.stats[..., 2],
            "diverging": draws.stats[..., 3].astype(bool),
        }
        return Fit(
            draws=shown,
            dims={"theta": ("site", "functional"), "psi": ("global",), "response": ("site",)},
            stats=stats,
            report={
                "discrepancy": settings.discrepancy,
                "prediction_draws": settings.prediction_draws,
                "prior": asdict(settings.prior),
            },
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
        """Mixture over posterior draws; the noise of a new measurement is that of a single one."""
        scaled = problem.scaled()
        model = member_model(
            scaled,
            prior=JointPrior(**fit.report["prior"]),
            discrepancy=str(fit.report["discrepancy"]),
            theta_varies=True,
        )
        u, phi = fit.flat("calibration_block"), fit.flat("emulator_block")
        rows = spread_evenly(len(u), int(fit.report["prediction_draws"]))
        found = predict_member(scaled, model, u[rows], phi[rows], x_new, rng=rng)
        return PredictiveSample(found.mean, found.variance, found.noise_variance, found.calibration)

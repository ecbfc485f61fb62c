"""What a user may tune about `joint`."""

from dataclasses import dataclass, field
from typing import Literal

from ..errors import SettingsError
from ..joint.no_u_turn import MAX_DEPTH
from ..joint.prior import JointPrior
from ..joint.run_chains import SamplerSettings
from ..matching import MatchingSettings

__all__ = ["JointSettings"]

RIVAL_WARMUP = 100
"""Sweeps of warm-up that a rival has at least, where the main member has as many."""
RIVAL_DEPTH = 4
"""Trajectories of rivals have at most 2⁴ steps: θ(x) beside δ would take a hundred, more than the rest of a fit."""


@dataclass(frozen=True)
class JointSettings:
    """Settings of `joint`.

    Attributes
    ----------
    num_chains, warmup, draws, max_draws, target_ess, target_rhat
        See `SamplerSettings`; `draws` is the least number kept per chain, sampling goes on until the targets are met.
    discrepancy
        δ(x) of the main member; ``"auto"``: a constant and a linear part where the runs cannot reach the
        measurements, none elsewhere. The comparison fits members with and without δ either way.
    anchors
        ``"start"``: the ensemble of anchors gives the chains their starting points. ``"inform"``: also
        pseudo-observations of θ and ψ with the ensemble's variance.
    ensemble_size
        Perturbed matchings.
    compare
        Fit the rivals, mix the predictions by their weights and give the verdicts.
    tune
        Choose λ, r and M of the matching by cross-validation over the sites, and the main member (θ varying or
        constant; no, constant, linear or Gaussian process δ) by leave-one-out of short chains, first. A δ, r or M
        that is set stays.
    max_depth
        A trajectory has at most 2^max_depth gradient steps, 9 at most. Fewer bound the time of one draw of a large
        table, whose steps are dear; draws then depend on one another more.
    tempering
        Where the chains sit in different modes, make more slice moves or sample again with tempered companions.
    prediction_draws
        Posterior draws that a prediction averages over.
    matching, prior
        See `MatchingSettings` and `JointPrior`.
    """

    num_chains: int = 4
    warmup: int = 300
    draws: int = 400
    max_draws: int = 4000
    target_ess: float = 400.0
    target_rhat: float = 1.01
    discrepancy: Literal["auto", "none", "constant", "linear", "gp"] = "auto"
    anchors: Literal["start", "inform"] = "start"
    ensemble_size: int = 16
    compare: bool = True
    tune: bool = False
    max_depth: int = MAX_DEPTH
    tempering: bool = True
    prediction_draws: int = 500
    matching: MatchingSettings = field(default_factory=MatchingSettings)
    prior: JointPrior = field(default_factory=JointPrior)

    def __post_init__(self) -> None:
        """Counts must be usable."""
        least = {
            "num_chains": 1,
            "warmup": 50,
            "draws": 20,
            "max_draws": 20,
            "max_depth": 1,
            "ensemble_size": 1,
            "prediction_draws": 20,
        }
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise SettingsError(f"{name} must be at least {smallest}, but it is {getattr(self, name)}.")
        if self.max_depth > MAX_DEPTH:
            raise SettingsError(f"max_depth must be at most {MAX_DEPTH}, but it is {self.max_depth}.")
        if self.max_draws < self.draws:
            raise SettingsError(
                f"max_draws must be at least draws ({self.draws}), but it is {self.max_draws}; raise it."
            )

    @property
    def sampler(self) -> SamplerSettings:
        """How long the main member's chains run."""
        return SamplerSettings(
            self.num_chains,
            self.warmup,
            self.draws,
            self.max_draws,
            self.target_ess,
            self.target_rhat,
            SamplerSettings.disagreement if self.tempering else float("inf"),
            self.max_depth,
        )

    @property
    def rival_sampler(self) -> SamplerSettings:
        """How long each rival's chains run: long enough for leave-one-out, and three of them shorter than the main."""
        length = max(self.draws // 4, 20)
        return SamplerSettings(
            self.num_chains,
            max(self.warmup // 3, min(self.warmup, RIVAL_WARMUP)),
            length,
            length,
            target_ess=0.0,
            target_rhat=float("inf"),
            disagreement=float("inf"),
            max_depth=min(RIVAL_DEPTH, self.max_depth),
        )

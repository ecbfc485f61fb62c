"""What can be tuned in the paper's method; every deviation from the paper has its name here.

The numbers in the descriptions are the points of the list of decisions in ``docs/decisions/``.
"""

from dataclasses import dataclass, field
from typing import Literal

from ..errors import SettingsError
from ..matching import MatchingSettings
from ..prediction import ThetaProcessSettings
from ..priors import Centring, InputScale, PriorPreset, ThetaBounds, ThetaPrior

__all__ = ["MatchingCalibrationSettings"]


@dataclass(frozen=True)
class MatchingCalibrationSettings:
    """What can be tuned in `bnmc` and `bnmc-dag`; every deviation from the paper has its name here.

    Attributes
    ----------
    prior
        ``"proper"`` (default) or ``"paper"``, the printed densities, truncated where improper (points 3, 5, 7, 9).
    theta_prior
        ``"iid"``, as printed, or ``"gp"``: neighbouring sites move together (point 11).
    theta_decay
        ℓ of that process and of the kriging for sites without an anchor, on controls in [0, 1].
    input_scale
        ``"unit"`` or ``"raw"``; raw units only with ``prior="paper"`` (point 7).
    centring
        Subtract the mean of the physical responses (default) or of the runs, as printed (point 8).
    theta_bounds
        ``"box"`` keeps θ and ψ in their box plus `box_margin` of its width; ``"none"`` is printed. None: ``"box"``
        for the proper prior, ``"none"`` for the paper's (point 12).
    spread_floor
        ``"cluster"`` keeps ν above half the typical gap between the θ of runs in one cluster (point 10).
    theta_process
        How θ at new controls follows (points 16 to 18).
    matching
        The graph part.
    tune
        Choose λ, r and M by cross-validation over the sites first; an r or M that is set stays (point 27).
    num_chains, warmup, draws, thin
        Length of the sampling (point 13).
    """

    prior: PriorPreset = "proper"
    theta_prior: ThetaPrior = "iid"
    theta_decay: float = 3.0
    input_scale: InputScale = "unit"
    centring: Centring = "physical"
    theta_bounds: ThetaBounds | None = None
    box_margin: float = 0.1
    spread_floor: Literal["none", "cluster"] = "none"
    theta_process: ThetaProcessSettings = field(default_factory=ThetaProcessSettings)
    matching: MatchingSettings = field(default_factory=MatchingSettings)
    tune: bool = False
    num_chains: int = 4
    warmup: int = 5000
    draws: int = 5000
    thin: int = 4

    def __post_init__(self) -> None:
        """Refuse values that cannot be.

        Raises
        ------
        SettingsError
        """
        for name in ("num_chains", "draws", "thin"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} must be at least 1; found {getattr(self, name)}.")
        if self.warmup < 0:
            raise SettingsError(f"warmup must be at least 0; found {self.warmup}.")
        if self.theta_decay <= 0.0 or self.box_margin < 0.0:
            raise SettingsError(
                "theta_decay must be positive and box_margin not negative; "
                f"found {self.theta_decay:g} and {self.box_margin:g}."
            )
        if self.input_scale == "raw" and self.prior != "paper":
            raise SettingsError(
                'input_scale="raw" belongs to prior="paper"; the proper prior is stated on unit ranges, '
                'so use input_scale="unit" with it.'
            )

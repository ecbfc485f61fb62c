"""What a user may tune about the anchors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ..errors import SettingsError

__all__ = ["MatchingSettings"]

CHOICES = {
    "model": ("auto", "path", "tree"),
    "solver": ("auto", "branch_and_bound", "mcf", "dcsub", "subset_dp", "enumeration", "heuristic"),
    "radius_scale": ("standardised", "raw"),
    "weights": ("corrected", "printed"),
    "empty_sites": ("error", "skip"),
}


@dataclass(frozen=True)
class MatchingSettings:
    """Settings of the calibration graph and its solver.

    Attributes
    ----------
    model
        ``"path"`` (one control only), ``"tree"``, or ``"auto"``: the path where there is one control.
    solver
        Method of `solve_spanning_tree`; the path has one solver only.
    lambda_
        λ, the weight of smoothness in the calibration variables against misfit in the response.
    radius
        r; chosen from the sites' distances if None.
    penalty
        M; chosen large enough if None.
    radius_scale
        Whether r is compared with distances of standardised controls or, as in the paper's Table 2, of raw ones.
    weights
        ``"corrected"``: a run's misfit is charged once. ``"printed"``: as the paper's edge weights have it.
    empty_sites
        What to do with a site that has no run: ``"error"``, or ``"skip"`` it, leaving it without an anchor.
    time_limit
        Seconds for the tree's solver; None for no limit.
    """

    model: Literal["auto", "path", "tree"] = "auto"
    solver: str = "auto"
    lambda_: float = 0.5
    radius: float | None = None
    penalty: float | None = None
    radius_scale: Literal["standardised", "raw"] = "standardised"
    weights: Literal["corrected", "printed"] = "corrected"
    empty_sites: Literal["error", "skip"] = "error"
    time_limit: float | None = None

    def __post_init__(self) -> None:
        """Check every value once."""
        for name, known in CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                listed = ", ".join(repr(choice) for choice in known)
                raise SettingsError(
                    f"{name} must be one of {listed}, but it is {value!r}; choose one of them."
                )
        if not (math.isfinite(self.lambda_) and self.lambda_ >= 0):
            raise SettingsError(
                f"lambda must be a number of at least 0, but it is {self.lambda_}; 0.5 is the default."
            )
        for name in ("radius", "penalty"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise SettingsError(
                    f"{name} must be a positive number, but it is {value}; leave it out to have it chosen."
                )
        if self.time_limit is not None and not self.time_limit >= 0:
            raise SettingsError(
                f"time_limit must be a number of seconds, at least 0, but it is {self.time_limit}; "
                "leave it out for no limit."
            )

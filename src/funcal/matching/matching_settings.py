"""What can be tuned in the matching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from funcal.errors import SettingsError

__all__ = ["MatchingSettings"]


@dataclass(frozen=True)
class MatchingSettings:
    """Settings of the calibration graph and of its solver.

    Attributes
    ----------
    model
        ``"path"`` (one control), ``"tree"``, or ``"auto"``: the path where there is one control.
    solver
        How the tree is solved; see `solve_spanning_tree`.
    lambda_
        λ, the weight of smoothness against misfit on the standardised scale.
    radius, penalty
        r and M; chosen from the data where None (Section 6).
    radius_scale
        Whether r is compared with standardised distances between controls or with raw ones, as the paper's table.
    weights
        ``"corrected"``: each anchor's misfit is charged once; ``"printed"``: the paper's edge weights.
    empty_sites
        What to do with a site that has no run near it: ``"error"``, or ``"skip"``: leave it without an anchor.
    time_limit
        Seconds for the tree; the best tree so far is taken then.
    """

    model: Literal["auto", "path", "tree"] = "auto"
    solver: Literal["auto", "branch_and_bound", "mcf", "dcsub", "subset_dp", "enumeration", "heuristic"] = (
        "auto"
    )
    lambda_: float = 0.5
    radius: float | None = None
    penalty: float | None = None
    radius_scale: Literal["standardised", "raw"] = "standardised"
    weights: Literal["corrected", "printed"] = "corrected"
    empty_sites: Literal["error", "skip"] = "error"
    time_limit: float | None = None

    def __post_init__(self) -> None:
        """Refuse values that cannot be.

        Raises
        ------
        SettingsError
        """
        if not 0.0 <= self.lambda_ < float("inf"):
            raise SettingsError(f"λ must be a number, zero or more; found {self.lambda_}.")
        for name, value in (
            ("radius", self.radius),
            ("penalty", self.penalty),
            ("time_limit", self.time_limit),
        ):
            if value is not None and not value > 0.0:
                raise SettingsError(f"{name} must be positive; found {value}.")

"""The runs that the matching chose, one for each site that has one (Sections 3 and 4)."""

from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray, IntArray, frozen_floats, frozen_integers

__all__ = ["AnchorPoints"]


@dataclass(frozen=True)
class AnchorPoints:
    """Anchors with the proof that they are the best ones.

    Attributes
    ----------
    site, run : (k,)
        Site index and run index (into `ComputerRuns`) of each anchor.
    misfit : (k,)
        |y^s − y^p| of each anchor, in the user's units.
    functional, global_ : (k, dtheta), (k, dpsi)
        Calibration vectors of the anchors.
    edges : (k − 1, 2)
        Pairs of runs joined by the path or the tree.
    model : {"path", "tree"}
    solver, status, cost, lower_bound, gap, seconds, nodes
        What the solver did and what it proved.
    lambda_, radius, penalty : float
        λ, r and M as used; r and M are NaN for the path, which needs neither.
    weights : {"corrected", "printed"}
        Whether a misfit is charged once per anchor or as the paper's edge weights print it.
    """

    site: IntArray
    run: IntArray
    misfit: FloatArray
    functional: FloatArray
    global_: FloatArray
    edges: IntArray
    model: str
    solver: str
    status: str
    cost: float
    lower_bound: float
    gap: float
    seconds: float
    lambda_: float
    radius: float
    penalty: float
    weights: str
    nodes: int = 0

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        object.__setattr__(self, "site", frozen_integers(self.site))
        object.__setattr__(self, "run", frozen_integers(self.run))
        object.__setattr__(self, "misfit", frozen_floats(self.misfit, ndim=1))
        for name in ("functional", "global_"):
            object.__setattr__(self, name, frozen_floats(getattr(self, name), ndim=2))
        edges = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        edges.setflags(write=False)
        object.__setattr__(self, "edges", edges)

    @property
    def num_anchors(self) -> int:
        """How many sites have an anchor."""
        return len(self.site)

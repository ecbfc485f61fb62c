"""What a sweep consists of: which moves, how many and how long, by the size of the problem."""

from dataclasses import dataclass, replace

from .emulator_prior import emulator_size
from .model import JointModel
from .no_u_turn import MAX_DEPTH

__all__ = ["Moves", "choose_moves"]

WHOLE_SIZE = 60
"""Runs and sites together up to which both blocks move at once: beyond, one factorisation of everything is dear."""
SLICES = ((500, 6, 3), (2000, 8, 5))
"""Runs times sites up to which a likelihood is so cheap that every sweep ends in so many slice moves of the block; they
carry chains further than a trajectory can, which then has at most 2³ or 2⁵ steps."""
SLICES_ON_A_RIDGE = 3
"""How many they are with a global ψ: along a ridge of θ and ψ only trajectories carry, which then are of any length."""
PERSISTENCE = 3
"""Times as many slice moves have chains that sit in different modes, where such moves carry them."""
SLICES_WITH_MANY_INPUTS = 2
"""Slice moves where the emulator travels, whatever the size: with many sites a few draws in a hundred have a θ that
hardly varies. Its level is then known ten times better than elsewhere, and trajectories with steps of the usual length
stay there; a slice moves the sizes freely."""
TRAVELLING_SIZE = 16
"""Parameters of the emulator beyond which its moves are trajectories: slices leave too few of their draws. Tempered
companions slice all the same: their likelihood is raised to a power, and these gradients are not."""
TRAVELLING_EVERY = 2
"""Sweeps per trajectory of the emulator, which costs as much as the rest of a sweep."""
TRAVELLING_POINTS = 1000
"""Runs and sites beyond which its moves are slices all the same: a trajectory keeps five matrices of that size."""


@dataclass(frozen=True)
class Moves:
    """The moves of a sweep.

    Attributes
    ----------
    whole
        Whether both blocks move at once.
    travelling
        Whether the emulator moves along trajectories instead of slices.
    emulator_every
        Sweeps per move of the emulator.
    slices
        Slice moves of the calibration block.
    depth
        A trajectory of the calibration block has at most 2^depth steps.
    carried
        Whether slice moves carry chains from mode to mode, so that more of them may help chains that disagree.
    """

    whole: bool
    travelling: bool
    emulator_every: int
    slices: int
    depth: int
    carried: bool

    def with_more_slices(self) -> "Moves":
        """For chains that sit in different modes."""
        return replace(self, slices=PERSISTENCE * self.slices)


def choose_moves(model: JointModel, max_depth: int, *, tempered: bool) -> Moves:
    """The moves that have won for a problem of this size; `max_depth` bounds the trajectories."""
    num_runs, num_sites = model.y_runs.size, model.y_sites.size
    whole = not tempered and num_runs + num_sites <= WHOLE_SIZE
    many_inputs = emulator_size(model) > TRAVELLING_SIZE and num_runs + num_sites <= TRAVELLING_POINTS
    travelling = not tempered and not whole and many_inputs
    slices, depth = next(
        ((number, steps) for largest, number, steps in SLICES if num_runs * num_sites <= largest),
        (0, MAX_DEPTH),
    )
    carried = slices > 0 and model.layout.num_global == 0
    if not carried:
        slices, depth = min(slices, SLICES_ON_A_RIDGE), MAX_DEPTH
    if travelling:
        slices = max(slices, SLICES_WITH_MANY_INPUTS)
    # more than one sweep where the emulator's n³ would dwarf the n² m of the calibration block
    sweeps = max(1, round(num_runs / (10.0 * max(num_sites, 5))))
    every = TRAVELLING_EVERY if travelling else sweeps
    return Moves(whole, travelling, every, slices, min(depth, max_depth), carried)

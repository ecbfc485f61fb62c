"""What a sweep consists of, by the size of the problem."""

import pytest

from funcal.joint.model import JointModel, build_model
from funcal.joint.moves import choose_moves
from funcal.joint.no_u_turn import MAX_DEPTH

from .conftest import scaled_problem


def model_of(num_sites: int, num_runs: int, num_controls: int = 1, num_global: int = 0) -> JointModel:
    """One functional parameter."""
    return build_model(scaled_problem(num_sites, num_runs, num_controls, 1, num_global))


def test_few_runs_move_both_blocks() -> None:
    """Up to sixty runs and sites together; tempered companions never."""
    assert choose_moves(model_of(10, 50), MAX_DEPTH, tempered=False).whole
    assert not choose_moves(model_of(10, 51), MAX_DEPTH, tempered=False).whole
    assert not choose_moves(model_of(10, 50), MAX_DEPTH, tempered=True).whole


@pytest.mark.parametrize(
    ("num_sites", "num_runs", "num_global", "slices", "depth"),
    [(10, 50, 0, 6, 3), (10, 51, 0, 8, 5), (10, 201, 0, 0, MAX_DEPTH), (10, 51, 1, 3, MAX_DEPTH)],
)
def test_slices_where_they_are_cheap(
    num_sites: int, num_runs: int, num_global: int, slices: int, depth: int
) -> None:
    """By runs times sites; fewer beside trajectories of any length where a global parameter makes a ridge."""
    moves = choose_moves(model_of(num_sites, num_runs, num_global=num_global), MAX_DEPTH, tempered=False)
    assert (moves.slices, moves.depth) == (slices, depth)
    assert moves.carried == (slices > 0 and num_global == 0)
    assert moves.with_more_slices().slices == 3 * slices


def test_emulators_of_many_inputs_travel() -> None:
    """Beyond sixteen parameters of the emulator, at every other sweep; not with tempered companions."""
    many = model_of(10, 70, num_controls=9)
    found = choose_moves(many, MAX_DEPTH, tempered=False)
    assert found.travelling
    assert found.emulator_every == 2
    assert found.slices == 8
    assert not choose_moves(many, MAX_DEPTH, tempered=True).travelling
    assert not choose_moves(model_of(10, 70, num_controls=3), MAX_DEPTH, tempered=False).travelling


def test_many_runs_move_their_emulator_less_often() -> None:
    """A factorisation of 600 runs costs as much as six sweeps of ten sites; a user's bound on trajectories holds."""
    moves = choose_moves(model_of(10, 600), 4, tempered=False)
    assert moves.emulator_every == 6
    assert moves.depth == 4

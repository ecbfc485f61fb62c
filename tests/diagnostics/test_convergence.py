"""The verdict on the chains looks at what a user reads, and names what spoils it."""

import numpy as np
import pytest

import funcal
from funcal.diagnostics.convergence import assess_convergence
from funcal.result.quantity_names import quantity_names

NAMES = {
    "theta": ["a(x = 1)", "b(x = 1)", "a(x = 2)", "b(x = 2)"],
    "psi": ["conductivity"],
    "noise_sd": ["the noise sd"],
    "response": ["y(x = 1)", "y(x = 2)"],
}


@pytest.fixture
def draws(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Four chains of 500 independent draws: two θ at two sites, one ψ, the noise, two responses, a nuisance."""
    shapes = {"theta": (2, 2), "psi": (1,), "noise_sd": (), "response": (2,), "length": (3,)}
    return {name: rng.standard_normal((4, 500, *shape)) for name, shape in shapes.items()}


def test_good_chains_converge(draws: dict[str, np.ndarray]) -> None:
    """Independent draws pass, and there is nothing to advise."""
    found = assess_convergence(draws, names=NAMES)
    assert found is not None
    assert found.converged
    assert found.advice == ""


@pytest.mark.parametrize(
    ("name", "place", "words"),
    [
        ("theta", (1, 0), "a(x = 2)"),
        ("theta", (0, 1), "b(x = 1)"),
        ("psi", (0,), "conductivity"),
        ("noise_sd", (), "the noise sd"),
        ("response", (1,), "y(x = 2)"),
        ("length", (2,), "the nuisance parameter length[2]"),
    ],
)
def test_a_chain_astray_is_named(
    draws: dict[str, np.ndarray], name: str, place: tuple[int, ...], words: str
) -> None:
    """One chain elsewhere in one entry: not converged, and the sentence says which quantity, in the user's words."""
    draws[name][(0, slice(None), *place)] += 3.0
    found = assess_convergence(draws, names=NAMES)
    assert found is not None
    assert not found.converged
    assert f"the chains disagree most about {words} (R-hat" in found.advice


def test_a_slow_chain_is_named_by_its_sample_size(draws: dict[str, np.ndarray]) -> None:
    """Every R-hat is fine; the quantity with too few effective draws is named, not the one with the largest R-hat."""
    # both halves of every chain are the same 25 values, each repeated ten times: no disagreement, few values
    slow = np.tile(np.repeat(np.random.default_rng(5).standard_normal(25), 10), 2)
    draws["response"][:, :, 0] = slow + 1e-3 * draws["response"][:, :, 0]
    found = assess_convergence(draws, names=NAMES)
    assert found is not None
    assert not found.converged
    assert found.rhat_max <= 1.01
    assert "the bulk effective sample size of y(x = 1) is" in found.advice
    assert found.worst == "y(x = 1)"


def test_names_of_a_problem(problem_one: funcal.CalibrationProblem) -> None:
    """θ and the response carry the site's controls; what a method does not draw has no name."""
    names = quantity_names(problem_one, {"theta": np.zeros(0), "noise_sd": np.zeros(0)})
    assert names == {
        "theta": [f"theta(x = {x})" for x in (0.5, 1.5, 2.5, 3.5, 4.5, 5.5)],
        "noise_sd": ["the noise sd"],
    }

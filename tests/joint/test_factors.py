"""Small factorisations against LAPACK and finite differences."""

import numpy as np
import pytest

from funcal.joint.factors import (
    cholesky_in_place,
    cholesky_reverse,
    forward_substitute,
    inverse_from_cholesky,
    lower_inverse,
    lower_product,
    transposed_product,
)


@pytest.fixture(params=[1, 7, 40, 75, 150])
def positive_definite(request: pytest.FixtureRequest, rng: np.random.Generator) -> np.ndarray:
    """Sizes below and above the blocks of the inverse and of the products."""
    root = rng.standard_normal((request.param, request.param + 3))
    return root @ root.T + np.eye(request.param)


def test_factor_solve_inverse(positive_definite: np.ndarray, rng: np.random.Generator) -> None:
    """Factor, triangular solve, triangular inverse and inverse are LAPACK's."""
    factor = positive_definite.copy()
    assert cholesky_in_place(factor)
    np.testing.assert_allclose(factor, np.linalg.cholesky(positive_definite), atol=1e-10)
    b = rng.standard_normal((len(factor), 3))
    solved = b.copy()
    forward_substitute(factor, solved)
    np.testing.assert_allclose(factor @ solved, b, atol=1e-9)
    np.testing.assert_allclose(lower_inverse(factor), np.linalg.inv(factor), atol=1e-9)
    np.testing.assert_allclose(inverse_from_cholesky(factor), np.linalg.inv(positive_definite), atol=1e-9)
    np.testing.assert_allclose(lower_product(factor, b), factor @ b, atol=1e-9)
    np.testing.assert_allclose(transposed_product(factor, b), factor.T @ b, atol=1e-9)


def test_indefinite_is_reported() -> None:
    """A matrix that is not positive definite gives False, not an exception or a NaN."""
    assert not cholesky_in_place(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_reverse_derivative(rng: np.random.Generator) -> None:
    """The adjoint of a matrix from the adjoint of its factor agrees with central differences."""
    root = rng.standard_normal((5, 8))
    a, adjoint = root @ root.T + np.eye(5), np.tril(rng.standard_normal((5, 5)))
    found = cholesky_reverse(np.linalg.cholesky(a), adjoint)
    for i in range(5):
        for j in range(i + 1):
            shift = np.zeros((5, 5))
            shift[i, j] = shift[j, i] = 1e-6
            change = np.linalg.cholesky(a + shift) - np.linalg.cholesky(a - shift)
            numeric = float(np.sum(change * adjoint)) / 2e-6
            assert np.sum(found * (shift > 0)) == pytest.approx(numeric, abs=1e-6)

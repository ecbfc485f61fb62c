"""Factorisations against LAPACK and finite differences."""

import numpy as np
import pytest

from funcal.joint.factors import (
    UNCUT,
    blocked_cholesky,
    cholesky_in_place,
    cholesky_reverse,
    fill_gram,
    fill_lower_inverse,
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


def test_bands_in_memory_that_is_there(positive_definite: np.ndarray) -> None:
    """Factor, inverse factor and Aᵀ A band by band are LAPACK's; nothing above the diagonal is read."""
    expected = np.linalg.cholesky(positive_definite)
    above = np.triu(np.full_like(expected, np.nan), 1)
    factor = np.tril(positive_definite) + above
    assert blocked_cholesky(factor)
    np.testing.assert_allclose(np.tril(factor), expected, atol=1e-10)
    half, gram = np.full_like(expected, np.nan), np.full_like(expected, np.nan)
    fill_lower_inverse(factor, half)
    np.testing.assert_allclose(half, np.linalg.inv(expected), atol=1e-10)
    fill_gram(half, gram)
    np.testing.assert_allclose(np.tril(gram), np.tril(np.linalg.inv(positive_definite)), atol=1e-10)


def test_bands_of_a_matrix_that_is_not_positive_definite(rng: np.random.Generator) -> None:
    """The flag says so, in whichever band it shows."""
    for place in (3, 140):
        broken = np.eye(150)
        broken[place, place] = -1.0
        assert not blocked_cholesky(broken)


def test_products_with_a_large_triangle(rng: np.random.Generator) -> None:
    """Beyond the size up to which they are taken whole, products with a triangle go band by band."""
    lower = np.tril(rng.standard_normal((UNCUT + 50, UNCUT + 50)))
    narrow = rng.standard_normal((UNCUT + 50, 3))
    np.testing.assert_allclose(lower_product(lower, narrow), lower @ narrow, atol=1e-10)
    np.testing.assert_allclose(transposed_product(lower, narrow), lower.T @ narrow, atol=1e-10)

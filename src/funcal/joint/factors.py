"""Dense factorisations for compiled code: Cholesky, triangular solves and products, Cholesky's reverse derivative.

Plain loops serve the small matrices, m × m, where they are as fast as LAPACK and report failure by a flag instead of
an exception. Large ones are taken by LAPACK (through `numpy.linalg`), or band by band in products of its own kind where
the result has its place already.
"""

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray

__all__ = [
    "blocked_cholesky",
    "cholesky_in_place",
    "cholesky_reverse",
    "fill_gram",
    "fill_lower_inverse",
    "forward_substitute",
    "inverse_from_cholesky",
    "inverse_from_half",
    "large_cholesky",
    "lower_inverse",
    "lower_product",
    "transposed_product",
]


BAND = 64
"""Rows that a product with a triangular matrix takes at a time, each only as far as the matrix reaches."""
UNCUT = 600
"""Rows up to which such a product with a narrow matrix is taken whole: copies of bands would cost more than zeros."""


@kernel
def large_cholesky(a: FloatArray) -> FloatArray:
    """Lower Cholesky factor by LAPACK from the lower half of a matrix that jitter keeps positive definite."""
    return np.linalg.cholesky(a)  # type: ignore[return-value]


@kernel
def cholesky_in_place(a: FloatArray) -> bool:
    """Overwrite `a` with its lower Cholesky factor (zeros above); False if `a` is not positive definite.

    Formed as Lᵀ, row by row along memory, from the lower half of `a`.
    """
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[j, i] = a[i, j]
    for i in range(n):
        k = 0
        while k + 3 < i:  # four rows at a time: fewer passes over row i
            w0, w1, w2, w3 = a[k, i], a[k + 1, i], a[k + 2, i], a[k + 3, i]
            for c in range(i, n):
                a[i, c] -= (w0 * a[k, c] + w1 * a[k + 1, c]) + (w2 * a[k + 2, c] + w3 * a[k + 3, c])
            k += 4
        while k < i:
            weight = a[k, i]
            for c in range(i, n):
                a[i, c] -= weight * a[k, c]
            k += 1
        if not a[i, i] > 0.0:
            return False
        a[i, i] = np.sqrt(a[i, i])
        scale = 1.0 / a[i, i]
        for c in range(i + 1, n):
            a[i, c] *= scale
    for i in range(n):
        for j in range(i):
            a[i, j] = a[j, i]
            a[j, i] = 0.0
    return True


@kernel
def blocked_cholesky(a: FloatArray) -> bool:
    """Overwrite the lower half of a large matrix with its Cholesky factor, band by band, without another large one.

    What stands above the diagonal is left as it is. False if `a` is not positive definite.
    """
    n = a.shape[0]
    for start in range(0, n, BAND):
        stop = min(start + BAND, n)
        diagonal = a[start:stop, start:stop].copy()
        if not cholesky_in_place(diagonal):
            return False
        a[start:stop, start:stop] = diagonal
        if stop == n:
            return True
        below = np.dot(np.ascontiguousarray(a[stop:, start:stop]), lower_inverse(diagonal).T)
        a[stop:, start:stop] = below
        for left in range(stop, n, BAND):
            right = min(left + BAND, n)
            a[left:, left:right] -= np.dot(below[left - stop :], below[left - stop : right - stop].T)
    return True


@kernel
def forward_substitute(factor: FloatArray, b: FloatArray) -> None:
    """Overwrite the (n, k) matrix `b` with L⁻¹ b, row by row, so that the inner loop runs along memory."""
    n, width = b.shape
    for i in range(n):
        for j in range(i):
            weight = factor[i, j]
            for c in range(width):
                b[i, c] -= weight * b[j, c]
        scale = 1.0 / factor[i, i]
        for c in range(width):
            b[i, c] *= scale


@kernel
def lower_inverse(factor: FloatArray) -> FloatArray:
    """Inverse of a lower triangular matrix."""
    inverse = np.empty(factor.shape)
    fill_lower_inverse(factor, inverse)
    return inverse


@kernel
def fill_lower_inverse(factor: FloatArray, inverse: FloatArray) -> None:
    """Fill `inverse`, zeros above: small blocks by substitution, then neighbours joined in pairs by LAPACK."""
    n = factor.shape[0]
    inverse[:, :] = 0.0
    block = BAND
    for start in range(0, n, block):
        for i in range(start, min(start + block, n)):
            inverse[i, i] = 1.0
            j = start
            while j + 3 < i:  # four rows at a time: fewer passes over row i
                w0, w1, w2, w3 = factor[i, j], factor[i, j + 1], factor[i, j + 2], factor[i, j + 3]
                for c in range(start, j + 4):
                    first = w0 * inverse[j, c] + w1 * inverse[j + 1, c]
                    inverse[i, c] -= first + (w2 * inverse[j + 2, c] + w3 * inverse[j + 3, c])
                j += 4
            while j < i:
                weight = factor[i, j]
                for c in range(start, j + 1):
                    inverse[i, c] -= weight * inverse[j, c]
                j += 1
            scale = 1.0 / factor[i, i]
            for c in range(start, i + 1):
                inverse[i, c] *= scale
    while block < n:
        for start in range(0, n - block, 2 * block):
            middle, stop = start + block, min(start + 2 * block, n)
            above = np.ascontiguousarray(inverse[start:middle, start:middle])
            below = np.ascontiguousarray(inverse[middle:stop, middle:stop])
            between = np.ascontiguousarray(factor[middle:stop, start:middle])
            inverse[middle:stop, start:middle] = -np.dot(below, np.dot(between, above))
        block *= 2


@kernel
def inverse_from_cholesky(factor: FloatArray) -> FloatArray:
    """(L Lᵀ)⁻¹ = L⁻ᵀ L⁻¹."""
    return inverse_from_half(lower_inverse(factor))


@kernel
def inverse_from_half(half: FloatArray) -> FloatArray:
    """(L Lᵀ)⁻¹ from L⁻¹: one half of it and its mirror image where it is small."""
    n = half.shape[0]
    inverse = np.zeros((n, n))
    if n > BAND:
        fill_gram(half, inverse)
        for i in range(n):
            for j in range(i):
                inverse[j, i] = inverse[i, j]
        return inverse
    for k in range(n):
        for i in range(k + 1):
            weight = half[k, i]
            for j in range(i + 1):
                inverse[i, j] += weight * half[k, j]
    for i in range(n):
        for j in range(i):
            inverse[j, i] = inverse[i, j]
    return inverse


@kernel
def fill_gram(lower: FloatArray, gram: FloatArray) -> None:
    """Fill the lower half of Aᵀ A for a large lower triangular matrix A, band by band: a third of the whole product."""
    n = lower.shape[0]
    for start in range(0, n, BAND):
        stop = min(start + BAND, n)
        columns = np.ascontiguousarray(lower[start:, start:stop].T)
        gram[start:stop, :stop] = np.dot(columns, np.ascontiguousarray(lower[start:, :stop]))


@kernel
def lower_product(lower: FloatArray, b: FloatArray) -> FloatArray:
    """A b for a lower triangular matrix A (n, n) and a matrix b (n, k)."""
    n = lower.shape[0]
    if n <= UNCUT:
        return np.dot(lower, b)  # type: ignore[no-any-return]
    product = np.empty(b.shape)
    for start in range(0, n, BAND):
        stop = min(start + BAND, n)
        product[start:stop] = np.dot(np.ascontiguousarray(lower[start:stop, :stop]), b[:stop])
    return product


@kernel
def transposed_product(lower: FloatArray, b: FloatArray) -> FloatArray:
    """Aᵀ b for a lower triangular matrix A (n, n) and a matrix b (n, k)."""
    n = lower.shape[0]
    if n <= UNCUT:
        return np.dot(lower.T, b)  # type: ignore[no-any-return]
    product = np.zeros(b.shape)
    for start in range(0, n, BAND):
        stop = min(start + BAND, n)
        rows = np.ascontiguousarray(lower[start:stop, :stop])
        product[:stop] += np.dot(rows.T, b[start:stop])
    return product


@kernel
def cholesky_reverse(factor: FloatArray, factor_adjoint: FloatArray) -> FloatArray:
    """Adjoint of a = L Lᵀ from the adjoint of L: ½ L⁻ᵀ (P + Pᵀ) L⁻¹, P the lower half of Lᵀ L̄ (Murray 2016).

    The result is symmetric and counts every entry of `a` once: d log p = Σ_ij result_ij d a_ij.
    """
    n = factor.shape[0]
    half = np.dot(factor.T, factor_adjoint)
    for i in range(n):
        for j in range(i + 1, n):
            half[i, j] = 0.0
        half[i, i] *= 0.5
    inverse = lower_inverse(factor)
    middle = np.dot(inverse.T, np.dot(half, inverse))
    symmetric: FloatArray = 0.5 * (middle + middle.T)
    return symmetric

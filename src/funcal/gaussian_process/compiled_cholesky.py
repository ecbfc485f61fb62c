"""Small dense Cholesky factors inside compiled code, in place and without calls to LAPACK.

For the matrices of a sampler (m sites, m up to a hundred) a plain loop beats the overhead of a library call and
releases the interpreter.
"""

import numpy as np
import numpy.typing as npt

from ..compiled import kernel

__all__ = ["factorise_lower", "log_determinant", "solve_lower"]

FloatArray = npt.NDArray[np.float64]


@kernel
def factorise_lower(matrix: FloatArray) -> bool:
    """Overwrite the lower triangle by its Cholesky factor; False where the matrix is not positive definite."""
    size = matrix.shape[0]
    for j in range(size):
        pivot = matrix[j, j]
        for k in range(j):
            pivot -= matrix[j, k] * matrix[j, k]
        if not pivot > 0.0:
            return False
        root = np.sqrt(pivot)
        matrix[j, j] = root
        for i in range(j + 1, size):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = value / root
    return True


@kernel
def solve_lower(factor: FloatArray, vector: FloatArray, solution: FloatArray) -> None:
    """Write L⁻¹v to `solution`."""
    for i in range(len(vector)):
        value = vector[i]
        for k in range(i):
            value -= factor[i, k] * solution[k]
        solution[i] = value / factor[i, i]


@kernel
def log_determinant(factor: FloatArray) -> float:
    """Logarithm of the determinant of LLᵀ."""
    total = 0.0
    for i in range(factor.shape[0]):
        total += np.log(factor[i, i])
    return 2.0 * total

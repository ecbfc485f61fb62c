"""Functions of the surrogate at fixed controls as polynomials in the calibration vector t.

At a given x the surrogate's mean and covariance depend on t alone, through products of exp(-ω_k (t_k - t_jk)²) over n
runs. On the unit box such functions equal a short Chebyshev series in every t_k to the last digits that matter: an
evaluation then costs as many multiplications as the series has terms, whatever n is.
"""

from dataclasses import dataclass

import numpy as np

from ..problem import FloatArray

__all__ = ["TensorGrid", "chebyshev_terms", "tensor_grid"]

#: Chebyshev coefficients of the correlation below this are left out.
TOLERANCE = 1e-10
#: The longest series of all variables together; rougher or more variables are evaluated run by run.
MAX_TERMS = 1_024


def chebyshev_terms(rate: float) -> int:
    """Terms of the Chebyshev series of exp(-rate (t - s)²) on [0, 1] that exceed the tolerance, for any s in [0, 1]."""
    degree = 16
    while True:
        nodes = TensorGrid((degree + 1,))
        values = np.exp(-rate * (nodes.nodes - np.array([0.0, 0.5, 1.0])) ** 2)
        coefficients = nodes.coefficients(values)
        terms = int(np.flatnonzero(np.abs(coefficients).max(axis=0) > TOLERANCE)[-1]) + 1
        if terms < degree or degree > MAX_TERMS:
            return terms
        degree *= 2


@dataclass(frozen=True)
class TensorGrid:
    """Chebyshev nodes of the unit box, `sizes[k]` of them along variable k."""

    sizes: tuple[int, ...]

    @property
    def nodes(self) -> FloatArray:
        """The nodes, (terms, dt), the last variable changing fastest."""
        axes = [0.5 + 0.5 * np.cos(np.pi * (np.arange(size) + 0.5) / size) for size in self.sizes]
        return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=-1)

    def coefficients(self, values: FloatArray) -> FloatArray:
        """Coefficients (q, terms) of the series that take `values` (terms, q) at the nodes."""
        tensor = values.reshape(*self.sizes, -1)
        for axis, size in enumerate(self.sizes):
            order = np.arange(size)
            transform = 2.0 / size * np.cos(np.pi * np.outer(order, order + 0.5) / size)
            transform[0] *= 0.5
            tensor = np.moveaxis(np.tensordot(transform, tensor, axes=(1, axis)), 0, axis)
        return np.ascontiguousarray(tensor.reshape(values.shape).T)

    def basis(self, t: FloatArray) -> FloatArray:
        """The series' terms at t (b, dt), (b, terms)."""
        result = np.ones((len(t), 1))
        for k, size in enumerate(self.sizes):
            along = np.polynomial.chebyshev.chebvander(2.0 * t[:, k] - 1.0, size - 1)
            result = (result[:, :, None] * along[:, None, :]).reshape(len(t), -1)
        return result


def tensor_grid(rates: FloatArray) -> TensorGrid | None:
    """The grid on which functions with these rates are resolved; None where it would be too large."""
    sizes = tuple(chebyshev_terms(float(rate)) for rate in rates)
    return TensorGrid(sizes) if np.prod(sizes, dtype=np.float64) <= MAX_TERMS else None

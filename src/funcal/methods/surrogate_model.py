"""The static surrogate of a calibration problem, as the rivals use it: at fixed controls, for many t at once.

The runs' share of the correlation that belongs to the controls is computed once per set of controls; what is left per
evaluation is the share of the calibration variables.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import ResultError
from ..gaussian_process import StaticSurrogate, SurrogateSettings, shared_surrogate, squared_exponential
from ..gaussian_process.profile_likelihood import profile_process
from ..problem import FloatArray
from ..problem.scaled_problem import ScaledProblem

__all__ = ["SurrogateAtControls", "surrogate_constants", "surrogate_from_constants", "surrogate_of"]

#: Elements of the largest temporary array, 64 MB of float64.
MAX_ELEMENTS = 8_000_000


def surrogate_of(scaled: ScaledProblem, settings: SurrogateSettings) -> StaticSurrogate:
    """The surrogate of the runs; rivals that ask for the same one share it."""
    scaling = scaled.scaling
    return shared_surrogate(
        np.hstack([scaled.x_runs, scaled.t_runs]),
        scaled.y_runs,
        settings,
        widths=np.concatenate([scaling.control.width, scaling.calibration.width]),
        zero=float(scaling.response_to_unit(np.zeros(1))[0]),
    )


def surrogate_constants(surrogate: StaticSurrogate) -> dict[str, FloatArray]:
    """What a saved fit keeps of its surrogate."""
    return {
        "surrogate_rates": surrogate.rates,
        "surrogate_moments": np.array([surrogate.mean, surrogate.variance, surrogate.nugget]),
    }


def surrogate_from_constants(scaled: ScaledProblem, constants: Mapping[str, FloatArray]) -> StaticSurrogate:
    """The surrogate again, from the problem's runs and what the fit kept.

    Raises
    ------
    ResultError
        When the two do not belong together.
    """
    mean, variance, nugget = (float(value) for value in constants["surrogate_moments"])
    inputs = np.hstack([scaled.x_runs, scaled.t_runs])
    rates = np.array(constants["surrogate_rates"], dtype=np.float64)
    process = profile_process(inputs, scaled.y_runs, rates, nugget, fixed_mean=mean)
    if process is None:
        raise ResultError(
            "the surrogate kept in this result does not fit the runs kept with it; the file was changed, so fit again"
        )
    return StaticSurrogate(
        inputs, rates, mean, variance, nugget, process.factor, process.weights, -process.objective
    )


@dataclass(frozen=True)
class SurrogateAtControls:
    """The surrogate at q fixed controls as a function of t.

    Attributes
    ----------
    x
        Scaled controls, (q, dx).
    weighted
        α_j R_x(x_i, x_j), (q, n).
    t_runs, t_rates
        The runs' calibration vectors (n, dt) and their rates (dt,).
    """

    surrogate: StaticSurrogate
    x: FloatArray
    weighted: FloatArray
    t_runs: FloatArray
    t_rates: FloatArray

    @classmethod
    def at(cls, surrogate: StaticSurrogate, x: FloatArray) -> "SurrogateAtControls":
        """Bind a surrogate to scaled controls (q, dx)."""
        dx = x.shape[1]
        correlation = squared_exponential(x, surrogate.inputs[:, :dx], surrogate.rates[:dx])
        return cls(
            surrogate=surrogate,
            x=x,
            weighted=np.ascontiguousarray(correlation * surrogate.weights),
            t_runs=np.ascontiguousarray(surrogate.inputs[:, dx:]),
            t_rates=np.ascontiguousarray(surrogate.rates[dx:]),
        )

    def mean_and_gradient(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean m and ∂m/∂t at t (b, q, dt): arrays (b, q) and (b, q, dt)."""
        num_batch, num_points, num_t = t.shape
        chunk = max(1, MAX_ELEMENTS // (num_points * len(self.t_runs)))
        mean = np.empty((num_batch, num_points))
        gradient = np.empty(t.shape)
        for start in range(0, num_batch, chunk):
            part = t[start : start + chunk]
            exponent = np.zeros((*part.shape[:2], len(self.t_runs)))
            for k in range(num_t):
                exponent -= self.t_rates[k] * (part[:, :, k, None] - self.t_runs[:, k]) ** 2
            terms = np.exp(exponent, out=exponent)
            terms *= self.weighted
            total = terms.sum(axis=-1)
            mean[start : start + chunk] = self.surrogate.mean + total
            slopes = part * total[:, :, None] - terms @ self.t_runs
            gradient[start : start + chunk] = -2.0 * self.t_rates * slopes
        return mean, gradient

    def variance(self, t: FloatArray) -> FloatArray:
        """Variance v at t (b, q, dt), (b, q)."""
        num_batch, num_points, num_t = t.shape
        chunk = max(1, MAX_ELEMENTS // (num_points * len(self.t_runs)))
        result = np.empty((num_batch, num_points))
        for start in range(0, num_batch, chunk):
            part = t[start : start + chunk]
            inputs = np.concatenate([np.broadcast_to(self.x, (len(part), *self.x.shape)), part], axis=-1)
            flat = self.surrogate.predict_variance(inputs.reshape(-1, self.x.shape[1] + num_t))
            result[start : start + chunk] = flat.reshape(len(part), num_points)
        return result

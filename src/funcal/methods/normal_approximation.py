"""Predictions of a point estimator: the plug-in prediction with normal errors about it.

t̂ is the estimate, deviations δ come in antithetic pairs so that the mean over draws is the plug-in prediction itself;
the response follows by the delta method, m(x, t̂) + ∂m/∂t · δ, with the surrogate's own variance added.
"""

import numpy as np

from ..problem import FloatArray
from ..problem.scaled_problem import ScaledProblem
from ..result import PredictiveSample
from .surrogate_model import SurrogateAtControls

__all__ = ["NUM_DRAWS", "antithetic_normals", "linearised_predictions"]

#: Draws behind a predictive sample; a 2.5 % quantile then has a standard error of a tenth of an sd.
NUM_DRAWS = 1_000


def antithetic_normals(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Standard normals (NUM_DRAWS, *shape) whose second half is minus the first."""
    half = rng.standard_normal((NUM_DRAWS // 2, *shape))
    return np.concatenate([half, -half])


def linearised_predictions(
    scaled: ScaledProblem,
    at_new: SurrogateAtControls,
    t_hat: FloatArray,
    deviations: FloatArray,
    *,
    inflation: FloatArray | None = None,
    measurement_variance: float,
) -> PredictiveSample:
    """The predictive sample of a plug-in estimate.

    Parameters
    ----------
    at_new
        The surrogate at the new controls.
    t_hat
        Estimate (q, dt), scaled.
    deviations
        First-order deviations (T, q, dt), antithetic; cut off at one width of the box.
    inflation
        Factor (q, dt) from first- to second-order sd of t.
    measurement_variance
        Of one new measurement, scaled units squared.
    """
    scaling = scaled.scaling
    inside = np.clip(t_hat, 0.0, 1.0)[None]
    mean, gradient = at_new.mean_and_gradient(inside)
    first_order = np.clip(deviations, -1.0, 1.0)
    response = mean[0] + np.einsum("qk,tqk->tq", gradient[0], first_order)
    spread = deviations if inflation is None else deviations * inflation
    calibration = scaling.calibration.from_unit(t_hat + np.clip(spread, -1.0, 1.0))
    variance = at_new.variance(inside)[0] * scaling.response_sd**2
    return PredictiveSample(
        response_mean=scaling.response_from_unit(response),
        response_variance=np.broadcast_to(variance, response.shape).copy(),
        noise_variance=np.full(len(response), measurement_variance * scaling.response_sd**2),
        calibration=calibration,
    )

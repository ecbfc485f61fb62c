"""Maximum likelihood for the static surrogate, by L-BFGS from several starts with analytic gradients.

The box of the search is log ω ∈ [-5, 5] and log g ∈ [-14, -4] on inputs scaled to [0, 1]: from a function that is
nearly linear across the box to one that forgets within a tenth of it, and from a deterministic computer model to one
with noise of an eighth of its spread.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import optimize
from threadpoolctl import threadpool_limits

from ..errors import SamplingError, SettingsError
from .profile_likelihood import negative_log_profile, profile_process
from .static_surrogate import StaticSurrogate

__all__ = ["SurrogateSettings", "fit_surrogate", "shared_surrogate"]

FloatArray = npt.NDArray[np.float64]

LOG_RATE_BOUNDS = (-5.0, 5.0)
LOG_NUGGET_BOUNDS = (-14.0, -4.0)
# Always tried: one smooth, one middling and one rough function. A screen alone misses the smooth optimum, which is
# narrow in the nugget and often the best (spot weld).
LEVEL_STARTS = (-2.0, 0.0, 2.0)
# The other starts are the best of a cheap screen of random points: one evaluation each.
SCREENED_PER_START = 4
# A surrogate of n = 500 runs holds 2 MB; this many are kept for the rivals to share.
KEPT_SURROGATES = 16


@dataclass(frozen=True)
class SurrogateSettings:
    """How the static surrogate is fitted.

    Attributes
    ----------
    kind
        "ard": one rate per input, constant mean (default). "isotropic-zero-mean": one common rate and mean zero, on
        inputs and outputs in the user's own units, as the rivals' original codes have it.
    num_starts
        L-BFGS runs.
    max_iterations
        Of each run.
    max_fit_runs
        With more computer runs than this the rates and the nugget are estimated from a random part of them of this
        size (one evaluation costs n³); mean, variance and predictions use all runs.
    """

    kind: Literal["ard", "isotropic-zero-mean"] = "ard"
    num_starts: int = 6
    max_iterations: int = 60
    max_fit_runs: int = 600

    def __post_init__(self) -> None:
        if self.kind not in ("ard", "isotropic-zero-mean"):
            raise SettingsError(f"surrogate kind is 'ard' or 'isotropic-zero-mean'; {self.kind!r} was given")
        if self.num_starts < 1:
            raise SettingsError(f"the surrogate needs at least one start; num_starts is {self.num_starts}")
        if self.max_fit_runs < 10:
            raise SettingsError(
                f"the surrogate is fitted to at least 10 runs; max_fit_runs is {self.max_fit_runs}"
            )


def fit_surrogate(
    inputs: FloatArray,
    response: FloatArray,
    settings: SurrogateSettings,
    *,
    widths: FloatArray | None = None,
    zero: float = 0.0,
) -> StaticSurrogate:
    """Fit a surrogate to scaled runs.

    Parameters
    ----------
    inputs, response
        (n, d) in [0, 1] and (n,) centred and scaled.
    widths
        Raw width of each scaled input; the common rate of the isotropic kind is per squared raw unit.
    zero
        Where a raw response of zero lies on the scaled axis; the mean of the isotropic kind.

    Raises
    ------
    SamplingError
        When no start gave a usable fit.
    """
    if settings.kind == "ard":
        loading, fixed_mean = np.eye(inputs.shape[1]), None
        offset = np.zeros(inputs.shape[1])
    else:
        # log ω_k = log ω + 2 log width_k, with the widths' geometric mean taken out to keep the box of the search.
        logs = np.zeros(inputs.shape[1]) if widths is None else 2.0 * np.log(widths)
        loading, fixed_mean, offset = np.ones((inputs.shape[1], 1)), zero, logs - logs.mean()
    num_rates = loading.shape[1]
    part: slice | npt.NDArray[np.int64] = slice(None)
    if len(response) > settings.max_fit_runs:
        # The same part every time: the fit is a function of the data alone.
        part = np.sort(np.random.default_rng(0).permutation(len(response))[: settings.max_fit_runs])

    def objective(parameters: FloatArray) -> tuple[float, FloatArray]:
        full = np.append(loading @ parameters[:-1] + offset, parameters[-1])
        value, slope = negative_log_profile(full, inputs[part], response[part], fixed_mean)
        return value, np.append(loading.T @ slope[:-1], slope[-1])

    # At these sizes the threads of BLAS cost more than they save, on a busy machine forty times as much.
    with threadpool_limits(1):
        best = _minimise_from_starts(objective, num_rates, settings)
    rates, nugget = np.exp(loading @ best[:-1] + offset), float(np.exp(best[-1]))
    process = profile_process(inputs, response, rates, nugget, fixed_mean)
    if process is None:
        raise SamplingError(
            "the surrogate's covariance of the computer runs is not positive definite at any start; "
            "look for runs with the same inputs and different responses, or use fewer runs"
        )
    return StaticSurrogate(
        inputs=inputs.copy(),
        rates=rates,
        mean=process.mean,
        variance=process.variance,
        nugget=nugget,
        factor=process.factor,
        weights=process.weights,
        log_likelihood=-process.objective,
    )


def _minimise_from_starts(
    objective: Callable[[FloatArray], tuple[float, FloatArray]], num_rates: int, settings: SurrogateSettings
) -> FloatArray:
    """The best of several L-BFGS runs; starts are a fixed design, so that the fit is a function of the data alone."""
    bounds = [LOG_RATE_BOUNDS] * num_rates + [LOG_NUGGET_BOUNDS]
    rng = np.random.default_rng(num_rates)
    candidates = np.column_stack(
        [
            rng.uniform(-3.0, 3.0, (SCREENED_PER_START * settings.num_starts, num_rates)),
            rng.uniform(-13.0, -5.0, SCREENED_PER_START * settings.num_starts),
        ]
    )
    values = np.array([objective(candidate)[0] for candidate in candidates])
    screened = candidates[np.argsort(values, kind="stable")]
    levels = np.array([[level] * num_rates + [-8.0] for level in LEVEL_STARTS])
    starts = np.vstack([levels, screened])[: settings.num_starts]
    results = [
        optimize.minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": settings.max_iterations},
        )
        for start in starts
    ]
    return np.asarray(min(results, key=lambda result: result.fun).x)


_kept: OrderedDict[bytes, StaticSurrogate] = OrderedDict()
_lock = threading.Lock()


def shared_surrogate(
    inputs: FloatArray,
    response: FloatArray,
    settings: SurrogateSettings,
    *,
    widths: FloatArray | None = None,
    zero: float = 0.0,
) -> StaticSurrogate:
    """`fit_surrogate`, once per data: every rival that asks with the same data and settings gets the same object."""
    digest = hashlib.sha256(repr((settings, inputs.shape, zero)).encode())
    for array in (inputs, response, widths):
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    key = digest.digest()
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    surrogate = fit_surrogate(inputs, response, settings, widths=widths, zero=zero)
    with _lock:
        _kept[key] = surrogate
        while len(_kept) > KEPT_SURROGATES:
            _kept.popitem(last=False)
    return surrogate

"""What a method hands over: draws that predict again after a save, and predictive mixtures.

A `Fit` holds arrays and JSON-able values only, so that it can be stored without a pickle.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..problem import AnchorPoints, FloatArray
from .plain_values import plain_values

__all__ = ["Fit", "PredictiveSample"]


@dataclass(frozen=True)
class Fit:
    """Posterior draws (or estimates, as one chain of few draws) and all that prediction needs.

    Attributes
    ----------
    draws : mapping of name to (chain, draw, …)
        In the user's units where a user sees them: ``theta`` (…, site, functional), ``psi`` (…, global),
        ``noise_sd``, then hyper-parameters.
    dims : mapping of name to names of the trailing dimensions
    stats : mapping of name to (chain, draw)
        Sample statistics: ``lp``, ``acceptance_rate``, ``diverging`` …
    constants : mapping of name to array
        Further arrays that `predict` needs.
    anchors : AnchorPoints, optional
    log_likelihood : (chain, draw, site), optional
        Pointwise, for PSIS-LOO.
    report : mapping
        JSON-able findings: settings chosen, verdicts, identifiability.
    """

    draws: Mapping[str, FloatArray]
    dims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stats: Mapping[str, FloatArray] = field(default_factory=dict)
    constants: Mapping[str, FloatArray] = field(default_factory=dict)
    anchors: AnchorPoints | None = None
    log_likelihood: FloatArray | None = None
    report: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the report plain, so that it can be stored as it is."""
        object.__setattr__(self, "report", plain_values(self.report))

    def flat(self, name: str) -> FloatArray:
        """Draws of one parameter with all chains put end to end, (chain · draw, …)."""
        values = self.draws[name]
        return values.reshape(-1, *values.shape[2:])

    @property
    def num_chains(self) -> int:
        """Chains (1 for an estimator)."""
        return int(next(iter(self.draws.values())).shape[0])

    @property
    def num_draws(self) -> int:
        """Draws per chain."""
        return int(next(iter(self.draws.values())).shape[1])


@dataclass(frozen=True)
class PredictiveSample:
    """A mixture of T normal components for the response at q new points, and T draws of [θ(x), ψ].

    Attributes
    ----------
    response_mean, response_variance : (T, q)
        Noise-free response of each component.
    noise_variance : (T,) or (T, q)
        Variance of the error of one new measurement.
    calibration : (T, q, dtheta + dpsi)
        Draws of the calibration variables, functional first; empty where the method has none.
    weight : (T,), optional
        Weights of the components, equal if None.
    """

    response_mean: FloatArray
    response_variance: FloatArray
    noise_variance: FloatArray
    calibration: FloatArray
    weight: FloatArray | None = None

    @property
    def observation_variance(self) -> FloatArray:
        """Variance of a new measurement, (T, q)."""
        noise = np.asarray(self.noise_variance)
        total: FloatArray = self.response_variance + (noise[:, None] if noise.ndim == 1 else noise)
        return total

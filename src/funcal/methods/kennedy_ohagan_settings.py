"""Settings of `koh`."""

from dataclasses import dataclass, field

import numpy as np

from ..gaussian_process import SurrogateSettings
from ..problem import FloatArray
from .surrogate_chains import ChainSettings

__all__ = ["KennedyOHaganSettings"]


@dataclass(frozen=True)
class KennedyOHaganSettings:
    """Settings of `koh`: means and sds of the normal priors, the chains and the static surrogate."""

    log_bias_variance_mean: float = -2.0
    log_bias_variance_sd: float = 1.5
    log_noise_variance_mean: float = -4.0
    log_noise_variance_sd: float = 1.5
    log_bias_rate_mean: float = 0.5
    log_bias_rate_sd: float = 1.0
    chain: ChainSettings = field(default_factory=lambda: ChainSettings(warmup=750, draws=1_000))
    surrogate: SurrogateSettings = field(default_factory=SurrogateSettings)

    def priors(self) -> FloatArray:
        """Mean and sd of log σ_δ², log σ² and log ω_δ, (3, 2)."""
        return np.array(
            [
                [self.log_bias_variance_mean, self.log_bias_variance_sd],
                [self.log_noise_variance_mean, self.log_noise_variance_sd],
                [self.log_bias_rate_mean, self.log_bias_rate_sd],
            ]
        )

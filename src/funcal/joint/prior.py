"""The prior of the joint model, on the scaled problem: proper, weakly informative, one number per line.

All inputs are scaled to [0, 1] and the response to unit standard deviation of the runs, so that one set of
numbers serves every problem; only the noise has the measurements' own standard deviation for its unit.
`docs/the-method.md` lists them with the reason for each.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import SettingsError

__all__ = ["JointPrior", "PriorNumbers"]

LEAST_SPREAD = 0.2
"""Of the measured responses, in units of the runs': a few that happen to be alike do not speak of a small noise."""
OPTIONAL = ("slope_variance", "line_variance")
"""Variances of straight parts, which may be 0."""


class PriorNumbers(NamedTuple):
    """The prior as compiled code reads it; see `JointPrior` for the meaning of each number."""

    mean_variance: float
    slope_variance: float
    control_share: float
    log_decay_mean: float
    log_decay_sd: float
    log_variance_mean: float
    log_variance_sd: float
    log_linear_mean: float
    log_linear_sd: float
    growth_sd: float
    jitter: float
    log_nugget_mean: float
    log_nugget_sd: float
    noise_scale: float
    level_sd: float
    variation_scale: float
    log_roughness_mean: float
    log_roughness_sd: float
    stretch_mean: float
    stretch_sd: float
    line_variance: float
    discrepancy_scale: float
    log_discrepancy_roughness_mean: float
    log_discrepancy_roughness_sd: float


@dataclass(frozen=True)
class JointPrior:
    """Prior of the joint model.

    Attributes
    ----------
    mean_variance
        Variance of the computer model's constant mean, integrated out.
    slope_variance
        Variance of a linear trend of the computer model in each calibration input, and of one that the controls share,
        integrated out; 0 = no trend. Shared, since with ten free slopes a trend would say more than all the rest.
    log_decay_mean, log_decay_sd
        Normal prior of ln ℓ_j in exp(-Σ ℓ_j d_j²), one ℓ per input.
    log_variance_mean, log_variance_sd
        Normal prior of ln γ, the variance of what is curved in the calibration inputs.
    log_linear_mean, log_linear_sd
        Normal prior of ln α, the variance of a level and of slopes in the calibration inputs that change with the
        controls.
    growth_sd
        Standard deviation of c_j in the amplitude exp(Σ_j c_j (z_j - ½)) by which the response varies more at one
        end of an input than at the other: with ½, mostly by less than a factor of e from end to end.
    jitter
        Variance added to the diagonal of the runs' covariance for a deterministic computer model. It is not relative to
        γ: runs smoother than the jitter would then drag γ down, and the emulator would be too sure between them.
    log_nugget_mean, log_nugget_sd
        Normal prior of the log variance of a stochastic computer model's own noise.
    noise_scale
        Scale, and mode, of the Rayleigh prior of the measurement noise σ (sd of one measurement), in standard
        deviations of the measured responses at the sites (`LEAST_SPREAD` of the runs' at least): runs that fill a box
        may spread far wider than what was measured. Its density vanishes at 0: few runs leave room for an emulator so
        rough that it passes through every measurement.
    level_sd
        Standard deviation of β_k, the probit of θ_k's level; 1 makes the level uniform in its box.
    variation_scale
        Scale of the half-normal prior of s_k, the size of θ_k's variation in units of its box; it is wide, since s and
        the smoothness of ρ go together: a function that bends little across the range needs a large s to vary.
    log_roughness_mean, log_roughness_sd
        Normal prior of ln ρ_kj, the decay of θ_k's correlation along control j; the mean is lowered by ln dx, so
        that the correlation across the whole cube does not depend on the number of controls.
    stretch_mean, stretch_sd
        Normal prior of c_kj, by which θ_k may change faster at one end of control j than at the other: exp(c) times as
        fast at its high end. Below zero on average, since most controls are amounts counted from zero.
    line_variance
        Variance of the slope of θ_k's straight line along each stretched control, in units of s_k²; 0 = no line.
    discrepancy_scale
        Scale of the half-normal priors of the sizes of δ.
    log_discrepancy_roughness_mean, log_discrepancy_roughness_sd
        Normal prior of ln ρ_δ, the decay of δ's correlation.
    """

    mean_variance: float = 1.0
    slope_variance: float = 1.0
    log_decay_mean: float = 0.5
    log_decay_sd: float = 1.5
    log_variance_mean: float = 0.0
    log_variance_sd: float = 1.5
    log_linear_mean: float = 0.0
    log_linear_sd: float = 1.5
    growth_sd: float = 0.5
    jitter: float = 1e-6
    log_nugget_mean: float = -5.0
    log_nugget_sd: float = 2.0
    noise_scale: float = 0.4
    level_sd: float = 1.0
    variation_scale: float = 0.7
    log_roughness_mean: float = -2.5
    log_roughness_sd: float = 1.5
    stretch_mean: float = -0.7
    stretch_sd: float = 0.7
    line_variance: float = 0.25
    discrepancy_scale: float = 0.5
    log_discrepancy_roughness_mean: float = 0.5
    log_discrepancy_roughness_sd: float = 1.0

    def __post_init__(self) -> None:
        """Every scale must be positive; only straight parts may be switched off."""
        for name, value in vars(self).items():
            free = name.endswith("_mean")
            allowed = np.isfinite(value) and (free or value > 0 or (name in OPTIONAL and value == 0))
            if not allowed:
                raise SettingsError(
                    f"the prior's {name} must be a finite {'number' if free else 'positive number'}, "
                    f"but it is {value!r}; leave it out to use the default"
                )

    def numbers(self, num_controls: int, measured_spread: float = 1.0) -> PriorNumbers:
        """The prior as compiled code reads it, all of it in units of the runs' standard deviation.

        Parameters
        ----------
        num_controls
        measured_spread
            Standard deviation of the measured responses at the sites.
        """
        values = {name: float(value) for name, value in vars(self).items()}
        values["control_share"] = 1.0 / num_controls
        values["noise_scale"] *= max(measured_spread, LEAST_SPREAD)
        values["log_roughness_mean"] -= float(np.log(num_controls))
        values["log_discrepancy_roughness_mean"] -= float(np.log(num_controls))
        return PriorNumbers(**values)

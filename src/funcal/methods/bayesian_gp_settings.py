"""Settings of `nbc`."""

from dataclasses import dataclass, field

from ..errors import SettingsError
from ..gaussian_process import SurrogateSettings
from .surrogate_chains import ChainSettings

__all__ = ["BayesianGpSettings"]


@dataclass(frozen=True)
class BayesianGpSettings:
    """Settings of `nbc`.

    Attributes
    ----------
    noise_shape, noise_scale
        λ_y ~ Gamma(shape, scale): prior mean 64, a noise sd of an eighth of the runs' sd. (1, 1000) is vague.
    theta_shape, theta_scale
        λ_θ ~ Gamma(shape, scale), on the logit scale.
    rho_b
        ρ ~ Beta(1, b).
    chain
        Length of the chains.
    surrogate
        The static surrogate.
    """

    noise_shape: float = 8.0
    noise_scale: float = 8.0
    theta_shape: float = 2.0
    theta_scale: float = 1.0
    rho_b: float = 1.0
    chain: ChainSettings = field(default_factory=ChainSettings)
    surrogate: SurrogateSettings = field(default_factory=SurrogateSettings)

    def __post_init__(self) -> None:
        values = (self.noise_shape, self.noise_scale, self.theta_shape, self.theta_scale, self.rho_b)
        if min(values) <= 0.0:
            raise SettingsError(f"the shapes and scales of nbc's priors are positive; {values} were given")

"""Gaussian processes: kernel, profile likelihood, and the static surrogate that the rivals stand on."""

from .kernels import squared_exponential as squared_exponential
from .likelihood_fit import SurrogateSettings as SurrogateSettings
from .likelihood_fit import fit_surrogate as fit_surrogate
from .likelihood_fit import shared_surrogate as shared_surrogate
from .static_surrogate import StaticSurrogate as StaticSurrogate

__all__ = ["StaticSurrogate", "SurrogateSettings", "fit_surrogate", "shared_surrogate", "squared_exponential"]

"""The posterior of Section 5 and Appendix A, and its compiled Metropolis-within-Gibbs sampler."""

from .draws import Draws as Draws
from .draws import draws_in_user_units as draws_in_user_units
from .parameters import ChainState as ChainState
from .parameters import ParameterLayout as ParameterLayout
from .parameters import PosteriorModel as PosteriorModel
from .parameters import SiteData as SiteData
from .parameters import first_steps as first_steps
from .parameters import posterior_model as posterior_model
from .parameters import start_state as start_state
from .run_chains import run_chains as run_chains

__all__ = [
    "ChainState",
    "Draws",
    "ParameterLayout",
    "PosteriorModel",
    "SiteData",
    "draws_in_user_units",
    "first_steps",
    "posterior_model",
    "run_chains",
    "start_state",
]

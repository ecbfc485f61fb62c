"""What each entry of the draws is called by a user: θ at a site, ψ by its name, the noise."""

from collections.abc import Mapping

from ..problem import CalibrationProblem, FloatArray, site_in_words

__all__ = ["quantity_names"]


def quantity_names(problem: CalibrationProblem, draws: Mapping[str, FloatArray]) -> dict[str, list[str]]:
    """Names of the entries of θ (site, functional), ψ (global), response (site) and noise sd, where drawn."""
    roles = problem.roles
    places = [site_in_words(problem, site) for site in range(problem.num_sites)]
    named = {
        "theta": [f"{name}({place})" for place in places for name in roles.functional],
        "psi": list(roles.global_),
        "response": [f"{roles.response}({place})" for place in places],
        "noise_sd": ["the noise sd"],
    }
    return {name: words for name, words in named.items() if name in draws}

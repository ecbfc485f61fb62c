"""Leave-one-out by sampling again without the site, where importance sampling cannot be trusted.

PSIS-LOO reweights the posterior of all sites. A site that the posterior leans on has weights too variable for that,
which its Pareto k shows; there the chains are run again without it, and its mean is predicted (Vehtari et al. 2017).
The sum of squares of replicates stays: it concerns the noise, not the site's mean.
"""

from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from ..problem import ScaledProblem
from .calibration_members import CalibrationMember, MemberRecipe, Variant
from .comparison import LOO_DRAWS, leave_one_out_of
from .member_weights import UNRELIABLE_K, LeaveOneOut
from .response import predict_response

__all__ = ["reliable_leave_one_out", "without_site"]

FUNCTIONS_PER_DRAW = 8
"""Draws of θ at the left-out site per posterior draw, so that its spread does not rest on one."""


def without_site(problem: ScaledProblem, site: int) -> ScaledProblem:
    """The scaled problem without one site's mean."""
    known = problem.known_variance
    return replace(
        problem,
        x_sites=np.delete(problem.x_sites, site, axis=0),
        y_sites=np.delete(problem.y_sites, site),
        counts=np.delete(problem.counts, site),
        known_variance=None if known is None else np.delete(known, site),
    )


def reliable_leave_one_out(
    problem: ScaledProblem, member: CalibrationMember, recipe: MemberRecipe, seed: np.random.SeedSequence
) -> tuple[LeaveOneOut, int]:
    """PSIS-LOO, with the sites where it fails sampled again without them; also how many these were.

    The Pareto k stay those of PSIS-LOO: they say how much each site matters.
    """
    score = leave_one_out_of(member)
    doubtful = np.flatnonzero(score.pareto_k > UNRELIABLE_K)
    log_density = score.log_density.copy()
    for site, stream in zip(doubtful.tolist(), seed.spawn(len(doubtful)), strict=True):
        log_density[site] = _density_without(problem, member.variant, recipe, site, stream)
    return LeaveOneOut(log_density, score.pareto_k), len(doubtful)


def _density_without(
    problem: ScaledProblem, variant: Variant, recipe: MemberRecipe, site: int, seed: np.random.SeedSequence
) -> float:
    """Log density of a site's mean under the posterior of the others."""
    from scipy.stats import norm

    chain_seed, draw_seed = seed.spawn(2)
    others = recipe.without_site(site).fit(
        without_site(problem, site), variant, chain_seed, lambda done, total, stage: None
    )
    u, phi = others.flat(LOO_DRAWS)
    x_left = np.repeat(problem.x_sites[site : site + 1], FUNCTIONS_PER_DRAW, axis=0)
    mean, variance, _ = predict_response(others.model, u, phi, x_left, rng=np.random.default_rng(draw_seed))
    layout = others.model.layout
    if problem.known_variance is None:
        noise = np.exp(2.0 * u[:, layout.log_noise]) / problem.counts[site]
    else:
        noise = np.full(len(u), problem.known_variance[site])
    density = norm.logpdf(problem.y_sites[site], mean, np.sqrt(variance + noise[:, None]))
    return float(logsumexp(density) - np.log(mean.size))

"""Coverage of problem 3 over many replicates, by a closed form of the model that needs no chains.

Problem 3's computer model is θ + ψ x², and its runs tell it all but exactly. Given the size s, roughness ρ and stretch
c of θ(x) and the noise σ, the response is then a Gaussian process that is measured at the sites. These four are drawn
from the prior and weighted by the measurements' marginal likelihood; level and ψ, uniform in their boxes, are taken to
be normal with the same mean and variance, the unit of σ is the same for all replicates, and the clamp is left out. A
replicate takes milliseconds, so the luck of some hundred seeds is gone: what is left is how the prior fits this truth.
The first two blocks have the seeds of `joint_coverage`, to be compared with what the sampler finds there.
"""

import numpy as np
from scipy.special import ndtr

from funcal.joint.prior import JointPrior
from funcal.problem.arrays import FloatArray
from funcal.testbed import get_problem

NUM_DRAWS = 6000
"""Of (s, ρ, c, σ); some 600 of them carry the weight."""
BLOCKS = (range(5000, 5100), range(5100, 5300), range(20000, 21000))
LEVEL = 0.95
BOX = 5.0
"""Length of the boxes of θ and ψ."""


class ClosedForm:
    """Conditionals of the response at `x_new`, given measurements at `x`, for draws of (s, ρ, c, σ)."""

    def __init__(self, x: FloatArray, x_new: FloatArray, measured_sd: float, prior: JointPrior) -> None:
        rng = np.random.default_rng(1)
        size = np.abs(prior.variation_scale * rng.standard_normal(NUM_DRAWS)) * BOX
        roughness = np.exp(prior.log_roughness_mean + prior.log_roughness_sd * rng.standard_normal(NUM_DRAWS))
        stretch = prior.stretch_mean + prior.stretch_sd * rng.standard_normal(NUM_DRAWS)
        noise = rng.rayleigh(prior.noise_scale, NUM_DRAWS) * measured_sd
        points = np.concatenate([x, x_new])
        gaps = (points - x.min()) / np.ptp(x) - 0.5
        axes = np.expm1(np.outer(stretch, gaps)) / stretch[:, None]
        distance = np.sqrt(10.0 * roughness)[:, None, None] * np.abs(
            axes[:, :, None] - axes[:, None, : x.size]
        )
        covariance = (1.0 + distance + distance**2 / 3.0) * np.exp(-distance)
        covariance += prior.line_variance * axes[:, :, None] * axes[:, None, : x.size]
        own = size[:, None] ** 2 * (1.0 + prior.line_variance * axes[:, x.size :] ** 2)
        uniform = BOX**2 / 12.0
        covariance = size[:, None, None] ** 2 * covariance + uniform * (1.0 + np.outer(points**2, x**2))
        here = covariance[:, : x.size] + (noise**2 + 1e-6)[:, None, None] * np.eye(x.size)
        factor = np.linalg.cholesky(here)
        self.half = np.linalg.inv(factor)
        self.log_determinant = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        self.gain = self.half @ np.swapaxes(covariance[:, x.size :], 1, 2)
        variance = own + uniform * (1.0 + x_new**4) - (self.gain**2).sum(axis=1)
        self.sd = np.sqrt(np.maximum(variance, 1e-9))
        self.mean, self.new_mean = 0.5 * BOX * (1.0 + x**2), 0.5 * BOX * (1.0 + x_new**2)

    def probability_below(self, measured: FloatArray, truth: FloatArray) -> FloatArray:
        """Posterior probability that the response at each new control is less than the truth."""
        whitened = self.half @ (measured - self.mean)
        log_weight = -self.log_determinant - 0.5 * (whitened**2).sum(axis=1)
        weight = np.exp(log_weight - log_weight.max())
        kept = weight > 1e-6
        means = np.einsum("dsq,ds->dq", self.gain[kept], whitened[kept]) + self.new_mean
        below = ndtr((truth - means) / self.sd[kept])
        return np.asarray(weight[kept] @ below / weight[kept].sum())


def main() -> None:
    """Print the share of covered points in the gap of the sites and over their range."""
    problem = get_problem("synthetic-3")
    first = problem.draw(0)
    x = np.sort(first.physical["x"].to_numpy())
    gap, span = first.test_controls[:, 0], np.linspace(x[0], x[-1], 96)[:-1] + 0.5 * np.ptp(x) / 95
    x_new = np.concatenate([gap, span])
    truth = problem.true_response(x_new[:, None])
    form = ClosedForm(x, x_new, float(first.physical["y"].std(ddof=0)), JointPrior())
    for seeds in BLOCKS:
        below = np.array(
            [
                form.probability_below(problem.draw(seed).physical.sort_values("x")["y"].to_numpy(), truth)
                for seed in seeds
            ]
        )
        inside = np.abs(below - 0.5) < 0.5 * LEVEL
        shares = [100 * inside[:, part].mean(axis=1) for part in (slice(gap.size), slice(gap.size, None))]
        in_gap, over_range = (
            f"{share.mean():.1f} ± {share.std(ddof=1) / np.sqrt(len(share)):.1f} %" for share in shares
        )
        print(f"seeds {seeds[0]} to {seeds[-1]}:", flush=True)
        print(f"  own points, in the gap of the sites, {in_gap}, over their range {over_range}", flush=True)

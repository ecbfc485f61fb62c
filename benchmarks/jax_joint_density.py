"""The joint model's log density written afresh in JAX, straight from its definition, for NumPyro's NUTS.

One (n + m)-variate normal and named priors in the coordinates of `funcal.joint.model`; no structure is used, as a
general-purpose sampler would see it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcal.joint.model import JointModel


def jax_log_density(model: JointModel) -> Callable[[Any], Any]:
    """A function of the point (u, φ) put end to end; needs JAX in 64 bits."""
    import jax
    import jax.numpy as jnp
    from jax.scipy.stats import norm

    jax.config.update("jax_enable_x64", True)
    layout, prior = model.layout, model.prior
    m, dx = model.x_sites.shape
    n, d = len(model.y_runs), dx + model.t_runs.shape[1]
    gaps = jnp.asarray(model.site_gaps)
    centred_sites = jnp.asarray(model.x_sites) - 0.5
    runs = jnp.hstack([jnp.asarray(model.x_runs), jnp.asarray(model.t_runs)])
    y = jnp.concatenate([jnp.asarray(model.y_runs), jnp.asarray(model.y_sites)])

    def log_half_normal(log_value: Any, scale: float) -> Any:
        return (
            0.5 * jnp.log(2 / jnp.pi) - jnp.log(scale) - 0.5 * jnp.exp(2 * log_value) / scale**2 + log_value
        )

    def log_density(point: Any) -> Any:
        u, phi = point[: layout.size], point[layout.size :]
        total, columns = 0.0, []
        for k in range(layout.num_functional):
            g, level = u[k * m : (k + 1) * m], u[layout.level + k]
            log_rho = u[layout.log_roughness + k * dx : layout.log_roughness + (k + 1) * dx]
            stretch = u[layout.stretch + k * dx : layout.stretch + (k + 1) * dx]
            axes = jnp.expm1(stretch * centred_sites) / stretch
            exponent = ((axes[:, None] - axes[None]) ** 2) @ jnp.exp(log_rho)
            # the square root's slope at zero distance is infinite, the correlation's is not
            a = jnp.sqrt(10.0 * jnp.where(exponent > 0, exponent, 1.0))
            correlation = jnp.where(exponent > 0, (1 + a + a**2 / 3) * jnp.exp(-a), 1.0)
            line = prior.line_variance * axes @ axes.T
            factor = jnp.linalg.cholesky(correlation + line + 1e-8 * jnp.eye(m))
            f = norm.cdf(level) + jnp.exp(u[layout.log_variation + k]) * factor @ g
            columns.append((jax.nn.softplus(25 * f) - jax.nn.softplus(25 * (f - 1))) / 25)
            total += norm.logpdf(g).sum() + norm.logpdf(level, 0, prior.level_sd)
            total += log_half_normal(u[layout.log_variation + k], prior.variation_scale)
            total += norm.logpdf(log_rho, prior.log_roughness_mean, prior.log_roughness_sd).sum()
            total += norm.logpdf(stretch, prior.stretch_mean, prior.stretch_sd).sum()
        for h in range(layout.num_global):
            latent = u[layout.global_latent + h]
            columns.append(jnp.full(m, norm.cdf(latent)))
            total += norm.logpdf(latent)
        noise = jnp.asarray(model.known_variance)
        if layout.has_noise:
            log_noise = u[layout.log_noise]
            noise = noise + jnp.exp(2 * log_noise) * jnp.asarray(model.inverse_counts)
            relative = log_noise - jnp.log(prior.noise_scale)  # Rayleigh
            total += 2.0 * relative - 0.5 * jnp.exp(2.0 * relative)
            total -= model.within_dof * log_noise + 0.5 * model.within_ss * jnp.exp(-2 * log_noise)
        own = jnp.diag(noise)
        if layout.discrepancy > 0:
            own = own + jnp.exp(2 * u[layout.log_discrepancy])
            total += log_half_normal(u[layout.log_discrepancy], prior.discrepancy_scale)
        if layout.discrepancy > 1:
            centred = 2 * jnp.asarray(model.x_sites) - 1
            shape = centred @ centred.T
            if layout.discrepancy > 2:
                shape = jnp.exp(-jnp.exp(u[layout.log_discrepancy + 2]) * gaps.sum(axis=0))
                mean, sd = prior.log_discrepancy_roughness_mean, prior.log_discrepancy_roughness_sd
                total += norm.logpdf(u[layout.log_discrepancy + 2], mean, sd)
            own = own + jnp.exp(2 * u[layout.log_discrepancy + 1]) * shape
            total += log_half_normal(u[layout.log_discrepancy + 1], prior.discrepancy_scale)
        z = jnp.vstack([runs, jnp.hstack([jnp.asarray(model.x_sites), jnp.stack(columns, axis=1)])])
        scaled = z * jnp.exp(0.5 * phi[:d])
        squared = jnp.sum(scaled**2, axis=1)
        gap = jnp.maximum(squared[:, None] + squared[None] - 2 * scaled @ scaled.T, 0.0)
        covariance = jnp.exp(phi[d] - gap)
        centred = z[:, dx:] - 0.5
        along_x = jnp.sum((scaled[:, None, :dx] - scaled[None, :, :dx]) ** 2, axis=2)
        covariance += jnp.exp(phi[d + 1] - along_x) * (1 + 4 * centred @ centred.T)
        amplitude = jnp.exp((z - 0.5) @ phi[d + 2 : 2 * d + 2])
        covariance *= amplitude[:, None] * amplitude
        trend = prior.control_share * (z[:, :dx] - 0.5) @ (z[:, :dx] - 0.5).T + centred @ centred.T
        covariance += prior.mean_variance + prior.slope_variance * trend
        jitter = prior.jitter + (jnp.exp(phi[-1]) if model.has_nugget else 0.0)
        covariance = covariance.at[jnp.arange(n), jnp.arange(n)].add(jitter)
        covariance = covariance.at[n:, n:].add(own)
        factor = jnp.linalg.cholesky(covariance)
        whitened = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        total -= (
            0.5 * whitened @ whitened + jnp.log(jnp.diag(factor)).sum() + 0.5 * (n + m) * jnp.log(2 * jnp.pi)
        )
        total += norm.logpdf(phi[:d], prior.log_decay_mean, prior.log_decay_sd).sum()
        total += norm.logpdf(phi[d], prior.log_variance_mean, prior.log_variance_sd)
        total += norm.logpdf(phi[d + 1], prior.log_linear_mean, prior.log_linear_sd)
        total += norm.logpdf(phi[d + 2 : 2 * d + 2], 0.0, prior.growth_sd).sum()
        if model.has_nugget:
            total += norm.logpdf(phi[-1], prior.log_nugget_mean, prior.log_nugget_sd)
        return total

    return log_density


def numpyro_draws(model: JointModel, starts: Any, *, warmup: int, draws: int, seed: int) -> tuple[Any, float]:
    """NumPyro's NUTS with a dense metric from the given points (chain, size); draws and seconds after compilation."""
    import time

    import jax
    import jax.numpy as jnp
    from numpyro.infer import MCMC, NUTS

    log_density = jax_log_density(model)
    kernel = NUTS(potential_fn=lambda point: -log_density(point), dense_mass=True)
    chains = MCMC(
        kernel,
        num_warmup=warmup,
        num_samples=draws,
        num_chains=len(starts),
        chain_method="sequential",
        progress_bar=False,
    )
    # NumPyro wants no chain dimension for a single chain
    start = jnp.asarray(starts if len(starts) > 1 else starts[0])
    brief = MCMC(
        kernel,
        num_warmup=2,
        num_samples=2,
        num_chains=len(starts),
        chain_method="sequential",
        progress_bar=False,
    )
    brief.run(jax.random.PRNGKey(seed), init_params=start)
    began = time.perf_counter()
    chains.run(jax.random.PRNGKey(seed), init_params=start)
    samples = jax.block_until_ready(chains.get_samples(group_by_chain=True))
    return samples, time.perf_counter() - began

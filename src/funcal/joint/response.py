"""Prediction at new controls: θ(x*) from its process, then η + δ there given both tables, per posterior draw."""

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .calibration_density import site_system
from .discrepancy import discrepancy_cross
from .emulator import EmulatorState, allocate_emulator, set_emulator
from .emulator_covariance import prior_cross, prior_variance
from .factors import cholesky_in_place, forward_substitute, inverse_from_cholesky, lower_product
from .function_covariance import COVARIANCE_JITTER, function_covariance, roughnesses, stretched_controls
from .model import JointModel
from .site_functions import SiteState, allocate_sites, clamp, normal_cdf, place_sites

__all__ = ["plug_in_mean", "predict_response"]

NUM_BLOCKS = 4
"""Blocks of draws that run side by side, each with its own stream; fixed, so that cores do not change results."""
CHUNK = 256
"""New points at a time: bounds the (n, q) arrays."""


def predict_response(
    model: JointModel, u: FloatArray, phi: FloatArray, x_new: FloatArray, *, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Predict at scaled controls `x_new` (q, dx) for each of T draws (u, φ).

    Returns
    -------
    mean, variance : (T, q)
        Noise-free response, scaled.
    calibration : (T, q, dθ + dψ)
        Draws of the calibration values, scaled.
    """
    num_draws, num_new = u.shape[0], x_new.shape[0]
    mean, variance = np.empty((num_draws, num_new)), np.empty((num_draws, num_new))
    calibration = np.empty((num_draws, num_new, model.t_runs.shape[1]))
    blocks: Sequence[FloatArray] = np.array_split(np.arange(num_draws), NUM_BLOCKS)
    streams = rng.spawn(NUM_BLOCKS)

    def work(block: FloatArray, stream: np.random.Generator) -> None:
        if block.size == 0:
            return
        rows = slice(int(block[0]), int(block[-1]) + 1)
        predict_block(
            stream,
            np.ascontiguousarray(u[rows]),
            np.ascontiguousarray(phi[rows]),
            np.array(x_new, dtype=np.float64, order="C"),
            model,
            allocate_emulator(model),
            allocate_sites(model),
            mean[rows],
            variance[rows],
            calibration[rows],
        )

    with ThreadPoolExecutor(min(NUM_BLOCKS, os.cpu_count() or 1)) as pool, threadpool_limits(limits=1):
        list(pool.map(work, blocks, streams))
    return mean, variance, calibration


@kernel
def draw_function(
    rng: np.random.Generator,
    u: FloatArray,
    k: int,
    x_new: FloatArray,
    model: JointModel,
    factor: FloatArray,
    latent: FloatArray,
) -> None:
    """Fill `latent` (q,) with draws of f_k(x*) given its values at the sites, one point at a time."""
    layout = model.layout
    m = model.x_sites.shape[0]
    roughness, line = roughnesses(u, model, k), model.prior.line_variance
    sites, new = stretched_controls(model.x_sites, u, model, k), stretched_controls(x_new, u, model, k)
    variation = math.exp(u[layout.log_variation + k])
    weights = np.empty((m, x_new.shape[0]))
    for q in range(x_new.shape[0]):
        for i in range(m):
            weights[i, q] = variation**2 * function_covariance(new[q], sites[i], roughness, line)
    forward_substitute(factor, weights)
    for q in range(x_new.shape[0]):
        own = function_covariance(new[q], new[q], roughness, line) + COVARIANCE_JITTER
        centre, left = 0.0, variation**2 * own
        for i in range(m):
            centre += weights[i, q] * u[k * m + i]
            left -= weights[i, q] ** 2
        spread = math.sqrt(max(left, 0.0)) * rng.standard_normal()
        latent[q] = normal_cdf(u[layout.level + k]) + centre + spread


@kernel
def predict_block(
    rng: np.random.Generator,
    u: FloatArray,
    phi: FloatArray,
    x_new: FloatArray,
    model: JointModel,
    emulator: EmulatorState,
    sites: SiteState,
    mean: FloatArray,
    variance: FloatArray,
    calibration: FloatArray,
) -> None:
    """Fill mean, variance and calibration for a block of draws."""
    layout = model.layout
    num_new = x_new.shape[0]
    for draw in range(u.shape[0]):
        set_emulator(phi[draw], model, emulator)
        place_sites(u[draw], model, sites)
        whitened, covariance, residual = site_system(model, emulator, sites)
        cholesky_in_place(covariance)
        inverse = inverse_from_cholesky(covariance)
        pull = np.dot(inverse, residual)
        for first in range(0, num_new, CHUNK):
            points = x_new[first : first + CHUNK]
            size = points.shape[0]
            values = np.empty((size, calibration.shape[2]))
            latent = np.empty(size)
            for k in range(layout.num_functional):
                draw_function(rng, u[draw], k, points, model, sites.factors[k], latent)
                for q in range(size):
                    values[q, k] = clamp(latent[q])
            for h in range(layout.num_global):
                values[:, layout.num_functional + h] = normal_cdf(u[draw, layout.global_latent + h])
            runs_cross = lower_product(
                emulator.half, prior_cross(phi[draw], model.x_runs, model.t_runs, points, values, model)
            )
            sites_cross = prior_cross(phi[draw], points, values, model.x_sites, sites.values, model)
            sites_cross += discrepancy_cross(u[draw], points, model.x_sites, model)
            sites_cross -= np.dot(runs_cross.T, whitened)
            correction = np.dot(sites_cross, inverse)
            for q in range(size):
                centre = np.dot(sites_cross[q], pull)
                spread = prior_variance(phi[draw], points[q], values[q], model)
                spread += discrepancy_cross(u[draw], points[q : q + 1], points[q : q + 1], model)[0, 0]
                for j in range(runs_cross.shape[0]):
                    centre += runs_cross[j, q] * emulator.whitened_y[j]
                    spread -= runs_cross[j, q] ** 2
                spread -= np.dot(correction[q], sites_cross[q])
                mean[draw, first + q] = centre
                variance[draw, first + q] = max(spread, 0.0)
            calibration[draw, first : first + size] = values


def plug_in_mean(model: JointModel, phi: FloatArray, x_new: FloatArray, t_new: FloatArray) -> FloatArray:
    """Mean of η at scaled inputs given the runs alone, at one φ."""
    emulator = allocate_emulator(model)
    set_emulator(phi, model, emulator)
    cross = prior_cross(
        phi,
        model.x_runs,
        model.t_runs,
        np.array(x_new, dtype=np.float64, order="C"),
        np.array(t_new, dtype=np.float64, order="C"),
        model,
    )
    mean: FloatArray = cross.T @ emulator.weights
    return mean

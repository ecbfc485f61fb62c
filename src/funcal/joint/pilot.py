"""The pilot of a chain's coordinates, learnt from what the data said of the latent values in a window of draws."""

import numpy as np
from scipy.special import ndtr

from ..problem.arrays import FloatArray
from .model import JointModel
from .site_functions import SiteState

__all__ = ["first_pilot", "learnt_pilot"]

SHRINKAGE = 1e-4
"""Squared spread of ψ, in units of its box, below which the draws do not tell how f follows it."""


def first_pilot(model: JointModel, sites: SiteState) -> JointModel:
    """The model with a pilot from what the data say of the latent values at one point."""
    information = sites.information.copy()
    return model._replace(pilot_precision=information, pilot_shift=information * sites.latent + sites.score)


def learnt_pilot(
    model: JointModel, latent: FloatArray, information: FloatArray, score: FloatArray
) -> JointModel:
    """The model with a pilot learnt from T draws.

    At each draw the data say f ~ N(latent + score / information, 1 / information). These centres are regressed on
    ψ and ψ² by weighted least squares, with the information as weights; its mean is the pilot's precision.

    Parameters
    ----------
    model
    latent, information, score : (T, m, dθ + dψ)
    """
    num_functional = model.layout.num_functional
    psi = ndtr(latent[:, 0, num_functional:])
    origin = psi.mean(axis=0)
    gap = psi - origin
    regressors = np.column_stack([np.ones(len(psi)), np.stack([gap, gap**2], axis=2).reshape(len(psi), -1)])
    precision = information.mean(axis=0)
    gram = np.einsum("tmc,ta,tb->mcab", information, regressors, regressors) / len(psi)
    tilting = np.arange(1, regressors.shape[1])
    gram[..., tilting, tilting] += SHRINKAGE * precision[..., None] + np.finfo(float).tiny
    gram[..., 0, 0] += np.finfo(float).tiny
    target = np.einsum("tmc,ta->mca", information * latent + score, regressors) / len(psi)
    fitted = np.linalg.solve(gram, target[..., None])[..., 0]
    return model._replace(
        pilot_precision=precision,
        pilot_shift=precision * fitted[..., 0],
        pilot_tilt=np.ascontiguousarray(np.moveaxis(fitted[..., 1:], 2, 0)),
        pilot_origin=origin,
    )

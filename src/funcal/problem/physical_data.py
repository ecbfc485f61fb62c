"""The m measured points: one row per site, replicates summarised without loss.

Several measurements at one control vector form one *site*. For normal errors their mean, their count and
the sum of squares within sites are sufficient, so a likelihood built on these three uses every replicate.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray, IntArray, frozen_floats, frozen_integers

__all__ = ["PhysicalData"]


@dataclass(frozen=True)
class PhysicalData:
    """Measurements by site, sites in lexicographic order of their control vectors.

    Attributes
    ----------
    control : (m, dx)
    response : (m,)
        Mean of the measurements at each site (precision-weighted where the noise sd is known).
    count : (m,)
        How many measurements the mean stands for.
    known_variance : (m,) or None
        Variance of the site mean where the user knows the noise sd.
    within_ss, within_dof
        Sum of squares of the replicates around their site means and its degrees of freedom.
    observations : (N,)
        The responses as they stand in the table, row by row.
    observation_site : (N,)
        The site of each of them.
    """

    control: FloatArray
    response: FloatArray
    count: IntArray
    known_variance: FloatArray | None
    within_ss: float
    within_dof: int
    observations: FloatArray
    observation_site: IntArray

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        object.__setattr__(self, "control", frozen_floats(self.control, ndim=2))
        object.__setattr__(self, "response", frozen_floats(self.response, ndim=1))
        object.__setattr__(self, "count", frozen_integers(self.count))
        object.__setattr__(self, "observations", frozen_floats(self.observations, ndim=1))
        object.__setattr__(self, "observation_site", frozen_integers(self.observation_site))
        if self.known_variance is not None:
            object.__setattr__(self, "known_variance", frozen_floats(self.known_variance, ndim=1))

    @classmethod
    def from_rows(
        cls,
        control: FloatArray,
        response: FloatArray,
        noise_sd: FloatArray | None = None,
        count: IntArray | None = None,
    ) -> "PhysicalData":
        """Group the rows of a table into sites.

        Parameters
        ----------
        control : (N, dx)
        response : (N,)
        noise_sd : (N,), optional
            Known standard deviation of each row's response.
        count : (N,), optional
            How many measurements each row is already the mean of.
        """
        sites, site_of_row = np.unique(np.asarray(control, dtype=np.float64), axis=0, return_inverse=True)
        site_of_row = site_of_row.reshape(-1)
        num_sites = len(sites)
        copies = (
            np.ones(len(response), dtype=np.int64) if count is None else np.asarray(count, dtype=np.int64)
        )
        weight = (
            copies.astype(np.float64) if noise_sd is None else np.asarray(noise_sd, dtype=np.float64) ** -2.0
        )
        total = np.bincount(site_of_row, weight, num_sites)
        mean = np.bincount(site_of_row, weight * response, num_sites) / total
        deviation = response - mean[site_of_row]
        return cls(
            control=sites,
            response=mean,
            count=np.bincount(site_of_row, copies, num_sites).astype(np.int64),
            known_variance=None if noise_sd is None else 1.0 / total,
            within_ss=float(np.sum(copies * deviation**2)),
            within_dof=len(response) - num_sites,
            observations=response,
            observation_site=site_of_row,
        )

    @property
    def num_sites(self) -> int:
        """How many sites there are, m."""
        return len(self.response)

    @property
    def num_observations(self) -> int:
        """How many rows the physical table has, N."""
        return len(self.observations)

"""The two tables as one object: what was measured, what was computed, and which column is what."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import DataWarning, ProblemError
from .arrays import FloatArray, frozen_floats
from .computer_runs import ComputerRuns
from .physical_data import PhysicalData
from .roles import Roles
from .scaled_problem import ScaledProblem
from .scaling import AffineScaling, ProblemScaling
from .tables import TableSource

__all__ = ["CalibrationProblem"]


@dataclass(frozen=True)
class CalibrationProblem:
    """A calibration problem in the user's units; built by `from_tables`.

    Attributes
    ----------
    physical : PhysicalData
    runs : ComputerRuns
    roles : Roles
    bounds : (dtheta + dpsi, 2)
        Box of the calibration variables, functional first; the runs' range unless the user gives another.
    messages : tuple of str
        What the user should know of the data: failed runs, extrapolation, doubtful units.
    """

    physical: PhysicalData
    runs: ComputerRuns
    roles: Roles
    bounds: FloatArray
    messages: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Freeze the bounds."""
        object.__setattr__(self, "bounds", frozen_floats(self.bounds, ndim=2))

    @classmethod
    def from_tables(
        cls,
        physical: TableSource,
        runs: TableSource,
        *,
        control: str | Iterable[str],
        functional: str | Iterable[str] = (),
        global_: str | Iterable[str] = (),
        response: str,
        noise_sd: str | None = None,
        count: str | None = None,
        rename: Mapping[str, str] | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
    ) -> "CalibrationProblem":
        """Read the measured points and the computer runs.

        Parameters
        ----------
        physical, runs : path or DataFrame
            CSV or Parquet files, or DataFrames.
        control, functional, global_, response : column names
            Roles. A name that differs between the tables is written ``"gauge=thickness"`` (physical=runs),
            or given in `rename`.
        noise_sd : str, optional
            Column of the physical table with the known standard deviation of each measurement.
        count : str, optional
            Column of the physical table that says how many measurements a row is the mean of.
        rename : mapping, optional
            Physical name to runs name.
        bounds : mapping, optional
            Box of a calibration variable, ``{"theta": (0, 1)}``; the runs' range otherwise.

        Raises
        ------
        ProblemError
            With one sentence: what was expected, what was found and where, what to do.

        Warns
        -----
        DataWarning
            For everything that does not stop the work but that the user should know.
        """
        from .inspection import inspect_tables

        roles = Roles.parse(
            control=control,
            functional=functional,
            global_=global_,
            response=response,
            noise_sd=noise_sd,
            count=count,
            rename=rename,
        )
        inspection = inspect_tables(physical, runs, roles, bounds)
        if inspection.problem is None:
            first, *others = inspection.errors
            more = f" ({len(others)} more: `funcal check` lists them all.)" if others else ""
            raise ProblemError(first + more)
        for message in inspection.warnings:
            warnings.warn(message, DataWarning, stacklevel=2)
        return inspection.problem

    @property
    def num_sites(self) -> int:
        """How many sites there are, m."""
        return self.physical.num_sites

    @property
    def num_runs(self) -> int:
        """How many runs there are, n."""
        return self.runs.num_runs

    @property
    def num_controls(self) -> int:
        """Dimension of the control vectors, dx."""
        return len(self.roles.control)

    @property
    def num_functional(self) -> int:
        """How many functional calibration variables there are, dtheta."""
        return len(self.roles.functional)

    @property
    def num_global(self) -> int:
        """How many global calibration variables there are, dpsi."""
        return len(self.roles.global_)

    def scaling(self) -> ProblemScaling:
        """The invertible scaling of this problem."""
        controls = np.vstack([self.physical.control, self.runs.control])
        spread = float(np.std(self.runs.response))
        return ProblemScaling(
            control=AffineScaling.from_range(controls.min(axis=0), controls.max(axis=0)),
            calibration=AffineScaling.from_range(self.bounds[:, 0], self.bounds[:, 1]),
            response=AffineScaling(
                np.array([self.runs.response.mean()]), np.array([spread if spread > 0 else 1.0])
            ),
        )

    def scaled(self) -> ScaledProblem:
        """The problem in scaled units."""
        scaling = self.scaling()
        unit = scaling.response_sd
        known = self.physical.known_variance
        return ScaledProblem(
            x_sites=scaling.control.to_unit(self.physical.control),
            y_sites=scaling.response_to_unit(self.physical.response),
            counts=self.physical.count.astype(np.float64),
            known_variance=None if known is None else known / unit**2,
            within_ss=self.physical.within_ss / unit**2,
            within_dof=self.physical.within_dof,
            x_runs=scaling.control.to_unit(self.runs.control),
            t_runs=scaling.calibration.to_unit(self.runs.calibration),
            y_runs=scaling.response_to_unit(self.runs.response),
            num_functional=self.num_functional,
            num_global=self.num_global,
            scaling=scaling,
        )

    def subset(self, sites: Any) -> "CalibrationProblem":
        """The same problem with some of the sites only (all their replicates), for cross-validation."""
        keep = np.unique(np.arange(self.num_sites)[sites])
        rows = np.isin(self.physical.observation_site, keep)
        known = self.physical.known_variance
        values = self.physical.observations[rows]
        site = np.searchsorted(keep, self.physical.observation_site[rows])
        mean = self.physical.response[keep]
        count = self.physical.count[keep]
        share = count / np.bincount(site, minlength=len(keep))
        physical = PhysicalData(
            control=self.physical.control[keep],
            response=mean,
            count=count,
            known_variance=None if known is None else known[keep],
            within_ss=float(np.sum(share[site] * (values - mean[site]) ** 2)),
            within_dof=len(values) - len(keep),
            observations=values,
            observation_site=site,
        )
        return CalibrationProblem(physical, self.runs, self.roles, self.bounds, self.messages)

    def summary(self) -> str:
        """The problem in one paragraph."""
        physical, runs = self.physical, self.runs
        replicates = (
            f" ({physical.num_observations} measurements)"
            if physical.num_observations > self.num_sites
            else ""
        )
        plural = "s" if runs.num_failed > 1 else ""
        failed = f", {runs.num_failed} failed run{plural} left out" if runs.num_failed else ""
        variables = [f"functional {', '.join(self.roles.functional)}"] if self.num_functional else []
        if self.num_global:
            variables.append(f"global {', '.join(self.roles.global_)}")
        return (
            f"{self.num_sites} sites{replicates} and {self.num_runs} runs{failed}; "
            f"control {', '.join(self.roles.control)}; {'; '.join(variables)}; response {self.roles.response}."
        )

"""Save and load: one netCDF file, no pickle; reading it runs no code."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..diagnostics.arviz_import import import_arviz
from ..errors import ResultError
from ..problem import AnchorPoints, CalibrationProblem, ComputerRuns, PhysicalData, Roles
from .fit import Fit
from .protocol import CalibrationMethod
from .settings import settings_from_values

if TYPE_CHECKING:
    from .calibration import Calibration

__all__ = ["load_calibration", "save_calibration"]


def save_calibration(calibration: "Calibration", path: str | os.PathLike[str]) -> Path:
    """Write the netCDF file beside its final place, then move it there in one step."""
    target = Path(path)
    if not target.parent.is_dir():
        raise ResultError(f"{target.parent} is not a directory; make it first, then save there.")
    handle, name = tempfile.mkstemp(suffix=".nc", prefix=".funcal-", dir=target.parent)
    os.close(handle)
    try:
        calibration.to_arviz().to_netcdf(name, engine="h5netcdf")
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    finally:
        Path(name).unlink(missing_ok=True)
    return target


def load_calibration(
    path: str | os.PathLike[str], find_method: Callable[[str], CalibrationMethod]
) -> "Calibration":
    """Read a calibration back.

    Parameters
    ----------
    path : path
    find_method : callable
        The registry's look-up of a method by key.

    Raises
    ------
    ResultError
        If the file is missing or was not written by funcal.
    """
    from .calibration import Calibration

    source = Path(path)
    if not source.is_file():
        raise ResultError(f"{source} does not exist; expected a netCDF file written by funcal.")
    try:
        data = import_arviz().InferenceData.from_netcdf(str(source), engine="h5netcdf")
        attributes = dict(data.attrs)
        if attributes.get("inference_library") != "funcal":
            raise KeyError("inference_library")
        problem = _problem(data, attributes)
        fit = _fit(data, attributes, problem)
        method = find_method(attributes["method"])
        settings = settings_from_values(method.Settings, json.loads(attributes["settings"]))
    except (OSError, KeyError, ValueError, AttributeError) as error:
        raise ResultError(
            f"{source} is not a complete funcal result ({type(error).__name__}: {error}); "
            "it may be damaged or written by another program."
        ) from error
    return Calibration(problem, method, settings, int(attributes["seed"]), float(attributes["seconds"]), fit)


def _problem(data: Any, attributes: dict[str, Any]) -> CalibrationProblem:
    constant = data.constant_data
    given = json.loads(attributes["roles"])
    roles = Roles(
        control=tuple(given["control"]),
        functional=tuple(given["functional"]),
        global_=tuple(given["global_"]),
        response=given["response"],
        noise_sd=given["noise_sd"],
        count=given["count"],
        runs_name=given["runs_name"],
    )
    within_ss, within_dof = constant["physical_within"].values
    known = constant["physical_known_variance"].values if "physical_known_variance" in constant else None
    calibration = constant["runs_calibration"].values
    num_functional = len(roles.functional)
    return CalibrationProblem(
        physical=PhysicalData(
            control=constant["physical_control"].values,
            response=constant["physical_response"].values,
            count=constant["physical_count"].values,
            known_variance=known,
            within_ss=float(within_ss),
            within_dof=int(within_dof),
            observations=constant["observations"].values,
            observation_site=constant["observation_site"].values,
        ),
        runs=ComputerRuns(
            control=constant["runs_control"].values,
            functional=calibration[:, :num_functional],
            global_=calibration[:, num_functional:],
            response=constant["runs_response"].values,
            row=constant["runs_row"].values,
            num_failed=int(attributes["num_failed"]),
        ),
        roles=roles,
        bounds=constant["bounds"].values,
        messages=tuple(json.loads(attributes["messages"])),
    )


def _fit(data: Any, attributes: dict[str, Any], problem: CalibrationProblem) -> Fit:
    prefix = "method_"
    anchors = json.loads(attributes["anchors"])
    if anchors is not None:
        count = len(anchors["site"])
        for name, width in (("functional", problem.num_functional), ("global_", problem.num_global)):
            anchors[name] = np.asarray(anchors[name], dtype=np.float64).reshape(count, width)
    return Fit(
        draws={name: values.values for name, values in data.posterior.data_vars.items()},
        dims={name: tuple(dims) for name, dims in json.loads(attributes["dims"]).items()},
        stats={name: values.values for name, values in data.sample_stats.data_vars.items()}
        if "sample_stats" in data.groups()
        else {},
        constants={
            name.removeprefix(prefix): values.values
            for name, values in data.constant_data.data_vars.items()
            if name.startswith(prefix)
        },
        anchors=AnchorPoints(**anchors) if anchors is not None else None,
        log_likelihood=data.log_likelihood[problem.roles.response].values
        if "log_likelihood" in data.groups()
        else None,
        report=json.loads(attributes["report"]),
    )

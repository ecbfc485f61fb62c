"""A calibration as `arviz.InferenceData`: posterior, sample statistics, data and their coordinates."""

import json
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..diagnostics.arviz_import import import_arviz
from ..problem import CalibrationProblem, site_in_words
from .settings import settings_to_values

if TYPE_CHECKING:
    import arviz

    from .calibration import Calibration

__all__ = ["installed_versions", "to_inference_data"]


def installed_versions() -> dict[str, str]:
    """Versions of everything that can change a number."""
    from importlib.metadata import version

    packages = ("funcal", "numpy", "scipy", "numba", "highspy", "arviz", "pandas")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def to_inference_data(calibration: "Calibration") -> "arviz.InferenceData":
    """Build the groups and the coordinates by which a user finds them."""
    az = import_arviz()
    import xarray as xr

    problem, fit = calibration.problem, calibration.fit
    coords: dict[str, Any] = {
        "site": [site_in_words(problem, site) for site in range(problem.num_sites)],
        "functional": list(problem.roles.functional),
        "global": list(problem.roles.global_),
        "control": list(problem.roles.control),
        "calibration": list(problem.roles.calibration),
    }

    def dataset(arrays: Mapping[str, Any], leading: tuple[str, ...]) -> xr.Dataset:
        variables = {}
        for name, values in arrays.items():
            array = np.asarray(values)
            trailing = array.ndim - len(leading)
            dims = tuple(fit.dims.get(name, ()))
            if len(dims) != trailing:
                dims = tuple(f"{name}_dim_{axis}" for axis in range(trailing))
            variables[name] = ((*leading, *dims), array)
        used = {dim for dims, _ in variables.values() for dim in dims}
        return xr.Dataset(variables, coords={dim: labels for dim, labels in coords.items() if dim in used})

    chains = ("chain", "draw")
    groups = {
        "posterior": dataset(fit.draws, chains).assign_coords(
            chain=np.arange(fit.num_chains), draw=np.arange(fit.num_draws)
        )
    }
    if fit.stats:
        groups["sample_stats"] = dataset(fit.stats, chains)
    if fit.log_likelihood is not None:
        groups["log_likelihood"] = xr.Dataset(
            {problem.roles.response: ((*chains, "site"), fit.log_likelihood)}, coords={"site": coords["site"]}
        )
    groups["observed_data"] = xr.Dataset(
        {problem.roles.response: (("site",), problem.physical.response)}, coords={"site": coords["site"]}
    )
    groups["constant_data"] = _problem_data(problem, coords).merge(
        dataset({f"method_{name}": values for name, values in fit.constants.items()}, ())
    )
    data: arviz.InferenceData = az.InferenceData(attrs=_attributes(calibration), **groups)
    return data


def _problem_data(problem: CalibrationProblem, coords: Mapping[str, Any]) -> Any:
    import xarray as xr

    physical, runs = problem.physical, problem.runs
    variables: dict[str, Any] = {
        "physical_control": (("site", "control"), physical.control),
        "physical_response": (("site",), physical.response),
        "physical_count": (("site",), physical.count),
        "physical_within": (("within",), np.array([physical.within_ss, float(physical.within_dof)])),
        "observations": (("observation",), physical.observations),
        "observation_site": (("observation",), physical.observation_site),
        "runs_control": (("run", "control"), runs.control),
        "runs_calibration": (("run", "calibration"), runs.calibration),
        "runs_response": (("run",), runs.response),
        "runs_row": (("run",), runs.row),
        "bounds": (("calibration", "end"), problem.bounds),
    }
    if physical.known_variance is not None:
        variables["physical_known_variance"] = (("site",), physical.known_variance)
    labels = {dim: coords[dim] for dim in ("site", "control", "calibration")}
    return xr.Dataset(variables, coords=labels)


def _attributes(calibration: "Calibration") -> dict[str, Any]:
    """What is not an array, as JSON text."""
    problem, fit = calibration.problem, calibration.fit
    roles = problem.roles
    anchors = None
    if fit.anchors is not None:
        anchors = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in vars(fit.anchors).items()
        }
    return {
        "inference_library": "funcal",
        "method": calibration.method.key,
        "seed": int(calibration.seed),
        "seconds": float(calibration.seconds),
        "settings": json.dumps(settings_to_values(calibration.settings)),
        "roles": json.dumps(
            {
                "control": roles.control,
                "functional": roles.functional,
                "global_": roles.global_,
                "response": roles.response,
                "noise_sd": roles.noise_sd,
                "count": roles.count,
                "runs_name": dict(roles.runs_name),
            }
        ),
        "num_failed": int(problem.runs.num_failed),
        "messages": json.dumps(problem.messages),
        "anchors": json.dumps(anchors),
        "dims": json.dumps({name: list(dims) for name, dims in fit.dims.items()}),
        "report": json.dumps(dict(fit.report)),
        "versions": json.dumps(installed_versions()),
    }

"""Draws and data as `arviz.InferenceData`, with the coordinates by which a user finds them: calibrations and priors."""

import json
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..diagnostics.arviz_import import import_arviz
from ..problem import CalibrationProblem, FloatArray, site_in_words
from .calibration import REPLICATION_STREAM, Calibration
from .settings import settings_to_values

if TYPE_CHECKING:
    import arviz

__all__ = ["installed_versions", "prior_to_inference_data", "to_inference_data"]

CHAINS = ("chain", "draw")
"""The leading dimensions of draws."""


def installed_versions() -> dict[str, str]:
    """Versions of everything that can change a number."""
    from importlib.metadata import version

    packages = ("funcal", "numpy", "scipy", "numba", "highspy", "arviz", "pandas")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def to_inference_data(calibration: Calibration) -> "arviz.InferenceData":
    """Build the groups and the coordinates by which a user finds them."""
    az = import_arviz()
    problem, fit = calibration.problem, calibration.fit
    coords = _coordinates(problem)
    counted = coords | _counted(fit.num_chains, fit.num_draws)
    groups = {"posterior": _dataset(fit.draws, CHAINS, fit.dims, counted)}
    if fit.stats:
        groups["sample_stats"] = _dataset(fit.stats, CHAINS, fit.dims, counted)
    if fit.log_likelihood is not None:
        groups["log_likelihood"] = _at_sites(problem, fit.log_likelihood, CHAINS, coords)
    if "response" in fit.draws:
        replicated = _replicated_measurements(calibration)
        groups["posterior_predictive"] = _at_sites(problem, replicated, CHAINS, counted)
    groups["observed_data"] = _at_sites(problem, problem.physical.response, (), coords)
    constants = {f"method_{name}": values for name, values in fit.constants.items()}
    groups["constant_data"] = _problem_data(problem, coords).merge(_dataset(constants, (), fit.dims, coords))
    data: arviz.InferenceData = az.InferenceData(attrs=_attributes(calibration), **groups)
    return data


def _replicated_measurements(calibration: Calibration) -> FloatArray:
    """What measuring every site again, as often, would give: per draw the response, with fresh noise of a mean."""
    physical, draws = calibration.problem.physical, calibration.fit.draws
    if physical.known_variance is not None:
        variance = physical.known_variance
    else:
        variance = draws["noise_sd"][..., None] ** 2 / physical.count
    stream = np.random.SeedSequence(calibration.seed, spawn_key=(REPLICATION_STREAM,))
    response = draws["response"]
    noise: FloatArray = np.sqrt(variance) * np.random.default_rng(stream).standard_normal(response.shape)
    return response + noise


def prior_to_inference_data(
    problem: CalibrationProblem, prior: Mapping[str, Any], response: FloatArray, dims: Mapping[str, Any]
) -> "arviz.InferenceData":
    """Prior draws, one chain of them: quantities named as in a posterior, and the measurements that they would give."""
    az = import_arviz()
    coords = _coordinates(problem)
    counted = coords | _counted(*response.shape[:2])
    data: arviz.InferenceData = az.InferenceData(
        prior=_dataset(prior, CHAINS, dims, counted),
        prior_predictive=_at_sites(problem, response, CHAINS, counted),
        observed_data=_at_sites(problem, problem.physical.response, (), coords),
    )
    return data


def _coordinates(problem: CalibrationProblem) -> dict[str, Any]:
    return {
        "site": [site_in_words(problem, site) for site in range(problem.num_sites)],
        "functional": list(problem.roles.functional),
        "global": list(problem.roles.global_),
        "control": list(problem.roles.control),
        "calibration": list(problem.roles.calibration),
    }


def _counted(num_chains: int, num_draws: int) -> dict[str, Any]:
    return {"chain": np.arange(num_chains), "draw": np.arange(num_draws)}


def _dataset(
    arrays: Mapping[str, Any], leading: tuple[str, ...], named: Mapping[str, Any], coords: Mapping[str, Any]
) -> Any:
    """Arrays with the dimensions `leading`, then those `named` for them, or numbered ones."""
    import xarray as xr

    variables = {}
    for name, values in arrays.items():
        array = np.asarray(values)
        trailing = array.ndim - len(leading)
        dims = tuple(named.get(name, ()))
        if len(dims) != trailing:
            dims = tuple(f"{name}_dim_{axis}" for axis in range(trailing))
        variables[name] = ((*leading, *dims), array)
    used = {dim for dims, _ in variables.values() for dim in dims}
    return xr.Dataset(variables, coords={dim: labels for dim, labels in coords.items() if dim in used})


def _at_sites(
    problem: CalibrationProblem, values: FloatArray, leading: tuple[str, ...], coords: Mapping[str, Any]
) -> Any:
    """One variable, named after the response, with a value for every site."""
    name = problem.roles.response
    return _dataset({name: values}, leading, {name: ("site",)}, coords)


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


def _attributes(calibration: Calibration) -> dict[str, Any]:
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

"""One trial: a pure function of its description. Draw the case, fit, predict, and keep what tables need.

The record holds predictions, not only scores, so that pooled errors, residual tests and figures can be made from the
records alone. What the clock says is kept apart under ``timing``: everything else is the same wherever it runs.
"""

import json
import time
import warnings
from typing import Any

import numpy as np

from ..diagnostics.scores import mixture_crps
from ..errors import FuncalError, FuncalWarning
from ..methods.calibrate import calibrate
from ..methods.registry import find_method
from ..problem import CalibrationProblem
from ..result import Prediction, check_supported
from ..testbed import BenchmarkCase, get_problem
from .plan import TrialDescription

__all__ = ["LEVEL", "predictions_record", "run_trial"]

LEVEL = 0.95
# Records hold eight significant digits: far below any Monte-Carlo error.
DIGITS = 8


def _rounded(values: Any) -> Any:
    array = np.asarray(values, dtype=np.float64)
    return [_rounded(row) for row in array] if array.ndim > 1 else [float(f"{v:.{DIGITS}g}") for v in array]


def predictions_record(prediction: Prediction, truth: Any, noisy: bool) -> dict[str, Any]:
    """Predictions beside the truth; `noisy` truths are judged as new measurements."""
    judged = prediction.observation if noisy else prediction.response
    sample = prediction.sample
    variance = sample.observation_variance if noisy else sample.response_variance
    crps = mixture_crps(sample.response_mean, variance, np.asarray(truth), sample.weight)
    record: dict[str, Any] = {
        "y_true": _rounded(truth),
        "y_mean": _rounded(prediction.response.mean),
        "y_lower": _rounded(judged.lower),
        "y_upper": _rounded(judged.upper),
        "crps": _rounded(crps),
    }
    if prediction.calibration:
        parts = list(prediction.calibration.values())
        record["calibration_names"] = list(prediction.calibration)
        record["t_mean"] = _rounded(np.column_stack([part.mean for part in parts]))
        record["t_lower"] = _rounded(np.column_stack([part.lower for part in parts]))
        record["t_upper"] = _rounded(np.column_stack([part.upper for part in parts]))
    return record


def run_trial(description: TrialDescription) -> dict[str, Any]:
    """Run a trial and return its record; a failure is a record too, with its message."""
    record: dict[str, Any] = {
        "key": description.key,
        "problem": description.problem,
        "seed": description.seed,
        "fold": description.fold,
        "method": description.method,
        "variant": description.variant,
        "status": "ok",
        "message": "",
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FuncalWarning)
        try:
            case = get_problem(description.problem).draw(description.seed, description.fold)
            problem = CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())  # type: ignore[arg-type]
            method = find_method(description.method)
        except FuncalError as error:
            return {**record, "status": "failed", "message": str(error)}
        try:
            check_supported(method, problem)
        except FuncalError as error:
            return {**record, "status": "unsupported", "message": str(error)}
        try:
            record.update(_calibrate_and_predict(description, case, problem))
        except Exception as error:
            # The message is the record's reason to exist: a study outlives a method that fails.
            return {**record, "status": "failed", "message": f"{type(error).__name__}: {error}"}
    ours = [str(entry.message) for entry in caught if issubclass(entry.category, FuncalWarning)]
    record["warnings"] = sorted(set(ours))
    return record


def _calibrate_and_predict(
    description: TrialDescription, case: BenchmarkCase, problem: CalibrationProblem
) -> dict[str, Any]:
    start = time.perf_counter()
    calibration = calibrate(
        problem, description.method, seed=description.method_seed, **json.loads(description.settings)
    )
    fitted = time.perf_counter()
    prediction = calibration.predict(case.test_controls, level=LEVEL)
    done = time.perf_counter()
    values = predictions_record(prediction, case.test_response, case.test_noise_variance > 0.0)
    truth = case.test_calibration()
    if truth is not None:
        values["t_true"] = _rounded(truth)
        values["num_functional"] = problem.num_functional
    values["x_test"] = _rounded(case.test_controls)
    values["response_sd"] = float(f"{case.response_sd:.{DIGITS}g}")
    convergence = calibration.convergence
    values["converged"] = None if convergence is None else bool(convergence.converged)
    values["timing"] = {"fit_seconds": fitted - start, "predict_seconds": done - fitted}
    return values

"""funcal: functional calibration of expensive computer models.

Two tables in, what was measured and what was computed; θ(x), ψ and predictions out.

>>> import funcal
>>> sorted(funcal.__all__)
['Calibration', 'CalibrationProblem', 'Prediction', '__version__', 'calibrate', 'load', 'prior_predictive']
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .methods.calibrate import calibrate as calibrate
    from .methods.calibrate import load as load
    from .methods.prior_predictive import prior_predictive as prior_predictive
    from .problem import CalibrationProblem as CalibrationProblem
    from .result import Calibration as Calibration
    from .result import Prediction as Prediction

__all__ = [
    "Calibration",
    "CalibrationProblem",
    "Prediction",
    "__version__",
    "calibrate",
    "load",
    "prior_predictive",
]

__version__ = "0.1.0"

#: Public name to the module that holds it; imported on first use, so that `funcal --help` stays instant.
_HOMES = {
    "Calibration": "result",
    "CalibrationProblem": "problem",
    "Prediction": "result",
    "calibrate": "methods.calibrate",
    "load": "methods.calibrate",
    "prior_predictive": "methods.prior_predictive",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'funcal' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

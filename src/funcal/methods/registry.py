"""Every method by its key; a method is imported when it is asked for."""

import difflib
from importlib import import_module

from ..errors import SettingsError
from ..result import CalibrationMethod

__all__ = ["DEFAULT_METHOD", "METHOD_KEYS", "find_method"]

DEFAULT_METHOD = "joint"

#: Key to module and class.
_METHODS = {
    "joint": ("joint", "JointCalibration"),
    "bnmc": ("matching_calibration", "SpanningTreeCalibration"),
    "bnmc-dag": ("matching_calibration", "ShortestPathCalibration"),
    "nfc": ("rkhs_calibration", "RkhsCalibration"),
    "pfc": ("parametric_calibration", "ParametricCalibration"),
    "nbc": ("bayesian_gp_calibration", "BayesianGpCalibration"),
    "koh": ("kennedy_ohagan", "KennedyOHagan"),
    "constant": ("constant_calibration", "ConstantCalibration"),
    "gp": ("physical_gp", "PhysicalGp"),
    "linear": ("linear_regression", "LinearRegression"),
    "mean": ("linear_regression", "PhysicalMean"),
}

METHOD_KEYS = tuple(_METHODS)


def find_method(key: str) -> CalibrationMethod:
    """The method with this key.

    Raises
    ------
    SettingsError
        If there is none.
    """
    if key not in _METHODS:
        close = difflib.get_close_matches(key, METHOD_KEYS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise SettingsError(f"there is no method {key!r}; the methods are {', '.join(METHOD_KEYS)}.{hint}")
    module, name = _METHODS[key]
    method: CalibrationMethod = getattr(import_module(f".{module}", __package__), name)()
    return method

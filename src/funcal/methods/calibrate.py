"""`calibrate` and `load`: the two doors to a calibration."""

import os
import secrets
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ConvergenceWarning, SettingsError
from ..problem import CalibrationProblem
from ..result import Calibration, CalibrationMethod, Progress, check_supported, silent
from ..result.calibration import FIT_STREAM
from ..result.settings import with_overrides
from ..result.storage import load_calibration
from .registry import DEFAULT_METHOD, find_method

__all__ = ["calibrate", "load", "resolve_seed", "resolve_settings"]


def calibrate(
    problem: CalibrationProblem,
    method: str = DEFAULT_METHOD,
    *,
    seed: int | None = None,
    settings: Any = None,
    progress: Progress = silent,
    **overrides: Any,
) -> Calibration:
    """Calibrate a problem.

    Parameters
    ----------
    problem : CalibrationProblem
    method : str
        Key of a method: ``joint`` (default), ``bnmc``, ``bnmc-dag``, or a rival's; `funcal methods` lists them.
    seed : int, optional
        Everything random follows from it; one is drawn, and kept in the result, where none is given.
    settings : settings object or mapping, optional
        Settings of the method; the method's defaults otherwise.
    progress : callable, optional
        Called with (done, total, label).
    **overrides
        Single settings by name, for example ``draws=2000``.

    Returns
    -------
    Calibration

    Raises
    ------
    SettingsError
        If the method cannot do the problem, or a setting has a value it cannot have.

    Warns
    -----
    ConvergenceWarning
        If the chains have not converged, with what to do about it.
    """
    chosen = find_method(method)
    check_supported(chosen, problem)
    seed = resolve_seed(seed)
    final = resolve_settings(chosen, settings, overrides)
    start = time.perf_counter()
    stream = np.random.SeedSequence(seed, spawn_key=(FIT_STREAM,))
    fit = chosen.fit(problem, final, seed=stream, progress=progress)
    calibration = Calibration(problem, chosen, final, seed, time.perf_counter() - start, fit)
    if calibration.convergence is not None and not calibration.convergence.converged:
        warnings.warn(calibration.convergence.advice, ConvergenceWarning, stacklevel=2)
    return calibration


def resolve_seed(seed: Any) -> int:
    """The user's seed, checked, or a fresh one."""
    if seed is None:
        return secrets.randbits(32)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise SettingsError(f"seed is a whole number, zero or more; got {seed!r}.")
    return int(seed)


def resolve_settings(method: CalibrationMethod, settings: Any, overrides: Mapping[str, Any]) -> Any:
    """A method's settings: its defaults or those given, then single ones by name."""
    base = method.Settings() if settings is None or isinstance(settings, Mapping) else settings
    changes = {**(settings if isinstance(settings, Mapping) else {}), **overrides}
    return with_overrides(base, changes) if changes else base


def load(path: str | os.PathLike[str]) -> Calibration:
    """Read a calibration that `Calibration.save` or `funcal fit` wrote.

    Parameters
    ----------
    path : path
        A netCDF file, or a directory made by `funcal fit`.

    Raises
    ------
    ResultError
        If there is no funcal result there.
    """
    source = Path(path)
    return load_calibration(source / "posterior.nc" if source.is_dir() else source, find_method)

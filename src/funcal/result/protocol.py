"""The protocol of a calibration method: fit, then predict; nothing else is asked of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from ..errors import SettingsError
from ..problem import CalibrationProblem, FloatArray
from .fit import Fit, PredictiveSample

__all__ = ["CalibrationMethod", "Capabilities", "Progress", "silent"]

#: Called with (done, total, label); cheap, from any thread.
Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, label: str) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Capabilities:
    """What a method supports.

    Attributes
    ----------
    max_controls : int or None
        Largest number of control variables; None for any.
    max_functional, max_global : int or None
        Largest number of calibration variables of each kind; None for any.
    min_sites : int
        Fewest sites it can work with.
    estimates : frozenset of {"theta", "psi"}
        Which calibration variables it gives values for.
    replicates : bool
        Whether it uses the replicates (else only the site means).
    predict_options : frozenset of str
        Options that its `predict` takes.
    """

    max_controls: int | None = None
    max_functional: int | None = None
    max_global: int | None = None
    min_sites: int = 2
    estimates: frozenset[str] = frozenset({"theta", "psi"})
    replicates: bool = True
    predict_options: frozenset[str] = frozenset()


class CalibrationMethod(Protocol):
    """A method of calibration; instances carry no state."""

    key: ClassVar[str]
    title: ClassVar[str]
    supports: ClassVar[Capabilities]
    Settings: ClassVar[type[Any]]

    def fit(
        self,
        problem: CalibrationProblem,
        settings: Any,
        *,
        seed: np.random.SeedSequence,
        progress: Progress = silent,
    ) -> Fit:
        """Calibrate."""
        ...

    def predict(
        self,
        problem: CalibrationProblem,
        fit: Fit,
        x_new: FloatArray,
        *,
        rng: np.random.Generator,
        **options: Any,
    ) -> PredictiveSample:
        """Predict at new controls, in the user's units."""
        ...


def check_supported(method: CalibrationMethod, problem: CalibrationProblem) -> None:
    """Refuse, in one sentence, a problem that the method cannot do.

    Raises
    ------
    SettingsError
    """
    can = method.supports
    limits = (
        (can.max_controls, problem.num_controls, "control variable"),
        (can.max_functional, problem.num_functional, "functional calibration variable"),
        (can.max_global, problem.num_global, "global calibration variable"),
    )
    for most, found, what in limits:
        if most is not None and found > most:
            amount = f"at most {most} {what}{'s' if most > 1 else ''}" if most else f"no {what}"
            raise SettingsError(
                f"method {method.key!r} supports {amount}; this problem has {found}. "
                "Choose another method (`funcal methods` lists what each supports)."
            )
    if problem.num_sites < can.min_sites:
        raise SettingsError(
            f"method {method.key!r} needs at least {can.min_sites} sites; this problem has {problem.num_sites}."
        )

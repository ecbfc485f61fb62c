"""What can go wrong, one class per kind of mistake.

Every message is a sentence for a person: what was expected, what was found, what to do. The command line
prints it as it is and exits with code 2 for bad input (`ProblemError`, `SettingsError`, `ResultError`) and
code 1 for a failure of the computation (`MatchingError`, `SamplingError`).
"""

__all__ = [
    "ConvergenceWarning",
    "DataWarning",
    "FuncalError",
    "FuncalWarning",
    "ImproperPriorWarning",
    "MatchingError",
    "MatchingWarning",
    "ProblemError",
    "ResultError",
    "SamplingError",
    "SettingsError",
]


class FuncalError(Exception):
    """Any error that funcal raises on purpose."""


class ProblemError(FuncalError):
    """The two tables, or the roles given to their columns, cannot be used as they are."""


class SettingsError(FuncalError):
    """A setting has a value it cannot have, or a method cannot do what was asked of it."""


class ResultError(FuncalError):
    """A saved result cannot be read, or a place to write one is taken."""


class MatchingError(FuncalError):
    """No anchors could be found."""


class SamplingError(FuncalError):
    """The posterior could not be sampled."""


class FuncalWarning(UserWarning):
    """Any warning that funcal issues."""


class DataWarning(FuncalWarning):
    """Something in the data that the user should know of but that does not stop the work."""


class MatchingWarning(FuncalWarning):
    """The anchors were found, but something about them is doubtful."""


class ImproperPriorWarning(FuncalWarning):
    """The paper's printed priors are improper and had to be truncated."""


class ConvergenceWarning(FuncalWarning):
    """The chains have not converged, or disagree with one another."""

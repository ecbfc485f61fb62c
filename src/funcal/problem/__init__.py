"""The calibration problem: two tables, roles by column name, and everything that can be said of them."""

from .anchor_points import AnchorPoints as AnchorPoints
from .arrays import FloatArray as FloatArray
from .arrays import IntArray as IntArray
from .calibration_problem import CalibrationProblem as CalibrationProblem
from .computer_runs import ComputerRuns as ComputerRuns
from .inspection import Inspection as Inspection
from .inspection import inspect_tables as inspect_tables
from .physical_data import PhysicalData as PhysicalData
from .roles import Roles as Roles
from .scaled_problem import ScaledProblem as ScaledProblem
from .scaling import AffineScaling as AffineScaling
from .scaling import ProblemScaling as ProblemScaling
from .support import outside_runs as outside_runs
from .support import site_in_words as site_in_words

__all__ = [
    "AffineScaling",
    "AnchorPoints",
    "CalibrationProblem",
    "ComputerRuns",
    "FloatArray",
    "Inspection",
    "IntArray",
    "PhysicalData",
    "ProblemScaling",
    "Roles",
    "ScaledProblem",
    "inspect_tables",
    "outside_runs",
    "site_in_words",
]

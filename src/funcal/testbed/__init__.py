"""Test problems with their truth, design, constants and decisions; real data from the user's own folder."""

from .benchmark_problem import BenchmarkCase as BenchmarkCase
from .benchmark_problem import BenchmarkProblem as BenchmarkProblem
from .benchmark_problem import ColumnRoles as ColumnRoles
from .benchmark_problem import PaperConstants as PaperConstants
from .registry import PAPER_PROBLEMS as PAPER_PROBLEMS
from .registry import REAL_PROBLEMS as REAL_PROBLEMS
from .registry import get_problem as get_problem
from .registry import problems as problems

__all__ = [
    "PAPER_PROBLEMS",
    "REAL_PROBLEMS",
    "BenchmarkCase",
    "BenchmarkProblem",
    "ColumnRoles",
    "PaperConstants",
    "get_problem",
    "problems",
]

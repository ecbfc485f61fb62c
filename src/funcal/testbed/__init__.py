"""Test problems with their truth, design, constants and decisions; real data from the user's own folder."""

from funcal.testbed.benchmark_problem import BenchmarkCase as BenchmarkCase
from funcal.testbed.benchmark_problem import BenchmarkProblem as BenchmarkProblem
from funcal.testbed.benchmark_problem import ColumnRoles as ColumnRoles
from funcal.testbed.benchmark_problem import PaperConstants as PaperConstants
from funcal.testbed.registry import PAPER_PROBLEMS as PAPER_PROBLEMS
from funcal.testbed.registry import REAL_PROBLEMS as REAL_PROBLEMS
from funcal.testbed.registry import get_problem as get_problem
from funcal.testbed.registry import problems as problems

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

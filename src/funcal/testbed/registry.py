"""Every problem by name."""

from functools import cache

from ..errors import SettingsError
from .bad_units import bad_units
from .benchmark_problem import BenchmarkProblem
from .biased_model import biased_model
from .constant_truth import constant_truth
from .pva import pva, pva_raw
from .pva_lookalike import pva_lookalike
from .scattered_runs import scattered_runs
from .spot_weld import spot_weld, spot_weld_replicates
from .synthetic_one import synthetic_one
from .synthetic_three import synthetic_three
from .synthetic_two import synthetic_two
from .ten_dimensional import ten_dimensional
from .two_branches import two_branches
from .two_functional import two_functional

__all__ = ["PAPER_PROBLEMS", "REAL_PROBLEMS", "get_problem", "problems"]

PAPER_PROBLEMS = ("synthetic-1", "synthetic-2", "synthetic-3", "pva", "spot-weld")
REAL_PROBLEMS = ("pva", "pva-raw", "spot-weld", "spot-weld-replicates")


@cache
def problems() -> dict[str, BenchmarkProblem]:
    """All problems, the paper's first."""
    entries: tuple[BenchmarkProblem, ...] = (
        synthetic_one(),
        synthetic_two(),
        synthetic_three(),
        ten_dimensional(),
        pva(),
        spot_weld(),
        pva_raw(),
        spot_weld_replicates(),
        pva_lookalike(),
        two_functional(),
        two_branches(),
        constant_truth(),
        biased_model(),
        scattered_runs(),
        bad_units(),
    )
    return {entry.key: entry for entry in entries}


def get_problem(key: str) -> BenchmarkProblem:
    """The problem of that name.

    Raises
    ------
    SettingsError
        When there is none.
    """
    try:
        return problems()[key]
    except KeyError:
        raise SettingsError(f"no test problem is called {key!r}; there are {', '.join(problems())}") from None

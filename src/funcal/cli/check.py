"""`funcal check`: everything that can be said of the data without sampling."""

import argparse
from typing import Any

from .problem_arguments import add_problem_arguments, read_problem_arguments

__all__ = ["register", "run"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "check",
        help="look at the two tables and say what is wrong or doubtful, without sampling",
        description="Look at the two tables and say what is wrong or doubtful, without sampling.",
    )
    add_problem_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every finding; 2 if the data cannot be used."""
    from ..matching import empty_sites
    from ..problem import site_in_words

    inspection = read_problem_arguments(args).inspection()
    for sentence in inspection.errors:
        print(f"error: {sentence}")
    for sentence in inspection.warnings:
        print(f"warning: {sentence}")
    for sentence in inspection.notes:
        print(f"note: {sentence}")
    problem = inspection.problem
    if problem is None:
        count = len(inspection.errors)
        print(f"\n{count} error{'s' if count > 1 else ''}: the data cannot be used as they are.")
        return 2
    empty = empty_sites(problem)
    for site in empty:
        print(
            f"warning: site {site + 1} ({site_in_words(problem, int(site))}) has no run near it: every run is "
            "nearer to another site. Add runs there, or leave it without an anchor (--empty-sites skip)."
        )
    print(f"\n{problem.summary()}")
    doubts = len(inspection.warnings) + len(empty)
    plural = "s" if doubts > 1 else ""
    print(f"The data can be used; {doubts} warning{plural} above." if doubts else "The data can be used.")
    return 0

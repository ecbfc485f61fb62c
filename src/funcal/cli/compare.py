"""`funcal compare`: every method on a user's own data, by cross-validation, with a paragraph of plain words."""

import argparse
from typing import Any

from .problem_arguments import add_problem_arguments, read_problem_arguments

__all__ = ["register", "run"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "compare",
        help="compare the methods on your data by cross-validation",
        description="Hold out some sites at a time, predict them by every method, and say which method to use, "
        "whether the computer model helps, and how sure that is.",
    )
    add_problem_arguments(parser)
    parser.add_argument("--methods", action="append", metavar="KEY", help="methods to compare (default: all)")
    parser.add_argument("--folds", type=int, default=4, metavar="K", help="folds of a split (default 4)")
    parser.add_argument("--splits", type=int, default=5, metavar="R", help="random splits (default 5)")
    parser.add_argument("--seed", type=int, default=1, help="seed of splits and methods (default 1)")
    parser.add_argument(
        "--workers", type=int, default=None, metavar="N", help="processes (default: the cores)"
    )
    parser.add_argument("--out", metavar="DIR", help="also write scores, tables and the paragraph there")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Cross-validate and print."""
    import json
    import warnings

    from ..errors import DataWarning
    from ..study.comparison import compare_methods, comparison_table, conclude, write_comparison
    from .console import print_table, show_progress

    with warnings.catch_warnings():
        # Say what is doubtful in the data once, not once per fold.
        warnings.simplefilter("once", DataWarning)
        problem = read_problem_arguments(args).problem()
    chosen = [key.strip() for text in args.methods or () for key in text.split(",") if key.strip()]
    with show_progress(args.quiet or args.json) as progress:
        comparison = compare_methods(
            problem,
            chosen or None,
            num_folds=args.folds,
            num_splits=args.splits,
            seed=args.seed,
            workers=args.workers,
            progress=progress,
        )
    table = comparison_table(comparison)
    words = conclude(comparison)
    if args.out:
        write_comparison(comparison, args.out)
    if args.json:
        print(json.dumps({"methods": table, "conclusion": words}, indent=2))
        return 0
    header = ["method", "RMSE", "10 %", "90 %", "in sd", "coverage", "CRPS", "seconds", "failed"]
    keys = ("rmse", "rmse_q10", "rmse_q90", "rmse_sd_units", "coverage", "crps", "seconds")
    rows = [
        [
            row["method"],
            *(f"{row[key]:.3g}" if row[key] is not None else "-" for key in keys),
            str(row["failed"]),
        ]
        for row in table
    ]
    print_table(
        header, rows, title=f"{args.splits} random {comparison.num_folds}-fold splits, held-out measurements"
    )
    print(f"\n{words}")
    return 0

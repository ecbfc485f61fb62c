"""`funcal predict`: the response, θ(x) and ψ at new controls, from a fitted directory."""

import argparse
from typing import Any

__all__ = ["register", "run"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "predict",
        help="predict the response, θ(x) and ψ at new controls",
        description="Predict at the controls of a table, from a directory that `funcal fit` wrote.",
    )
    parser.add_argument("result", metavar="DIR", help="directory of `funcal fit` (or a saved .nc file)")
    parser.add_argument("new", metavar="NEW", help="table with the control columns (CSV or Parquet)")
    parser.add_argument("--out", required=True, metavar="FILE", help="CSV (or Parquet) file to write")
    parser.add_argument(
        "--level", type=float, default=0.95, help="probability of the intervals (default 0.95)"
    )
    parser.add_argument(
        "--variance",
        choices=("total", "paper"),
        help="bnmc only: the law of total variance, or the printed rule",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Predict and write one table."""
    from ..methods.calibrate import load
    from ..report.output_directory import write_table

    calibration = load(args.result)
    options = {"variance": args.variance} if args.variance else {}
    prediction = calibration.predict(args.new, level=args.level, **options)
    write_table(prediction.to_frame(), args.out)
    beyond = int(prediction.outside_runs.sum())
    print(f"{len(prediction)} predictions written to {args.out}.")
    if beyond:
        print(
            f"{beyond} of them lie outside the range of the runs, where the computer model is extrapolated: "
            "trust them less than their intervals say."
        )
    return 0

"""`funcal anchors`: the runs that match the measured curve, with proof of optimality."""

import argparse
import json
import math
from typing import TYPE_CHECKING, Any

from .problem_arguments import add_problem_arguments, read_problem_arguments

if TYPE_CHECKING:
    from ..problem import AnchorPoints, CalibrationProblem

__all__ = ["register", "run"]

SOLVERS = ("auto", "branch_and_bound", "mcf", "dcsub", "subset_dp", "enumeration", "heuristic")


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "anchors",
        help="choose one run per site by shortest path or spanning tree",
        description="Match the measured curve to the model's surface: choose one run, the anchor, for each site.",
    )
    add_problem_arguments(parser)
    parser.add_argument(
        "--model",
        choices=("auto", "path", "tree"),
        default="auto",
        help="shortest path (one control) or spanning tree; auto takes the path where it can",
    )
    parser.add_argument("--solver", choices=SOLVERS, default="auto", help="how the tree is solved")
    parser.add_argument("--time-limit", type=float, metavar="S", help="stop the tree search after S seconds")
    parser.add_argument(
        "--lambda",
        type=float,
        dest="lambda_",
        metavar="λ",
        default=0.5,
        help="weight of smoothness against misfit (default 0.5)",
    )
    parser.add_argument(
        "--radius", type=float, metavar="r", help="neighbourhood radius (default: from the sites)"
    )
    parser.add_argument(
        "--penalty", type=float, metavar="M", help="penalty of far edges (default: large enough)"
    )
    parser.add_argument(
        "--weights",
        choices=("corrected", "printed"),
        default="corrected",
        help="charge a misfit once per anchor, or as the paper prints it",
    )
    parser.add_argument(
        "--empty-sites",
        choices=("error", "skip"),
        default="error",
        help="what to do with a site that has no run near it",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Find and print the anchors."""
    from ..matching import MatchingSettings, find_anchors

    problem = read_problem_arguments(args).problem()
    settings = MatchingSettings(
        model=args.model,
        solver=args.solver,
        lambda_=args.lambda_,
        radius=args.radius,
        penalty=args.penalty,
        weights=args.weights,
        empty_sites=args.empty_sites,
        time_limit=args.time_limit,
    )
    from .console import show_progress

    with show_progress(quiet=args.json) as progress:
        anchors = find_anchors(problem, settings, progress=progress)
    if args.json:
        print(json.dumps(_values(problem, anchors), indent=2, allow_nan=False))
    else:
        _print(problem, anchors)
    return 0


def _values(problem: "CalibrationProblem", anchors: "AnchorPoints") -> dict[str, Any]:
    """The object that --json prints.

    Sites count from 0 in increasing order of their control vectors; a run is its row in the runs table,
    counted from 0 below the header.
    """

    def number(value: float) -> float | None:
        return float(value) if math.isfinite(value) else None

    return {
        "model": anchors.model,
        "solver": anchors.solver,
        "status": anchors.status,
        "cost": number(anchors.cost),
        "lower_bound": number(anchors.lower_bound),
        "gap": number(anchors.gap),
        "seconds": number(anchors.seconds),
        "nodes": anchors.nodes,
        "lambda": anchors.lambda_,
        "radius": number(anchors.radius),
        "penalty": number(anchors.penalty),
        "weights": anchors.weights,
        "anchors": [
            {
                "site": int(site),
                "run": int(problem.runs.row[run]) - 1,
                "misfit": float(misfit),
                "control": dict(
                    zip(problem.roles.control, problem.physical.control[site].tolist(), strict=True)
                ),
            }
            for site, run, misfit in zip(anchors.site, anchors.run, anchors.misfit, strict=True)
        ],
    }


def _print(problem: "CalibrationProblem", anchors: "AnchorPoints") -> None:
    from ..problem import site_in_words
    from .console import print_table

    names = problem.roles.calibration
    vectors = problem.runs.calibration[anchors.run]
    rows = [
        [
            site_in_words(problem, int(site)),
            str(problem.runs.row[run]),
            *(f"{value:.4g}" for value in vector),
            f"{problem.physical.response[site]:.4g}",
            f"{problem.runs.response[run]:.4g}",
            f"{misfit:.3g}",
        ]
        for site, run, vector, misfit in zip(anchors.site, anchors.run, vectors, anchors.misfit, strict=True)
    ]
    print_table(["site", "run (row)", *names, "measured", "computed", "misfit"], rows)
    print(
        f"\nmodel {anchors.model}, solver {anchors.solver}: {anchors.status}, cost {anchors.cost:.6g}, "
        f"bound {anchors.lower_bound:.6g}, gap {anchors.gap:.2g}, {anchors.nodes} nodes, {anchors.seconds:.3f} s"
    )
    graph = f"λ = {anchors.lambda_:g}"
    if math.isfinite(anchors.radius):
        graph += f", r = {anchors.radius:.4g}, M = {anchors.penalty:.4g}"
    print(f"{graph}, {anchors.weights} weights")

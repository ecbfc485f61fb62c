"""`funcal study`: problems × methods × replicates, resumable, and the paper's tables."""

import argparse
from typing import Any

__all__ = ["register", "run"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "study",
        help="run a study of methods on test problems; --paper rebuilds the paper's tables",
        description="Run every trial of a plan and keep a durable record of each. Run again with the same DIR, it goes "
        "on where it stopped. --paper rebuilds the paper's tables with error bars.",
    )
    parser.add_argument(
        "plan", nargs="?", metavar="plan.toml", help="problems, methods, replicates and settings"
    )
    parser.add_argument("--paper", action="store_true", help="the paper's problems and all methods")
    parser.add_argument(
        "--seeds", type=int, metavar="N", help="replicates of synthetic problems (--paper: 50)"
    )
    parser.add_argument("--splits", type=int, metavar="N", help="random splits of real data (--paper: 20)")
    parser.add_argument("--problems", action="append", metavar="KEY", help="only these problems")
    parser.add_argument("--methods", action="append", metavar="KEY", help="only these methods")
    parser.add_argument(
        "--ten-dimensional", action="store_true", help="with --paper, also Appendix D's problem"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="records, tables and figures")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: the cores)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="run the trials on the Dask cluster at this address"
    )
    parser.add_argument("--retry-failed", action="store_true", help="run trials that failed once more")
    parser.add_argument("--markdown", metavar="FILE", help="also write the Markdown report to this file")
    parser.add_argument("--no-figures", action="store_true", help="tables only")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the plan, then write tables and figures; 1 if any trial failed."""
    from ..errors import SettingsError
    from ..study.plan import StudyPlan, paper_plan, plan_from_file
    from ..study.runner import run_study
    from .console import show_progress

    problems = _listed(args.problems)
    methods = _listed(args.methods)
    if args.paper == bool(args.plan):
        raise SettingsError("give either a plan file or --paper; see `funcal study --help`.")
    if args.paper:
        plan: StudyPlan = paper_plan(
            seeds=args.seeds,
            splits=args.splits,
            problems=problems,
            methods=methods,
            ten_dimensional=args.ten_dimensional,
        )
    else:
        plan = plan_from_file(args.plan).narrowed(
            problems=problems, methods=methods, seeds=args.seeds, splits=args.splits
        )
    with show_progress(args.quiet) as progress:
        store = run_study(
            plan,
            args.out,
            workers=args.workers,
            scheduler=args.scheduler,
            retry_failed=args.retry_failed,
            progress=progress,
        )
    from ..study.report import write_report

    outcome = write_report(
        store,
        plan,
        command=_command(args),
        paper=args.paper,
        figures=not args.no_figures,
        markdown=args.markdown,
    )
    print(outcome.text)
    return 1 if outcome.num_failed else 0


def _listed(texts: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts or () for name in text.split(",") if name.strip())


def _command(args: argparse.Namespace) -> str:
    """The command that rebuilds this study."""
    parts = ["funcal study"]
    if args.paper:
        parts.append("--paper")
    else:
        parts.append(str(args.plan))
    for name in ("seeds", "splits"):
        if getattr(args, name) is not None:
            parts.append(f"--{name} {getattr(args, name)}")
    for name in ("problems", "methods"):
        if getattr(args, name):
            parts.append(f"--{name} {','.join(_listed(getattr(args, name)))}")
    if args.ten_dimensional:
        parts.append("--ten-dimensional")
    return " ".join([*parts, "--out DIR"])

"""`funcal fit`: calibrate, say what was learnt, and write everything to one directory."""

import argparse
from typing import TYPE_CHECKING, Any

from ..errors import SettingsError
from .problem_arguments import ProblemArguments, add_problem_arguments, read_problem_arguments

if TYPE_CHECKING:
    from ..result import Calibration

__all__ = ["register", "run"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "fit",
        help="calibrate: θ(x), ψ, diagnostics and figures into a directory",
        description="Calibrate the model and write the posterior, the anchors, figures and a summary to a directory.",
    )
    add_problem_arguments(parser)
    parser.add_argument(
        "--method", metavar="KEY", help="joint (default), bnmc, bnmc-dag, or a rival: funcal methods"
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="everything random follows from it (default: drawn)"
    )
    parser.add_argument("--out", metavar="DIR", help="directory to write; it must not exist yet")
    parser.add_argument("--force", action="store_true", help="replace an earlier result in DIR")
    parser.add_argument("--quiet", action="store_true", help="no progress, only the summary, as plain lines")
    parser.add_argument(
        "--no-compare", action="store_true", help="leave out the model comparison and its verdicts"
    )
    parser.add_argument(
        "--tune",
        action="store_true",
        help="joint, bnmc, bnmc-dag: choose λ, r and M of the matching by cross-validation over the sites first; "
        "joint also whether θ varies and which δ it needs, by leave-one-out of short chains",
    )
    parser.add_argument(
        "--empty-sites", choices=("error", "skip"), help="what to do with a site without a run near it"
    )
    parser.add_argument(
        "--set",
        action="append",
        metavar="NAME=VALUE",
        default=[],
        help="any setting of the method, for example --set draws=2000 or --set matching.lambda=1",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Calibrate and write the result."""
    from ..methods.calibrate import calibrate
    from ..methods.registry import DEFAULT_METHOD, find_method
    from ..report.output_directory import check_free
    from ..report.write_result import write_result
    from .console import show_progress

    given = read_problem_arguments(args)
    out = args.out or given.file_values.get("out")
    if not out:
        raise SettingsError("no place to write is given; add --out DIR or put `out = …` in the TOML file.")
    check_free(out, force=args.force)
    problem = given.problem()
    if not args.quiet:
        print(problem.summary())
    method = args.method or given.file_values.get("method", DEFAULT_METHOD)
    overrides = _overrides(args, given, method, find_method(method).Settings())
    with show_progress(args.quiet) as progress:
        calibration = calibrate(
            problem,
            method,
            seed=args.seed if args.seed is not None else given.file_values.get("seed"),
            settings=overrides,
            progress=progress,
        )
    written = write_result(calibration, out, inputs=(given.physical, given.runs), force=args.force)
    print_outcome(calibration)
    print(f"\nWritten to {written}/ (seed {calibration.seed}).")
    return 0


def _overrides(
    args: argparse.Namespace, given: ProblemArguments, method: str, settings: Any
) -> dict[str, Any]:
    """Settings from the file, then from the command line; a method that compares nothing needs no --no-compare.

    Raises
    ------
    SettingsError
        If --tune is given with a method that has nothing to tune.
    """
    overrides = dict(_flattened(given.file_values.get("settings", {})))
    for text in args.set:
        name, separator, value = text.partition("=")
        if not separator:
            raise SettingsError(f"--set is written NAME=VALUE; got {text!r}.")
        overrides[name.strip()] = value.strip()
    if args.no_compare and hasattr(settings, "compare"):
        overrides["compare"] = False
    if args.tune:
        if not hasattr(settings, "tune"):
            raise SettingsError(
                f"--tune needs joint, bnmc or bnmc-dag; {method!r} has nothing to tune, so leave --tune out."
            )
        overrides["tune"] = True
    if args.empty_sites:
        overrides["matching.empty_sites"] = args.empty_sites
    return overrides


def _flattened(values: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Nested tables of a TOML file as dotted names."""
    pairs: list[tuple[str, Any]] = []
    for name, value in values.items():
        pairs += (
            _flattened(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
        )
    return pairs


def print_outcome(calibration: "Calibration") -> None:
    """The short summary at the end of a fit."""
    from ..report.plain_words import outcome_sentences
    from .console import print_table

    table = calibration.summary()
    if len(table):
        most = 24
        rows = [
            [str(name), *(f"{row[column]:.4g}" for column in ("mean", "sd", "lower", "upper"))]
            for name, row in table.iterrows()
        ]
        shown = rows if len(rows) <= most else [*rows[: most - 2], ["…", "", "", "", ""], rows[-1]]
        print_table(
            ["quantity", "mean", "sd", "2.5 %", "97.5 %"], shown, title="What was learnt (95 % intervals)"
        )
    print()
    for sentence in outcome_sentences(calibration):
        print(sentence)

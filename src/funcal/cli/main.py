"""`funcal`: the entry point, its commands, and how errors become sentences and exit codes."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from typing import TextIO

from .. import __version__
from ..errors import FuncalError, FuncalWarning, MatchingError, SamplingError
from . import anchors, check, compare, demo, fit, methods, predict, study

__all__ = ["entry_point", "main"]

SUCCESS, FAILURE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

DESCRIPTION = """\
Functional calibration of expensive computer models: from two tables, what was measured and what was
computed, to θ(x), ψ and predictions with honest uncertainty."""

EPILOG = """\
A first session:
  funcal check   physical.csv runs.csv --control x --functional theta --response y
  funcal fit     physical.csv runs.csv --control x --functional theta --response y --out result
  funcal predict result new.csv --out predictions.csv

Exit codes: 0 success, 1 failure of a computation, 2 bad usage or bad input."""


def build_parser() -> argparse.ArgumentParser:
    """The parser with every command."""
    parser = argparse.ArgumentParser(
        prog="funcal",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"funcal {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (check, anchors, fit, predict, compare, study, methods, demo):
        module.register(commands)
    return parser


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning of ours as one plain line; anything else is not for this user."""
    if issubclass(category, FuncalWarning):
        print(f"warning: {message}", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    args = build_parser().parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", FuncalWarning)
        warnings.showwarning = _show_warning
        try:
            code: int = args.run(args)
        except (MatchingError, SamplingError) as error:
            print(f"funcal: {error}", file=sys.stderr)
            return FAILURE
        except FuncalError as error:
            print(f"funcal: {error}", file=sys.stderr)
            return BAD_INPUT
        except KeyboardInterrupt:
            print("funcal: interrupted; nothing was half-written.", file=sys.stderr)
            return INTERRUPTED
        except BrokenPipeError:
            sys.stderr.close()
            return SUCCESS
        except OSError as error:
            print(f"funcal: {error.strerror or error}: {error.filename or ''}".rstrip(": "), file=sys.stderr)
            return FAILURE
    return code


def entry_point() -> None:
    """What the installed `funcal` script calls."""
    sys.exit(main())

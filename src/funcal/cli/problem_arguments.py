"""The arguments that name a problem: two tables and roles, or one TOML file that holds them."""

import argparse
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ProblemError, SettingsError

if TYPE_CHECKING:
    from ..problem import CalibrationProblem, Inspection, Roles

__all__ = ["ProblemArguments", "add_problem_arguments", "read_problem_arguments"]

#: What a TOML file may hold at its top level.
FILE_KEYS = (
    "physical", "runs", "control", "functional", "global", "response", "noise_sd", "count",
    "rename", "bounds", "method", "seed", "out", "settings",
)  # fmt: skip


@dataclass(frozen=True)
class ProblemArguments:
    """A problem as named on the command line or in a file, and what else the file says."""

    physical: str
    runs: str
    roles: "Roles"
    bounds: dict[str, tuple[float, float]]
    file_values: dict[str, Any]

    def problem(self) -> "CalibrationProblem":
        """Read the tables; errors and warnings as in `CalibrationProblem.from_tables`."""
        from ..problem import CalibrationProblem

        roles = self.roles
        return CalibrationProblem.from_tables(
            self.physical,
            self.runs,
            control=roles.control,
            functional=roles.functional,
            global_=roles.global_,
            response=roles.response,
            noise_sd=roles.noise_sd,
            count=roles.count,
            rename=roles.runs_name,
            bounds=self.bounds,
        )

    def inspection(self) -> "Inspection":
        """Read the tables and collect every finding."""
        from ..problem import inspect_tables

        return inspect_tables(self.physical, self.runs, self.roles, self.bounds)


def add_problem_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the tables and the roles to a command."""
    parser.add_argument(
        "tables",
        nargs="+",
        metavar="TABLE",
        help="the physical table and the runs table (CSV or Parquet), or one TOML file that names both",
    )
    roles = parser.add_argument_group(
        "roles of the columns", "repeat an option or separate names by commas; gauge=thickness maps a name "
        "of the physical table to the runs table's"
    )  # fmt: skip
    roles.add_argument(
        "--control", action="append", metavar="NAME", help="control variables x (in both tables)"
    )
    roles.add_argument(
        "--functional", action="append", metavar="NAME", help="functional calibration variables θ(x)"
    )
    roles.add_argument("--global", action="append", metavar="NAME", dest="global_", help="global ones, ψ")
    roles.add_argument("--response", metavar="NAME", help="the response y (in both tables)")
    roles.add_argument("--noise-sd", metavar="NAME", help="known sd of each measurement (physical table)")
    roles.add_argument(
        "--count", metavar="NAME", help="how many measurements a row is the mean of (physical table)"
    )
    roles.add_argument(
        "--bounds",
        action="append",
        metavar="NAME=LOW,HIGH",
        help="box of a calibration variable; the runs' range otherwise",
    )


def read_problem_arguments(args: argparse.Namespace) -> ProblemArguments:
    """Put the command line over the TOML file, where there is one."""
    from ..problem import Roles

    values: dict[str, Any] = {}
    if len(args.tables) == 1 and args.tables[0].lower().endswith(".toml"):
        values = _read_file(Path(args.tables[0]))
    elif len(args.tables) == 2:
        values = {"physical": args.tables[0], "runs": args.tables[1]}
    else:
        raise ProblemError(
            f"two tables are expected (physical, then runs), or one TOML file; got {len(args.tables)}: "
            f"{' '.join(args.tables)}."
        )
    for key in ("control", "functional", "global_", "response", "noise_sd", "count"):
        given = getattr(args, key)
        if given:
            values[key.rstrip("_")] = given
    for key in ("physical", "runs", "control", "response"):
        if key not in values:
            raise ProblemError(f"no {key} is given; add --{key} or put `{key} = …` in the TOML file.")
    roles = Roles.parse(
        control=values["control"],
        functional=values.get("functional", ()),
        global_=values.get("global", ()),
        response=values["response"],
        noise_sd=values.get("noise_sd"),
        count=values.get("count"),
        rename=values.get("rename"),
    )
    bounds = {name: _ends(name, ends) for name, ends in values.get("bounds", {}).items()}
    for text in args.bounds or ():
        name, separator, ends = text.partition("=")
        if not separator:
            raise SettingsError(f"--bounds is written NAME=LOW,HIGH; got {text!r}.")
        bounds[name.strip()] = _ends(name, ends.split(","))
    return ProblemArguments(str(values["physical"]), str(values["runs"]), roles, bounds, values)


def _ends(name: str, ends: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError):
        raise SettingsError(f"the bounds of {name!r} are two numbers, LOW,HIGH; got {ends!r}.") from None
    return low, high


def _read_file(path: Path) -> dict[str, Any]:
    """A TOML file; the tables it names are looked for beside it."""
    if not path.is_file():
        raise ProblemError(f"{path} does not exist; a TOML file is expected there.")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProblemError(f"{path} is not valid TOML ({error}).") from error
    unknown = [key for key in values if key not in FILE_KEYS]
    if unknown:
        raise ProblemError(
            f"{path} holds {unknown[0]!r}, which funcal does not know; it knows {', '.join(FILE_KEYS)}."
        )
    for key in ("physical", "runs"):
        if key in values:
            values[key] = str(path.parent / values[key])
    return values

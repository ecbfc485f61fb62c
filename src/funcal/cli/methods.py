"""`funcal methods`: every method with what it supports."""

import argparse
from typing import Any

__all__ = ["register", "run"]


def register(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "methods",
        help="list the methods and what each supports",
        description="List the calibration methods, the default first, and what each supports.",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON array, settings with their defaults"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the list."""
    import json

    from ..methods.registry import DEFAULT_METHOD, METHOD_KEYS, find_method
    from ..result.settings import settings_to_values
    from .console import print_table

    entries: list[dict[str, Any]] = []
    for key in METHOD_KEYS:
        method = find_method(key)
        can = method.supports
        entries.append(
            {
                "key": key,
                "title": method.title,
                "default": key == DEFAULT_METHOD,
                "max_controls": can.max_controls,
                "max_functional": can.max_functional,
                "max_global": can.max_global,
                "min_sites": can.min_sites,
                "replicates": can.replicates,
                "estimates": sorted(can.estimates),
                "settings": settings_to_values(method.Settings()),
            }
        )
    if args.json:
        print(json.dumps(entries, indent=2))
        return 0

    def most(value: Any) -> str:
        return "any" if value is None else str(value)

    rows = [
        [
            str(entry["key"]) + (" *" if entry["default"] else ""),
            most(entry["max_controls"]),
            most(entry["max_functional"]),
            most(entry["max_global"]),
            str(entry["min_sites"]),
            "yes" if entry["replicates"] else "means",
            ", ".join(entry["estimates"]) or "-",
            str(entry["title"]),
        ]
        for entry in entries
    ]
    print_table(["method", "controls", "θ", "ψ", "sites ≥", "replicates", "estimates", "what it is"], rows)
    print("\n* the default. `funcal fit --method KEY` uses any of them.")
    return 0

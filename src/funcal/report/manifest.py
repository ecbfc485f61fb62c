"""The manifest of a result: what went in, so that the same can be done again."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..result.arviz_export import installed_versions
from ..result.settings import settings_to_values

if TYPE_CHECKING:
    from ..result import Calibration

__all__ = ["manifest_values"]


def manifest_values(calibration: "Calibration", inputs: tuple[str, str]) -> dict[str, Any]:
    """Method, seed, settings, versions, and a hash of each input file."""
    roles = calibration.problem.roles
    return {
        "funcal": "calibration",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": calibration.method.key,
        "seed": calibration.seed,
        "settings": settings_to_values(calibration.settings),
        "roles": {role: list(names) for role, names in roles.by_role().items() if names},
        "rename": dict(roles.runs_name),
        "bounds": dict(zip(roles.calibration, calibration.problem.bounds.tolist(), strict=True)),
        "inputs": {
            role: {"file": Path(path).name, "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest()}
            for role, path in zip(("physical", "runs"), inputs, strict=True)
        },
        "versions": installed_versions(),
    }

"""A study as a frozen description: which problems, methods, replicates and settings; every trial follows from it."""

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SettingsError
from ..methods.registry import METHOD_KEYS, find_method
from ..result.settings import with_overrides
from ..testbed import PAPER_PROBLEMS, get_problem

__all__ = ["StudyPlan", "TrialDescription", "Variant", "paper_plan", "plan_from_file"]

#: Replicates of synthetic problems and random splits of real data in the paper's tables.
PAPER_SEEDS, PAPER_SPLITS = 50, 20
FILE_KEYS = ("problems", "methods", "replicates", "splits", "first_seed", "settings")


@dataclass(frozen=True)
class Variant:
    """A method with settings of its own: `name` tells it from the method's defaults (""), `settings` is JSON text."""

    method: str
    name: str = ""
    settings: str = "{}"


@dataclass(frozen=True)
class TrialDescription:
    """One trial: a method on one case. Everything random follows from it."""

    problem: str
    seed: int
    fold: int
    method: str
    variant: str = ""
    settings: str = "{}"

    @property
    def key(self) -> str:
        """A name that no other trial has; changed settings make it another trial."""
        digest = hashlib.sha256(self.settings.encode()).hexdigest()[:8]
        return f"{self.problem}/{self.seed}/{self.fold}/{self.method}/{self.variant}/{digest}"

    @property
    def method_seed(self) -> int:
        """Seed of the method: trials of different methods on one case share the data, not the randomness."""
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class StudyPlan:
    """Problems × methods (with variants) × replicates.

    Attributes
    ----------
    replicates, splits
        Seeds of problems with a known truth, and random splits of real data.
    first_seed
        The first seed; the others follow.
    """

    problems: tuple[str, ...]
    variants: tuple[Variant, ...]
    replicates: int = 5
    splits: int = 5
    first_seed: int = 0

    def __post_init__(self) -> None:
        if not self.problems or not self.variants:
            raise SettingsError("a study needs at least one problem and one method; the plan has none left")
        if self.replicates < 1 or self.splits < 1:
            raise SettingsError("a study needs at least one replicate and one split")
        for key in self.problems:
            get_problem(key)
        for variant in self.variants:
            _check_variant(variant)

    def narrowed(
        self,
        *,
        problems: tuple[str, ...] = (),
        methods: tuple[str, ...] = (),
        seeds: int | None = None,
        splits: int | None = None,
    ) -> "StudyPlan":
        """The same plan with some problems or methods only, or other numbers of replicates."""
        return dataclasses.replace(
            self,
            problems=tuple(key for key in self.problems if not problems or key in problems),
            variants=tuple(entry for entry in self.variants if not methods or entry.method in methods),
            replicates=self.replicates if seeds is None else seeds,
            splits=self.splits if splits is None else splits,
        )

    def groups(self) -> list[list[TrialDescription]]:
        """Trials by case: the members of a group see the same data and can share what they compute from them."""
        groups = []
        for key in self.problems:
            problem = get_problem(key)
            count = self.replicates if problem.num_folds == 1 else self.splits
            for seed in range(self.first_seed, self.first_seed + count):
                for fold in range(problem.num_folds):
                    groups.append(
                        [
                            TrialDescription(key, seed, fold, entry.method, entry.name, entry.settings)
                            for entry in self.variants
                        ]
                    )
        return groups

    def to_values(self) -> dict[str, Any]:
        """As JSON-able values."""
        return dataclasses.asdict(self)


def _check_variant(variant: Variant) -> None:
    """Refuse unknown methods and settings before anything runs."""
    values = json.loads(variant.settings)
    with_overrides(find_method(variant.method).Settings(), values)


def paper_plan(
    *,
    seeds: int | None = None,
    splits: int | None = None,
    problems: tuple[str, ...] = (),
    methods: tuple[str, ...] = (),
    ten_dimensional: bool = False,
) -> StudyPlan:
    """The paper's comparison: its five problems (and the ten-dimensional one) and all eleven methods.

    Unless said otherwise there are two splits of the real data for every five seeds, as there are 20 for 50.
    """
    replicates = PAPER_SEEDS if seeds is None else seeds
    extra = ("ten-dimensional",) if ten_dimensional else ()
    return StudyPlan(
        problems=problems or PAPER_PROBLEMS + extra,
        variants=tuple(
            Variant(key, settings=json.dumps(STUDY_SETTINGS.get(key, {}), sort_keys=True))
            for key in (methods or METHOD_KEYS)
        ),
        replicates=replicates,
        splits=max(1, round(replicates * PAPER_SPLITS / PAPER_SEEDS)) if splits is None else splits,
    )


#: Settings of the paper's study that are not the defaults: `joint` keeps 1 000 draws of four chains and does not go on
#: until its targets are met, which would double the study's time for the third digit of an error.
STUDY_SETTINGS: dict[str, dict[str, Any]] = {
    "joint": {"warmup": 200, "draws": 250, "max_draws": 250, "tempering": False}
}


def plan_from_file(path: str | Path) -> StudyPlan:
    """Read a plan from TOML.

    ``problems`` and ``methods`` are lists of keys; ``replicates``, ``splits`` and ``first_seed`` numbers; each
    ``[[settings]]`` table adds a variant: ``method``, ``name``, and the settings that differ from the defaults.

    Raises
    ------
    SettingsError
        When the file cannot be read or says something unknown.
    """
    source = Path(path)
    try:
        values = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"the plan {source} cannot be read as TOML ({error})") from error
    unknown = [key for key in values if key not in FILE_KEYS]
    if unknown:
        raise SettingsError(
            f"{source} holds {unknown[0]!r}, which a plan does not know; it knows {', '.join(FILE_KEYS)}"
        )
    variants = [Variant(key) for key in values.get("methods", [])]
    for entry in values.get("settings", []):
        variants.append(_variant_from_values(entry, source))
    return StudyPlan(
        problems=tuple(values.get("problems", ())),
        variants=tuple(variants),
        replicates=int(values.get("replicates", 5)),
        splits=int(values.get("splits", values.get("replicates", 5))),
        first_seed=int(values.get("first_seed", 0)),
    )


def _variant_from_values(entry: Mapping[str, Any], source: Path) -> Variant:
    if "method" not in entry or "name" not in entry:
        raise SettingsError(
            f"every [[settings]] of {source} names its method and has a name; found {dict(entry)}"
        )
    settings = {key: value for key, value in entry.items() if key not in ("method", "name")}
    return Variant(str(entry["method"]), str(entry["name"]), json.dumps(settings, sort_keys=True))

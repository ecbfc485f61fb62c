"""Which column plays which part, by name.

A column that has different names in the two tables is written `physical=runs`, for example
``gauge=thickness``: the physical table calls it ``gauge``, the runs table ``thickness``. Everything funcal
reports uses the physical table's name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..errors import ProblemError

__all__ = ["Roles"]


def _listed(names: str | Iterable[str], role: str) -> tuple[str, ...]:
    """One name, a comma-separated list, or several of either, as a flat tuple."""
    given = (names,) if isinstance(names, str) else tuple(names)
    flat = []
    for entry in given:
        if not isinstance(entry, str):
            raise ProblemError(
                f"the {role} columns are given by name (text); {entry!r} is not a column name."
            )
        flat += [part.strip() for part in entry.split(",") if part.strip()]
    return tuple(flat)


@dataclass(frozen=True)
class Roles:
    """Names of the columns by role; `runs_name` maps the names that differ in the runs table."""

    control: tuple[str, ...]
    functional: tuple[str, ...]
    global_: tuple[str, ...]
    response: str
    noise_sd: str | None = None
    count: str | None = None
    runs_name: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(
        cls,
        *,
        control: str | Iterable[str],
        functional: str | Iterable[str] = (),
        global_: str | Iterable[str] = (),
        response: str,
        noise_sd: str | None = None,
        count: str | None = None,
        rename: Mapping[str, str] | None = None,
    ) -> "Roles":
        """Read the roles as a person writes them.

        Raises
        ------
        ProblemError
            If a role that must be filled is empty, or one column has two roles.
        """
        renamed = dict(rename or {})

        def split(entry: str) -> str:
            physical, separator, runs = entry.partition("=")
            if not separator:
                return entry
            renamed[physical.strip()] = runs.strip()
            return physical.strip()

        control_names = tuple(split(name) for name in _listed(control, "control"))
        functional_names = tuple(_listed(functional, "functional"))
        global_names = tuple(_listed(global_, "global"))
        if not isinstance(response, str):
            raise ProblemError(
                f"one response column is expected, by name; got {response!r}. "
                "funcal calibrates one response at a time."
            )
        response_name = split(response.strip())
        if "," in response_name:
            raise ProblemError(
                f"one response column is expected; got {response!r}. Calibrate one response at a time."
            )
        roles = cls(
            control=control_names,
            functional=functional_names,
            global_=global_names,
            response=response_name,
            noise_sd=noise_sd or None,
            count=count or None,
            runs_name=renamed,
        )
        roles._check()
        return roles

    def _check(self) -> None:
        if not self.control:
            raise ProblemError(
                "at least one control column is needed; name it with control=[…] or --control."
            )
        if not self.functional and not self.global_:
            raise ProblemError(
                "no calibration variable was named; give at least one functional (θ) or global (ψ) column "
                "with functional=[…] or global_=[…] (--functional, --global)."
            )
        if not self.response:
            raise ProblemError("the response column has no name; give it with response=… or --response.")
        taken: dict[str, str] = {}
        for role, names in self.by_role().items():
            for name in names:
                if name in taken:
                    where = f"twice as {role}" if taken[name] == role else f"as {taken[name]} and as {role}"
                    raise ProblemError(
                        f"column {name!r} is named {where}; every column has one role. Name it once."
                    )
                taken[name] = role

    def by_role(self) -> dict[str, tuple[str, ...]]:
        """The names under the word that a user knows the role by."""
        return {
            "control": self.control,
            "functional": self.functional,
            "global": self.global_,
            "response": (self.response,),
            "noise sd": (self.noise_sd,) if self.noise_sd else (),
            "count": (self.count,) if self.count else (),
        }

    @property
    def calibration(self) -> tuple[str, ...]:
        """Functional names first, then global ones: the order of every calibration vector in funcal."""
        return self.functional + self.global_

    @property
    def physical_columns(self) -> tuple[str, ...]:
        """The columns read from the physical table."""
        optional = tuple(name for name in (self.noise_sd, self.count) if name)
        return (*self.control, self.response, *optional)

    @property
    def runs_columns(self) -> tuple[str, ...]:
        """The columns read from the runs table, under the physical table's names."""
        return (*self.control, *self.calibration, self.response)

    def in_runs(self, name: str) -> str:
        """What the runs table calls the column `name`."""
        return self.runs_name.get(name, name)

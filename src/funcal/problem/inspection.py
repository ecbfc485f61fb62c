"""Everything that can be said of two tables before any computation: errors, warnings, notes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import ProblemError
from .arrays import FloatArray
from .calibration_problem import CalibrationProblem
from .computer_runs import ComputerRuns
from .physical_data import PhysicalData
from .roles import Roles
from .support import support_warnings
from .tables import Table, TableSource, numeric_column, open_table, rows_in_words

__all__ = ["Inspection", "inspect_tables"]

#: A column whose values differ only beyond this many of their leading digits loses float64 accuracy.
OFFSET_LIMIT = 1e8
#: Ranges beyond these overflow or underflow when squared.
LARGEST_RANGE, SMALLEST_RANGE = 1e140, 1e-140


@dataclass(frozen=True)
class Inspection:
    """Findings, each a sentence; `problem` is None where there are errors."""

    problem: CalibrationProblem | None
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def inspect_tables(
    physical: TableSource,
    runs: TableSource,
    roles: Roles,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> Inspection:
    """Read both tables and collect every finding, not only the first.

    Parameters
    ----------
    physical, runs : path or DataFrame
    roles : Roles
    bounds : mapping, optional
        Box of each calibration variable that has one.
    """
    errors: list[str] = []
    tables = []
    for source, name in ((physical, "the physical table"), (runs, "the runs table")):
        try:
            tables.append(open_table(source, name))
        except ProblemError as error:
            errors.append(str(error))
    if errors:
        return Inspection(None, tuple(errors), (), ())
    physical_table, runs_table = tables
    roles = _oriented(roles, physical_table, runs_table)
    _missing_columns(physical_table, runs_table, roles, errors)
    if errors:
        return Inspection(None, tuple(errors), (), ())
    warnings: list[str] = []
    notes = _unused_columns(physical_table, runs_table, roles)
    measured = {name: numeric_column(physical_table, name, errors) for name in roles.physical_columns}
    computed = {name: numeric_column(runs_table, roles.in_runs(name), errors) for name in roles.runs_columns}
    _check_cells(physical_table, measured, roles, errors)
    ended_well = _failed_runs(runs_table, computed, roles, errors, warnings)
    computed = {name: values[ended_well] for name, values in computed.items()}
    if not errors:
        _check_sizes(measured, computed, physical_table, runs_table, roles, errors, warnings)
    if not errors:
        _check_columns(measured, computed, physical_table, runs_table, roles, errors, warnings)
    box = _box(computed, roles, bounds or {}, errors)
    if errors:
        return Inspection(None, tuple(errors), tuple(warnings), tuple(notes))

    def stacked(source: dict[str, FloatArray], names: tuple[str, ...]) -> FloatArray:
        rows = len(source[roles.response])
        return np.column_stack([source[name] for name in names]) if names else np.empty((rows, 0))

    problem = CalibrationProblem(
        physical=PhysicalData.from_rows(
            stacked(measured, roles.control),
            measured[roles.response],
            measured[roles.noise_sd] if roles.noise_sd else None,
            measured[roles.count].astype(np.int64) if roles.count else None,
        ),
        runs=ComputerRuns(
            control=stacked(computed, roles.control),
            functional=stacked(computed, roles.functional),
            global_=stacked(computed, roles.global_),
            response=computed[roles.response],
            row=np.flatnonzero(ended_well) + 1,
            num_failed=int(np.sum(~ended_well)),
        ),
        roles=roles,
        bounds=box,
    )
    warnings += support_warnings(problem)
    messages = tuple(warnings) + tuple(notes)
    problem = CalibrationProblem(problem.physical, problem.runs, roles, box, messages)
    return Inspection(problem, (), tuple(warnings), tuple(notes))


def _oriented(roles: Roles, physical: Table, runs: Table) -> Roles:
    """Turn round a mapping written ``runs=physical`` where only that reading fits both tables."""
    turned = {}
    for ours, theirs in roles.runs_name.items():
        fits = ours in physical.frame.columns and theirs in runs.frame.columns
        fits_turned = theirs in physical.frame.columns and ours in runs.frame.columns
        if not fits and fits_turned:
            turned[ours] = theirs
    if not turned:
        return roles

    def name(given: str) -> str:
        return turned.get(given, given)

    return Roles(
        control=tuple(name(given) for given in roles.control),
        functional=roles.functional,
        global_=roles.global_,
        response=name(roles.response),
        noise_sd=roles.noise_sd,
        count=roles.count,
        runs_name={
            name(ours): (ours if ours in turned else theirs) for ours, theirs in roles.runs_name.items()
        },
    )


def _missing_columns(physical: Table, runs: Table, roles: Roles, errors: list[str]) -> None:
    word = {name: role for role, names in roles.by_role().items() for name in names}
    for name in roles.physical_columns:
        if name not in physical.frame.columns:
            errors.append(physical.missing_column(name, word[name]))
    for name in roles.runs_columns:
        if roles.in_runs(name) not in runs.frame.columns:
            sentence = runs.missing_column(roles.in_runs(name), word[name])
            if name in roles.calibration and name in physical.frame.columns:
                sentence += " Are the tables swapped? The physical table comes first, then the runs."
            elif roles.in_runs(name) == name and name in physical.frame.columns:
                sentence += f" If it has another name there, write {name}=NAME."
            errors.append(sentence)


def _unused_columns(physical: Table, runs: Table, roles: Roles) -> list[str]:
    notes = []
    used = {roles.in_runs(name) for name in roles.runs_columns}
    for table, names in ((physical, set(roles.physical_columns)), (runs, used)):
        unused = [str(column) for column in table.frame.columns if column not in names]
        if unused:
            listed = ", ".join(repr(column) for column in unused)
            plural = "s" if len(unused) > 1 else ""
            notes.append(
                f"{table.name}: column{plural} {listed} {'have' if plural else 'has'} no role and "
                f"{'are' if plural else 'is'} not used."
            )
    return notes


def _check_cells(table: Table, columns: dict[str, FloatArray], roles: Roles, errors: list[str]) -> None:
    """The physical table must be complete: finite controls and responses, positive sds and counts."""
    for name, values in columns.items():
        named_text = any(f"column {name!r}" in sentence for sentence in errors)
        rows = np.flatnonzero(~np.isfinite(values))
        if len(rows) and not named_text:
            found = "nothing" if np.isnan(values[rows[0]]) else str(values[rows[0]])
            more = f" ({len(rows)} such rows in all)" if len(rows) > 1 else ""
            errors.append(
                f"{table.place(int(rows[0]), name)}: a finite number is expected; found {found}{more}. "
                "Fill it in or drop the row."
            )
    if roles.noise_sd:
        rows = np.flatnonzero(columns[roles.noise_sd] <= 0)
        if len(rows):
            errors.append(
                f"{table.place(int(rows[0]), roles.noise_sd)}: a positive standard deviation is expected; "
                f"found {columns[roles.noise_sd][rows[0]]:g}."
            )
    if roles.count:
        counts = columns[roles.count]
        rows = np.flatnonzero((counts < 1) | (counts != np.round(counts)))
        if len(rows):
            errors.append(
                f"{table.place(int(rows[0]), roles.count)}: a whole number of measurements, at least 1, is "
                f"expected; found {counts[rows[0]]:g}."
            )


def _failed_runs(
    table: Table, columns: dict[str, FloatArray], roles: Roles, errors: list[str], warnings: list[str]
) -> np.ndarray:
    """Which runs ended well; a failed one has no finite response, but every input must be there."""
    unreadable = {
        name
        for name in columns
        for sentence in errors
        if sentence.startswith(f"{table.name}, ") and f"column {roles.in_runs(name)!r}" in sentence
    }
    for name, values in columns.items():
        column = roles.in_runs(name)
        if name == roles.response or name in unreadable:
            continue
        rows = np.flatnonzero(~np.isfinite(values))
        if len(rows):
            found = "nothing" if np.isnan(values[rows[0]]) else str(values[rows[0]])
            more = f" ({len(rows)} such rows in all)" if len(rows) > 1 else ""
            errors.append(
                f"{table.place(int(rows[0]), column)}: a finite number is expected, because every input of a run "
                f"must be known; found {found}{more}. Fill it in or drop the row."
            )
    ended_well = np.isfinite(columns[roles.response])
    failed = np.flatnonzero(~ended_well)
    if len(failed) and roles.response not in unreadable:
        warnings.append(
            f"{table.name}: {len(failed)} of {table.num_rows} runs have no finite response and are left out as "
            f"failed runs ({rows_in_words(table, [int(row) for row in failed])})."
        )
    return ended_well


def _check_sizes(
    measured: dict[str, FloatArray],
    computed: dict[str, FloatArray],
    physical: Table,
    runs: Table,
    roles: Roles,
    errors: list[str],
    warnings: list[str],
) -> None:
    """Too few sites or runs; replicates share a site."""
    num_rows, num_runs = len(measured[roles.response]), len(computed[roles.response])
    num_sites = len(np.unique(np.column_stack([measured[name] for name in roles.control]), axis=0))
    num_inputs = len(roles.control) + len(roles.calibration)
    if num_sites < 2:
        errors.append(
            f"{physical.name}: measurements at two different control vectors at least are needed; "
            f"found {num_sites} in {num_rows} row{'' if num_rows == 1 else 's'}."
        )
    elif num_sites < 4:
        replicates = f" ({num_rows} rows with their replicates)" if num_rows > num_sites else ""
        warnings.append(
            f"{physical.name}: only {num_sites} measured sites{replicates}; little can be learnt from so few."
        )
    if num_runs < num_inputs + 2:
        errors.append(
            f"{runs.name}: at least {num_inputs + 2} runs with a response are needed for {num_inputs} inputs; "
            f"found {num_runs}."
        )
    elif num_runs < 5 * num_inputs:
        warnings.append(
            f"{runs.name}: {num_runs} runs are few for {num_inputs} inputs (ten per input is a common rule); "
            "expect wide intervals."
        )


def _check_columns(
    measured: dict[str, FloatArray],
    computed: dict[str, FloatArray],
    physical: Table,
    runs: Table,
    roles: Roles,
    errors: list[str],
    warnings: list[str],
) -> None:
    """Constant columns, and units in which float64 suffers."""
    for name in roles.runs_columns:
        column = roles.in_runs(name)
        in_both = name in roles.control or name == roles.response
        values = np.concatenate([computed[name], measured[name]]) if in_both else computed[name]
        low, high = float(values.min()), float(values.max())
        width = high - low
        if width > 0 and (width > LARGEST_RANGE or width < SMALLEST_RANGE):
            errors.append(
                f"{runs.name}, column {column!r}: its range {width:g} is beyond what float64 can square; "
                "change its unit."
            )
        elif width > 0 and max(abs(low), abs(high)) / width > OFFSET_LIMIT:
            warnings.append(
                f"{runs.name}, column {column!r}: its values ({low:.12g} to {high:.12g}) differ only in their last "
                "digits, where float64 loses accuracy; subtract an offset."
            )
        if float(np.ptp(computed[name])) == 0.0:
            value = f"the same value {computed[name][0]:g} in every run"
            if name in roles.calibration:
                errors.append(
                    f"{runs.name}, column {column!r} has {value}; a calibration variable must vary among "
                    "the runs. Drop it from the roles or add runs."
                )
            elif name == roles.response:
                errors.append(
                    f"{runs.name}, column {column!r} has {value}; a response that never changes "
                    "cannot be calibrated."
                )
            elif width > 0:
                warnings.append(
                    f"{runs.name}, column {column!r} has {value} while it varies in {physical.name}; "
                    "the model's dependence on it cannot be learnt."
                )
            else:
                warnings.append(
                    f"column {name!r} has {value} and in every measurement; it carries no information."
                )


def _box(
    computed: dict[str, FloatArray],
    roles: Roles,
    bounds: Mapping[str, tuple[float, float]],
    errors: list[str],
) -> FloatArray:
    """Box of the calibration variables: given by the user, else the runs' range."""
    box = np.empty((len(roles.calibration), 2))
    for name in bounds:
        if name not in roles.calibration:
            errors.append(
                f"bounds are given for {name!r}, which is not a calibration variable; "
                f"these are {', '.join(repr(known) for known in roles.calibration)}."
            )
    for index, name in enumerate(roles.calibration):
        values = computed[name]
        finite = values[np.isfinite(values)]
        box[index] = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
        if name in bounds:
            low, high = (float(end) for end in bounds[name])
            if not (np.isfinite(low) and np.isfinite(high) and low < high):
                errors.append(
                    f"the bounds of {name!r} must be two finite numbers, the lower first; got {low}, {high}."
                )
            box[index] = (low, high)
    return box

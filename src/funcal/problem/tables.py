"""Tables in: CSV, Parquet or a pandas DataFrame, and where in them each number stands.

A CSV file is read as text first, so that every cell that is not a number can be named by row and column.
"""

import csv
import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import ProblemError
from .arrays import FloatArray

__all__ = ["Table", "TableSource", "numeric_column", "open_table"]

TableSource = str | os.PathLike[str] | pd.DataFrame

#: What people write for "no value".
MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "missing", "#n/a"})


@dataclass(frozen=True)
class Table:
    """A table with a name to call it by and, for CSV files, the line each row stands on."""

    name: str
    frame: pd.DataFrame
    lines: tuple[int, ...] | None = None

    def place(self, row: int, column: str) -> str:
        """Where a cell is, in words; rows count from 1 below the header."""
        line = f" (line {self.lines[row]})" if self.lines is not None else ""
        return f"{self.name}, row {row + 1}{line}, column {column!r}"

    @property
    def num_rows(self) -> int:
        """Rows below the header."""
        return len(self.frame)

    def missing_column(self, column: str, role: str) -> str:
        """The sentence for a column that is not there."""
        columns = [str(name) for name in self.frame.columns]
        close = difflib.get_close_matches(column, columns, n=1, cutoff=0.6)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        return (
            f"{self.name} has no column {column!r} (named as {role}); "
            f"its columns are {', '.join(repr(name) for name in columns)}.{hint}"
        )


def open_table(source: TableSource, name: str) -> Table:
    """Open a table.

    Parameters
    ----------
    source : path or DataFrame
        A ``.csv`` file (comma-separated, UTF-8, with a header), a ``.parquet`` file, or a DataFrame.
    name : str
        What to call a DataFrame in messages; a file is called by its name.

    Raises
    ------
    ProblemError
        If the file is missing, empty, or not a table.
    """
    if isinstance(source, pd.DataFrame):
        repeated = source.columns[source.columns.duplicated()]
        if len(repeated):
            raise ProblemError(
                f"{name} has more than one column called {str(repeated[0])!r}; rename or drop all but one."
            )
        return Table(name, source.reset_index(drop=True))
    if not isinstance(source, str | os.PathLike):
        raise ProblemError(
            f"{name} must be a path to a CSV or Parquet file or a pandas DataFrame; got {type(source).__name__}."
        )
    path = Path(source)
    if not path.is_file():
        what = "is a directory" if path.is_dir() else "does not exist"
        raise ProblemError(f"{path} {what}; a CSV or Parquet file is expected there.")
    if path.suffix.lower() in {".parquet", ".pq"}:
        try:
            return Table(path.name, pd.read_parquet(path).reset_index(drop=True))
        except Exception as error:  # pyarrow raises many kinds for a file that is not Parquet
            raise ProblemError(f"{path} is not a readable Parquet file ({error}).") from error
    return _open_csv(path)


def _open_csv(path: Path) -> Table:
    try:
        with path.open(newline="", encoding="utf-8-sig") as handle:
            reader = csv.reader(handle)
            rows, lines = [], []
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    rows.append([cell.strip() for cell in cells])
                    lines.append(reader.line_num)
    except UnicodeDecodeError as error:
        raise ProblemError(
            f"{path} is not UTF-8 text (byte {error.start}); save it as a CSV file in UTF-8."
        ) from error
    except csv.Error as error:
        raise ProblemError(f"{path} is not a readable CSV file ({error}).") from error
    if not rows:
        raise ProblemError(
            f"{path} is empty; a header line with column names and one line per row are expected."
        )
    header = rows[0]
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        raise ProblemError(
            f"{path} does not look comma-separated: its header is {header[0]!r}; save it with commas."
        )
    repeated = {name for name in header if header.count(name) > 1}
    if repeated:
        raise ProblemError(
            f"{path} has more than one column called {min(repeated)!r}; rename or drop all but one."
        )
    for line, cells in zip(lines[1:], rows[1:], strict=True):
        if len(cells) != len(header):
            raise ProblemError(
                f"{path.name}, line {line}: {len(header)} cells are expected, as in the header; found {len(cells)}. "
                "A decimal comma or a stray separator is the usual cause."
            )
    frame = pd.DataFrame(rows[1:], columns=header, dtype=object)
    return Table(path.name, frame, tuple(lines[1:]))


def numeric_column(table: Table, column: str, problems: list[str]) -> FloatArray:
    """A column as numbers, NaN where a cell is missing; a cell that is text adds a sentence to `problems`."""
    cells = table.frame[column]
    if pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_complex_dtype(cells.dtype):
        return np.asarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    values = np.empty(len(cells))
    bad: list[tuple[int, Any]] = []
    for row, cell in enumerate(cells):
        number = _number(cell)
        if number is None:
            bad.append((row, cell))
            number = np.nan
        values[row] = number
    if bad:
        row, cell = bad[0]
        comma = " Write decimals with a point." if isinstance(cell, str) and "," in cell else ""
        others = len(bad) - 1
        cells_more = "one more cell" if others == 1 else f"{others} more cells"
        more = f" (and {cells_more} like it in this column)" if others else ""
        problems.append(
            f"{table.place(row, column)}: a number is expected; found {str(cell)!r}{more}. "
            f"Correct the cell or drop its row.{comma}"
        )
    return values


def _number(cell: Any) -> float | None:
    """The cell as a number, NaN for a missing one, None for anything else."""
    if cell is None or cell is pd.NA:
        return np.nan
    if isinstance(cell, str):
        if cell.strip().lower() in MISSING_WORDS:
            return np.nan
        try:
            return float(cell)
        except ValueError:
            return None
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


def rows_in_words(table: Table, rows: Sequence[int], *, at_most: int = 5) -> str:
    """A short list of rows: ``rows 2, 5 and 3 more``."""
    shown = ", ".join(str(row + 1) for row in rows[:at_most])
    more = f" and {len(rows) - at_most} more" if len(rows) > at_most else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{more}"

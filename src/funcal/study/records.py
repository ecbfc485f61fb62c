"""Durable records: one line of JSON per trial, appended and synced to disk before the study goes on.

A kill can at worst leave half a line at the end; it is cut off when the store is opened again, and its trial runs
again. One process writes; two studies on one folder are refused by a lock that the operating system drops with them.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import ResultError

__all__ = ["RecordStore"]


class RecordStore:
    """The records of a study in a folder, by the key of their trial."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.path = self.folder / "records.jsonl"

    def read(self) -> dict[str, dict[str, Any]]:
        """All whole records; where a trial has several, the last."""
        if not self.path.exists():
            return {}
        records = {}
        with self.path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    record = json.loads(line)
                    records[record["key"]] = record
        return records

    @contextmanager
    def writing(self) -> Iterator["RecordWriter"]:
        """Open for appending, alone.

        Raises
        ------
        ResultError
            When another study writes here.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ResultError(
                    f"another study is writing to {self.folder}; wait for it or choose another --out"
                ) from None
            _cut_half_line(self.path, file)
            yield RecordWriter(file)


class RecordWriter:
    """Appends records, each on disk before the call returns."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def append(self, record: dict[str, Any]) -> None:
        """Write one record."""
        self._file.write(json.dumps(record, sort_keys=True, allow_nan=True).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _cut_half_line(path: Path, file: Any) -> None:
    """Remove what a kill left of an unfinished line."""
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        file.truncate(content.rfind(b"\n") + 1)

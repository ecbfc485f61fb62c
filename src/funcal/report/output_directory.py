"""Writing that is whole or not at all: directories and files that appear in one step."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from ..errors import ResultError

__all__ = ["MANIFEST", "check_free", "new_directory", "write_table", "write_text"]

#: The file that marks a directory as funcal's own; only such a directory is ever replaced.
MANIFEST = "manifest.json"


def check_free(out: str | os.PathLike[str], *, force: bool) -> None:
    """Refuse to write over anything, before the work is done.

    Raises
    ------
    ResultError
        If `out` exists and `force` is not given, or if it is not a result of funcal.
    """
    target = Path(out)
    if not target.exists():
        return
    if not target.is_dir():
        raise ResultError(f"{target} is a file; give the name of a directory to make.")
    if not any(target.iterdir()):
        return
    if not force:
        raise ResultError(
            f"{target} exists; choose another --out, or add --force to replace the result in it."
        )
    if not (target / MANIFEST).is_file():
        raise ResultError(
            f"{target} holds other things than a funcal result (there is no {MANIFEST}); it is not replaced. "
            "Choose another --out."
        )


@contextmanager
def new_directory(out: str | os.PathLike[str], *, force: bool) -> Iterator[Path]:
    """Fill a directory out of sight and move it to `out` in one step when the block ends well."""
    check_free(out, force=force)
    target = Path(out).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    workplace = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        filled = workplace / "new"
        filled.mkdir()
        yield filled
        if target.exists():
            os.replace(target, workplace / "old")
        os.replace(filled, target)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text file in one step."""
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(name, 0o644)
        os.replace(name, target)
    finally:
        Path(name).unlink(missing_ok=True)


def write_table(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table in one step: Parquet if the name ends so, else CSV with full precision."""
    target = Path(path)
    if not target.parent.is_dir():
        raise ResultError(f"{target.parent} is not a directory; make it first, then write there.")
    if target.is_dir():
        raise ResultError(f"{target} is a directory; give the name of a file to write.")
    if target.suffix.lower() in {".parquet", ".pq"}:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
        os.close(handle)
        try:
            table.to_parquet(name, index=False)
            os.chmod(name, 0o644)
            os.replace(name, target)
        finally:
            Path(name).unlink(missing_ok=True)
    else:
        write_text(table.to_csv(index=False), target)

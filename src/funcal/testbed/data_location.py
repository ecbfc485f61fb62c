"""Where the real data are: a folder that the user gives, since their licences keep them out of the package."""

import os
from pathlib import Path

import pandas as pd

from ..errors import ProblemError

__all__ = ["data_folder", "read_table"]


def data_folder() -> Path:
    """$FUNCAL_DATA, else shared/data beside the checkout."""
    chosen = os.environ.get("FUNCAL_DATA")
    return Path(chosen) if chosen else Path(__file__).resolve().parents[4] / "shared" / "data"


def read_table(folder: str, name: str) -> pd.DataFrame:
    """A CSV file of the data folder.

    Raises
    ------
    ProblemError
        When the file is not there.
    """
    path = data_folder() / folder / name
    if not path.is_file():
        raise ProblemError(
            f"the real data file {folder}/{name} was expected in {data_folder()} and is not there; "
            f"set FUNCAL_DATA to the folder that holds {folder}/"
        )
    return pd.read_csv(path)

"""Durable records: whole lines only, one writer."""

import pytest

from funcal.errors import ResultError
from funcal.study.records import RecordStore


def test_records_come_back_by_key(tmp_path) -> None:
    """The last record of a key counts."""
    store = RecordStore(tmp_path)
    with store.writing() as writer:
        writer.append({"key": "a", "value": 1})
        writer.append({"key": "b", "value": 2})
        writer.append({"key": "a", "value": 3})
    assert store.read() == {"a": {"key": "a", "value": 3}, "b": {"key": "b", "value": 2}}


def test_half_a_line_is_cut_off(tmp_path) -> None:
    """What a kill leaves unfinished is neither read nor kept in the way of the next record."""
    store = RecordStore(tmp_path)
    with store.writing() as writer:
        writer.append({"key": "a"})
    with store.path.open("ab") as file:
        file.write(b'{"key": "b", "val')
    assert set(store.read()) == {"a"}
    with store.writing() as writer:
        writer.append({"key": "c"})
    assert set(store.read()) == {"a", "c"}


def test_two_writers_are_refused(tmp_path) -> None:
    """A second study on the same folder is told to wait."""
    store = RecordStore(tmp_path)
    with store.writing(), pytest.raises(ResultError, match="another study"), RecordStore(tmp_path).writing():
        pass


def test_an_empty_folder_has_no_records(tmp_path) -> None:
    """Nothing yet is not an error."""
    assert RecordStore(tmp_path / "new").read() == {}

"""Trials: pure, and failures are records."""

import json

import pytest

from funcal.methods import linear_regression
from funcal.study.plan import StudyPlan, TrialDescription, Variant
from funcal.study.runner import run_study
from funcal.study.trial import run_trial


def test_a_trial_is_a_function_of_its_description() -> None:
    """The same record twice, except for the clock."""
    trial = TrialDescription("synthetic-1", 3, 0, "constant")
    one, two = run_trial(trial), run_trial(trial)
    assert one.pop("timing")["fit_seconds"] > 0
    two.pop("timing")
    assert json.dumps(one) == json.dumps(two)
    assert one["status"] == "ok"
    assert len(one["y_mean"]) == 12


def test_an_unsupported_request_is_recorded_with_its_sentence() -> None:
    """bnmc-dag on two controls."""
    record = run_trial(TrialDescription("synthetic-2", 0, 0, "bnmc-dag"))
    assert record["status"] == "unsupported"
    assert "at most 1 control" in record["message"]


def test_a_failure_is_recorded_with_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a method raises."""

    def broken(*arguments: object, **options: object) -> None:
        raise FloatingPointError("no inverse")

    monkeypatch.setattr(linear_regression.LinearRegression, "fit", broken)
    record = run_trial(TrialDescription("synthetic-1", 0, 0, "linear"))
    assert (record["status"], record["message"]) == ("failed", "FloatingPointError: no inverse")


def test_missing_data_are_a_recorded_failure(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """A study without the real data goes on; failed trials run again when asked."""
    monkeypatch.setenv("FUNCAL_DATA", str(tmp_path))
    plan = StudyPlan(("spot-weld",), (Variant("mean"),), splits=1)
    records = run_study(plan, tmp_path / "out", workers=1).read()
    assert {record["status"] for record in records.values()} == {"failed"}
    assert all("FUNCAL_DATA" in record["message"] for record in records.values())
    run_study(plan, tmp_path / "out", workers=1, retry_failed=True)
    assert len((tmp_path / "out" / "records.jsonl").read_bytes().splitlines()) == 8
    run_study(plan, tmp_path / "out", workers=1)
    assert len((tmp_path / "out" / "records.jsonl").read_bytes().splitlines()) == 8

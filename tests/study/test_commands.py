"""`funcal study`, `funcal compare` and `funcal methods` from the command line."""

import json

import pandas as pd
import pytest

from funcal.cli.main import main


def test_study_writes_tables_report_and_figures(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    """A quick paper study of two methods on problem 1, with everything that a reader opens."""
    out = tmp_path / "study"
    code = main(
        ["study", "--paper", "--seeds", "2", "--problems", "synthetic-1", "--methods", "nfc,linear",
         "--workers", "1", "--quiet", "--out", str(out), "--markdown", str(tmp_path / "tables.md")]
    )  # fmt: skip
    assert code == 0
    assert "| nfc |" in capsys.readouterr().out
    scores = pd.read_parquet(out / "scores.parquet")
    assert len(scores) == 4
    assert set(pd.read_csv(out / "summary.csv")["metric"]) >= {"rmse_y", "rmse_t", "coverage_y", "crps_y"}
    report = (out / "report.md").read_text(encoding="utf-8")
    for words in (
        "(0.184)",
        "Coverage",
        "Paired with",
        "Anchor search",
        "Graph parameters",
        "Residual tests",
        "323.5",
    ):
        assert words in report
    assert "<table>" in (out / "report.html").read_text(encoding="utf-8")
    assert (out / "figures" / "bands-synthetic-1-nfc.png").stat().st_size > 1000
    tables = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "funcal study --paper --seeds 2" in tables
    assert str(tmp_path) not in tables


def test_study_needs_a_plan_or_the_paper(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither or both is bad usage."""
    assert main(["study", "--out", str(tmp_path)]) == 2
    assert "either a plan file or --paper" in capsys.readouterr().err


def test_compare_ends_in_plain_words(problem_one_files, capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    """Which method, whether the model helps, how sure."""
    physical, runs = problem_one_files
    arguments = [
        "compare",
        str(physical),
        str(runs),
        "--control",
        "x",
        "--functional",
        "theta",
        "--response",
        "y",
    ]
    arguments += [
        "--methods",
        "constant,linear,mean",
        "--folds",
        "3",
        "--splits",
        "2",
        "--workers",
        "1",
        "--quiet",
    ]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    words = capsys.readouterr().out.strip().splitlines()[-1]
    assert words.startswith("Use ")
    assert "computer model" in words
    assert "How sure" in words
    assert (tmp_path / "out" / "comparison.md").exists()
    assert main([*arguments, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert {row["method"] for row in values["methods"]} == {"constant", "linear", "mean"}


def test_compare_refuses_too_few_sites_and_unknown_methods(
    problem_one_files, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence each, exit code 2."""
    physical, runs = problem_one_files
    arguments = [
        "compare",
        str(physical),
        str(runs),
        "--control",
        "x",
        "--functional",
        "theta",
        "--response",
        "y",
    ]
    assert main([*arguments, "--folds", "1", "--quiet"]) == 2
    assert main([*arguments, "--methods", "magic", "--quiet"]) == 2
    assert "no method 'magic'" in capsys.readouterr().err


def test_methods_lists_eleven(capsys: pytest.CaptureFixture[str]) -> None:
    """As a table and as JSON with settings."""
    assert main(["methods"]) == 0
    assert "joint *" in capsys.readouterr().out
    assert main(["methods", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert len(entries) == 11
    assert [entry["key"] for entry in entries if entry["default"]] == ["joint"]
    assert all("settings" in entry and "max_controls" in entry for entry in entries)

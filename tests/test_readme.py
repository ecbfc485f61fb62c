"""What the README shows works as it stands."""

import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_the_python_example_runs(
    problem_one_tables: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first Python block, on the two files it names."""
    physical, runs = problem_one_tables
    physical.to_csv(tmp_path / "physical.csv", index=False)
    runs.to_csv(tmp_path / "runs.csv", index=False)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    names: dict[str, object] = {}
    exec(blocks[0], names)
    prediction = names["prediction"]
    assert list(prediction.to_frame().columns)[:2] == ["x", "y_mean"]  # type: ignore[attr-defined]


def test_every_link_leads_somewhere() -> None:
    """Files that the README and the guide link to are there."""
    for page in (ROOT / "README.md", ROOT / "docs" / "user-guide.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_both_commands_are_shown() -> None:
    """A newcomer needs `make demo` and `make test`."""
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text

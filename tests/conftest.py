"""Fixtures that every part of the suite shares."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import funcal

#: The seed of every random test; sweep it to look for luck.
SEED = int(os.environ.get("FUNCAL_TEST_SEED", "20261115"))


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator seeded the same way every time (override with FUNCAL_TEST_SEED)."""
    return np.random.default_rng(SEED)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Directory of the real data: FUNCAL_DATA, else ../shared/data beside the checkout."""
    given = os.environ.get("FUNCAL_DATA")
    path = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not path.is_dir():
        reason = f"real data not found at {path}; set FUNCAL_DATA to their directory"
        if os.environ.get("FUNCAL_REQUIRE_ALL"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def problem_one_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The paper's first synthetic problem: six sites, five runs at each."""
    rng = np.random.default_rng(0)
    sites = np.arange(0.5, 6.0)

    def model(x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return theta * np.exp(-0.05 * x**2) * (np.sin(x) ** 2 + 1.0)

    physical = pd.DataFrame({"x": sites})
    physical["y"] = model(sites, np.exp(-0.05 * sites)) + rng.normal(0.0, np.sqrt(0.05), len(sites))
    runs = pd.DataFrame({"x": np.repeat(sites, 5), "theta": rng.uniform(0.0, 2.0, 30)})
    runs["y"] = model(runs["x"].to_numpy(), runs["theta"].to_numpy())
    return physical, runs


@pytest.fixture
def problem_one(problem_one_tables: tuple[pd.DataFrame, pd.DataFrame]) -> funcal.CalibrationProblem:
    """Problem 1 of the paper, ready to calibrate."""
    physical, runs = problem_one_tables
    return funcal.CalibrationProblem.from_tables(
        physical, runs, control=["x"], functional=["theta"], response="y"
    )


@pytest.fixture
def problem_one_files(
    tmp_path: Path, problem_one_tables: tuple[pd.DataFrame, pd.DataFrame]
) -> tuple[Path, Path]:
    """Problem 1 of the paper as two CSV files."""
    physical, runs = problem_one_tables
    physical.to_csv(tmp_path / "physical.csv", index=False)
    runs.to_csv(tmp_path / "runs.csv", index=False)
    return tmp_path / "physical.csv", tmp_path / "runs.csv"

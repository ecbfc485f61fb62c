"""Kennedy–O'Hagan on the pedagogic example of Bayarri et al. 2007: y^s = 5 exp(-vx), reality 3.5 exp(-1.7x) + 1.5."""

from pathlib import Path

import numpy as np
import pytest

import funcal

pytestmark = pytest.mark.filterwarnings("ignore::funcal.errors.FuncalWarning")


@pytest.fixture(scope="module")
def kinetics(data_dir: Path) -> funcal.CalibrationProblem:
    """Ten times with three replicates, fifteen runs; v is global."""
    folder = data_dir / "bayarri_synthetic"
    return funcal.CalibrationProblem.from_tables(
        folder / "synthfield.csv", folder / "synthmodel.csv", control="x", global_="v", response="y"
    )


def test_reality_is_covered_where_the_model_is_biased(kinetics: funcal.CalibrationProblem) -> None:
    """With a discrepancy the 95 % intervals hold reality at most times, and the error is a tenth of the spread."""
    times = np.linspace(0.3, 2.8, 12)
    reality = 3.5 * np.exp(-1.7 * times) + 1.5
    prediction = funcal.calibrate(kinetics, "koh", seed=1).predict(times).response
    assert np.mean((prediction.lower <= reality) & (reality <= prediction.upper)) >= 0.75
    assert np.sqrt(np.mean((prediction.mean - reality) ** 2)) < 0.15


def test_a_constant_without_discrepancy_cannot_follow_reality(kinetics: funcal.CalibrationProblem) -> None:
    """The negative control: 5 exp(-vx) goes to zero, reality to 1.5."""
    times = np.linspace(0.3, 2.8, 12)
    reality = 3.5 * np.exp(-1.7 * times) + 1.5
    prediction = funcal.calibrate(kinetics, "constant", seed=1).predict(times).response
    assert np.sqrt(np.mean((prediction.mean - reality) ** 2)) > 0.3

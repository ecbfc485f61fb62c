"""A calibration predicts, summarises, and comes back from a file as it was."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import funcal
from funcal.errors import ConvergenceWarning, ProblemError, ResultError, SettingsError

QUICK = {"warmup": 500, "draws": 1000}


@pytest.fixture(scope="module")
def calibration(problem_one_tables: tuple[pd.DataFrame, pd.DataFrame]) -> funcal.Calibration:
    """Problem 1 under the paper's method."""
    physical, runs = problem_one_tables
    problem = funcal.CalibrationProblem.from_tables(
        physical, runs, control=["x"], functional=["theta"], response="y"
    )
    return funcal.calibrate(problem, method="bnmc", seed=1, **QUICK)


def test_save_and_load_change_nothing(calibration: funcal.Calibration, tmp_path: Path) -> None:
    """Draws, data, settings and predictions are the same bit for bit after a round trip."""
    calibration.save(tmp_path / "weld.nc")
    again = funcal.load(tmp_path / "weld.nc")
    assert again.settings == calibration.settings
    assert again.seed == calibration.seed
    assert again.method.key == "bnmc"
    assert again.problem.roles == calibration.problem.roles
    assert again.fit.report == dict(calibration.fit.report)
    for name, values in calibration.fit.draws.items():
        np.testing.assert_array_equal(again.fit.draws[name], values)
    np.testing.assert_array_equal(again.problem.runs.response, calibration.problem.runs.response)
    assert calibration.anchors is not None
    assert again.anchors is not None
    np.testing.assert_array_equal(again.anchors.run, calibration.anchors.run)
    new = [0.3, 2.2, 5.0]
    pd.testing.assert_frame_equal(again.predict(new).to_frame(), calibration.predict(new).to_frame())


def test_a_result_holds_no_pickle(calibration: funcal.Calibration, tmp_path: Path) -> None:
    """The file is plain HDF5: no object of it needs Python to be read."""
    import h5py

    calibration.save(tmp_path / "a.nc")
    kinds: list[str] = []
    with h5py.File(tmp_path / "a.nc") as handle:
        handle.visititems(lambda _, item: kinds.append(item.dtype.kind) if hasattr(item, "dtype") else None)
    assert set(kinds) <= {"f", "i", "u", "S", "O", "b"}  # O: variable-length text, the labels
    assert b"pickle" not in (tmp_path / "a.nc").read_bytes()


def test_saving_replaces_in_one_step(calibration: funcal.Calibration, tmp_path: Path) -> None:
    """No temporary file is left; a place that does not exist is refused."""
    calibration.save(tmp_path / "a.nc")
    calibration.save(tmp_path / "a.nc")
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]
    with pytest.raises(ResultError, match="not a directory"):
        calibration.save(tmp_path / "none" / "a.nc")


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    """A missing file and one that funcal did not write get a sentence each."""
    with pytest.raises(ResultError, match="does not exist"):
        funcal.load(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("hello")
    with pytest.raises(ResultError, match="not a complete funcal result"):
        funcal.load(tmp_path / "text.nc")


def test_new_controls_in_every_form(calibration: funcal.Calibration) -> None:
    """A DataFrame, a list, a column and a row array give the same predictions."""
    expected = calibration.predict([1.0, 2.0]).to_frame()
    for given in (pd.DataFrame({"a": [5, 6], "x": [1.0, 2.0]}), np.array([[1.0], [2.0]]), (1, 2)):
        pd.testing.assert_frame_equal(calibration.predict(given).to_frame(), expected)
    with pytest.raises(ProblemError, match="no column 'x'"):
        calibration.predict(pd.DataFrame({"z": [1.0]}))
    with pytest.raises(ProblemError, match=r"row 2, column 'x'"):
        calibration.predict(pd.DataFrame({"x": [1.0, np.nan]}))
    with pytest.raises(ProblemError, match="need 1 column"):
        calibration.predict(np.ones((2, 3)))
    with pytest.raises(ProblemError, match="finite"):
        calibration.predict([np.inf])
    with pytest.raises(SettingsError, match="level"):
        calibration.predict([1.0], level=95)


def test_the_summary_names_what_a_user_asked_for(calibration: funcal.Calibration) -> None:
    """θ at every site by its control value, the noise, and diagnostics."""
    table = calibration.summary()
    assert list(table.index[:2]) == ["theta(x = 0.5)", "theta(x = 1.5)"]
    assert table.index[-1] == "noise sd"
    assert {"mean", "sd", "lower", "upper", "ess_bulk", "rhat"} <= set(table.columns)
    flat = calibration.fit.flat("theta")
    assert table.loc["theta(x = 0.5)", "mean"] == pytest.approx(flat[:, 0, 0].mean())


def test_extrapolation_is_marked(calibration: funcal.Calibration) -> None:
    """New controls outside the runs' range are flagged."""
    assert calibration.predict([0.5, 3.0, 9.0]).outside_runs.tolist() == [False, False, True]


def test_chains_that_have_not_converged_say_so(problem_one: funcal.CalibrationProblem) -> None:
    """A run of a few sweeps warns loudly and says what to do."""
    with pytest.warns(ConvergenceWarning, match="NOT CONVERGED.*draws"):
        calibration = funcal.calibrate(problem_one, method="bnmc", seed=1, warmup=0, draws=20)
    assert calibration.convergence is not None
    assert not calibration.convergence.converged


def test_settings_that_cannot_be(problem_one: funcal.CalibrationProblem) -> None:
    """Unknown names and wrong values get one sentence."""
    with pytest.raises(SettingsError, match="Did you mean 'draws'"):
        funcal.calibrate(problem_one, method="bnmc", drws=10)
    with pytest.raises(SettingsError, match="'draws' is a whole number"):
        funcal.calibrate(problem_one, method="bnmc", draws="many")
    with pytest.raises(SettingsError, match="'proper', 'paper'"):
        funcal.calibrate(problem_one, method="bnmc", prior="flat")
    with pytest.raises(SettingsError, match="seed is a whole number"):
        funcal.calibrate(problem_one, method="bnmc", seed=1.5)
    with pytest.raises(SettingsError, match="there is no method"):
        funcal.calibrate(problem_one, method="magic")


def test_a_method_refuses_what_it_cannot_do() -> None:
    """bnmc-dag needs one control; the sentence says what the problem has."""
    rng = np.random.default_rng(0)
    runs = pd.DataFrame(rng.uniform(size=(20, 4)), columns=["a", "b", "t", "y"])
    physical = pd.DataFrame(rng.uniform(0.4, 0.6, size=(5, 3)), columns=["a", "b", "y"])
    problem = funcal.CalibrationProblem.from_tables(
        physical.assign(y=0.5), runs, control="a,b", functional="t", response="y"
    )
    with pytest.raises(
        SettingsError, match="'bnmc-dag' supports at most 1 control variable; this problem has 2"
    ):
        funcal.calibrate(problem, method="bnmc-dag", seed=1)


def test_public_names_are_all_there() -> None:
    """Every name in `__all__` can be imported, and no other attribute pretends to exist."""
    for name in funcal.__all__:
        assert getattr(funcal, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'fit'"):
        _ = funcal.fit


def test_an_option_that_a_method_does_not_take_is_refused(calibration: funcal.Calibration) -> None:
    """`variance` belongs to the paper's method; another method says that it has no such option."""
    assert calibration.predict([1.0], variance="paper").response.sd < calibration.predict([1.0]).response.sd
    line = funcal.calibrate(calibration.problem, method="linear", seed=1)
    with pytest.raises(SettingsError, match="'linear' predicts without an option 'variance'"):
        line.predict([1.0], variance="paper")

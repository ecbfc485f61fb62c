"""Bad tables get one sentence that names file, row and column; good ones are read as they are."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from funcal.errors import DataWarning, ProblemError
from funcal.problem import CalibrationProblem, Roles, inspect_tables

ROLES = {"control": ["x"], "functional": ["theta"], "response": "y"}


def good_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Five sites and fifteen runs of y = theta + x."""
    x = np.linspace(0.0, 1.0, 5)
    rng = np.random.default_rng(0)
    physical = pd.DataFrame({"x": x, "y": x + 0.5})
    runs = pd.DataFrame({"y": 0.0, "theta": rng.uniform(0, 1, 15), "x": np.tile(x, 3)})
    runs["y"] = runs["theta"] + runs["x"]
    return physical, runs


def read(physical: object, runs: object, **changes: object) -> CalibrationProblem:
    return CalibrationProblem.from_tables(physical, runs, **{**ROLES, **changes})


def csv_pair(tmp_path: Path, physical: pd.DataFrame, runs: pd.DataFrame) -> tuple[Path, Path]:
    physical.to_csv(tmp_path / "physical.csv", index=False)
    runs.to_csv(tmp_path / "runs.csv", index=False)
    return tmp_path / "physical.csv", tmp_path / "runs.csv"


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_the_same_problem_from_every_kind_of_table(tmp_path: Path, kind: str) -> None:
    """A DataFrame, a CSV file and a Parquet file give identical arrays."""
    physical, runs = good_tables()
    expected = read(physical, runs)
    if kind == "frame":
        found = read(physical.sample(frac=1, random_state=1), runs)
    elif kind == "csv":
        found = read(*csv_pair(tmp_path, physical, runs))
    else:
        physical.to_parquet(tmp_path / "p.parquet")
        runs.to_parquet(tmp_path / "r.parquet")
        found = read(tmp_path / "p.parquet", tmp_path / "r.parquet")
    np.testing.assert_array_equal(found.physical.control, expected.physical.control)
    np.testing.assert_array_equal(found.physical.response, expected.physical.response)
    np.testing.assert_array_equal(found.runs.functional, expected.runs.functional)
    np.testing.assert_array_equal(found.runs.response, expected.runs.response)


def test_replicates_form_one_site_without_loss() -> None:
    """Three rows at one control are one site with their mean, count and sum of squares."""
    physical, runs = good_tables()
    more = pd.DataFrame({"x": [0.5, 0.5], "y": [1.2, 0.9]})
    problem = read(pd.concat([physical, more]), runs)
    site = int(np.flatnonzero(problem.physical.control[:, 0] == 0.5)[0])
    values = np.array([1.0, 1.2, 0.9])
    assert problem.num_sites == 5
    assert problem.physical.count[site] == 3
    assert problem.physical.response[site] == pytest.approx(values.mean())
    assert problem.physical.within_ss == pytest.approx(((values - values.mean()) ** 2).sum())
    assert problem.physical.within_dof == 2


def test_known_noise_weights_the_replicates() -> None:
    """With known sds a site mean is precision-weighted and its variance is known."""
    physical, runs = good_tables()
    physical = pd.concat([physical, pd.DataFrame({"x": [0.5], "y": [3.0]})])
    physical["sd"] = [1.0, 1.0, 1.0, 1.0, 1.0, 2.0]
    problem = read(physical, runs, noise_sd="sd")
    site = int(np.flatnonzero(problem.physical.control[:, 0] == 0.5)[0])
    assert problem.physical.response[site] == pytest.approx((1.0 + 3.0 / 4) / 1.25)
    assert problem.physical.known_variance is not None
    assert problem.physical.known_variance[site] == pytest.approx(1 / 1.25)


def test_names_that_differ_are_mapped_in_either_direction() -> None:
    """`gauge=thickness` and `thickness=gauge` name the same column; the physical name is used."""
    physical, runs = good_tables()
    physical = physical.rename(columns={"x": "gauge"})
    runs = runs.rename(columns={"x": "thickness"})
    for control in ("gauge=thickness", "thickness=gauge"):
        problem = read(physical, runs, control=[control])
        assert problem.roles.control == ("gauge",)
        assert problem.runs.control.shape == (15, 1)
    problem = read(physical, runs, control="gauge", rename={"gauge": "thickness"})
    assert problem.roles.control == ("gauge",)


def test_failed_runs_are_left_out_counted_and_said(tmp_path: Path) -> None:
    """Runs whose response is missing or infinite are failed runs, not errors."""
    physical, runs = good_tables()
    runs = runs.astype(object)
    runs.loc[2, "y"] = "NA"
    runs.loc[4, "y"] = ""
    runs.loc[7, "y"] = "inf"
    with pytest.warns(DataWarning, match=r"runs.csv: 3 of 15 runs .* \(rows 3, 5, 8\)"):
        problem = read(*csv_pair(tmp_path, physical, runs))
    assert problem.num_runs == 12
    assert problem.runs.num_failed == 3
    assert problem.runs.row.tolist() == [1, 2, 4, 6, 7, *range(9, 16)]


def changed(table: pd.DataFrame, row: int, column: str, value: object) -> pd.DataFrame:
    table = table.astype(object)
    table.loc[row, column] = value
    return table


@pytest.mark.parametrize(
    ("which", "row", "column", "value", "sentence"),
    [
        (
            "physical",
            1,
            "x",
            "abc",
            r"physical.csv, row 2 \(line 3\), column 'x': a number is expected; found 'abc'",
        ),
        (
            "physical",
            3,
            "x",
            "",
            r"physical.csv, row 4 \(line 5\), column 'x': a finite number .* found nothing",
        ),
        ("physical", 0, "y", "nan", r"physical.csv, row 1 \(line 2\), column 'y'"),
        ("physical", 0, "y", "inf", r"found inf"),
        ("runs", 5, "x", "", r"runs.csv, row 6 \(line 7\), column 'x'.*every input of a run"),
        ("runs", 5, "theta", "-inf", r"runs.csv, row 6 \(line 7\), column 'theta'.*found -inf"),
        (
            "runs",
            0,
            "y",
            "12 mm",
            r"runs.csv, row 1 \(line 2\), column 'y': a number is expected; found '12 mm'",
        ),
    ],
)
def test_a_bad_cell_is_named(
    tmp_path: Path, which: str, row: int, column: str, value: str, sentence: str
) -> None:
    """One sentence: file, row, line, column, what was expected, what was found."""
    physical, runs = good_tables()
    if which == "physical":
        physical = changed(physical, row, column, value)
    else:
        runs = changed(runs, row, column, value)
    with pytest.raises(ProblemError, match=sentence):
        read(*csv_pair(tmp_path, physical, runs))


def test_an_unreadable_response_is_no_failed_run() -> None:
    """Text in the runs' response is one error, not also a run left out."""
    physical, runs = good_tables()
    found = inspect_tables(physical, changed(runs, 0, "y", "12 mm"), Roles(("x",), ("theta",), (), "y"))
    assert len(found.errors) == 1
    assert not any("failed" in sentence for sentence in found.warnings)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"response": "z"}, r"no column 'z' \(named as response\); its columns are 'x', 'y'"),
        ({"functional": ["thet"]}, "Did you mean 'theta'"),
        ({"control": ["x", "x"]}, "column 'x' is named twice as control"),
        ({"control": ["x"], "functional": ["x"]}, "as control and as functional"),
        ({"control": []}, "at least one control"),
        ({"functional": []}, "no calibration variable"),
        ({"response": "y,z"}, "one response column"),
        ({"bounds": {"x": (0, 1)}}, "not a calibration variable"),
        ({"bounds": {"theta": (1, 0)}}, "the lower first"),
    ],
)
def test_bad_roles_get_one_sentence(changes: dict[str, object], sentence: str) -> None:
    """Missing columns, double roles and empty roles."""
    with pytest.raises(ProblemError, match=sentence):
        read(*good_tables(), **changes)


def test_swapped_tables_are_suspected() -> None:
    """The runs given first: the sentence asks whether the tables are swapped."""
    physical, runs = good_tables()
    with pytest.raises(ProblemError, match="Are the tables swapped"):
        read(runs, physical)


def test_constant_columns() -> None:
    """A calibration variable or a response that never changes is an error, a control a warning."""
    physical, runs = good_tables()
    with pytest.raises(ProblemError, match="must vary among the runs"):
        read(physical, runs.assign(theta=1.0))
    with pytest.raises(ProblemError, match="response that never changes"):
        read(physical, runs.assign(y=1.0))
    with pytest.warns(DataWarning, match="carries no information"):
        read(physical.assign(z=2.0), runs.assign(z=2.0), control=["x", "z"])


def test_too_few_points() -> None:
    """Fewer measurements or runs than can be used are errors; few are warnings."""
    physical, runs = good_tables()
    with pytest.raises(ProblemError, match=r"two different control vectors .* found 1 in 1 row"):
        read(physical[:1], runs)
    with pytest.raises(ProblemError, match="at least 4 runs"):
        read(physical, runs[:3])
    with pytest.warns(DataWarning, match="only 3 measured sites; "):
        read(physical[:3], runs)
    with pytest.raises(ProblemError, match=r"two different control vectors .* found 1 in 5 rows"):
        read(physical.assign(x=0.5), runs)


def test_sites_are_counted_and_not_rows() -> None:
    """Three sites measured four times each are still three sites; five sites draw no comment."""
    physical, runs = good_tables()
    with pytest.warns(DataWarning, match=r"only 3 measured sites \(12 rows with their replicates\)"):
        read(pd.concat([physical[:3]] * 4), runs)
    found = inspect_tables(pd.concat([physical] * 2), runs, Roles(("x",), ("theta",), (), "y"))
    assert not any("measured sites" in warning for warning in found.warnings)


def test_units_in_which_float64_suffers() -> None:
    """A huge offset is a warning, a range that cannot be squared an error."""
    physical, runs = good_tables()
    with pytest.warns(DataWarning, match="subtract an offset"):
        read(physical.assign(x=physical.x + 1e10), runs.assign(x=runs.x + 1e10))
    with pytest.raises(ProblemError, match="change its unit"):
        read(physical, runs.assign(theta=runs.theta * 1e200))


def test_sites_outside_the_runs_are_said() -> None:
    """Extrapolation is announced before anything is fitted."""
    physical, runs = good_tables()
    with pytest.warns(DataWarning, match=r"1 of 5 sites lie outside the range of the runs \(x = 1\)"):
        read(physical.assign(y=1.0), runs[runs.x < 0.9])


def test_responses_that_no_run_reaches_are_said() -> None:
    """Measurements beyond every run's response may mean a biased model."""
    physical, runs = good_tables()
    with pytest.warns(DataWarning, match="5 of 5 measured responses lie outside"):
        read(physical.assign(y=9.0), runs)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"x;y\n1;2\n", "does not look comma-separated"),
        (b"x,x\n1,2\n", "more than one column called 'x'"),
        (b"x,y\n1,2\n3\n", "line 3: 2 cells are expected"),
        (b"x,y\n1,2,5\n", "line 2: 2 cells are expected"),
        (b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_files_that_are_not_tables(tmp_path: Path, content: bytes, sentence: str) -> None:
    """Each kind of broken file has its sentence."""
    _, runs = good_tables()
    path = tmp_path / "broken.csv"
    path.write_bytes(content)
    with pytest.raises(ProblemError, match=sentence):
        read(path, runs)


def test_missing_files_and_wrong_types(tmp_path: Path) -> None:
    """No file, a directory, a bad Parquet file, an object of another kind."""
    _, runs = good_tables()
    with pytest.raises(ProblemError, match="does not exist"):
        read(tmp_path / "none.csv", runs)
    with pytest.raises(ProblemError, match="is a directory"):
        read(tmp_path, runs)
    (tmp_path / "bad.parquet").write_bytes(b"x,y\n")
    with pytest.raises(ProblemError, match="not a readable Parquet file"):
        read(tmp_path / "bad.parquet", runs)
    with pytest.raises(ProblemError, match="got list"):
        read([1, 2], runs)


def test_inspection_collects_every_error(tmp_path: Path) -> None:
    """`inspect_tables` reports all problems at once, `from_tables` the first and how many more."""
    physical, runs = good_tables()
    paths = csv_pair(tmp_path, changed(physical, 0, "x", "a"), changed(runs, 1, "theta", "b"))
    roles = Roles.parse(control="x", functional="theta", response="y")
    inspection = inspect_tables(*paths, roles)
    assert inspection.problem is None
    assert len(inspection.errors) == 2
    with pytest.raises(ProblemError, match="1 more"):
        read(*paths)


def test_unused_columns_are_noted() -> None:
    """A column without a role is not used, and that is said."""
    physical, runs = good_tables()
    roles = Roles.parse(control="x", functional="theta", response="y")
    inspection = inspect_tables(physical, runs.assign(author="me"), roles)
    assert inspection.notes == ("the runs table: column 'author' has no role and is not used.",)


def test_the_callers_table_is_left_alone() -> None:
    """Reading never changes the user's DataFrame."""
    physical, runs = good_tables()
    before = physical.copy(), runs.copy()
    problem = read(physical, runs)
    pd.testing.assert_frame_equal(physical, before[0])
    pd.testing.assert_frame_equal(runs, before[1])
    with pytest.raises(ValueError, match="read-only"):
        problem.runs.control[0, 0] = 1.0


def test_spaces_bom_and_blank_lines_are_harmless(tmp_path: Path) -> None:
    """A byte-order mark, padded cells and blank lines do not change what is read; lines are still right."""
    _, runs = good_tables()
    path = tmp_path / "physical.csv"
    path.write_bytes("\ufeffx , y\n0.0, 0.5\n\n0.5 ,1.0\n1.0,bad\n".encode())
    with pytest.raises(ProblemError, match=r"row 3 \(line 5\), column 'y'.*'bad'"):
        read(path, runs)

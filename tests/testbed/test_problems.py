"""One conformance class over every test problem, and what is particular to each."""

import numpy as np
import pytest

import funcal
from funcal.errors import DataWarning, ProblemError, SettingsError
from funcal.testbed import REAL_PROBLEMS, get_problem, problems
from funcal.testbed.bad_units import FUNCTIONAL_UNIT
from funcal.testbed.gaussian_path import RATES, evaluate_path, path_weights
from funcal.testbed.held_out_problem import split_in_folds
from funcal.testbed.synthetic_one import synthetic_one

#: The ten-dimensional problem has tests of its own on a shorter path.
FAST = [key for key in problems() if key != "ten-dimensional"]


@pytest.mark.parametrize("key", FAST)
@pytest.mark.filterwarnings("ignore::funcal.errors.DataWarning")
class TestEveryProblem:
    """What holds for all of them."""

    @pytest.fixture(autouse=True)
    def _real_data(self, key: str, request: pytest.FixtureRequest) -> None:
        if key in REAL_PROBLEMS:
            request.getfixturevalue("data_dir")

    def test_a_seed_gives_the_same_case_twice(self, key: str) -> None:
        """A case is a function of its seed and fold."""
        one, two = get_problem(key).draw(3), get_problem(key).draw(3)
        assert one.physical.equals(two.physical)
        assert one.runs.equals(two.runs)
        np.testing.assert_array_equal(one.test_controls, two.test_controls)

    def test_another_seed_gives_another_case(self, key: str) -> None:
        """Replicates differ, in noise or in the split."""
        one, two = get_problem(key).draw(0), get_problem(key).draw(1)
        assert not one.physical.equals(two.physical)

    def test_the_tables_make_a_calibration_problem(self, key: str) -> None:
        """The tables go through the same door as a user's."""
        case = get_problem(key).draw(0)
        problem = funcal.CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())
        assert problem.num_controls == case.test_controls.shape[1]
        truth = case.test_calibration()
        if truth is not None:
            assert truth.shape == (len(case.test_controls), problem.num_functional + problem.num_global)
        assert case.test_response.shape == (len(case.test_controls),)


def test_truth_of_problem_one_is_the_papers_formula() -> None:
    """F^p(x) = exp(-0.05x² - 0.05x)(sin²x + 1), written out again."""
    case = get_problem("synthetic-1").draw(5)
    x = case.test_controls[:, 0]
    expected = np.exp(-0.05 * x**2 - 0.05 * x) * (np.sin(x) ** 2 + 1)
    np.testing.assert_allclose(case.test_response, expected, rtol=1e-12)
    assert (len(case.physical), len(case.runs), len(x)) == (6, 30, 12)


def test_problem_two_matches_where_its_theta_is_defined() -> None:
    """F^s(x, F^θ(x)) = F^p(x) on x1 + x2 ≥ 1, and test points lie there; the grid's step fits r = 0.9."""
    problem = get_problem("synthetic-2")
    case = problem.draw(2)
    assert np.all(case.test_controls.sum(axis=1) >= 1.0)
    np.testing.assert_allclose(
        problem.computer_model(case.test_controls, case.test_functional), case.test_response, atol=1e-12
    )
    steps = np.diff(np.unique(case.physical["x1"]))
    np.testing.assert_allclose(steps, 0.875)


def test_problem_three_has_the_papers_sites() -> None:
    """Fifteen sites with a gap that holds the five test points."""
    case = get_problem("synthetic-3").draw(0)
    np.testing.assert_allclose(case.test_controls[:, 0], [0.45, 0.5, 0.55, 0.6, 0.65])
    np.testing.assert_allclose(case.physical["x"].iloc[[0, 8, 9, 14]], [0.0, 0.4, 0.7, 0.95])
    assert case.test_global is not None
    assert len(case.runs) == 150


@pytest.mark.statistical
def test_noise_has_variance_five_hundredths() -> None:
    """N(0, 0.05) is a variance. 1 200 residuals; false-alarm rate 1e-4; the sd reading would fail by far."""
    problem = get_problem("synthetic-1")
    residuals = []
    for seed in range(200):
        physical = problem.draw(seed).physical
        residuals.append(physical["y"] - problem.true_response(physical[["x"]].to_numpy()))
    ratio = np.mean(np.concatenate(residuals) ** 2) / 0.05
    # χ²(1200)/1200 has sd 0.041; 3.9 sd on either side.
    assert abs(ratio - 1.0) < 0.16
    assert abs(ratio * 0.05 / 0.05**2 - 1.0) > 1.0


def test_runs_are_dealt_evenly_to_the_sites() -> None:
    """The anchor timing needs 100 runs on six sites: 17 or 16 at each."""
    counts = synthetic_one(100).draw(0).runs.groupby("x").size()
    assert sorted(counts) == [16, 16, 17, 17, 17, 17]


def test_bad_units_are_problem_one_in_disguise() -> None:
    """θ is of the order of its unit."""
    case = get_problem("bad-units").draw(0)
    assert case.test_functional is not None
    assert np.all(case.test_functional / FUNCTIONAL_UNIT > 0.7)


def test_folds_partition_the_points(rng: np.random.Generator) -> None:
    """Twelve points in four folds of three, each point once."""
    folds = split_in_folds(12, 4, rng)
    assert [len(fold) for fold in folds] == [3, 3, 3, 3]
    assert sorted(np.concatenate(folds)) == list(range(12))


def test_held_out_points_are_not_in_the_training_table(data_dir: object) -> None:
    """Every fold trains on the other nine of the twelve weld means."""
    for fold in range(4):
        case = get_problem("spot-weld").draw(1, fold)
        assert len(case.physical) == 9
        training = {tuple(row) for row in case.physical[list(case.roles.control)].to_numpy()}
        assert not training & {tuple(row) for row in case.test_controls}


def test_the_shift_of_pva_sees_the_training_part_only(data_dir: object) -> None:
    """After the shift the training points inside (0.5, 1) have the runs' mean."""
    case = get_problem("pva").draw(2, 1)
    inside = case.physical["pva_amount"].between(0.5, 1.0, inclusive="neither")
    assert case.physical.loc[inside, "modulus"].mean() == pytest.approx(case.runs["modulus"].mean())
    raw = get_problem("pva-raw").draw(2, 1)
    assert raw.test_response.min() > 700


def test_the_path_is_the_gaussian_process_of_its_points(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a short path: G(X) = Lz, by another factorisation; and it is read back from the cache folder."""
    monkeypatch.setenv("FUNCAL_CACHE", str(tmp_path))
    path_weights.cache_clear()
    points, weights = path_weights(200)
    difference = points[:, None] - points[None]
    covariance = np.exp(-np.einsum("ijk,k->ij", difference**2, RATES)) + 1e-8 * np.eye(200)
    normals = np.linalg.cholesky(covariance).T @ weights
    np.testing.assert_allclose(evaluate_path(points[:5], 200), (covariance @ weights)[:5], atol=1e-5)
    # z is standard normal: |z|² within 5 sd of 200.
    assert abs(normals @ normals - 200) < 5 * np.sqrt(400)
    path_weights.cache_clear()
    np.testing.assert_array_equal(path_weights(200)[1], weights)
    assert list(tmp_path.glob("gaussian-path-*.npy"))
    path_weights.cache_clear()


def test_missing_data_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """A user without the data is told which file was looked for and what to set."""
    monkeypatch.setenv("FUNCAL_DATA", str(tmp_path))
    with pytest.raises(ProblemError, match=r"physical_12_means.csv.*FUNCAL_DATA"):
        get_problem("spot-weld").draw(0)


def test_unknown_problems_and_folds_are_refused(data_dir: object) -> None:
    """One sentence each."""
    with pytest.raises(SettingsError, match="no test problem is called 'weld'"):
        get_problem("weld")
    with pytest.raises(SettingsError, match="fold 4"):
        get_problem("spot-weld").draw(0, 4)


def test_pva_warns_of_the_site_outside_the_runs(data_dir: object) -> None:
    """The point x = 0.5 lies below every run; the user's door says so."""
    case = get_problem("pva").draw(0, 0)
    with pytest.warns(DataWarning):
        funcal.CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())

"""Anchors end to end: path and tree against brute force, constants, empty sites, warnings."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from funcal.errors import MatchingWarning, ProblemError, SettingsError
from funcal.matching import MatchingSettings, find_anchors, perturbed_anchors
from funcal.problem import CalibrationProblem

pytestmark = pytest.mark.filterwarnings("ignore::funcal.errors.DataWarning")


def _problem(
    seed: int, *, num_controls: int = 1, num_sites: int = 4, per_site: int = 3, with_global: bool = False
) -> CalibrationProblem:
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(num_controls)]
    sites = rng.random((num_sites, num_controls))
    physical = pd.DataFrame(sites, columns=names).assign(y=rng.uniform(0.2, 0.8, num_sites))
    runs = pd.DataFrame(np.repeat(sites, per_site, axis=0), columns=names)
    runs["t"], runs["p"], runs["y"] = (rng.random(len(runs)) for _ in range(3))
    runs.loc[[0, len(runs) - 1], "y"] = [0.0, 1.0]  # the runs' responses embrace the sites'
    return CalibrationProblem.from_tables(
        physical, runs, control=names, functional="t", global_="p" if with_global else (), response="y"
    )


def _literal_cost(problem: CalibrationProblem, anchors, runs) -> float:
    """Cost of a choice of runs straight from the definitions, corrected weights."""
    y = np.concatenate([problem.physical.response, problem.runs.response])
    t = problem.runs.calibration / np.ptp(problem.runs.calibration, axis=0)
    x = problem.runs.control / np.ptp(np.vstack([problem.physical.control, problem.runs.control]), axis=0)
    misfit = np.abs(problem.runs.response[runs] - problem.physical.response) / np.ptp(y)

    def edge(u: int, v: int) -> float:
        apart = float(np.linalg.norm(x[u] - x[v]))
        if anchors.model == "path" or apart <= anchors.radius:
            return anchors.lambda_ * float(np.linalg.norm(t[u] - t[v]))
        return anchors.penalty * apart

    if anchors.model == "path":
        return float(misfit.sum()) + sum(edge(u, v) for u, v in itertools.pairwise(runs))
    inside, outside, total = [runs[0]], list(runs[1:]), float(misfit.sum())
    while outside:
        weight, v = min((edge(u, v), v) for u in inside for v in outside)
        total += weight
        inside.append(v)
        outside.remove(v)
    return total


@pytest.mark.parametrize("num_controls", [1, 2])
@pytest.mark.parametrize("with_global", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_anchors_are_the_best_of_all_choices(seed: int, num_controls: int, with_global: bool) -> None:
    """Path (one control) and tree (two) beat every other choice of one run per site."""
    problem = _problem(seed, num_controls=num_controls, with_global=with_global)
    anchors = find_anchors(problem)
    assert anchors.model == ("path" if num_controls == 1 else "tree")
    assert (anchors.status, anchors.gap) == ("optimal", 0.0)
    site_of = np.argmin(
        ((problem.runs.control[:, None] - problem.physical.control[None]) ** 2).sum(-1), axis=1
    )
    members = [np.flatnonzero(site_of == i).tolist() for i in range(4)]
    best = min(_literal_cost(problem, anchors, list(choice)) for choice in itertools.product(*members))
    assert anchors.cost == pytest.approx(best, rel=1e-9)
    assert _literal_cost(problem, anchors, anchors.run.tolist()) == pytest.approx(best, rel=1e-9)
    assert anchors.misfit == pytest.approx(
        np.abs(problem.runs.response[anchors.run] - problem.physical.response)
    )
    assert anchors.functional.tolist() == problem.runs.functional[anchors.run].tolist()
    assert anchors.global_.shape == (4, int(with_global))
    assert anchors.edges.shape == (3, 2)


def test_units_do_not_matter() -> None:
    """Anchors are the same whatever the units of controls, responses and calibration variables."""
    problem = _problem(3, num_controls=2, num_sites=6, per_site=4)
    physical = pd.DataFrame(problem.physical.control * [1e3, 1e-2] + 5.0, columns=["a", "b"])
    physical["y"] = problem.physical.response * 40.0 - 7.0
    runs = pd.DataFrame(problem.runs.control * [1e3, 1e-2] + 5.0, columns=["a", "b"])
    runs["t"], runs["y"] = problem.runs.functional[:, 0] * 1e-4 + 3.0, problem.runs.response * 40.0 - 7.0
    other = CalibrationProblem.from_tables(physical, runs, control=["a", "b"], functional="t", response="y")
    assert find_anchors(other).run.tolist() == find_anchors(problem).run.tolist()


def test_constants_are_reported_and_can_be_overridden() -> None:
    """λ, r and M as used; the path needs neither r nor M."""
    problem = _problem(0, num_controls=2)
    chosen = find_anchors(problem)
    assert chosen.lambda_ == 0.5
    assert chosen.radius > 0
    assert chosen.penalty > 0
    given = find_anchors(problem, MatchingSettings(lambda_=1.0, radius=5.0, penalty=7.0, weights="printed"))
    assert (given.lambda_, given.radius, given.penalty, given.weights) == (1.0, 5.0, 7.0, "printed")
    path = find_anchors(_problem(0))
    assert math.isnan(path.radius)
    assert math.isnan(path.penalty)
    raw = find_anchors(problem, MatchingSettings(radius_scale="raw"))
    assert raw.status == "optimal"


def test_tree_on_one_control() -> None:
    """The tree can be asked for where the path would be taken."""
    anchors = find_anchors(_problem(1), MatchingSettings(model="tree"))
    assert anchors.model == "tree"
    assert math.isfinite(anchors.radius)


@pytest.mark.parametrize(
    "solver", ["branch_and_bound", "subset_dp", "enumeration", pytest.param("dcsub", marks=pytest.mark.mip)]
)
def test_solvers_agree(solver: str) -> None:
    """Every solver finds the same anchors and is named in the result."""
    problem = _problem(5, num_controls=2, num_sites=5)
    anchors = find_anchors(problem, MatchingSettings(solver=solver))
    assert anchors.solver == solver
    assert anchors.run.tolist() == find_anchors(problem).run.tolist()


def test_path_refuses_two_controls() -> None:
    """There is no order of sites in the plane."""
    with pytest.raises(SettingsError, match="exactly one control"):
        find_anchors(_problem(0, num_controls=2), MatchingSettings(model="path"))


class TestEmptySites:
    """A site without runs is an error that says which, or is left without an anchor."""

    @pytest.fixture
    def problem(self) -> CalibrationProblem:
        """Three sites; every run is near the first two."""
        physical = pd.DataFrame({"x": [0.0, 1.0, 9.0], "y": [0.0, 1.0, 2.0]})
        runs = pd.DataFrame({"x": [0.0, 0.1, 1.0, 1.1], "t": [0.0, 1.0, 0.2, 0.8], "y": [0.1, 2.0, 0.9, 0.0]})
        return CalibrationProblem.from_tables(physical, runs, control="x", functional="t", response="y")

    @pytest.mark.parametrize("model", ["path", "tree"])
    def test_error_names_the_site(self, problem: CalibrationProblem, model) -> None:
        """The sentence gives the control value and the way out."""
        with pytest.raises(ProblemError, match=r"site 3 \(x = 9\).*--empty-sites skip"):
            find_anchors(problem, MatchingSettings(model=model))

    @pytest.mark.parametrize("model", ["path", "tree"])
    def test_skip(self, problem: CalibrationProblem, model) -> None:
        """The other sites get their anchors, nothing is borrowed."""
        anchors = find_anchors(problem, MatchingSettings(model=model, empty_sites="skip"))
        assert anchors.site.tolist() == [0, 1]
        assert anchors.run.tolist() == [0, 2]


def test_small_radius_warns() -> None:
    """An r that leaves the sites in pieces is said, with the r that would not."""
    problem = _problem(2, num_controls=2, num_sites=5)
    with pytest.warns(MatchingWarning, match=r"leaves the sites in \d groups"):
        find_anchors(problem, MatchingSettings(radius=1e-6))


def test_unproved_anchors_warn() -> None:
    """A heuristic's anchors come with a warning unless its bound happens to be tight."""
    problem = _problem(8, num_controls=2, num_sites=12, per_site=6)
    with pytest.warns(MatchingWarning, match="not proved"):
        anchors = find_anchors(problem, MatchingSettings(solver="heuristic"))
    assert anchors.status == "feasible"


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "forest"},
        {"solver": "magic"},
        {"lambda_": -1.0},
        {"lambda_": math.nan},
        {"radius": 0.0},
        {"penalty": math.inf},
        {"weights": "new"},
        {"empty_sites": "borrow"},
        {"radius_scale": "log"},
        {"time_limit": -1.0},
    ],
)
def test_settings_are_checked(wrong) -> None:
    """Every value a setting cannot have is refused by name."""
    with pytest.raises(SettingsError, match=next(iter(wrong)).rstrip("_")):
        MatchingSettings(**wrong)


class TestEnsemble:
    """Anchors under perturbed responses equal those of the perturbed problems."""

    @pytest.mark.parametrize("num_controls", [1, 2])
    @pytest.mark.parametrize("weights", ["corrected", "printed"])
    def test_members_equal_single_solves(self, num_controls: int, weights) -> None:
        """Each member, with its own λ, is what `find_anchors` finds for those responses at the same scaling."""
        problem = _problem(4, num_controls=num_controls, num_sites=5, per_site=4)
        rng = np.random.default_rng(0)
        # Within the runs' responses, so that the scaling of each perturbed problem is the same.
        responses = np.clip(problem.physical.response + 0.05 * rng.normal(size=(12, 5)), 0.0, 1.0)
        lambdas = rng.uniform(0.1, 1.5, 12)
        settings = MatchingSettings(weights=weights)
        found = perturbed_anchors(problem, settings, responses, lambdas)
        assert found.shape == (12, 5)
        for row, response, lambda_ in zip(found, responses, lambdas, strict=True):
            physical = pd.DataFrame(problem.physical.control, columns=list(problem.roles.control))
            physical["y"] = response
            runs = pd.DataFrame(problem.runs.control, columns=list(problem.roles.control))
            runs["t"], runs["y"] = problem.runs.functional[:, 0], problem.runs.response
            single = CalibrationProblem.from_tables(
                physical, runs, control=problem.roles.control, functional="t", response="y"
            )
            anchors = find_anchors(single, MatchingSettings(weights=weights, lambda_=float(lambda_)))
            assert row.tolist() == anchors.run.tolist()

    def test_workers_do_not_matter(self) -> None:
        """One λ for all, one thread or two: the same anchors; the measured responses give the measured anchors."""
        problem = _problem(6, num_controls=2, num_sites=6, per_site=5)
        responses = problem.physical.response + 0.1 * np.random.default_rng(1).normal(size=(8, 6))
        responses[0] = problem.physical.response
        one = perturbed_anchors(problem, None, responses)
        two = perturbed_anchors(problem, None, responses, max_workers=2)
        assert np.array_equal(one, two)
        assert one[0].tolist() == find_anchors(problem).run.tolist()

    def test_shapes_are_checked(self) -> None:
        """Wrong shapes get a sentence; no rows give no anchors."""
        problem = _problem(0)
        with pytest.raises(SettingsError, match="one column for each of the 4 sites"):
            perturbed_anchors(problem, None, np.zeros((2, 3)))
        with pytest.raises(SettingsError, match="lambdas must hold"):
            perturbed_anchors(problem, None, np.zeros((2, 4)), [0.5])
        assert perturbed_anchors(problem, None, np.zeros((0, 4))).shape == (0, 4)

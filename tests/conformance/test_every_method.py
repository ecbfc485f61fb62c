"""One suite over all eleven methods: what a caller may count on, whatever the method."""

import dataclasses
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import funcal
from funcal.errors import SettingsError
from funcal.methods.registry import METHOD_KEYS, find_method
from funcal.result import check_supported
from funcal.result.settings import settings_from_values, settings_to_values
from funcal.testbed import get_problem

pytestmark = [
    pytest.mark.filterwarnings("ignore::funcal.errors.DataWarning"),
    pytest.mark.filterwarnings("ignore::funcal.errors.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::funcal.errors.MatchingWarning"),
]

#: Chains long enough for what is asked here, and no longer.
QUICK: dict[str, dict[str, Any]] = {
    "joint": {"num_chains": 2, "warmup": 100, "draws": 50, "max_draws": 50, "compare": False},
    "bnmc": {"warmup": 500, "draws": 500},
    "bnmc-dag": {"warmup": 500, "draws": 500},
    "nbc": {"chain.warmup": 500, "chain.draws": 500},
    "koh": {"chain.warmup": 500, "chain.draws": 500},
}
#: Methods that minimise or average: exact under a change of units.
ESTIMATORS = ("nfc", "pfc", "constant", "linear", "mean")


def _problem(key: str, seed: int = 4) -> funcal.CalibrationProblem:
    case = get_problem(key).draw(seed)
    return funcal.CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())


@cache
def _fitted(method: str, key: str = "synthetic-1") -> funcal.Calibration:
    return funcal.calibrate(_problem(key), method, seed=11, **QUICK.get(method, {}))


NEW = np.array([[0.2], [1.0], [2.7], [5.9]])


@pytest.mark.parametrize("method", METHOD_KEYS)
class TestEveryMethod:
    """On the first synthetic problem."""

    def test_says_what_it_is(self, method: str) -> None:
        """Key, title, capabilities, and settings that survive a round trip through plain values."""
        entry = find_method(method)
        assert entry.key == method
        assert len(entry.title) > 5
        assert entry.supports.estimates <= {"theta", "psi"}
        settings = entry.Settings()
        assert dataclasses.is_dataclass(settings)
        assert settings_from_values(entry.Settings, settings_to_values(settings)) == settings

    def test_draws_have_the_promised_shapes(self, method: str) -> None:
        """(chain, draw, …), finite; θ at the sites in user units where the method estimates it."""
        calibration = _fitted(method)
        shapes = {values.shape[:2] for values in calibration.fit.draws.values()}
        assert len(shapes) == 1
        assert all(np.all(np.isfinite(values)) for values in calibration.fit.draws.values())
        if "theta" in find_method(method).supports.estimates:
            theta = calibration.fit.draws["theta"]
            assert theta.shape[2:] == (6, 1)
            assert -1.0 < theta.mean() < 3.0
        assert 0.0 < float(calibration.fit.draws["noise_sd"].mean()) < 2.0

    def test_predictions_are_ordered_and_finite(self, method: str) -> None:
        """Lower ≤ mean ≤ upper; a measurement is less certain than the response; wider for a higher level."""
        prediction = _fitted(method).predict(NEW, level=0.9)
        response, observation = prediction.response, prediction.observation
        assert response.mean.shape == (4,)
        assert np.all(np.isfinite(response.mean))
        assert np.all(response.lower <= response.upper)
        assert np.all((response.lower <= response.mean) & (response.mean <= response.upper))
        assert np.all(observation.upper - observation.lower >= response.upper - response.lower - 1e-9)
        wider = _fitted(method).predict(NEW, level=0.99).response
        assert np.all(wider.upper - wider.lower >= response.upper - response.lower)
        assert 0.0 < response.mean.mean() < 2.5

    def test_theta_is_predicted_where_it_is_estimated(self, method: str) -> None:
        """θ(x) with an interval in user units, or no θ at all; the names are the user's."""
        prediction = _fitted(method).predict(NEW)
        expected = {"theta"} if "theta" in find_method(method).supports.estimates else set()
        assert set(prediction.calibration) == expected
        for marginal in prediction.calibration.values():
            assert np.all((marginal.lower <= marginal.mean) & (marginal.mean <= marginal.upper))
            assert np.all((marginal.mean > -1.0) & (marginal.mean < 3.0))
        columns = prediction.to_frame().columns
        assert list(columns[:2]) == ["x", "y_mean"]

    def test_a_seed_gives_the_same_result(self, method: str) -> None:
        """Bit for bit, threads or not."""
        again = funcal.calibrate(_problem("synthetic-1"), method, seed=11, **QUICK.get(method, {}))
        for name, values in _fitted(method).fit.draws.items():
            np.testing.assert_array_equal(again.fit.draws[name], values)
        np.testing.assert_array_equal(
            again.predict(NEW).response.mean, _fitted(method).predict(NEW).response.mean
        )

    def test_a_saved_result_predicts_the_same(self, method: str, tmp_path: Path) -> None:
        """Through a netCDF file."""
        loaded = funcal.load(_fitted(method).save(tmp_path / "result.nc"))
        one, two = loaded.predict(NEW), _fitted(method).predict(NEW)
        np.testing.assert_allclose(one.to_frame().to_numpy(), two.to_frame().to_numpy(), rtol=1e-9)

    def test_replicates_are_taken(self, method: str) -> None:
        """Three rows at every site make six sites and tighter noise knowledge, not an error."""
        case = get_problem("synthetic-1").draw(4)
        rng = np.random.default_rng(0)
        copies = [case.physical.assign(y=case.physical["y"] + rng.normal(0, 0.1, 6)) for _ in range(3)]
        problem = funcal.CalibrationProblem.from_tables(pd.concat(copies), case.runs, **case.roles.keywords())
        prediction = funcal.calibrate(problem, method, seed=2, **QUICK.get(method, {})).predict(NEW)
        assert np.all(np.isfinite(prediction.observation.upper))

    def test_an_unsupported_problem_gets_one_sentence(self, method: str) -> None:
        """What the capabilities rule out is refused before anything runs; what they allow is not."""
        entry, problem = find_method(method), _problem("synthetic-2")
        most = entry.supports.max_controls
        if most is not None and most < 2:
            with pytest.raises(SettingsError, match=f"method '{method}' supports at most"):
                funcal.calibrate(problem, method, seed=1)
        else:
            check_supported(entry, problem)

    def test_unknown_settings_are_refused(self, method: str) -> None:
        """One sentence that names the setting."""
        with pytest.raises(SettingsError, match="no setting 'speed'"):
            funcal.calibrate(_problem("synthetic-1"), method, seed=1, speed=3)


@pytest.mark.parametrize("method", [key for key in METHOD_KEYS if key != "bnmc-dag"])
def test_a_global_variable_is_estimated(method: str) -> None:
    """Problem 3's ψ by every method that estimates it, in its box."""
    problem = _problem("synthetic-3")
    prediction = funcal.calibrate(problem, method, seed=3, **QUICK.get(method, {})).predict(
        np.array([[0.5], [0.6]])
    )
    assert np.all(np.abs(prediction.response.mean - np.array([2.04, 2.45])) < 1.0)
    if "psi" in find_method(method).supports.estimates:
        assert set(prediction.calibration) == {"theta", "psi"}
        assert np.all(np.abs(prediction.calibration["psi"].mean - 2.5) < 4.0)


@pytest.mark.parametrize("method", ESTIMATORS)
def test_units_do_not_matter(method: str) -> None:
    """Controls in millionths, θ in thousand millions, y far from zero: the same prediction in those units."""
    case = get_problem("synthetic-1").draw(4)
    physical = pd.DataFrame({"x": case.physical["x"] * 1e-6, "y": 1e6 + 1e4 * case.physical["y"]})
    runs = pd.DataFrame(
        {"x": case.runs["x"] * 1e-6, "theta": case.runs["theta"] * 1e9, "y": 1e6 + 1e4 * case.runs["y"]}
    )
    problem = funcal.CalibrationProblem.from_tables(physical, runs, **case.roles.keywords())
    prediction = funcal.calibrate(problem, method, seed=11).predict(NEW * 1e-6)
    expected = _fitted(method).predict(NEW)
    if method == "pfc":
        # θ = γ_0 exp(-γx) decays toward raw zero, which scaling by a factor keeps.
        assert set(prediction.calibration) == {"theta"}
    np.testing.assert_allclose((prediction.response.mean - 1e6) / 1e4, expected.response.mean, atol=2e-3)
    for name, marginal in prediction.calibration.items():
        np.testing.assert_allclose(marginal.mean / 1e9, expected.calibration[name].mean, atol=2e-3)

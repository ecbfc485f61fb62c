"""Residual analysis of Appendix E."""

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.diagnostic import acorr_ljungbox

from funcal.diagnostics.residual_tests import analyse_residuals, order_by_column
from funcal.errors import SettingsError


def by_name(analysis):
    return {(test.test, test.ordered_by): test for test in analysis.tests}


def test_tests_are_those_of_scipy_and_statsmodels(rng):
    """Shapiro–Wilk, t and Ljung–Box at lag 1 in each control's order and in that of the fitted values."""
    controls, residuals, fitted = rng.random((12, 2)), rng.standard_normal(12), rng.random(12)
    found = by_name(analyse_residuals(controls, residuals, fitted, control_names=("load", "gauge")))
    assert list(found) == [
        ("Shapiro-Wilk", ""),
        ("t", ""),
        ("Ljung-Box lag 1", "load"),
        ("Ljung-Box lag 1", "gauge"),
        ("Ljung-Box lag 1", "fitted"),
    ]
    assert found["Shapiro-Wilk", ""].p_value == pytest.approx(scipy.stats.shapiro(residuals).pvalue)
    assert found["t", ""].p_value == pytest.approx(scipy.stats.ttest_1samp(residuals, 0.0).pvalue)
    for name, key in (("load", controls[:, 0]), ("gauge", controls[:, 1]), ("fitted", fitted)):
        expected = acorr_ljungbox(residuals[np.argsort(key)], lags=[1])["lb_pvalue"].iloc[0]
        assert found["Ljung-Box lag 1", name].p_value == pytest.approx(expected)


def test_permutation_p_values_are_near_the_classical_ones(rng):
    """For normal residuals of some number both agree; a trend is found by both."""
    controls = np.linspace(0.0, 1.0, 40)[:, None]
    quiet = by_name(analyse_residuals(controls, rng.standard_normal(40), rng.random(40)))
    for test in quiet.values():
        if test.test != "Shapiro-Wilk":
            assert test.permutation_p_value == pytest.approx(test.p_value, abs=0.12)
    trend = by_name(analyse_residuals(controls, controls[:, 0] - 0.2, rng.random(40)))
    assert trend["Ljung-Box lag 1", "x1"].permutation_p_value < 0.01
    assert trend["t", ""].permutation_p_value < 0.01


def test_ties_in_a_control_are_broken_by_the_others():
    """A control with two levels has one order only, whatever the order of the rows (point 42)."""
    controls = np.array([[1.0, 5.0, 2.0], [0.0, 7.0, 1.0], [1.0, 4.0, 9.0], [0.0, 7.0, 0.0], [1.0, 4.0, 3.0]])
    assert order_by_column(controls, 0).tolist() == [3, 1, 4, 2, 0]
    shuffled = np.array([4, 2, 0, 3, 1])
    again = shuffled[order_by_column(controls[shuffled], 0)]
    assert again.tolist() == [3, 1, 4, 2, 0]


def test_the_table_is_the_same_every_time_and_carries_n(rng):
    """Permutations come from a fixed stream; every row says how many residuals it rests on."""
    controls, residuals, fitted = rng.random((11, 1)), rng.standard_normal(11), rng.random(11)
    first, second = (analyse_residuals(controls, residuals, fitted).to_frame() for _ in range(2))
    assert first.equals(second)
    assert (first["n"] == 11).all()


@pytest.mark.parametrize(("n", "word"), [(6, "almost no power"), (20, "little power"), (200, "fair power")])
def test_a_word_on_power(rng, n, word):
    """The summary says what n residuals could have shown."""
    analysis = analyse_residuals(rng.random((n, 1)), rng.standard_normal(n), rng.random(n))
    assert word in analysis.power
    assert f"n = {n}" in analysis.summary()


def test_equal_residuals_give_no_verdict():
    """Statistics that are 0/0 are NaN, without a warning."""
    analysis = analyse_residuals(np.arange(5.0), np.ones(5), np.arange(5.0))
    assert all(np.isnan(test.p_value) for test in analysis.tests)


@pytest.mark.parametrize(
    ("residuals", "match"),
    [([0.1, 0.2], "at least 3"), ([0.1, np.nan, 0.3, 0.2], "finite"), ([[0.1]], "same order")],
)
def test_bad_residuals_are_refused_in_a_sentence(residuals, match):
    """Too few, not finite, or of another length."""
    n = len(residuals)
    with pytest.raises(SettingsError, match=match):
        analyse_residuals(np.arange(float(n)), np.array(residuals), np.zeros(n))

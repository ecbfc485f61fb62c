"""Analysis of residuals (Appendix E): normality, zero mean, no lag-1 autocorrelation.

Residuals should be out of sample (a test set or cross-validation): those of a Gaussian process at its own training
points are not independent even when the model is right (`method.md`, point 43). With the 5 to 12 points of the
paper's problems the tests have almost no power, so every result carries n and a word on it; a test that does not
reject validates nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.stats

from ..errors import SettingsError
from ..problem import FloatArray, IntArray

__all__ = ["ResidualAnalysis", "ResidualTest", "analyse_residuals", "order_by_column"]

#: Fewest residuals for which every test is defined (Shapiro–Wilk needs 3, Ljung–Box at lag 1 needs 3).
FEWEST = 3
#: Lag-1 autocorrelation that the word on power refers to, and the level of the test.
REFERENCE_CORRELATION, LEVEL = 0.5, 0.05


@dataclass(frozen=True)
class ResidualTest:
    """One test.

    Attributes
    ----------
    test : str
        ``"Shapiro-Wilk"``, ``"t"`` or ``"Ljung-Box lag 1"``.
    ordered_by : str
        Column that orders the residuals, for Ljung–Box; empty otherwise.
    hypothesis : str
        What a small p-value speaks against.
    statistic, p_value : float
    permutation_p_value : float
        From random sign flips (t) or random orders (Ljung–Box); NaN for Shapiro–Wilk, which needs none.
    """

    test: str
    ordered_by: str
    hypothesis: str
    statistic: float
    p_value: float
    permutation_p_value: float


@dataclass(frozen=True)
class ResidualAnalysis:
    """All tests of one set of residuals.

    Attributes
    ----------
    residuals, fitted : (n,)
    tests : tuple of ResidualTest
    power : str
        What so few residuals could have shown.
    """

    residuals: FloatArray
    fitted: FloatArray
    tests: tuple[ResidualTest, ...]
    power: str

    @property
    def num_residuals(self) -> int:
        """How many residuals there are, n."""
        return len(self.residuals)

    def to_frame(self) -> pd.DataFrame:
        """One row per test, with n."""
        frame = pd.DataFrame([vars(test) for test in self.tests])
        frame.insert(2, "n", self.num_residuals)
        return frame

    def summary(self) -> str:
        """Table and word on power as text."""
        return f"{self.to_frame().to_string(index=False)}\n{self.power}"


def analyse_residuals(
    controls: FloatArray,
    residuals: FloatArray,
    fitted: FloatArray,
    *,
    control_names: tuple[str, ...] | None = None,
    num_permutations: int = 2000,
    rng: np.random.Generator | None = None,
) -> ResidualAnalysis:
    """Run the tests of Appendix E.

    Parameters
    ----------
    controls : (n, dx)
    residuals, fitted : (n,)
        Measured minus predicted responses, and the predicted ones.
    control_names
        Names of the controls; x1, x2, … unless given.
    num_permutations
        Random sign flips and orders for the permutation p-values.
    rng
        Randomness of the permutations; a fixed stream unless given, so that the table does not change.

    Raises
    ------
    SettingsError
        If there are fewer than three residuals, or the lengths differ, or a value is not finite.
    """
    x = np.asarray(controls, dtype=np.float64)
    x = x.reshape(-1, 1) if x.ndim == 1 else x
    e = np.array(residuals, dtype=np.float64)
    f = np.array(fitted, dtype=np.float64)
    if not (e.ndim == f.ndim == 1 and len(x) == len(e) == len(f)):
        raise SettingsError(
            "controls, residuals and fitted values must have one row for each measurement; "
            f"found shapes {x.shape}, {e.shape} and {f.shape}: pass them in the same order."
        )
    if len(e) < FEWEST or not (np.isfinite(x).all() and np.isfinite(e).all() and np.isfinite(f).all()):
        raise SettingsError(
            f"at least {FEWEST} finite residuals with finite controls are needed; found {len(e)} rows, "
            f"{int(np.isfinite(e).sum())} of them with a finite residual: use more held-out points."
        )
    names = control_names or tuple(f"x{j + 1}" for j in range(x.shape[1]))
    rng = np.random.default_rng(0) if rng is None else rng
    tests = [_normality(e), _zero_mean(e, num_permutations, rng)]
    for j, name in enumerate(names):
        tests.append(_independence(e[order_by_column(x, j)], name, num_permutations, rng))
    by_fitted = np.lexsort([*x.T[::-1], f])
    tests.append(_independence(e[by_fitted], "fitted", num_permutations, rng))
    return ResidualAnalysis(residuals=e, fitted=f, tests=tuple(tests), power=_word_on_power(len(e)))


def order_by_column(controls: FloatArray, column: int) -> IntArray:
    """Order rows by one control; ties are broken by the remaining controls, from the first to the last (point 42)."""
    rest = [controls[:, j] for j in range(controls.shape[1]) if j != column]
    order: IntArray = np.lexsort([*rest[::-1], controls[:, column]])
    return order


def _normality(e: FloatArray) -> ResidualTest:
    if np.ptp(e) == 0.0:  # the statistic is 0/0 for equal residuals
        return ResidualTest("Shapiro-Wilk", "", "residuals are normal", np.nan, np.nan, np.nan)
    found = scipy.stats.shapiro(e)
    return ResidualTest(
        "Shapiro-Wilk", "", "residuals are normal", float(found.statistic), float(found.pvalue), np.nan
    )


def _zero_mean(e: FloatArray, num_permutations: int, rng: np.random.Generator) -> ResidualTest:
    hypothesis = "residuals have mean zero"
    deviation = e.std(ddof=1)
    if deviation == 0.0:
        return ResidualTest("t", "", hypothesis, np.nan, np.nan, np.nan)
    statistic = e.mean() / (deviation / np.sqrt(len(e)))
    p_value = 2.0 * scipy.stats.t.sf(abs(statistic), len(e) - 1)
    flipped = np.abs((rng.choice([-1.0, 1.0], (num_permutations, len(e))) * e).mean(axis=1))
    # + 1: the order found is one of the permutations; the tolerance lets exact ties count as such
    extreme = np.sum(flipped >= abs(e.mean()) * (1.0 - 1e-12))
    return ResidualTest(
        "t", "", hypothesis, float(statistic), float(p_value), float((extreme + 1) / (num_permutations + 1))
    )


def _independence(
    ordered: FloatArray, name: str, num_permutations: int, rng: np.random.Generator
) -> ResidualTest:
    hypothesis = "no lag-1 autocorrelation"
    if np.ptp(ordered) == 0.0:
        return ResidualTest("Ljung-Box lag 1", name, hypothesis, np.nan, np.nan, np.nan)
    from statsmodels.stats.diagnostic import acorr_ljungbox

    table = acorr_ljungbox(ordered, lags=[1])
    shuffled = rng.permuted(np.tile(ordered, (num_permutations, 1)), axis=1)
    observed = abs(_lag_one(ordered[None, :])[0])
    extreme = np.sum(np.abs(_lag_one(shuffled)) >= observed * (1.0 - 1e-12))
    return ResidualTest(
        "Ljung-Box lag 1",
        name,
        hypothesis,
        float(table["lb_stat"].iloc[0]),
        float(table["lb_pvalue"].iloc[0]),
        float((extreme + 1) / (num_permutations + 1)),
    )


def _lag_one(rows: FloatArray) -> FloatArray:
    centred = rows - rows.mean(axis=1, keepdims=True)
    result: FloatArray = (centred[:, 1:] * centred[:, :-1]).sum(axis=1) / (centred**2).sum(axis=1)
    return result


def _word_on_power(num_residuals: int) -> str:
    """Say what n residuals could show, by the normal approximation of the lag-1 autocorrelation."""
    n = num_residuals
    critical = scipy.stats.norm.isf(LEVEL / 2.0) / np.sqrt(n)
    spread = np.sqrt((1.0 - REFERENCE_CORRELATION**2) / n)
    power = scipy.stats.norm.sf((critical - REFERENCE_CORRELATION) / spread)
    # smallest mean that a t test finds with probability 0.8, in standard deviations
    shift = (scipy.stats.norm.isf(LEVEL / 2.0) + scipy.stats.norm.isf(0.2)) / np.sqrt(n)
    verdict = "almost no power" if n <= 12 else "little power" if n <= 30 else "fair power"
    return (
        f"n = {n}: {verdict}. A lag-1 autocorrelation of {REFERENCE_CORRELATION:g} would be found with probability "
        f"about {power:.2f}, and a mean of {shift:.1f} residual sds with probability 0.8; a test that does not reject "
        "validates nothing."
    )

"""Scores from records, by hand; CRPS by quadrature."""

import numpy as np
import pytest
from scipy import integrate, stats

from funcal.diagnostics.scores import coverage, interval_score, mixture_crps, root_mean_square
from funcal.study.score_table import aggregate, paired_comparison, tidy_scores


def _record(method: str, seed: int, fold: int, error: float, status: str = "ok") -> dict:
    record = {"problem": "p", "method": method, "variant": "", "seed": seed, "fold": fold, "status": status}
    if status == "ok":
        record |= {
            "y_true": [1.0, 2.0],
            "y_mean": [1.0 + error, 2.0 - error],
            "y_lower": [0.5, 2.1],
            "y_upper": [1.5, 2.5],
            "crps": [0.1, 0.3],
            "converged": None,
            "response_sd": 2.0,
            "timing": {"fit_seconds": 1.0 + fold},
            "t_true": [[1.0, 5.0], [1.0, 5.0]],
            "t_mean": [[1.3, 5.0], [1.3, 5.4]],
            "t_lower": [[0.9, 5.1], [1.1, 5.1]],
            "t_upper": [[1.9, 5.2], [1.9, 5.2]],
            "num_functional": 1,
        }
    return record


def test_folds_are_pooled_before_the_root() -> None:
    """Errors 0.3 and 0.4 in two folds give √((0.09 + 0.16)/2)."""
    scores = tidy_scores([_record("linear", 0, 0, 0.3), _record("linear", 0, 1, 0.4)]).iloc[0]
    assert scores["rmse_y"] == pytest.approx(np.sqrt(0.125))
    assert scores["rmse_y_sd"] == pytest.approx(np.sqrt(0.125) / 2)
    assert scores["coverage_y"] == 0.5
    assert scores["rmse_theta"] == pytest.approx(0.3)
    assert scores["rmse_psi"] == pytest.approx(np.sqrt(0.08))
    assert scores["rmse_t"] == pytest.approx(np.sqrt(0.09 + 0.08))
    assert scores["coverage_theta"] == 0.5
    assert scores["seconds"] == 1.5


def test_a_replicate_with_a_failed_fold_has_no_scores() -> None:
    """It is counted, not averaged away."""
    scores = tidy_scores([_record("nfc", 0, 0, 0.3), _record("nfc", 0, 1, 0.0, "failed")])
    assert scores.loc[0, "failed"] == 1
    assert np.isnan(float(scores.loc[0, "rmse_y"]))
    assert len(aggregate(scores)) == 0


def test_medians_ranges_and_pairs() -> None:
    """Method errors twice the reference's on every replicate."""
    records = [_record("linear", seed, 0, 0.1 * (seed + 1)) for seed in range(5)]
    records += [_record("nfc", seed, 0, 0.2 * (seed + 1)) for seed in range(5)]
    scores = tidy_scores(records)
    summary = aggregate(scores).set_index(["method", "metric"])
    assert summary.loc[("linear", "rmse_y"), "value"] == pytest.approx(0.3)
    pair = paired_comparison(scores, "linear").iloc[0]
    assert pair["ratio"] == pytest.approx(2.0)
    assert (pair["lower"], pair["upper"]) == (pytest.approx(2.0), pytest.approx(2.0))
    assert pair["reference_better"] == 1.0


def test_crps_equals_its_definition() -> None:
    """∫ (F(z) - 1{z ≥ y})² dz of a mixture of two normals, by quadrature."""
    mean, variance, truth = np.array([[0.0], [2.0]]), np.array([[1.0], [0.25]]), 0.7

    def cdf(z: float) -> float:
        return 0.5 * stats.norm.cdf(z, 0, 1) + 0.5 * stats.norm.cdf(z, 2, 0.5)

    below = integrate.quad(lambda z: cdf(z) ** 2, -10, truth)[0]
    above = integrate.quad(lambda z: (1 - cdf(z)) ** 2, truth, 12)[0]
    assert mixture_crps(mean, variance, np.array([truth]))[0] == pytest.approx(below + above, rel=1e-6)


def test_crps_of_a_sure_prediction_is_its_error() -> None:
    """A mixture of equal points."""
    assert mixture_crps(np.full((500, 1), 3.0), np.zeros((500, 1)), np.array([1.0]))[0] == pytest.approx(2.0)


def test_interval_score_and_coverage_by_hand() -> None:
    """Width 1 inside; 1 + 40 × 0.1 outside by a tenth."""
    lower, upper, truth = np.array([0.0, 0.0]), np.array([1.0, 1.0]), np.array([0.5, 1.1])
    assert interval_score(lower, upper, truth) == pytest.approx((1.0 + 1.0 + 40 * 0.1) / 2)
    assert coverage(lower, upper, truth) == 0.5
    assert root_mean_square(np.array([[3.0, 4.0], [0.0, 0.0]])) == pytest.approx(np.sqrt(12.5))

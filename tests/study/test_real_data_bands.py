"""The rivals on the real data, within bands of the published and prototype numbers (folds differ, so bands)."""

import numpy as np
import pytest

from funcal.study.plan import StudyPlan, Variant
from funcal.study.runner import run_study
from funcal.study.score_table import aggregate, tidy_scores

pytestmark = pytest.mark.slow

#: Median over splits of the pooled four-fold RMSE: published or prototype value and how far ours may lie from it.
WELD_MM = {"nfc": (0.68, 0.13), "nbc": (0.53, 0.10), "linear": (0.325, 0.02), "mean": (1.03, 0.06)}
PVA_SD = {"nfc": (0.33, 0.07), "nbc": (0.31, 0.06), "linear": (0.29, 0.02)}


@pytest.mark.parametrize(
    ("problem", "metric", "bands"), [("spot-weld", "rmse_y", WELD_MM), ("pva", "rmse_y_sd", PVA_SD)]
)
def test_rivals_reproduce_their_published_errors(
    data_dir, tmp_path, problem: str, metric: str, bands: dict[str, tuple[float, float]]
) -> None:
    """Ten random splits of four folds each."""
    plan = StudyPlan((problem,), tuple(Variant(key) for key in bands), splits=10)
    summary = aggregate(tidy_scores(run_study(plan, tmp_path, workers=2).read().values()))
    values = summary[summary["metric"] == metric].set_index("method")["value"]
    for method, (expected, tolerance) in bands.items():
        assert abs(values[method] - expected) < tolerance, (
            f"{method}: {values[method]:.3f}, expected {expected}"
        )
    assert np.isfinite(values).all()

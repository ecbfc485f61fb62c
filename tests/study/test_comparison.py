"""The plain words of a comparison, from made-up scores whose meaning is known."""

import pytest

from funcal.study.comparison import Comparison, comparison_table, conclude
from funcal.study.score_table import tidy_scores


def _comparison(errors: dict[str, list[float]]) -> Comparison:
    """Scores of methods by split; intervals hold every measurement."""
    records = [
        {
            "problem": "data", "method": method, "variant": "", "seed": split, "fold": 0, "status": "ok",
            "y_true": [1.0, 2.0], "y_mean": [1.0 + error, 2.0 - error], "y_lower": [-9.0, -9.0], "y_upper": [9.0, 9.0],
            "crps": [0.1, 0.1], "converged": None, "response_sd": 2.0, "timing": {"fit_seconds": 1.0},
        }
        for method, by_split in errors.items()
        for split, error in enumerate(by_split)
    ]  # fmt: skip
    num_splits = len(next(iter(errors.values())))
    return Comparison(tidy_scores(records), 12, 4, num_splits, 2.0, {})


def test_a_helpful_model_is_said_to_help() -> None:
    """The calibration wins on every one of six splits."""
    words = conclude(_comparison({"joint": [0.1] * 6, "linear": [0.3] * 6}))
    assert words.startswith("Use joint")
    assert "clearly better" in words
    assert "The computer model clearly helps" in words
    assert "12 sites" in words


def test_a_useless_model_is_said_not_to_help() -> None:
    """The line wins on every split, as on the spot-weld data."""
    words = conclude(_comparison({"joint": [0.5] * 6, "linear": [0.3] * 6}))
    assert words.startswith("Use linear")
    assert "the computer model clearly does not help" in words


def test_noise_is_called_noise() -> None:
    """Each wins on half of the splits."""
    words = conclude(_comparison({"nfc": [0.1, 0.5] * 3, "gp": [0.3, 0.32] * 3}))
    assert "no different beyond the noise" in words
    assert "cannot be told" in words


def test_few_splits_make_no_certainty() -> None:
    """Two wins out of two are not clear."""
    words = conclude(_comparison({"nfc": [0.1, 0.1], "gp": [0.3, 0.3]}))
    assert "clearly" not in words
    assert "only 2 random splits" in words


def test_one_split_ranks_nothing() -> None:
    """One win out of one says nothing, of the methods or of the computer model."""
    words = conclude(_comparison({"nfc": [0.1], "gp": [0.3]}))
    assert "one split cannot tell them apart" in words
    assert "Whether the computer model helps cannot be told" in words
    assert "only 1 random split of them" in words
    assert "splits" not in words.replace("--splits", "")


def test_the_table_puts_the_best_first() -> None:
    """By median error, in the user's units and in sd."""
    table = comparison_table(_comparison({"mean": [0.8] * 3, "linear": [0.3] * 3}))
    assert [row["method"] for row in table] == ["linear", "mean"]
    assert table[0]["rmse_sd_units"] == pytest.approx(0.15)

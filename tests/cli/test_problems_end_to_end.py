"""The paper's problems and the real data, unedited, from the command line: fit, then predict."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from funcal.cli.main import main
from funcal.testbed import get_problem

QUICK = ["--quiet", "--seed", "1", "--set", "warmup=500", "--set", "draws=500"]


def fit_and_predict(arguments: list[str], new: Path, folder: Path) -> tuple[dict[str, object], pd.DataFrame]:
    """Fit into a directory, predict at the new controls; the summary and the predictions."""
    assert main(["fit", *arguments, *QUICK, "--out", str(folder / "result")]) == 0
    out = folder / "predictions.csv"
    assert main(["predict", str(folder / "result"), str(new), "--out", str(out)]) == 0
    summary = json.loads((folder / "result" / "summary.json").read_text())
    return summary, pd.read_csv(out)


@pytest.mark.parametrize(
    ("key", "method"),
    [
        ("synthetic-1", "bnmc"),
        ("synthetic-1", "bnmc-dag"),
        ("synthetic-2", "bnmc"),
        ("synthetic-3", "bnmc"),
        ("synthetic-3", "bnmc-dag"),
    ],
)
def test_synthetic_problems_from_csv_files(key: str, method: str, tmp_path: Path) -> None:
    """Problems 1 to 3 of the paper: every quantity is predicted, finite, with ordered intervals."""
    case = get_problem(key).draw(0)
    for name, table in (("physical", case.physical), ("runs", case.runs), ("new", case.test_frame())):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    arguments = [str(tmp_path / "physical.csv"), str(tmp_path / "runs.csv"), "--method", method]
    arguments += ["--control", ",".join(case.roles.control), "--response", case.roles.response]
    arguments += ["--functional", ",".join(case.roles.functional)]
    if case.roles.global_:
        arguments += ["--global", ",".join(case.roles.global_)]
    summary, predictions = fit_and_predict(arguments, tmp_path / "new.csv", tmp_path)
    assert summary["method"] == method
    assert summary["anchors"]["status"] == "optimal"
    assert np.isfinite(predictions.to_numpy()).all()
    for name in (case.roles.response, *case.roles.functional, *case.roles.global_):
        assert (predictions[f"{name}_lower"] <= predictions[f"{name}_mean"]).all()
        assert (predictions[f"{name}_mean"] <= predictions[f"{name}_upper"]).all()


@pytest.mark.parametrize(
    ("physical", "runs", "roles", "num_sites", "num_failed"),
    [
        (
            "spotweld/physical_12_means.csv",
            "spotweld/model_35_runs.csv",
            "--control load,current,gauge=thickness --functional tuning --response diameter",
            12,
            0,
        ),
        (
            "spotweld/field_120_replicates.csv",
            "spotweld/model_design_52_with_failed_runs.csv",
            "--control load=Load,current=Current --control thickness=Gauge --functional t "
            "--response diameter=NuggetDiam",
            12,
            17,
        ),
        (
            "pva_buckypaper/physical_11_subset_0.5_1.0.csv",
            "pva_buckypaper/model_149_runs.csv",
            "--control pva_amount --functional effectiveness --response modulus_mean=modulus",
            11,
            0,
        ),
        (
            "pva_buckypaper/physical_17_with_replicates.csv",
            "pva_buckypaper/model_149_runs.csv",
            "--control pva_amount --functional effectiveness --response modulus_mean=modulus --empty-sites skip",
            17,
            0,
        ),
    ],
)
def test_real_data_as_they_are(
    physical: str, runs: str, roles: str, num_sites: int, num_failed: int, data_dir: Path, tmp_path: Path
) -> None:
    """Spot weld (means; replicates with failed runs) and PVA (inside, and beyond the runs' range)."""
    tables = [str(data_dir / physical), str(data_dir / runs)]
    arguments = [*tables, *roles.split(), "--method", "bnmc"]
    summary, predictions = fit_and_predict(arguments, data_dir / physical, tmp_path)
    assert summary["problem"]["num_sites"] == num_sites
    assert summary["problem"]["num_failed_runs"] == num_failed
    assert len(predictions) == len(pd.read_csv(data_dir / physical))
    response = roles.split("--response ")[1].split()[0].split("=")[0]
    measured = pd.read_csv(data_dir / physical)[response]
    inside = predictions[f"{response}_obs_lower"].le(measured) & predictions[f"{response}_obs_upper"].ge(
        measured
    )
    assert inside.mean() > 0.5

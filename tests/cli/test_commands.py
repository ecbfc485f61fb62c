"""The commands as a user types them: outputs, exit codes, sentences instead of tracebacks."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from funcal.cli.main import main

ROLES = ["--control", "x", "--functional", "theta", "--response", "y"]
QUICK = ["--method", "bnmc", "--seed", "1", "--set", "warmup=500", "--set", "draws=1000"]


def fit(files: tuple[Path, Path], out: Path, *more: str) -> int:
    return main(["fit", *map(str, files), *ROLES, *QUICK, "--out", str(out), *more])


@pytest.fixture(scope="module")
def fitted(
    tmp_path_factory: pytest.TempPathFactory, problem_one_tables: tuple[pd.DataFrame, pd.DataFrame]
) -> Path:
    """A directory made by `funcal fit` with the paper's method."""
    folder = tmp_path_factory.mktemp("fitted")
    physical, runs = problem_one_tables
    physical.to_csv(folder / "physical.csv", index=False)
    runs.to_csv(folder / "runs.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert fit((folder / "physical.csv", folder / "runs.csv"), folder / "result") == 0
    return folder


def test_help_imports_nothing_heavy() -> None:
    """`funcal --help` stays instant because no numerical package is imported for it."""
    code = (
        "import sys\nfrom funcal.cli.main import build_parser\nbuild_parser().format_help()\n"
        "print([m for m in ('numpy','pandas','scipy','numba','matplotlib','arviz','highspy','rich') "
        "if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """--help of each command exits with 0 and describes its arguments."""
    for command in ("check", "anchors", "fit", "predict", "compare", "study", "methods", "demo"):
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0
        assert "usage: funcal" in capsys.readouterr().out


def test_the_directory_of_a_fit(fitted: Path) -> None:
    """Posterior, anchors, summary, figures and manifest, nothing pickled, nothing left behind."""
    result = fitted / "result"
    names = {path.name for path in result.iterdir()}
    assert {"posterior.nc", "anchors.csv", "summary.json", "manifest.json", "figures", "sites.csv"} <= names
    summary = json.loads((result / "summary.json").read_text())
    assert summary["method"] == "bnmc"
    assert summary["seed"] == 1
    assert summary["seconds"] > 0
    assert summary["diagnostics"]["rhat_max"] > 0.9
    assert summary["diagnostics"]["ess_bulk_min"] > 0
    manifest = json.loads((result / "manifest.json").read_text())
    expected = hashlib.sha256((fitted / "physical.csv").read_bytes()).hexdigest()
    assert manifest["inputs"]["physical"] == {"file": "physical.csv", "sha256": expected}
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in (result / "figures").iterdir())
    assert not [path for path in fitted.iterdir() if path.name.startswith(".")]


def test_predictions_have_the_promised_columns(fitted: Path) -> None:
    """Controls, then mean, sd, lower, upper of the response and of θ, and the interval of a measurement."""
    new = pd.DataFrame({"note": ["a", "b"], "x": [1.0, 2.0]})
    new.to_csv(fitted / "new.csv", index=False)
    out = fitted / "predictions.csv"
    assert main(["predict", str(fitted / "result"), str(fitted / "new.csv"), "--out", str(out)]) == 0
    table = pd.read_csv(out)
    stems = ("mean", "sd", "lower", "upper")
    assert list(table.columns) == [
        "x",
        *(f"y_{stem}" for stem in stems),
        "y_obs_lower",
        "y_obs_upper",
        *(f"theta_{stem}" for stem in stems),
    ]
    assert (table.y_obs_lower < table.y_lower).all()
    assert (table.y_lower < table.y_mean).all()
    assert (table.y_mean < table.y_upper).all()
    assert (table.y_upper < table.y_obs_upper).all()
    wide = fitted / "wide.csv"
    code = main(
        ["predict", str(fitted / "result"), str(fitted / "new.csv"), "--out", str(wide), "--level", "0.5"]
    )
    assert code == 0
    assert (pd.read_csv(wide).y_lower > table.y_lower).all()


def test_the_saved_posterior_opens_in_arviz(fitted: Path) -> None:
    """ArviZ reads the file, with chains, draws and labelled sites."""
    from funcal.diagnostics.arviz_import import import_arviz

    data = import_arviz().InferenceData.from_netcdf(str(fitted / "result" / "posterior.nc"))
    assert data.posterior["theta"].dims == ("chain", "draw", "site", "functional")
    assert data.posterior.sizes["chain"] == 4
    assert list(data.posterior["functional"].values) == ["theta"]


def test_an_existing_result_is_never_overwritten(
    problem_one_files: tuple[Path, Path], fitted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and a sentence; --force replaces a result but never another directory."""
    before = (fitted / "result" / "posterior.nc").read_bytes()
    assert fit(problem_one_files, fitted / "result") == 2
    assert "--force" in capsys.readouterr().err
    assert (fitted / "result" / "posterior.nc").read_bytes() == before
    other = problem_one_files[0].parent
    assert fit(problem_one_files, other, "--force") == 2
    assert "not replaced" in capsys.readouterr().err
    assert problem_one_files[0].is_file()


def test_the_same_seed_gives_the_same_draws(problem_one_files: tuple[Path, Path], fitted: Path) -> None:
    """Bit for bit, from one seed, whatever the order in which chains end."""
    import funcal

    out = problem_one_files[0].parent / "again"
    assert fit(problem_one_files, out, "--quiet") == 0
    first, second = funcal.load(fitted / "result"), funcal.load(out)
    for name, values in first.fit.draws.items():
        np.testing.assert_array_equal(values, second.fit.draws[name])


def test_a_toml_file_holds_everything(problem_one_files: tuple[Path, Path]) -> None:
    """Tables are found beside the file; the command line wins over it."""
    folder = problem_one_files[0].parent
    (folder / "weld.toml").write_text(
        'physical = "physical.csv"\nruns = "runs.csv"\ncontrol = ["x"]\nfunctional = "theta"\nresponse = "y"\n'
        'method = "bnmc-dag"\nseed = 5\n[bounds]\ntheta = [0.0, 2.5]\n[settings]\ndraws = 300\nwarmup = 200\n'
        "[settings.matching]\nlambda = 1.0\n"
    )
    out = folder / "out"
    assert main(["fit", str(folder / "weld.toml"), "--out", str(out), "--seed", "6", "--quiet"]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["method"] == "bnmc-dag"
    assert summary["seed"] == 6
    assert summary["settings"]["draws"] == 300
    assert summary["anchors"]["lambda"] == 1.0
    assert summary["problem"]["bounds"] == {"theta": [0.0, 2.5]}


@pytest.mark.parametrize(("method", "num_candidates"), [("bnmc", 30), ("bnmc-dag", 5)])
def test_tuning_the_matching(
    method: str, num_candidates: int, problem_one_files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The anchors use the tuned λ, r and M; every candidate is in the summary, and a sentence on the screen."""
    out = problem_one_files[0].parent / "out"
    length = ["--set", "warmup=200", "--set", "draws=300", "--seed", "1", "--quiet"]
    command = ["fit", *map(str, problem_one_files), *ROLES, "--method", method, *length]
    assert main([*command, "--tune", "--out", str(out)]) == 0
    assert "Matching: λ = " in capsys.readouterr().out
    summary = json.loads((out / "summary.json").read_text())
    tuning = summary["tuning"]["matching"]
    assert len(tuning["candidates"]) == num_candidates
    assert summary["anchors"]["lambda"] == tuning["lambda"]
    if tuning["radius"] is not None:
        assert summary["anchors"]["radius"] == tuning["radius"]
    errors = [row["rmse"] for row in tuning["candidates"]]
    assert errors[tuning["best"]] == min(errors)


def test_anchors_as_json(problem_one_files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """One object with the promised keys, for the path and for the tree."""
    for model in ("auto", "path", "tree"):
        assert main(["anchors", *map(str, problem_one_files), *ROLES, "--model", model, "--json"]) == 0
        values = json.loads(capsys.readouterr().out)
        graph = {"model", "lambda", "radius", "penalty", "anchors"}
        assert graph | {"solver", "status", "cost", "lower_bound", "gap", "seconds"} <= set(values)
        assert values["status"] == "optimal"
        assert values["model"] == ("tree" if model == "tree" else "path")
        assert [anchor["site"] for anchor in values["anchors"]] == list(range(6))
        runs = pd.read_csv(problem_one_files[1])
        physical = pd.read_csv(problem_one_files[0])
        for anchor in values["anchors"]:
            misfit = abs(runs.y[anchor["run"]] - physical.y[anchor["site"]])
            assert anchor["misfit"] == pytest.approx(misfit)


def test_anchors_as_a_table(problem_one_files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """A person sees sites, runs, misfits, and the proof."""
    assert main(["anchors", *map(str, problem_one_files), *ROLES]) == 0
    out = capsys.readouterr().out
    assert "x = 0.5" in out
    assert "optimal" in out
    assert "λ = 0.5" in out


def test_check_reports_without_sampling(
    problem_one_files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Good data: exit 0; a site without runs near it is named."""
    assert main(["check", *map(str, problem_one_files), *ROLES]) == 0
    assert "The data can be used." in capsys.readouterr().out
    runs = pd.read_csv(problem_one_files[1])
    runs[runs.x != 2.5].to_csv(problem_one_files[1], index=False)
    assert main(["check", *map(str, problem_one_files), *ROLES]) == 0
    out = capsys.readouterr().out
    assert "(x = 2.5) has no run near it" in out


def test_a_site_without_runs_is_an_error_or_skipped(
    problem_one_files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Never a silent loan: an error that says what to do, or no anchor for that site."""
    runs = pd.read_csv(problem_one_files[1])
    runs[runs.x != 2.5].to_csv(problem_one_files[1], index=False)
    command = ["anchors", *map(str, problem_one_files), *ROLES, "--json"]
    assert main(command) in (1, 2)
    error = capsys.readouterr().err
    assert "x = 2.5" in error
    assert "skip" in error
    assert main([*command, "--empty-sites", "skip"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert [anchor["site"] for anchor in values["anchors"]] == [0, 1, 3, 4, 5]
    out = problem_one_files[0].parent / "skipped"
    assert fit(problem_one_files, out, "--quiet", "--empty-sites", "skip") == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["check", "none.csv", "also.csv", *ROLES], "does not exist"),
        (["check", "one.csv", *ROLES], "two tables are expected"),
        (["fit", "PHYSICAL", "RUNS", *ROLES], "--out"),
        (["fit", "PHYSICAL", "RUNS", *ROLES, "--out", "o", "--method", "bnm"], "Did you mean 'bnmc'"),
        (["fit", "PHYSICAL", "RUNS", *ROLES, "--out", "o", "--method", "bnmc", "--set", "drws=1"], "'draws'"),
        (
            ["fit", "PHYSICAL", "RUNS", *ROLES, "--out", "o", "--method", "bnmc", "--set", "draws"],
            "NAME=VALUE",
        ),
        (["fit", "PHYSICAL", "RUNS", *ROLES, "--out", "o", "--method", "nfc", "--tune"], "nothing to tune"),
        (["fit", "PHYSICAL", "RUNS", *ROLES, "--out", "o", "--seed", "-1"], "zero or more"),
        (["fit", "PHYSICAL", "RUNS", "--control", "x", "--out", "o"], "--response"),
        (["predict", "nowhere", "PHYSICAL", "--out", "p.csv"], "does not exist"),
        (["fit", "none.toml", "--out", "o"], "does not exist"),
    ],
)
def test_bad_usage_gets_one_sentence_and_code_2(
    arguments: list[str],
    sentence: str,
    problem_one_files: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was expected, what was found, what to do; no traceback and nothing written."""
    monkeypatch.chdir(problem_one_files[0].parent)
    names = {"PHYSICAL": "physical.csv", "RUNS": "runs.csv"}
    assert main([names.get(word, word) for word in arguments]) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err + captured.out
    assert "Traceback" not in captured.err
    assert not Path("o").exists()


def test_a_damaged_result_is_refused(
    fitted: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A truncated posterior is named as such."""
    (tmp_path / "posterior.nc").write_bytes((fitted / "result" / "posterior.nc").read_bytes()[:1000])
    new = str(fitted / "physical.csv")
    assert main(["predict", str(tmp_path), new, "--out", str(tmp_path / "p.csv")]) == 2
    assert "not a complete funcal result" in capsys.readouterr().err


def test_an_interrupted_fit_leaves_nothing(
    problem_one_files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the result is being written: no directory, no temporary files."""
    from funcal.report import write_result

    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(write_result, "summary_values", interrupted)
    folder = problem_one_files[0].parent
    before = {path.name for path in folder.iterdir()}
    assert fit(problem_one_files, folder / "result", "--quiet") == 130
    assert {path.name for path in folder.iterdir()} == before


def test_module_is_the_command() -> None:
    """``python -m funcal`` does what ``funcal`` does."""
    done = subprocess.run(
        [sys.executable, "-m", "funcal", "--help"], capture_output=True, text=True, check=True
    )
    assert "usage: funcal" in done.stdout

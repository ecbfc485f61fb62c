"""A study that is killed goes on where it stopped; a study on a cluster gives the same records."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from funcal.study.plan import StudyPlan, Variant, plan_from_file
from funcal.study.records import RecordStore
from funcal.study.runner import run_study

PLAN = """
problems = ["synthetic-1"]
methods = ["pfc", "constant", "gp", "linear", "mean"]
replicates = 16
"""


def _without_times(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != "timing"}


def _lines(folder: Path) -> list[bytes]:
    path = folder / "records.jsonl"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def _finished(folder: Path) -> list[bytes]:
    """Whole lines: a kill, or a look at the wrong moment, can leave half of the last one."""
    return [line for line in _lines(folder) if line.endswith(b"\n")]


def _start(plan: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "funcal.cli.main",
        "study",
        str(plan),
        "--out",
        str(out),
        "--workers",
        "2",
    ]
    program = "from funcal.cli.main import entry_point; entry_point()"
    return subprocess.Popen(
        [sys.executable, "-c", program, *command[3:], "--no-figures", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _children(process: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the workers through /proc")
def test_a_killed_study_resumes_without_repeating_or_losing_a_trial(tmp_path: Path) -> None:
    """SIGKILL mid-way, resume, and compare with a study that was left alone."""
    plan_file = tmp_path / "plan.toml"
    plan_file.write_text(PLAN, encoding="utf-8")
    out = tmp_path / "killed"
    process = _start(plan_file, out)
    deadline = time.monotonic() + 120
    while len(_finished(out)) < 10 and time.monotonic() < deadline:
        time.sleep(0.01)
    workers = _children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    finished = _finished(out)
    assert 10 <= len(finished) < 80
    # The orphaned workers notice and end.
    for _ in range(100):
        if not any(Path(f"/proc/{worker}").exists() for worker in workers):
            break
        time.sleep(0.1)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)

    again = _start(plan_file, out)
    output, errors = again.communicate(timeout=300)
    assert again.returncode == 0, errors.decode()
    lines = _lines(out)
    keys = [json.loads(line)["key"] for line in lines]
    assert len(keys) == len(set(keys)) == 80
    # What was there before the kill is still there, byte for byte.
    assert lines[: len(finished)] == finished
    assert b"80 trials" in output

    undisturbed = run_study(plan_from_file(plan_file), tmp_path / "undisturbed", workers=2).read()
    resumed = RecordStore(out).read()
    assert {key: _without_times(record) for key, record in resumed.items()} == {
        key: _without_times(record) for key, record in undisturbed.items()
    }


@pytest.mark.cluster
def test_a_cluster_that_loses_a_worker_gives_the_same_records(tmp_path: Path) -> None:
    """Two Dask worker processes, one killed mid-run: no trial lost, none changed."""
    distributed = pytest.importorskip("distributed")
    plan = StudyPlan(
        ("synthetic-1",), tuple(Variant(key) for key in ("nfc", "constant", "linear")), replicates=10
    )
    out = tmp_path / "cluster"
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        pids = client.run(os.getpid)
        killed = threading.Event()

        def kill_one() -> None:
            while len(_lines(out)) < 5:
                time.sleep(0.01)
            os.kill(next(iter(pids.values())), signal.SIGKILL)
            killed.set()

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        records = run_study(plan, out, scheduler=cluster.scheduler_address).read()
        killer.join(timeout=10)
        assert killed.is_set()
    assert len(records) == 30
    assert {record["status"] for record in records.values()} == {"ok"}
    local = run_study(plan, tmp_path / "local", workers=2).read()
    assert {key: _without_times(record) for key, record in records.items()} == {
        key: _without_times(record) for key, record in local.items()
    }

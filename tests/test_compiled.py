"""Machine code on disk never outlives the source of any kernel."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from funcal.compiled import digest_of_kernels, forget_old_caches, kernel, kernel_cache

INNER = "from funcal.compiled import kernel\n\n\n@kernel\ndef inner(x):\n    return x + {step}\n"


def test_a_kernel_computes_and_is_kept_on_disk() -> None:
    """The function works, and its machine code lies in the package's own cache directory."""
    from funcal.matching.shortest_path import shortest_paths

    assert shortest_paths is not None
    assert kernel_cache().name.startswith("kernels-")


def test_the_cache_changes_with_any_kernel_and_with_nothing_else(tmp_path: Path) -> None:
    """An edit of a file with kernels gives a new directory; an edit of another file does not."""
    (tmp_path / "inner.py").write_text(INNER.format(step=1))
    (tmp_path / "plain.py").write_text("x = 1\n")
    first = digest_of_kernels(tmp_path)
    (tmp_path / "plain.py").write_text("x = 2\n")
    assert digest_of_kernels(tmp_path) == first
    (tmp_path / "inner.py").write_text(INNER.format(step=2))
    assert digest_of_kernels(tmp_path) != first


def test_numbas_own_settings_are_left_alone() -> None:
    """Declaring a kernel does not move the cache of other packages that use numba."""
    import numba

    before = numba.config.CACHE_DIR

    @kernel
    def double(x: float) -> float:
        return 2.0 * x

    assert double(3.0) == 6.0
    assert before == numba.config.CACHE_DIR


def test_compilation_is_told_of_once_and_machine_code_from_disk_is_not(tmp_path: Path) -> None:
    """Two kernels compiled in one block make one message; the same two read from disk make none."""
    (tmp_path / "inner.py").write_text(INNER.format(step=1))
    code = (
        "from inner import inner\n"
        "from funcal.compiled import told_of_compilation\n"
        "with told_of_compilation(lambda: print('told')):\n"
        "    print(inner(1), inner(1.5))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert outputs == [["told", "2", "2.5"], ["2", "2.5"]]


def test_importing_compiles_nothing(tmp_path: Path) -> None:
    """Importing every package with kernels leaves the cache empty: compilation waits for the first use."""
    code = (
        "import funcal.matching, funcal.posterior, funcal.prediction, funcal.joint.run_chains\n"
        "from funcal.methods.registry import METHOD_KEYS, find_method\n"
        "[find_method(key) for key in METHOD_KEYS]\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True)
    assert not list(tmp_path.rglob("*.nbc"))


def test_old_caches_are_forgotten(tmp_path: Path) -> None:
    """Machine code of another version goes after a week; what is recent, and what is not a cache, stays."""
    for name, age in (("kernels-old", 8), ("kernels-new", 1), ("other", 99)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.nbc").write_bytes(b"0")
        os.utime(tmp_path / name, times=2 * (time.time() - 86400 * age,))
    forget_old_caches(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels-new", "other"]


def test_a_process_that_compiles_finds_what_one_that_loads_finds(tmp_path: Path) -> None:
    """The emulator's mode and shape are the same to the last bit with the cache empty and with it full.

    With `fastmath` they were not, and chains made of a rounding other draws; no kernel may have it.
    """
    code = (
        "from funcal.joint.emulator_mode import find_emulator_mode\n"
        "from funcal.joint.model import build_model\n"
        "from funcal.problem import CalibrationProblem\n"
        "from funcal.testbed import get_problem\n"
        "case = get_problem('synthetic-1').draw(1)\n"
        "problem = CalibrationProblem.from_tables(case.physical, case.runs, **case.roles.keywords())\n"
        "for found in find_emulator_mode(build_model(problem.scaled())):\n"
        "    print(found.tobytes().hex())\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    compiled, loaded = (
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            check=True,
            env=environment,
            capture_output=True,
            text=True,
        ).stdout
        for _ in range(2)
    )
    assert compiled == loaded
    with pytest.raises(ValueError, match="fastmath cannot be used"):
        kernel(fastmath=True)

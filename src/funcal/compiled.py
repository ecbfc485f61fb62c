"""Compiled kernels: numba functions whose cache on disk is renewed when any of them changes.

Numba keeps a compiled function for as long as the function's own file is unchanged, even if a kernel that it calls in
another file has changed since. Here all kernels share one cache directory named after the contents of all their files,
so that an edit or an upgrade of the package can never leave old machine code behind.
"""

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

__all__ = ["digest_of_kernels", "forget_old_caches", "kernel", "kernel_cache", "told_of_compilation"]

F = TypeVar("F", bound=Callable[..., Any])

#: The line by which a file with kernels is known.
MARK = b"@kernel"


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(**options: Any) -> Callable[[F], F]: ...
def kernel(function: Any = None, **options: Any) -> Any:
    """Compile a function with numba on first use, without the GIL, and keep the machine code on disk.

    Used as ``@kernel``, or with further options of `numba.njit` as ``@kernel(error_model="numpy")``; but for
    ``fastmath``. A kernel is copied into its callers and optimised there again, and a process uses whichever copy it
    has loaded first: with that option copies round differently, and a process that compiles would draw other numbers
    than one that finds the machine code on disk.
    """
    if "fastmath" in options:
        raise ValueError("a kernel must round alike in each of its copies: fastmath cannot be used")
    if function is None:
        return lambda given: kernel(given, **options)
    import numba

    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(kernel_cache())
    try:
        return numba.njit(cache=True, nogil=True, **options)(function)
    finally:
        settings.CACHE_DIR = before


@contextmanager
def told_of_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` once if, during the block, this process has to compile a kernel that is not on disk."""
    from numba.core import event

    class Teller(event.Listener):
        told = False

        def on_start(self, event: Any) -> None:
            kept_in = event.data["dispatcher"].stats.cache_path or ""
            if not self.told and Path(kept_in).is_relative_to(kernel_cache()):
                self.told = True
                tell()

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Teller()):
        yield


@cache
def kernel_cache() -> Path:
    """Directory of the machine code of exactly these kernels.

    It lies in the package's ``__pycache__``, in the user's cache directory where that is not writable, or under
    ``NUMBA_CACHE_DIR`` where that is set.
    """
    package = Path(__file__).parent
    given = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(given) if given else package / "__pycache__"
    if not given and not _writable(base):
        base = _user_cache() / "funcal"
    cache_directory = base / f"kernels-{digest_of_kernels(package)}"
    if not cache_directory.exists():
        forget_old_caches(base)
    return cache_directory


def digest_of_kernels(package: Path) -> str:
    """Sixteen hexadecimal digits that change when any file with kernels does."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        if MARK in content:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + content)
    return digest.hexdigest()[:16]


def forget_old_caches(base: Path, days: float = 7.0) -> None:
    """Remove machine code of other versions that was last renewed more than `days` ago."""
    oldest = time.time() - 86400.0 * days
    for directory in base.glob("kernels-*"):
        with suppress(OSError):
            if directory.stat().st_mtime < oldest:
                shutil.rmtree(directory)


def _writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK)


def _user_cache() -> Path:
    """Where this system keeps caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home())))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")))

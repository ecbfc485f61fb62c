"""What a person sees while they wait: a bar with the time left on a terminal, plain lines elsewhere."""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..compiled import told_of_compilation
from ..result.protocol import Progress, silent

__all__ = ["print_table", "show_progress"]

#: A plain line at most this often, in seconds.
PLAIN_INTERVAL = 5.0


@contextmanager
def show_progress(quiet: bool) -> Iterator[Progress]:
    """A progress callable for the time of the block.

    A terminal gets a bar with an estimate of the time left; anything else a plain line now and then; nothing
    is shown where `quiet`. Both are told when kernels have to be compiled first.
    """
    if quiet:
        yield silent
        return
    with told_of_compilation(_say_compiling):
        if sys.stderr.isatty():
            with _bar() as progress:
                yield progress
        else:
            yield _plain_lines()


def _say_compiling() -> None:
    print(
        "Compiling the numerical kernels, once for this installation: some minutes ...",
        file=sys.stderr,
        flush=True,
    )


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}
        lock = threading.Lock()

        def report(done: int, total: int, label: str) -> None:
            with lock:
                if label not in tasks:
                    tasks[label] = bar.add_task(label, total=total)
                bar.update(tasks[label], completed=done, total=total)

        yield report


def _plain_lines() -> Progress:
    begun: dict[str, tuple[float, int]] = {}
    last = {"time": time.monotonic()}
    lock = threading.Lock()

    def report(done: int, total: int, label: str) -> None:
        now = time.monotonic()
        with lock:
            # The pace is measured from the first report on, so that compilation does not count.
            start, already = begun.setdefault(label, (now, done))
            if now - last["time"] < PLAIN_INTERVAL or not already < done < total:
                return
            last["time"] = now
            left = (now - start) * (total - done) / (done - already)
            print(f"{label}: {100 * done // total} %, about {left:.0f} s left", file=sys.stderr, flush=True)

    return report


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> None:
    """A plain table: first column left, the others right."""
    widths = [max(len(str(row[k])) for row in (header, *rows)) for k in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        first = str(cells[0]).ljust(widths[0])
        others = (str(cell).rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return "  ".join((first, *others)).rstrip()

    if title:
        print(f"\n{title}")
    print(line(header))
    print(line(["-" * width for width in widths]))
    for row in rows:
        print(line(row))

"""Tasks in local processes, in groups whose members share a process (and so whatever it keeps in memory).

Every result is sent back as soon as it is there, not when its group is done, so that nothing finished is lost when the
run is killed. A process that dies costs the task it was on, which is reported as failed; a new process goes on with the
rest of the group.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from .outcome import Outcome

__all__ = ["run_in_processes"]

# How often a worker looks whether its parent is still there, in seconds.
PARENT_CHECK = 1.0


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    group: deque[Any]


def _watch_parent(parent: int) -> None:
    """End this process when its parent is gone: a killed study leaves nothing behind."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK)
    os._exit(1)


def _work(pipe: Connection, function: Callable[[Any], Any], parent: int) -> None:
    """Receive a task, send its result, until None comes."""
    from threadpoolctl import threadpool_limits

    # Ctrl-C is for the parent, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()
    with threadpool_limits(1):
        while (task := pipe.recv()) is not None:
            try:
                pipe.send((function(task[0]), ""))
            except Exception as error:
                pipe.send((None, f"{type(error).__name__}: {error}"))


def _start(function: Callable[[Any], Any]) -> _Worker:
    # spawn, not fork: the parent may have threads.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, function, os.getpid()), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours, deque())


def run_in_processes(
    function: Callable[[Any], Any], groups: Sequence[Sequence[Any]], workers: int | None = None
) -> Iterator[Outcome]:
    """Apply `function` to every member of every group; yield outcomes as they come.

    Parameters
    ----------
    function
        Importable by name (it is sent to other processes).
    groups
        Members of a group run one after the other in one process.
    workers
        Processes; the number of cores if None.
    """
    waiting = deque(deque(group) for group in groups if group)
    count = min(workers or os.cpu_count() or 1, len(waiting))
    active = [_start(function) for _ in range(count)]
    try:
        for worker in active:
            _feed(worker, waiting)
        while active:
            ready = wait([worker.pipe for worker in active])
            for worker in [worker for worker in active if worker.pipe in ready]:
                item = worker.group.popleft()
                try:
                    value, error = worker.pipe.recv()
                except (EOFError, OSError):
                    worker.process.join()
                    yield Outcome(item, None, f"the process died (exit code {worker.process.exitcode})")
                    active.remove(worker)
                    if worker.group or waiting:
                        fresh = _start(function)
                        fresh.group = worker.group
                        active.append(fresh)
                        _feed(fresh, waiting)
                    continue
                yield Outcome(item, value, error)
                if not _feed(worker, waiting):
                    active.remove(worker)
                    worker.process.join()
    finally:
        for worker in active:
            worker.process.terminate()
            worker.process.join()


def _feed(worker: _Worker, waiting: deque[deque[Any]]) -> bool:
    """Send the next task of the worker's group, or of the next group; False (and a farewell) when none is left."""
    if not worker.group and waiting:
        worker.group = waiting.popleft()
    if worker.group:
        worker.pipe.send((worker.group[0],))
        return True
    worker.pipe.send(None)
    return False

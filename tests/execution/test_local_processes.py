"""Tasks in local processes: all results, in groups, whatever happens to a worker."""

import os
import signal
import time

import pytest

from funcal.errors import SettingsError
from funcal.execution import run_in_processes, run_on_cluster


def square(value: int) -> int:
    """A task that works."""
    return value * value


def process_of(value: int) -> int:
    """A task that says where it ran."""
    return os.getpid()


def fail_on_two(value: int) -> int:
    """A task that raises on 2 and takes its process down on 3."""
    if value == 2:
        raise ValueError("two is not allowed")
    if value == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def test_every_task_gives_its_result() -> None:
    """Seven tasks in three groups on two workers; empty groups are nothing."""
    groups = [[1, 2, 3], [], [4, 5], [6, 7]]
    outcomes = list(run_in_processes(square, groups, workers=2))
    assert {outcome.item: outcome.value for outcome in outcomes} == {n: n * n for n in range(1, 8)}
    assert not any(outcome.error for outcome in outcomes)


def test_members_of_a_group_share_a_process() -> None:
    """What one member keeps in memory, the next can use."""
    outcomes = list(run_in_processes(process_of, [["a1", "a2", "a3"], ["b1", "b2", "b3"]], workers=2))
    for group in "ab":
        assert len({outcome.value for outcome in outcomes if outcome.item.startswith(group)}) == 1
    assert os.getpid() not in {outcome.value for outcome in outcomes}


def test_failures_cost_one_task_each() -> None:
    """An exception and a dead process are reported; the rest of the group goes on in a new process."""
    outcomes = {
        outcome.item: outcome for outcome in run_in_processes(fail_on_two, [[1, 2, 3, 4, 5]], workers=1)
    }
    assert [outcomes[n].value for n in (1, 4, 5)] == [1, 4, 5]
    assert outcomes[2].error == "ValueError: two is not allowed"
    assert "process died" in outcomes[3].error


def test_closing_early_leaves_no_process_behind() -> None:
    """A consumer that stops ends the workers."""
    running = run_in_processes(process_of, [[n] for n in range(50)], workers=2)
    workers = {next(running).value, next(running).value}
    running.close()
    time.sleep(0.2)
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


@pytest.mark.cluster
def test_no_scheduler_is_said_in_one_sentence() -> None:
    """A wrong address is the user's to fix."""
    with pytest.raises(SettingsError, match="no Dask scheduler answers"):
        next(run_on_cluster(square, [[1]], "nonsense-address"))

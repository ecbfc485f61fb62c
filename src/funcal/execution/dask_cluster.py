"""The same tasks on a Dask cluster (`dask.distributed`, an optional extra).

Dask runs a task again elsewhere when the worker that had it dies; tasks are pure, so a repeat gives the same result.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import SettingsError
from .outcome import Outcome

__all__ = ["run_on_cluster"]


def run_on_cluster(
    function: Callable[[Any], Any], groups: Sequence[Sequence[Any]], address: str
) -> Iterator[Outcome]:
    """Apply `function` to every member of every group on the cluster at `address`; yield outcomes as they come.

    Raises
    ------
    SettingsError
        When `dask.distributed` is not installed or no scheduler answers.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise SettingsError(
            "a Dask scheduler needs the optional package; install it with pip install 'funcal[cluster]'"
        ) from None
    try:
        client = Client(address, timeout="20s", set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise SettingsError(f"no Dask scheduler answers at {address} ({error}); check --scheduler") from error
    items = [item for group in groups for item in group]
    with client, client.as_current():
        futures = client.map(_run_alone, items, function=function, pure=False, retries=2)
        of_future = {future.key: item for future, item in zip(futures, items, strict=True)}
        for future in as_completed(futures):
            item = of_future[future.key]
            if future.status == "finished":
                value, message = future.result()
                yield Outcome(item, value, message)
            else:
                reason = future.exception()
                yield Outcome(item, None, f"{type(reason).__name__}: {reason}")
            future.release()


def _run_alone(item: Any, function: Callable[[Any], Any]) -> tuple[Any, str]:
    """Run one task with one BLAS thread; an exception becomes a sentence, as in a local process."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        try:
            return function(item), ""
        except Exception as error:
            return None, f"{type(error).__name__}: {error}"

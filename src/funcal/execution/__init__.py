"""Running many tasks: in local processes or on a Dask cluster. Knows nothing of calibration."""

from .dask_cluster import run_on_cluster as run_on_cluster
from .local_processes import run_in_processes as run_in_processes
from .outcome import Outcome as Outcome

__all__ = ["Outcome", "run_in_processes", "run_on_cluster"]

"""What became of one task."""

from dataclasses import dataclass
from typing import Any

__all__ = ["Outcome"]


@dataclass(frozen=True)
class Outcome:
    """The result of a task, or why there is none.

    Attributes
    ----------
    item
        The task.
    value
        What the function returned; None where it did not.
    error
        One sentence, empty on success.
    """

    item: Any
    value: Any
    error: str = ""

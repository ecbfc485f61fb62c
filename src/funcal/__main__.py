"""``python -m funcal`` is the command `funcal`."""

from .cli.main import entry_point

entry_point()

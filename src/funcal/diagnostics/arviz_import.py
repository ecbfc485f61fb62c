"""ArviZ, imported late and without its start-up notice."""

import warnings
from types import ModuleType

__all__ = ["import_arviz"]


def import_arviz() -> ModuleType:
    """Import ArviZ; its notice about a coming refactoring is not the user's business here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz

    module: ModuleType = arviz
    return module

"""Modules that a short call must not load: numpy takes longer to import than ten lines take to score."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Late:
    """Stands for a module, ours too, that is imported when something of it is first used.

    Type checkers see the module itself:

        if TYPE_CHECKING:
            import numpy as np
        else:
            np = Late("numpy")
    """

    def __init__(self, package: str) -> None:
        self._package = package

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._package), name)
        setattr(self, name, found)  # the next time it is an attribute like any other
        return found

"""Public names of packages, whose modules are imported when a name is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = ["found_in"]


def found_in(modules: Mapping[str, Collection[str]], name: str, *, package: str) -> object:
    """Return a public name of a package, imported from the module that defines it.

    Raises
    ------
    AttributeError
        If none has it.
    """
    for module, names in modules.items():
        if name in names:
            return getattr(import_module(f"{package}.{module}"), name)
    raise AttributeError(f"module {package!r} has no attribute {name!r}")

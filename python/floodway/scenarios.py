"""Scenarios from files and from text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway import _floodway
from floodway.tables import as_csv

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from floodway._floodway import Scenario

__all__ = ["load", "loads"]


def load(path: str | os.PathLike[str], *, sets: Sequence[tuple[str, str]] = ()) -> Scenario:
    """Read a scenario's TOML file; files that it names lie relative to its folder.

    Parameters
    ----------
    path
        The file.
    sets
        Key paths with values that replace those of the file, in order, such as
        `("long-haul.buffer.static.size", "20MB")`.

    Raises
    ------
    ScenarioError
        If it cannot be read, or is not a valid scenario; the error has the place of each fault.
    """
    return _floodway.parse_file(path, sets=list(sets), tables=as_csv)


def loads(name: str, text: str, *, sets: Sequence[tuple[str, str]] = ()) -> Scenario:
    """Read a scenario from its text; files that it names lie relative to the working folder.

    Parameters
    ----------
    name
        What results and messages call it.
    text
        What a scenario's file holds.
    sets
        As in `load`.

    Raises
    ------
    ScenarioError
        As in `load`.
    """
    return _floodway.parse_text(name, text, sets=list(sets), tables=as_csv)

"""What the verbs have in common: a scenario's file with the values that replace its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

import floodway

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["parsed"]


def parsed(path: Path, *, sets: Sequence[str]) -> floodway.Scenario:
    """Read a scenario, with `KEY.PATH=VALUE` for each value that differs from the file's."""
    return floodway.load(path, sets=[_pair(given) for given in sets])


def _pair(given: str) -> tuple[str, str]:
    key, equals, value = given.partition("=")
    if not (key.strip() and equals):
        raise typer.BadParameter(f"{given!r} is not KEY.PATH=VALUE", param_hint="--set")
    return key.strip(), value.strip()

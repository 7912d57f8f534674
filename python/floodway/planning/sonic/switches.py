"""The chip of a switch, by the name that SONiC has for the switch."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

__all__ = ["chip_of"]


def chip_of(hwsku: str) -> str:
    """Return the chip's name for a `hwsku` such as ``ACS-MSN4600C``; empty where it is not known."""
    name = hwsku.lower()
    _, dash, model = name.partition("-")
    # Some names begin with the maker, others with the model.
    texts = (model, name) if dash else (name,)
    return next(
        (chip for begin, chip in _switches() for text in texts if text.startswith(begin)),
        "",
    )


@cache
def _switches() -> tuple[tuple[str, str], ...]:
    text = (files("floodway.planning.sonic") / "switches.toml").read_text(encoding="utf-8")
    return tuple(
        (begin, switch["asic"]) for switch in tomllib.loads(text)["switch"] for begin in switch["begins"]
    )

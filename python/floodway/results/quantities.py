"""Quantities as the simulator writes them, such as `400us`, `400G`, `42MB`, and sizes for people."""

from __future__ import annotations

import re

__all__ = ["bytes_text", "counted", "quantity_bytes", "quantity_gbps", "quantity_us"]

_US = {"ps": 1e-6, "ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
_GBPS = {"bps": 1e-9, "K": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}
_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def counted(count: int, noun: str) -> str:
    """Return a count with what is counted: a noun whose plural ends in s, or in es behind sh, ch, s or x.

    Examples
    --------
    >>> counted(1, "packet"), counted(2000, "packet"), counted(0, "switch")
    ('1 packet', '2,000 packets', '0 switches')
    """
    ending = "es" if noun.endswith(("sh", "ch", "s", "x")) else "s"
    return f"{count:,} {noun}{'' if count == 1 else ending}"


def quantity_us(text: str) -> float:
    """Return a time in microseconds.

    Examples
    --------
    >>> quantity_us("0.4ms")
    400.0
    """
    return _quantity(text, _US)


def quantity_gbps(text: str) -> float:
    """Return a rate in Gbit/s.

    Examples
    --------
    >>> quantity_gbps("1.6T")
    1600.0
    """
    return _quantity(text, _GBPS)


def quantity_bytes(text: str) -> int:
    """Return a size in bytes.

    Examples
    --------
    >>> quantity_bytes("40002.22KB")
    40002220
    """
    return round(_quantity(text, _BYTES))


def bytes_text(size: float) -> str:
    """Write bytes in the largest decimal unit that leaves one or more.

    Examples
    --------
    >>> bytes_text(288_000), bytes_text(42_000_000), bytes_text(75)
    ('288 KB', '42 MB', '75 B')
    """
    for per, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if abs(size) >= per:
            return f"{size / per:.4g} {unit}"
    return f"{size:g} B"


def _quantity(text: str, units: dict[str, float] | dict[str, int]) -> float:
    match = re.fullmatch(r"([0-9.]+)([A-Za-z]+)", text)
    if match is None or match[2] not in units:
        raise ValueError(f"{text!r} is not a number with one of the units {', '.join(units)}")
    return float(match[1]) * units[match[2]]

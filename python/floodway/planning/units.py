"""Quantities with their units, as scenarios write them."""

from __future__ import annotations

import re
from fractions import Fraction

from floodway import _floodway
from floodway.common.errors import PlanError

__all__ = ["metres_of", "missing", "number_text", "rate_of", "size_of", "span_of"]

#: Light in fibre where nothing else is said (SWING, Bifrost, rows of Broadcom's DNX).
PS_PER_METRE = 5_000
#: From here on a number has no digits behind its point.
WHOLE = 100_000
#: Metres.
LONGEST = 50_000_000


def size_of(text: str, key: str) -> int:
    """Return a size such as "64MB" in bytes.

    Raises
    ------
    PlanError
        If it is not a size.
    """
    return _parsed("Size", text, key)


def rate_of(text: str, key: str) -> int:
    """Return a rate such as "400G" in bits per second.

    Raises
    ------
    PlanError
        If it is not a rate, or 0.
    """
    rate = _parsed("Rate", text, key)
    if rate == 0:
        raise PlanError(f'{key}: 0 is not a rate of a link; write it like "400G"', key=key, given=text)
    return rate


def span_of(text: str, key: str) -> int:
    """Return a time such as "10us" in picoseconds.

    Raises
    ------
    PlanError
        If it is not a time.
    """
    return _parsed("Duration", text, key)


def metres_of(text: str, key: str) -> int:
    """Return a length such as "40km" in metres.

    Raises
    ------
    PlanError
        If it is not a length, or 0.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(km|m)\s*", text)
    if match is None:
        raise _no_length(text, key)
    metres = Fraction(match[1]) * (1000 if match[2] == "km" else 1)
    if not 0 < metres <= LONGEST or metres.denominator != 1:
        raise _no_length(text, key)
    return int(metres)


def _no_length(text: str, key: str) -> PlanError:
    allowed = f'whole metres above 0 and up to {LONGEST // 1000}km; write it like "40km" or "300m"'
    message = f"{key}: {text!r} is not a length of {allowed}"
    return PlanError(message, key=key, given=text)


def _parsed(kind: str, text: str, key: str) -> int:
    try:
        return _floodway.parse_unit(kind, text)
    except ValueError as error:
        raise PlanError(f"{key}: {error}", key=key, given=text) from None


def number_text(value: float) -> str:
    """Return a number with six digits, and all of those before the point, never with an exponent.

    Examples
    --------
    >>> number_text(1_000_200.0), number_text(0.25), number_text(200.0)
    ('1,000,200', '0.25', '200')
    """
    return f"{value:,.0f}" if abs(value) >= WHOLE else f"{value:g}"


def missing(count: int) -> str:
    """Return how many bytes there are too few, in words."""
    return "1 byte is missing" if count == 1 else f"{count:,} bytes are missing"

"""Fields of switch configurations as numbers, with errors that name the place."""

from __future__ import annotations

import re

from floodway.common.errors import PlanError

__all__ = ["LARGEST", "fault", "length_of", "number_of", "size_of_field"]

#: Numbers of bytes are ``uint64`` in the models (``sonic-buffer-profile``: ``size``, ``xon``, ``xoff``).
LARGEST = 2**64 - 1
#: Metres; more than once around the earth is a slip.
LONGEST_M = 40_000_000


def fault(place: str, key: str, text: str, *, given: str | None = None) -> PlanError:
    """Return an error about a key at a place."""
    return PlanError(f"{place}: {key}: {text}", place=place, key=key, given=given)


def number_of(value: object, place: str, key: str) -> int:
    """Return a whole number, which may be negative.

    Raises
    ------
    PlanError
        If it is not a whole number.
    """
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if re.fullmatch(r"-?[0-9]{1,20}", text) is None:
        raise fault(place, key, f"{value!r} is not a whole number", given=str(value))
    return int(text)


def size_of_field(value: object, place: str, key: str) -> int:
    """Return a number of bytes, at least 0.

    Raises
    ------
    PlanError
        If it is not a number of bytes.
    """
    size = number_of(value, place, key)
    if not 0 <= size <= LARGEST:
        raise fault(place, key, f"{size} is not a number of bytes, 0 to 2^64 - 1", given=str(value))
    return size


def length_of(value: object, place: str, key: str) -> int:
    """Return the length of a cable in metres; SONiC writes it as ``40m``.

    Raises
    ------
    PlanError
        If it is not a length (``sonic-cable-length``: ``length`` is digits and ``m``).
    """
    text = str(value).strip()
    if re.fullmatch(r"-\s*[0-9.]+\s*m?", text):
        raise fault(place, key, f"{value!r} is negative; a length of a cable is 0m or more", given=text)
    match = re.fullmatch(r"([0-9]{1,8})m", text)
    if match is None or int(match[1]) > LONGEST_M:
        reason = f'{value!r} is not a length; write whole metres like "40m" or "120000m", up to {LONGEST_M}m'
        raise fault(place, key, reason, given=text)
    return int(match[1])

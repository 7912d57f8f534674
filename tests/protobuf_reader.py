"""A decoder of Protocol Buffers that knows nothing of what floodway encodes: fields by their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["fields", "one"]


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield each field of a message: its number, and a whole number or bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == 2:
            length, at = _varint(message, at)
        elif kind in {1, 5}:
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"wire type {kind} at byte {at}")
        if at + length > len(message):
            raise ValueError(f"field {number} ends beyond its message")
        part = message[at : at + length]
        yield number, part if kind == 2 else int.from_bytes(part, "little")
        at += length


def one(message: bytes, number: int) -> int | bytes | None:
    """Return the last value of a field, as decoders do; none where it is not there."""
    return next((value for own, value in reversed([*fields(message)]) if own == number), None)


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            return value, at

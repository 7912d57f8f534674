"""Encoding of Protocol Buffers, as far as Perfetto's traces need it.

A message is a sequence of fields. Each begins with its number and wire type: a varint (0), 64 bits (1), or
bytes with their length (2). https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import struct

__all__ = ["bytes_field", "double_field", "fixed64_field", "text_field", "uint_field"]

VARINT, FIXED64, LENGTH = 0, 1, 2


def _varint(value: int) -> bytes:
    """Encode a number from 0 up, seven bits a byte, the low ones first."""
    parts = bytearray()
    while value > 0x7F:  # noqa: PLR2004 (seven bits)
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def uint_field(number: int, value: int) -> bytes:
    """Encode a field of a whole number from 0 up.

    Examples
    --------
    >>> uint_field(1, 150).hex()
    '089601'
    """
    return _varint(number << 3 | VARINT) + _varint(value)


def fixed64_field(number: int, value: int) -> bytes:
    """Encode a field of 64 bits."""
    return _varint(number << 3 | FIXED64) + struct.pack("<Q", value)


def double_field(number: int, value: float) -> bytes:
    """Encode a field of a floating-point number."""
    return _varint(number << 3 | FIXED64) + struct.pack("<d", value)


def bytes_field(number: int, value: bytes) -> bytes:
    """Encode a field of bytes, or of another message.

    Examples
    --------
    >>> text_field(2, "testing").hex()
    '120774657374696e67'
    """
    return _varint(number << 3 | LENGTH) + _varint(len(value)) + value


def text_field(number: int, value: str) -> bytes:
    """Encode a field of text."""
    return bytes_field(number, value.encode())

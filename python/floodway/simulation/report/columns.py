"""Columns of numbers as text: little-endian arrays, compressed (deflate, without a header), in base 64."""

from __future__ import annotations

import zlib
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["packed"]

#: Types of numbers, by the names that the page has for them.
TYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f32": "<f4", "f64": "<f8"}


def packed(values: ArrayLike, kind: str) -> dict[str, Any]:
    """Pack numbers.

    Parameters
    ----------
    values
        One number each, or rows of them.
    kind
        A key of `TYPES`.

    Returns
    -------
    dict
        `type`, `length` (how many numbers), `data`.

    Examples
    --------
    >>> packed([1, 2, 3], "u8")
    {'type': 'u8', 'length': 3, 'data': 'Y2RiBgA='}
    """
    array = np.ascontiguousarray(values, dtype=TYPES[kind])
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = compressor.compress(array.tobytes()) + compressor.flush()
    return {"type": kind, "length": int(array.size), "data": b64encode(content).decode()}

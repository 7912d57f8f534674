"""Units of axes, chosen so that numbers have few digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

__all__ = ["size_text", "time_unit", "value_unit"]

#: Units of axes by the suffix of a column: the column's unit, and larger ones with their sizes.
_UNITS = {
    "bytes": ("bytes", ((1e3, "KB"), (1e6, "MB"), (1e9, "GB"))),
    "us": ("µs", ((1e3, "ms"), (1e6, "s"))),
    "gbps": ("Gbit/s", ((1e3, "Tbit/s"),)),
    "percent": ("%", ()),
}
#: Powers of 1024.
KIB = 1024
BINARY = ("KiB", "MiB", "GiB", "TiB")


def value_unit(column: str, frames: Iterable[pl.DataFrame]) -> tuple[float, str]:
    """Return the unit of a column by its largest value: the divisor, and the unit's name.

    Examples
    --------
    >>> import polars as pl
    >>> value_unit("queue_max_bytes", [pl.DataFrame({"value": [2.5e6]})])
    (1000000.0, 'MB')
    """
    largest = max((frame["value"].max() or 0.0 for frame in frames), default=0.0)
    return _unit(column.rpartition("_")[2], largest)  # type: ignore[arg-type]


def size_text(size_bytes: int) -> str:
    """Return a size with its unit, in at most three digits: powers of two in units of 1024.

    Examples
    --------
    >>> size_text(1_048_576), size_text(64_000), size_text(1_050_000), size_text(8)
    ('1 MiB', '64 KB', '1.05 MB', '8 B')
    """
    if size_bytes.bit_count() == 1 and size_bytes >= KIB:
        power = min((size_bytes.bit_length() - 1) // 10, len(BINARY))
        return f"{size_bytes >> 10 * power} {BINARY[power - 1]}"
    units = reversed(_UNITS["bytes"][1])
    size, name = next((unit for unit in units if size_bytes >= unit[0]), (1.0, "B"))
    return f"{size_bytes / size:.3g} {name}"


def time_unit(frames: Iterable[pl.DataFrame]) -> tuple[float, str]:
    """Return the unit of `time_us` by its largest value: the divisor, and the unit's name."""
    ends = [float((frame["time_us"] + frame["span_us"]).max() or 0.0) for frame in frames]  # type: ignore[arg-type]
    return _unit("us", max(ends, default=0.0))


def _unit(suffix: str, largest: float) -> tuple[float, str]:
    plain, larger = _UNITS.get(suffix, ("", ()))
    # A few hundred of a unit are easier to read than a fraction of the next.
    reached = [(size, name) for size, name in larger if largest >= 2 * size]
    return reached[-1] if reached else (1.0, plain)

"""Rows of causes and ports, for a flow's completion time and for a critical path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.simulation.why import short_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.simulation.why import Part

__all__ = ["cause_rows", "us_text"]

#: Parts of a cause that are smaller than 1/DIVISOR of the whole share a row by default.
DIVISOR = 1000


def cause_rows(
    causes: Mapping[str, Sequence[Part]], all_parts: Sequence[Part], whole_ps: int, *, divisor: int = DIVISOR
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each cause, and below it one for each port, the largest first.

    Parameters
    ----------
    causes
        Parts of each cause.
    all_parts
        All parts; a port's name is shortened unless another of these ports has the same short name.
    whole_ps
        Time of which shares are given, in picoseconds.
    divisor
        Parts of a cause that are smaller than 1/divisor of the whole share a row.

    Yields
    ------
    tuple of str
        Cause, port, origin, microseconds and share.
    """
    for cause, parts in causes.items():
        whole = sum(part.time_ps for part in parts)
        if len(parts) == 1:
            yield cause, *_location(parts[0], all_parts), *_amount(whole, whole_ps)
            continue
        yield cause, "", "", *_amount(whole, whole_ps)
        by_time = sorted(parts, key=lambda part: -part.time_ps)
        small = [part for part in by_time if part.time_ps * divisor < whole_ps]
        small = small if len(small) > 1 else []
        for part in by_time[: len(by_time) - len(small)]:
            yield "", *_location(part, all_parts), *_amount(part.time_ps, whole_ps)
        if small:
            several = _amount(sum(part.time_ps for part in small), whole_ps)
            label = "places" if len(small) == len(parts) else "others"
            yield "", f"{len(small)} {label}", "", *several


def _location(part: Part, all_parts: Sequence[Part]) -> tuple[str, str]:
    port, origin = ("" if name is None else short_name(name, all_parts) for name in (part.port, part.origin))
    return port, origin


def _amount(time_ps: int, whole_ps: int) -> tuple[str, str]:
    return us_text(time_ps), f"{time_ps * 100 / whole_ps:.1f}"


def us_text(time_ps: int) -> str:
    """Return picoseconds as microseconds, unrounded."""
    return f"{time_ps // 10**6:,}.{time_ps % 10**6:06d}"

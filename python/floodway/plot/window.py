"""Windows of time, and results side by side, for pictures of ports over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.common.errors import PlotError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.plot.curves import Source
    from floodway.results import Result

__all__ = ["inside", "limits_of", "refuse_many"]

#: Maximum number of results side by side: more are hard to read.
MOST_RESULTS = 4


def refuse_many(sources: Sequence[Source]) -> None:
    """Raise an error for more results than can be read side by side.

    Raises
    ------
    PlotError
        If there are more than four.
    """
    if len(sources) > MOST_RESULTS:
        text = f"{len(sources)} results are too many side by side; choose at most {MOST_RESULTS}"
        raise PlotError(text, key="result")


def limits_of(results: Sequence[Result], window: tuple[float | None, float | None]) -> tuple[float, float]:
    """Return the begin and end of the shown time, in microseconds: at most until the end of the longest run.

    Parameters
    ----------
    results
        Results that are side by side.
    window
        Begin and end in microseconds; None for those of the runs.

    Raises
    ------
    PlotError
        If the window is empty, or its limits are not times.
    """
    for key, time in zip(("from", "to"), window, strict=True):
        if time is not None and not time >= 0:
            raise PlotError(f"{key}: {time:g} is not a time from 0 us on", key=key, given=f"{time:g}")
    end = max(result.outcome.simulated_us for result in results)
    begin = 0.0 if window[0] is None else window[0]
    if window[1] is not None and begin >= window[1]:
        text = f"from, {_plain_us(begin)}, is not before to, {_plain_us(window[1])}"
        raise PlotError(text, key="from" if window[0] is not None else "to")
    last = end if window[1] is None else min(window[1], end)
    if begin >= last:
        text = f"nothing lies from {_plain_us(begin)} on: the run ends at {_plain_us(end)}"
        raise PlotError(text, key="from")
    return begin, last


def inside(spans: pl.DataFrame, limits: tuple[float, float]) -> pl.DataFrame:
    """Return spans, from `from_us` to `to_us`, cut to the limits."""
    begin = pl.max_horizontal("from_us", pl.lit(limits[0]))
    end = pl.min_horizontal("to_us", pl.lit(limits[1]))
    cut = spans.with_columns(begin.alias("from_us"), end.alias("to_us"))
    return cut.filter(pl.col("from_us") < pl.col("to_us"))


def _plain_us(time: float) -> str:
    """Return a time with all its digits, without an exponent."""
    return f"{np.format_float_positional(time, trim='-')} us"

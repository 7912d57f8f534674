"""Times in which a port was paused, from received pauses and from the blocked time of each bucket.

The table `pauses` has frames alone, as they arrived, and no row where a pause runs out or ends with its link.
The series `paused_us` of a watched link has the time alone, bucket by bucket. Together they tell
both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.results.feedback import pause_spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.results.result import Result

__all__ = ["paused_spans"]

Span = tuple[float, float]
Times = np.ndarray[tuple[int], np.dtype[np.float64]]

#: Times that differ by less are the same, in microseconds: the simulator's own are whole picoseconds.
SAME_US = 1e-5


def paused_spans(result: Result, name: str) -> pl.DataFrame:
    """Return when a port was paused: `from_us`, `to_us`, in the order of time.

    Of a watched link the spans are as long in all as the series `paused_us`: those of the table `pauses` in
    buckets of which it says the same, in others the bucket's time, at that end where its neighbour is paused.
    Once the two differ, spans of several classes at a time are one. Of a link that was not watched a pause
    lasts to its resume or to the end of the run, as in `pause_spans`.

    Parameters
    ----------
    result
        What the run kept; nothing of the port, no spans.
    name
        The port, as the series call it: `link: from>to`.
    """
    received = _received(result, name)
    paused = result.series.filter(
        pl.col("object").cast(pl.String) == name, pl.col("metric").cast(pl.String) == "paused_us"
    ).sort("time_us")
    spans = (
        [span for class_spans in received for span in class_spans]
        if paused.is_empty()
        else _agreed(received, paused)
    )
    schema = {"from_us": pl.Float64, "to_us": pl.Float64}
    return pl.DataFrame(sorted(spans), schema=schema, orient="row")


def _received(result: Result, name: str) -> list[list[Span]]:
    """Return the spans of each class, in the order of time."""
    if result.pauses is None:
        return []
    pauses = pause_spans(result).filter(pl.col("object") == name)
    classes = pauses.partition_by("class", maintain_order=True)
    return [list(frame.select("from_us", "to_us").iter_rows()) for frame in classes]


def _agreed(received: Sequence[Sequence[Span]], paused: pl.DataFrame) -> list[Span]:
    """Take received pauses in buckets with the same paused time, and the paused time itself in the others."""
    begins, widths, values = (paused[column].to_numpy() for column in ("time_us", "bucket_us", "value"))
    ends = begins + widths
    received_us = sum(
        (_before(class_spans, ends) - _before(class_spans, begins) for class_spans in received),
        np.zeros_like(begins),
    )
    differs = np.abs(received_us - values) > SAME_US
    spans = [
        part
        for class_spans in received
        for span in class_spans
        for part in _outside(span, begins[differs], ends[differs])
    ]
    starts = np.array(sorted(begin for class_spans in received for begin, _ in class_spans))
    lasting = np.pad(values, 1)
    for index in np.flatnonzero(differs & (values > SAME_US)):
        bucket = (float(begins[index]), float(ends[index]))
        span = min(float(values[index]), bucket[1] - bucket[0])
        before, after = lasting[index] > 0, lasting[index + 2] > 0
        begin = _begin(bucket, span, starts, before=bool(before), after=bool(after))
        spans.append((begin, begin + span))
    return _joined(spans) if differs.any() else spans


def _begin(bucket: Span, span: float, starts: Times, *, before: bool, after: bool) -> float:
    """Place paused time in its bucket: next to a paused neighbour, otherwise where a pause was received."""
    if before:
        return bucket[0]
    if after:
        return bucket[1] - span
    inside = starts[(starts >= bucket[0]) & (starts < bucket[1])]
    return min(float(inside[0]), bucket[1] - span) if len(inside) else bucket[0]


def _before(spans: Sequence[Span], times: Times) -> Times:
    """Return how much of spans, of which none overlap, lies before each time."""
    edges = np.array(spans).ravel()
    lengths = np.diff(edges, prepend=edges[0])
    lengths[::2] = 0.0
    before: Times = np.interp(times, edges, np.cumsum(lengths))
    return before


def _outside(span: Span, begins: Times, ends: Times) -> Iterator[Span]:
    """Cut buckets, given in the order of time, out of a span."""
    begin, end = span
    first, last = np.searchsorted(ends, begin, side="right"), np.searchsorted(begins, end, side="left")
    for index in range(int(first), int(last)):
        if begins[index] > begin:
            yield begin, float(begins[index])
        begin = max(begin, float(ends[index]))
    if begin < end:
        yield begin, end


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Merge spans that touch or overlap."""
    joined: list[Span] = []
    for begin, end in sorted(spans):
        if joined and begin - joined[-1][1] <= SAME_US:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined

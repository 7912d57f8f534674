"""Bandwidth and latency of the messages of a closed loop, by the definitions of perftest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    import polars as pl

    Times: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]

__all__ = ["bandwidth_of", "latency_of"]

#: Number of longest times between posts that perftest leaves out; `t_max` is the shortest of these.
TAIL = 2


def bandwidth_of(forward: pl.DataFrame, reverse: pl.DataFrame) -> Iterable[dict[str, float | int]]:
    """Yield what `write-bw` reports of messages between two hosts; nothing where none is complete.

    Parameters
    ----------
    forward, reverse
        Messages of the client, and of the server where both send: `size_bytes`, `start_us`, `completed_us`.
    """
    if forward.is_empty():
        return
    directions = [direction for direction in (forward, reverse) if not direction.is_empty()]
    size = int(forward["size_bytes"][0])
    posted = [_times(direction, "start_us") for direction in directions]
    completed = [_times(direction, "completed_us") for direction in directions]
    rates = [len(p) / float(c[-1] - p[0]) for p, c in zip(posted, completed, strict=True)]
    peaks = [1 / _shortest(p, c) for p, c in zip(posted, completed, strict=True)]
    gbps = size * 8 / 1000
    yield {
        "bytes": size,
        "iterations": len(forward),
        "bw_peak_gbps": sum(peaks) * gbps,
        "bw_average_gbps": sum(rates) * gbps,
        "msg_rate_mpps": sum(rates),
    }


def latency_of(pings: pl.DataFrame) -> Iterable[dict[str, float | int]]:
    """Yield what `write-lat` reports of the messages of a client; nothing where there are too few.

    Parameters
    ----------
    pings
        Those that are complete, with `size_bytes` and `start_us`.
    """
    between = np.sort(np.diff(_times(pings, "start_us"))) / 2
    count = len(between) - TAIL
    if count < 1:
        return
    trimmed = between[:count]
    yield {
        "bytes": int(pings["size_bytes"][0]),
        "iterations": len(pings),
        "t_min_us": float(trimmed[0]),
        "t_max_us": float(between[count]),
        "t_typical_us": float(np.median(trimmed)),
        "t_avg_us": float(trimmed.mean()),
        "t_stdev_us": float(trimmed.std()),
        # perftest's own places, which may be that of the shorter time left out.
        "p99_us": float(between[int(np.ceil(count * 0.99))]),
        "p999_us": float(between[int(np.ceil(count * 0.999))]),
    }


def _times(messages: pl.DataFrame, column: str) -> Times:
    return np.sort(messages[column].to_numpy().astype(np.float64))


def _shortest(posted: Times, completed: Times) -> float:
    """Return the least time a message over all runs of consecutive messages, in microseconds.

    It is the least of (completed[j] - posted[i]) / (j - i + 1) over all i <= j. From a time that some run
    has, each step goes on to that of the run that beats it by most, until none does: so the result is exact,
    after few steps of one pass each.

    Examples
    --------
    >>> _shortest(np.array([0.0, 1.0, 2.0]), np.array([4.0, 5.0, 5.0]))
    1.6666666666666667
    """
    n = np.arange(len(posted))
    shortest = float(completed[-1] - posted[0]) / len(posted)
    while True:
        # The latest start, less what the messages before it would take, so far.
        begun = posted - shortest * n
        best = np.maximum.accumulate(begun)
        beaten = completed - shortest * (n + 1) - best
        j = int(np.argmin(beaten))
        i = int(np.argmax(begun[: j + 1]))
        time = float(completed[j] - posted[i]) / (j - i + 1)
        if time >= shortest:
            return shortest
        shortest = time

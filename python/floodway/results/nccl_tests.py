"""Reader of the output of nccl-tests: measured times and bandwidths of a collective by size."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from floodway.common.errors import PlotError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

__all__ = ["UNKNOWN", "Measured", "read_log"]

#: The columns without which a line is no header of the table.
HEADER = ("size", "count", "time", "algbw", "busbw")
#: Programs by the operation that they measure.
OPERATIONS = {
    "all_reduce_perf": "all-reduce",
    "all_gather_perf": "all-gather",
    "reduce_scatter_perf": "reduce-scatter",
    "broadcast_perf": "broadcast",
    "reduce_perf": "reduce",
    "alltoall_perf": "all-to-all",
    "gather_perf": "gather",
    "scatter_perf": "scatter",
    "sendrecv_perf": "send-receive",
}
#: The operation of a log that does not have the program that made it.
UNKNOWN = "measured"
#: Begin of the last line of a log.
AVERAGE = "Avg bus bandwidth"
#: Most bytes that are read of a file that may be a log.
LONGEST = 1 << 24


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A table of nccl-tests.

    Attributes
    ----------
    label
        What pictures call it: the file's name.
    data
        A row for each size, with the columns of `floodway.results.collectives.bandwidths`. Times are those
        out of place, in microseconds, and bandwidths in Gbit/s, eight times what the log has in GB/s; `ranks`
        is null where the log does not list devices.

    is_whole
        Whether the line of the average is there, which is the last one.
    """

    label: str
    data: pl.DataFrame
    is_whole: bool

    @property
    def kind(self) -> str:
        """The operation, or `UNKNOWN`."""
        return str(self.data["kind"][0])


def read_log(file: str | os.PathLike[str]) -> Measured:
    """Read the output of `all_reduce_perf` or another program of nccl-tests.

    Parameters
    ----------
    file
        Their output, of any version: the columns are found by the names above them.

    Raises
    ------
    PlotError
        If the file cannot be read, has no such table, or a line of it has no numbers where they should be.
    """
    path = Path(file)
    try:
        with path.open(encoding="utf-8", errors="replace") as log:
            lines = log.read(LONGEST).splitlines()
    except OSError as error:
        raise PlotError(f"{path}: cannot read it: {error.strerror}") from error
    rows = list(_rows(path, lines))
    if not rows:
        message = f"{path} is no output of nccl-tests: it has no table with {', '.join(HEADER)} and rows"
        raise PlotError(message)
    ranks = sum(re.match(r"#\s+Rank\s+\d+", line) is not None for line in lines) or None
    kind = _operation(lines)
    texts = dict.fromkeys(("workload", "kind", "name"), pl.String)
    whole = dict.fromkeys(("bytes", "ranks", "count"), pl.UInt64)
    real = dict.fromkeys(("least_us", "mean_us", "most_us", "algbw_gbps", "busbw_gbps"), pl.Float64)
    data = [
        (path.stem, kind, kind, size, ranks, None, None, time, None, algbw * 8, busbw * 8)
        for size, time, algbw, busbw in rows
    ]
    frame = pl.DataFrame(data, schema={**texts, **whole, **real}, orient="row")
    is_whole = any(AVERAGE in line for line in lines)
    return Measured(label=path.stem, data=frame, is_whole=is_whole)


def _operation(lines: Sequence[str]) -> str:
    """Name the operation, if the log has the program that made it."""
    for line in lines:
        match = re.search(r"\b([a-z_]+_perf)\b", line)
        if match is not None and match[1] in OPERATIONS:
            return OPERATIONS[match[1]]
    return UNKNOWN


def _rows(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, float, float, float]]:
    """Find size, time and bandwidths of each row, by the first columns of these names."""
    places: list[int] = []
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if words[:1] == ["#"] and all(name in words for name in HEADER):
            places = [words.index(name) - 1 for name in ("size", "time", "algbw", "busbw")]
        elif places and words and words[0].isdigit():
            if len(words) <= max(places):
                raise PlotError(f"{path}, line {number}: the row ends before its bandwidths")
            texts = [words[place] for place in places]
            row = _numbers(texts)
            if row is None:
                message = f"{path}, line {number}: {' '.join(texts)} is no size, time and bandwidths"
                raise PlotError(message)
            yield row


def _numbers(texts: Sequence[str]) -> tuple[int, float, float, float] | None:
    """Read size, time and bandwidths; none where a text is no number, or one that cannot be measured."""
    try:
        size, (time, algbw, busbw) = int(texts[0]), map(float, texts[1:])
    except ValueError:
        return None
    can_be = all(0 <= number < math.inf for number in (time, algbw, busbw)) and (time > 0 or size == 0)
    return (size, time, algbw, busbw) if can_be else None

"""The first difference between a run and the reference, by the clock of the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from floodway_lab.validation.counts import counts_apart
from floodway_lab.validation.files import PAUSES
from floodway_lab.validation.flows import KEYS, matched
from floodway_lab.validation.queues import samples_apart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway_lab.validation.case_results import Side

__all__ = ["First", "first_difference"]

SIDES = ("the reference", "floodway")
EVENTS = {1: "pause", 0: "resume"}


@dataclass(frozen=True, kw_only=True)
class First:
    """The first difference of two runs.

    Attributes
    ----------
    time_ns
        Time after the reference's first start, in nanoseconds; `None` for totals and samples.
    text
        The difference, with both sides' numbers.
    before
        Number of flows of both that had ended before, all of them equal.
    differing
        Number of flows that differ, or that only one side has finished.
    """

    time_ns: int | None
    text: str
    before: int
    differing: int

    def __str__(self) -> str:
        when = "" if self.time_ns is None else f"{self.time_ns:,} ns after the first start: "
        return (
            f"{when}{self.text}; {self.before:,} flows had ended before, all equal; {self.differing:,} differ"
        )


@dataclass(frozen=True, kw_only=True)
class _Difference:
    time_ns: int
    text: str


def first_difference(reference: Side, ours: Side) -> First | None:
    """Return the first difference, the earlier of flows and PFC frames before samples and totals.

    The time of a flow that differs is the earlier of its two ends. A table that the reference lacks is not
    compared.
    """
    begin = int(reference.flows["start_ns"].min())  # type: ignore[arg-type]
    flows = _apart(reference.flows, ours.flows)
    differences = [*_of_flows(flows, begin), *_of_pauses(reference, ours)]
    if differences:
        first = min(differences, key=lambda one: one.time_ns)
        ended = int(
            reference.flows.select((pl.col("start_ns") + pl.col("fct_ns") < first.time_ns).sum()).item()
        )
        return First(time_ns=first.time_ns - begin, text=first.text, before=ended, differing=len(flows))
    text = next(_without_time(reference, ours), None)
    return None if text is None else First(time_ns=None, text=text, before=len(reference.flows), differing=0)


def _apart(reference: pl.DataFrame, ours: pl.DataFrame) -> pl.DataFrame:
    """Return the flows that differ, by the earlier of their ends; where one side lacks it, by the other's."""
    match = matched(reference, ours)
    ends = (pl.col("start_ns") + pl.col("fct_ns"), pl.col("own_start_ns") + pl.col("own_fct_ns"))
    same = (pl.col("start_ns") == pl.col("own_start_ns")) & (pl.col("fct_ns") == pl.col("own_fct_ns"))
    columns = [*KEYS, "size_bytes", "start_ns"]
    parts = [
        match.both.filter(~same).select(
            *columns, at=pl.min_horizontal(*ends), reference="fct_ns", own="own_fct_ns"
        )
    ]
    for frame, names in ((match.only_reference, ("fct_ns", None)), (match.only_ours, (None, "fct_ns"))):
        times = [pl.lit(None, pl.Int64) if name is None else pl.col(name) for name in names]
        end = pl.col("start_ns") + pl.col("fct_ns")
        parts.append(frame.select(*columns, at=end, reference=times[0], own=times[1]))
    return pl.concat(parts).sort("at", maintain_order=True)


def _of_flows(flows: pl.DataFrame, begin: int) -> Iterator[_Difference]:
    for row in flows.head(1).iter_rows(named=True):
        ends = f"{row['source']}:{row['source_port']} to {row['destination']}:{row['destination_port']}"
        start = row["start_ns"] - begin
        times = [row[side] for side in ("reference", "own")]
        times_text = [
            f"unfinished in {name}" if time is None else f"{time:,} ns in {name}"
            for time, name in zip(times, SIDES, strict=True)
        ]
        text = f"flow {ends}, {row['size_bytes']:,} bytes, started at {start:,} ns: {', '.join(times_text)}"
        yield _Difference(time_ns=row["at"], text=text)


def _of_pauses(reference: Side, ours: Side) -> Iterator[_Difference]:
    if reference.pauses is None or ours.pauses is None:
        return
    counts = [side.pauses.group_by(PAUSES).len() for side in (reference, ours)]  # type: ignore[union-attr]
    both = counts[0].join(counts[1], on=PAUSES, how="full", coalesce=True).fill_null(0)
    apart = both.filter(pl.col("len") != pl.col("len_right")).sort(PAUSES)
    for row in apart.head(1).iter_rows(named=True):
        event = EVENTS.get(row["is_pause"], "frame")
        times = f"{row['len']:,} in {SIDES[0]}, {row['len_right']:,} in {SIDES[1]}"
        text = f"PFC {event} received by node {row['node']} at port {row['port']}: {times}"
        yield _Difference(time_ns=row["time_ns"], text=text)


def _without_time(reference: Side, ours: Side) -> Iterator[str]:
    if reference.queues is not None and ours.queues is not None:
        apart = samples_apart(reference.queues, ours.queues)
        if apart:
            yield f"{apart:,} samples of queues lie in other bins"
    yield from counts_apart(reference.counts, ours.counts)

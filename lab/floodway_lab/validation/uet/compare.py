"""The first difference between a run and the reference: a change of a window, or the end of a flow."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from floodway_lab.validation.texts import text_of
from floodway_lab.validation.uet.cases import FIRST_FLOW, TRACE_FILE
from floodway_lab.validation.uet.scenario import flow_ids

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway.results import Result
    from floodway_lab.validation.uet.cases import UetCase

__all__ = ["PS", "Difference", "differences"]

#: A line of a trace with a window: its event, time, flow and window.
WINDOW = re.compile(r"(new|rtx|ack|nack) t=(\d+) flow=(\d+) .*?cwnd=(\d+)")
#: A line of a trace for a timer that expires: its time and flow.
EXPIRY = re.compile(r"rto t=(\d+) flow=(\d+)")
#: Picoseconds of a microsecond.
PS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The first difference of a flow.

    Attributes
    ----------
    time_ps
        Time of the event in the reference, in picoseconds.
    text
        The event, with both sides' numbers.
    """

    time_ps: int
    text: str

    def __str__(self) -> str:
        return f"at {self.time_ps:,} ps: {self.text}"


def differences(case: UetCase, result: Result) -> list[Difference]:
    """Return the differences, the earliest first; empty if all is equal to the picosecond.

    Raises
    ------
    ValidationError
        If the reference's trace cannot be read.
    """
    all_differences = [*_of_flows(case, result), *_of_windows(case, result)]
    return sorted(all_differences, key=lambda one: one.time_ps)


def _ps(value: object) -> int | None:
    """Return microseconds as whole picoseconds; `None` for an end that was not reached."""
    return round(value * PS) if isinstance(value, float) and value == value else None  # noqa: PLR0124


def _of_flows(case: UetCase, result: Result) -> Iterator[Difference]:
    columns = ("flow_id", "finish_receiver_us", "finish_sender_us")
    rows = {str(row["flow_id"]): row for row in result.flows.select(columns).iter_rows(named=True)}
    for connection, expected, flow_id in zip(case.connections, case.expected, flow_ids(case), strict=True):
        row = rows.get(flow_id)
        name = f"flow {connection.source}->{connection.destination}, {connection.size:,} bytes"
        ends = (
            ("received", expected.received_ps, "finish_receiver_us"),
            ("acknowledged", expected.acknowledged_ps, "finish_sender_us"),
        )
        for event, reference, column in ends:
            ours = None if row is None else _ps(row[column])
            if ours != reference:
                shown = "not in this run" if ours is None else f"at {ours:,} ps here"
                text = f"{name}: {event} at {reference:,} ps in the reference, {shown}"
                at = reference if ours is None else min(reference, ours)
                yield Difference(time_ps=at, text=text)


def _of_windows(case: UetCase, result: Result) -> Iterator[Difference]:
    """Compare the windows of each flow at the lines of the trace, up to the first that differs."""
    if not case.options.sender or result.allowances is None or not (case.folder / TRACE_FILE).is_file():
        return
    expected = _windows(case)
    allowances = result.allowances.with_columns(pl.col("flow_id").cast(pl.String))
    for place, (connection, flow_id) in enumerate(zip(case.connections, flow_ids(case), strict=True)):
        rows = allowances.filter(pl.col("flow_id") == flow_id).select("time_ns", "window_bytes")
        changes = [(round(time * 1000), int(window)) for time, window in rows.iter_rows()]
        times = [time for time, _ in changes]
        for time, (event, window) in expected.get(place, {}).items():
            if time == case.expected[place].acknowledged_ps:
                # The flow is complete, and its window is not recorded any more.
                continue
            change = bisect_right(times, time)
            ours = changes[change - 1][1] if change else None
            # Where credit is used up nothing may be sent, and the window is not recorded.
            if ours not in (window, 0):
                shown = "none" if ours is None else f"of {ours:,} B"
                flow = f"flow {connection.source}->{connection.destination}"
                text = f"{flow}: {event}: a window of {window:,} B in the reference, {shown} here"
                yield Difference(time_ps=time, text=text)
                break


def _windows(case: UetCase) -> dict[int, dict[int, tuple[str, int]]]:
    """Read each flow's windows: by time the last event of an instant, and the window after it.

    Instants at which a timer expires are left out, as the trace does not say what the window is then.
    """
    file = case.folder / TRACE_FILE
    text = text_of(file)
    expired = {(match[2], match[1]) for match in EXPIRY.finditer(text)}
    windows: dict[int, dict[int, tuple[str, int]]] = {}
    for match in WINDOW.finditer(text):
        event, time, flow, window = match.groups()
        if (flow, time) not in expired:
            place = (int(flow) - FIRST_FLOW) // 2
            windows.setdefault(place, {})[int(time)] = (event, int(window))
    return windows

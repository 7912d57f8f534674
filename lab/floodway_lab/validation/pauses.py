"""PFC frames of the reference and ours, as they were received."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from floodway_lab.validation.files import PAUSES
from floodway_lab.validation.rows import Row, least_of, limit_of, relative, share
from floodway_lab.validation.rules import FEW_FRAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway_lab.validation.rules import Rules

__all__ = ["frames_by_node", "lines_equal", "pause_rows"]

EVENTS = (("pause", 1), ("resume", 0))


def pause_rows(
    reference: pl.DataFrame, ours: Sequence[pl.DataFrame], rules: Rules, *, begin_ns: int
) -> Iterator[Row]:
    """Compare how many frames there are, at which nodes, and when the first one comes.

    Parameters
    ----------
    reference, ours
        Frames with the columns of `files.PAUSES`; ours one a seed.
    rules
        The bounds.
    begin_ns
        Start of the first flow, in nanoseconds.
    """
    for name, event in EVENTS:
        counts = [_count(frame, event) for frame in ours]
        expected = _count(reference, event)
        # Very many frames of ours where the reference has few are not due to chance either.
        has_limit = expected >= FEW_FRAMES or max(counts) >= 2 * FEW_FRAMES
        yield relative(
            f"pfc.{name}",
            f"{name} frames received",
            "count",
            reference=expected,
            ours=counts,
            limit=limit_of(rules.pauses if has_limit else None),
            note="" if has_limit else f"fewer than {FEW_FRAMES} frames",
        )
    if len(reference) or any(len(frame) for frame in ours):
        yield share(
            "pfc.lines",
            "PFC lines equal (time, node, port, type)",
            ours=[lines_equal(reference, frame) for frame in ours],
            limit=least_of(rules.equal),
        )
    if len(reference) and all(len(frame) for frame in ours):
        yield _elsewhere(reference, ours)
        yield relative(
            "pfc.first",
            "first PFC frame after the first start",
            "us",
            reference=_first_us(reference, begin_ns),
            ours=[_first_us(frame, begin_ns) for frame in ours],
            limit=None,
        )


def lines_equal(reference: pl.DataFrame, ours: pl.DataFrame) -> float:
    """Return the share of the lines of either file that are in both, in any order."""
    most = max(len(reference), len(ours))
    counts = [frame.group_by(PAUSES).len() for frame in (reference, ours)]
    both = counts[0].join(counts[1], on=PAUSES, how="inner")
    return int(both.select(pl.min_horizontal("len", "len_right").sum()).item()) / most if most else 1.0


def frames_by_node(reference: pl.DataFrame, ours: Sequence[pl.DataFrame]) -> list[dict[str, object]]:
    """Return for each node and event the reference's frames, and ours of each seed."""
    rows: list[dict[str, object]] = []
    for name, event in EVENTS:
        columns = [_by_node(frame, event) for frame in (reference, *ours)]
        nodes = sorted({node for column in columns for node in column})
        for node in nodes:
            expected, *counts = [column.get(node, 0) for column in columns]
            rows.append({"node": node, "event": name, "reference": expected, "ours": counts})
    return rows


def _elsewhere(reference: pl.DataFrame, ours: Sequence[pl.DataFrame]) -> Row:
    """Return which share of the frames is at other nodes, or missing there."""
    expected = _by_node(reference)
    shares = []
    for frame in ours:
        counts = _by_node(frame)
        apart = sum(abs(counts.get(node, 0) - expected.get(node, 0)) for node in {*counts, *expected})
        shares.append(apart / len(reference))
    label = "PFC frames too many or too few at their nodes"
    return Row(key="pfc.nodes", label=label, unit="share", ours=tuple(shares))


def _by_node(frame: pl.DataFrame, event: int | None = None) -> dict[int, int]:
    chosen = frame if event is None else frame.filter(pl.col("is_pause") == event)
    return dict(chosen.group_by("node").len().sort("node").iter_rows())


def _count(frame: pl.DataFrame, event: int) -> float:
    return float(frame["is_pause"].eq(event).sum())


def _first_us(frame: pl.DataFrame, begin_ns: int) -> float:
    return (int(frame["time_ns"].item(0)) - begin_ns) / 1000

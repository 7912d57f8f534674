"""Ports over time as a page has them: frames of equal length, in which peaks stay."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from floodway.simulation.report.columns import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.results.grid import Grid, Values

__all__ = ["Frames", "Steps", "frames_of"]

#: The shortest queue that is not shown as empty.
LEAST_BYTES = 64.0
#: Frames of small networks and of large ones, and the number of cells from which one is large.
MOST_FRAMES, MOST_FRAMES_OF_LARGE, LARGE = 1000, 500, 400_000

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Steps of values: of loads and shares of time, and of queues from 64 bytes to the longest."""

    load: int
    queue: int


@dataclass(frozen=True, kw_only=True)
class Frames:
    """Loads, queues and pauses of ports, frame by frame.

    Attributes
    ----------
    edges_us
        Begin of each frame, and the end of the last one.
    buckets
        Recorded buckets in a frame.
    load, load_low, load_high
        Mean, least and most throughput over the rate, of the buckets in a frame; 1 is the whole rate. Where a
        frame is one bucket, all three are the same.
    queue
        The longest queue in a frame, in bytes.
    paused
        Share of a frame in which a class was paused, 1 at most.
    widths_us
        Width of the buckets that each port was recorded in; 0 where it was not recorded.
    """

    edges_us: Values
    buckets: int
    load: Values
    load_low: Values
    load_high: Values
    queue: Values
    paused: Values
    widths_us: Values

    @property
    def count(self) -> int:
        """Number of frames."""
        return len(self.edges_us) - 1

    def frame_of(self, times_us: Values) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Return the frame of each time."""
        indices = np.searchsorted(self.edges_us, times_us, side="right") - 1
        return np.clip(indices, 0, max(self.count - 1, 0)).astype(np.intp)

    def packed_bytes(self, steps: Steps) -> int:
        """Estimate the size of the frames in the page, by a quick compression that is a little worse."""
        packs = (zlib.compress(column.tobytes(), 1) for column in self._columns(steps).values())
        return sum(map(len, packs)) * 4 // 3

    def _columns(self, steps: Steps) -> dict[str, Bytes]:
        columns = {
            "load": _shares(self.load, steps.load),
            "paused": _shares(self.paused, steps.load),
            "queue": _queues(self.queue, self._longest, steps.queue),
        }
        if self.buckets > 1:
            columns["loadLow"] = _shares(self.load_low, steps.load)
            columns["loadHigh"] = _shares(self.load_high, steps.load)
        return columns

    @property
    def _longest(self) -> float:
        return float(self.queue.max(initial=LEAST_BYTES * 2))

    def document(self, steps: Steps) -> dict[str, Any]:
        """Write the frames for the page."""
        return {
            "count": self.count,
            "edges": packed(self.edges_us, "f64"),
            "buckets": self.buckets,
            "loadSteps": steps.load,
            "queueSteps": steps.queue,
            "queueLeast": LEAST_BYTES,
            "queueMost": self._longest,
            "widths": packed(self.widths_us, "f32"),
            **{name: packed(values, "u8") for name, values in self._columns(steps).items()},
        }


def _shares(values: Values, steps: int) -> Bytes:
    """Round shares to steps; only nothing is 0."""
    rounded = np.rint(np.clip(values, 0, 1) * steps)
    shares: Bytes = np.where((values > 0) & (rounded == 0), 1, rounded).astype(np.uint8)
    return shares


def _queues(values: Values, longest: float, steps: int) -> Bytes:
    """Round queues to steps of equal ratios, from the least to the longest; 0 is an empty queue."""
    ratio = np.log(np.maximum(values, LEAST_BYTES) / LEAST_BYTES) / np.log(longest / LEAST_BYTES)
    codes: Bytes = np.where(values > 0, 1 + np.rint(ratio * (steps - 1)), 0).astype(np.uint8)
    return codes


def frames_of(grid: Grid, ports: Sequence[str], rates_gbps: Sequence[float]) -> Frames:
    """Make frames of a run's series: whole buckets, as many together as are needed to have few frames."""
    cells = len(ports) * grid.buckets
    most = MOST_FRAMES_OF_LARGE if cells > LARGE else MOST_FRAMES
    together = max(-(-grid.buckets // most), 1)
    starts = np.arange(0, max(grid.buckets, 1), together)
    row = {port: index for index, port in enumerate(grid.ports)}
    order = np.array([row.get(port, -1) for port in ports], dtype=np.intp)
    has_series = order >= 0
    spans = grid.spans_us if grid.buckets else np.ones(1)
    edges = np.append(np.append(0, np.cumsum(spans))[starts], spans.sum())

    def taken(metric: str) -> Values:
        values = np.zeros((len(ports), len(spans)))
        if grid.buckets:
            values[has_series] = grid.values[metric][order[has_series]]
        return values

    rates = np.array([rate or np.inf for rate in rates_gbps])[:, None]
    sent, lengths = taken("tx_bytes") * 8e-3 / rates, np.add.reduceat(spans, starts)
    widths = np.zeros(len(ports))
    widths[has_series] = grid.widths_us[order[has_series]]
    return Frames(
        edges_us=edges,
        buckets=together,
        load=np.add.reduceat(sent, starts, axis=1) / lengths,
        load_low=np.minimum.reduceat(sent / spans, starts, axis=1),
        load_high=np.maximum.reduceat(sent / spans, starts, axis=1),
        queue=np.maximum.reduceat(taken("queue_max_bytes"), starts, axis=1),
        paused=np.minimum(np.add.reduceat(taken("paused_us"), starts, axis=1) / lengths, 1),
        widths_us=widths,
    )

"""Histograms of queues of the reference and ours, port by port."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway_lab.validation.rows import Row, least_of, limit_of, relative, share
from floodway_lab.validation.rules import FEW_SAMPLES, MOST_PORTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway_lab.validation.rules import Rules

__all__ = ["Port", "bins_equal", "busiest", "queue_rows", "samples_apart", "samples_of"]

#: Samples are whole kilobytes: a mean or a percentile is exact to one.
BIN_KB = 1.0


@dataclass(frozen=True, kw_only=True)
class Port:
    """An egress port: its switch, none where the network has a single one, and its number from 1."""

    switch: int | None
    port: int

    def __str__(self) -> str:
        return f"port {self.port}" if self.switch is None else f"node {self.switch} port {self.port}"


@dataclass(frozen=True, kw_only=True)
class _Queue:
    """Samples of a port with at least one kilobyte waiting, by kilobytes."""

    kb: np.ndarray[tuple[int], np.dtype[np.int64]]
    samples: np.ndarray[tuple[int], np.dtype[np.int64]]

    @cached_property
    def numbers(self) -> dict[str, float]:
        """The numbers that are compared; zeros for a port without samples."""
        if not len(self.kb):
            return dict.fromkeys(("samples", "mean", "p50", "p99", "largest"), 0.0)
        return {
            "samples": float(self.samples.sum()),
            "mean": float(np.average(self.kb, weights=self.samples)) + BIN_KB / 2,
            "p50": self._rank(0.5),
            "p99": self._rank(0.99),
            "largest": self._rank(1.0),
        }

    def _rank(self, share: float) -> float:
        """Return the least number of kilobytes that a share of the samples does not exceed."""
        upto = np.cumsum(self.samples)
        return float(self.kb[np.searchsorted(upto, share * upto[-1] - 1e-9)])


def busiest(reference: pl.DataFrame) -> list[Port]:
    """Return the ports with the most bytes waiting over time, at most four, by their numbers."""
    waiting = (pl.col("kb") * pl.col("samples")).sum().alias("waiting")
    ports = reference.group_by("switch", "port").agg(waiting)
    chosen = ports.sort("waiting", "switch", "port").tail(MOST_PORTS).sort("switch", "port")
    return [Port(switch=switch, port=port) for switch, port, _ in chosen.iter_rows()]


def queue_rows(reference: pl.DataFrame, ours: Sequence[pl.DataFrame], rules: Rules) -> Iterator[Row]:
    """Compare queues bin by bin; of the reference's busiest ports also samples, mean and percentiles."""
    apart = [float(samples_apart(reference, frame)) for frame in ours]
    yield share(
        "queue.equal",
        "samples in equal bins",
        ours=[bins_equal(reference, frame) for frame in ours],
        limit=least_of(rules.equal),
    )
    yield Row(key="queue.apart", label="samples in other bins", unit="count", ours=tuple(apart))
    for port in busiest(reference):
        expected = _queue(reference, port)
        queues = [_queue(frame, port) for frame in ours]
        yield from _port_rows(port, expected, queues, rules)


def samples_apart(reference: pl.DataFrame, ours: pl.DataFrame) -> int:
    """Count the samples of all ports that are in another bin, or on one side only."""
    return _most(reference, ours) - _shared(reference, ours)


def bins_equal(reference: pl.DataFrame, ours: pl.DataFrame) -> float:
    """Return the share of the samples of all ports that lie in bins of both sides."""
    most = _most(reference, ours)
    return _shared(reference, ours) / most if most else 1.0


def samples_of(frame: pl.DataFrame, port: Port) -> pl.DataFrame:
    """Return `kb` and `samples` of a port; where the port names no switch, of the only one."""
    chosen = frame.filter(pl.col("port") == port.port)
    if port.switch is not None and frame["switch"].null_count() < len(frame):
        chosen = chosen.filter(pl.col("switch") == port.switch)
    return chosen.group_by("kb").agg(pl.col("samples").sum()).sort("kb")


def _most(*sides: pl.DataFrame) -> int:
    return max(int(side["samples"].sum()) for side in sides)


def _shared(reference: pl.DataFrame, ours: pl.DataFrame) -> int:
    """Count samples in the same bin of the same port; of any switch, where one side names none."""
    has_switches = all(side["switch"].null_count() == 0 for side in (reference, ours))
    bins = ["switch", "port", "kb"] if has_switches else ["port", "kb"]
    counts = [side.group_by(bins).agg(pl.col("samples").sum()) for side in (reference, ours)]
    both = counts[0].join(counts[1], on=bins, how="inner")
    return int(both.select(pl.min_horizontal("samples", "samples_right").sum()).item())


def _port_rows(port: Port, expected: _Queue, queues: Sequence[_Queue], rules: Rules) -> Iterator[Row]:
    has_limit = expected.numbers["samples"] >= FEW_SAMPLES
    name = f"queue.{port.port if port.switch is None else f'{port.switch}-{port.port}'}"
    for key, label, slack, bound in (
        ("samples", "samples with a queue", 0.0, rules.queue),
        ("mean", "mean queue", BIN_KB / 2, rules.queue),
        ("p50", "p50 of the queue", BIN_KB, None),
        ("p99", "p99 of the queue", BIN_KB, rules.queue),
        ("largest", "largest queue", BIN_KB, None),
    ):
        values = [queue.numbers[key] for queue in queues]
        limit = limit_of(bound if has_limit else None, ours=values if rules.or_spread else None)
        yield relative(
            f"{name}.{key}",
            f"{label}, {port}",
            "count" if key == "samples" else "KB",
            reference=expected.numbers[key],
            ours=values,
            limit=limit,
            slack=slack,
            note="" if has_limit else f"fewer than {FEW_SAMPLES:,} samples",
        )


def _queue(frame: pl.DataFrame, port: Port) -> _Queue:
    samples = samples_of(frame, port)
    return _Queue(kb=samples["kb"].to_numpy(), samples=samples["samples"].to_numpy())

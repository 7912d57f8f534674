"""The default choice of ports: those with most events, or with the longest queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from floodway.common.errors import PlotError
from floodway.results.feedback import port_names
from floodway.results.metrics import METRICS, natural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.results import Result

__all__ = ["KEEPS", "QUEUE", "node_of", "usual_ports"]

#: Number of ports that are shown by default.
USUAL_PORTS = 4
#: The keys of a scenario that record something to show.
KEEPS = (
    "records.watch records queues, records.pauses = true pauses, records.signals = true marks, CNPs and "
    "states"
)
QUEUE = next(metric for metric in METRICS if metric.name == "queue-max")


def usual_ports(results: Sequence[Result]) -> list[str]:
    """Return the ports with most events: those of switches, if there are any.

    If no port has an event, these are the ports with the longest queues.

    Raises
    ------
    PlotError
        If nothing was recorded for any port.
    """
    events, longest = _event_counts(results), _longest(results)
    switches = {device.node for result in results for device in result.outcome.switches}
    counted = [name for name, count in events.items() if count]
    queued = [name for name, most in longest.items() if most > 0]
    choices = [
        *([name for name in names if node_of(name) in switches] for names in (counted, queued)),
        counted or queued or [*events],
    ]
    ports = next((names for names in choices if names), None)
    if ports is None:
        raise PlotError(f"nothing was recorded for any port; {KEEPS}")

    def rank(name: str) -> tuple[float, float, tuple[tuple[str, int], ...]]:
        return -events.get(name, 0), -longest.get(name, 0.0), natural(name)

    return sorted(sorted(ports, key=rank)[:USUAL_PORTS], key=natural)


def _event_counts(results: Sequence[Result]) -> dict[str, int]:
    """Count pauses, marks, CNPs and changes of state of each port, without the initial state."""
    events: dict[str, int] = {}
    first = (pl.col("event").cast(pl.String) == "state") & (pl.col("time_ns") == 0)
    for result in results:
        rows = port_names(result)
        for table in (result.pauses, result.signals):
            if table is None:
                continue
            # CNs are not shown.
            shown = table.filter(pl.col("event").cast(pl.String) != "cn")
            plain = shown.select(pl.col("node", "link").cast(pl.String), events=~first)
            counts = rows.join(plain, on=["node", "link"]).group_by("object").agg(pl.col("events").sum())
            for name, count in counts.iter_rows():
                events[name] = events.get(name, 0) + count
    return events


def _longest(results: Sequence[Result]) -> dict[str, float]:
    """Return the longest queue of each watched port."""
    name, value = pl.col("object").cast(pl.String), pl.col("value").cast(pl.Float64)
    queues = [
        result.series.filter(pl.col("metric").cast(pl.String) == QUEUE.source).select(name, value)
        for result in results
    ]
    return dict(pl.concat(queues).group_by("object").agg(pl.col("value").max()).iter_rows())


def node_of(name: str) -> str:
    """Return the node of a port."""
    return name.partition(": ")[2].partition(">")[0]

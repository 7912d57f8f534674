"""Which ports are shown where none are named: those of which there is most to tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from floodway.errors import PlotError
from floodway.results.feedback import port_names
from floodway.results.metrics import METRICS, natural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.results import Result

__all__ = ["KEEPS", "QUEUE", "node_of", "telling_ports"]

#: Ports that are shown where none are named.
USUAL_PORTS = 4
#: What a scenario has to say for there to be something to show.
KEEPS = (
    "records.watch keeps queues, records.pauses = true pauses, records.signals = true marks, CNPs and states"
)
QUEUE = next(metric for metric in METRICS if metric.name == "queue-max")


def telling_ports(results: Sequence[Result]) -> list[str]:
    """Return the ports of which there is most to tell: those of switches, if there are any.

    Where nothing was told of ports, those with the longest queues.

    Raises
    ------
    PlotError
        If nothing was kept of any port.
    """
    told, longest = _told(results), _longest(results)
    switches = {device.node for result in results for device in result.outcome.switches}
    counted = [name for name, count in told.items() if count]
    queued = [name for name, most in longest.items() if most > 0]
    choices = [
        *([name for name in names if node_of(name) in switches] for names in (counted, queued)),
        counted or queued or [*told],
    ]
    known = next((names for names in choices if names), None)
    if known is None:
        raise PlotError(f"nothing was kept of any port; {KEEPS}")

    def rank(name: str) -> tuple[float, float, tuple[tuple[str, int], ...]]:
        return -told.get(name, 0), -longest.get(name, 0.0), natural(name)

    return sorted(sorted(known, key=rank)[:USUAL_PORTS], key=natural)


def _told(results: Sequence[Result]) -> dict[str, int]:
    """Count pauses, marks, CNPs and changes of state of each port; the state in which it began is none."""
    told: dict[str, int] = {}
    first = (pl.col("event").cast(pl.String) == "state") & (pl.col("time_ns") == 0)
    for result in results:
        rows = port_names(result)
        for table in (result.pauses, result.signals):
            if table is None:
                continue
            # CNs are not shown.
            shown = table.filter(pl.col("event").cast(pl.String) != "cn")
            plain = shown.select(pl.col("node", "link").cast(pl.String), told=~first)
            counts = rows.join(plain, on=["node", "link"]).group_by("object").agg(pl.col("told").sum())
            for name, count in counts.iter_rows():
                told[name] = told.get(name, 0) + count
    return told


def _longest(results: Sequence[Result]) -> dict[str, float]:
    """Return the longest queue of each watched port."""
    name, value = pl.col("object").cast(pl.String), pl.col("value").cast(pl.Float64)
    queues = [
        result.series.filter(pl.col("metric").cast(pl.String) == QUEUE.source).select(name, value)
        for result in results
    ]
    return dict(pl.concat(queues).group_by("object").agg(pl.col("value").max()).iter_rows())


def node_of(name: str) -> str:
    """Return whose port it is."""
    return name.partition(": ")[2].partition(">")[0]

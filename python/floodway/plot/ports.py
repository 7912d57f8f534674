"""The picture of ports over time: queues with pauses, marks, CNPs and states, and allowances of senders.

All panels have one time axis. Each shows what the run recorded: `records.watch` (queues),
`records.pauses`, `records.signals`, `records.allowances`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.common.errors import PlotError
from floodway.plot.axes import inside, limits_of, plain_style, refuse_many, shown
from floodway.plot.curves import Drawing, Source, titled
from floodway.plot.port_panels import draw
from floodway.results.causes import ends_of
from floodway.results.feedback import allowed_spans, chosen_ports_of, port_names, signal_rows, state_spans
from floodway.results.metrics import METRICS, THROUGHPUT, Metric, matches, natural, over_parts
from floodway.results.pauses import paused_spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.results import Result

__all__ = ["FlowInTime", "PortInTime", "ports"]

#: Numbers of parts of the window, for queues and ticks: more would overlap. There are fewer for the
#: throughput of a link: parts of a few packets would show single packets.
POINTS, TICK_PLACES, CARRIED_POINTS = 1000, 1500, 100
#: Number of flows that are shown by default.
USUAL_FLOWS = 6
#: Maximum numbers of ports and of flows: more are hard to read.
MOST_PORTS, MOST_FLOWS = 12, 12
#: Names in pictures of the events that are shown as ticks.
TICKS: Mapping[str, str] = {"mark-ce": "CE", "mark-ue": "UE", "cnp": "CNP"}
#: Columns of the table; each row has the first six, and those of its quantity.
TABLE = {"result": pl.String, "seed": pl.UInt64, "object": pl.String, "what": pl.String}
TABLE |= {"from_us": pl.Float64, "to_us": pl.Float64, "class": pl.UInt64, "state": pl.String}
TABLE |= {"count": pl.Int64, **dict.fromkeys(("queue_bytes", "allowed_gbps", "throughput_gbps"), pl.Float64)}
#: Columns of allowances, which are empty for a sender without records.
ALLOWED = {"flow_id": pl.String, "from_us": pl.Float64, "to_us": pl.Float64, "allowed_gbps": pl.Float64}
#: Number of ports that are shown by default.
USUAL_PORTS = 4
#: The keys of a scenario that record something to show.
KEEPS = (
    "records.watch records queues, records.pauses = true pauses, records.signals = true marks, CNPs and "
    "states"
)
QUEUE = next(metric for metric in METRICS if metric.name == "queue-max")


@dataclass(frozen=True, kw_only=True)
class PortInTime:
    """A port's queue, pauses and events inside the window.

    Attributes
    ----------
    at_host
        Whether it is a port of a host, whose data waits in queue pairs.
    pauses_recorded
        Whether its pauses were recorded one by one, not by buckets of time.
    queue
        `time_us`, `span_us`, `value` in bytes: the maximum of each part; empty if it was not watched.
    pauses
        `from_us`, `to_us`.
    ticks
        `from_us`, `to_us`, `count` of each event.
    states
        `class`, `state`, `from_us`, `to_us`.
    """

    name: str
    at_host: bool
    pauses_recorded: bool
    queue: pl.DataFrame
    pauses: pl.DataFrame
    ticks: Mapping[str, pl.DataFrame]
    states: pl.DataFrame

    @property
    def is_empty(self) -> bool:
        """Whether nothing was recorded for the port."""
        return all(frame.is_empty() for frame in (self.queue, self.pauses, self.states, *self.ticks.values()))


@dataclass(frozen=True, kw_only=True)
class FlowInTime:
    """A flow's allowed rate inside the window, and the rate of its last link.

    Attributes
    ----------
    allowed
        `from_us`, `to_us`, `allowed_gbps`.
    link
        Direction of the link that leads to its destination; empty if it was not watched.
    carried
        `time_us`, `span_us`, `value` in Gbit/s.
    """

    name: str
    allowed: pl.DataFrame
    link: str
    carried: pl.DataFrame


def ports(
    sources: Sequence[Source],
    *,
    objects: Sequence[str] = (),
    flows: Sequence[str] = (),
    window: tuple[float | None, float | None] = (None, None),
    title: str | None = None,
) -> Drawing:
    """Draw ports and senders in time, results side by side.

    Parameters
    ----------
    sources
        Results, four at most; of several seeds the first is shown.
    objects
        Patterns of egress ports, as in `chosen_objects`; panels are in their order. Default: the four ports
        with most events (pauses, marks, CNPs, changes of state); ties are broken by the longest queue.
    flows
        Patterns of `flow_id` or of workloads. Default: the first six flows whose allowances were recorded.
    window
        Begin and end of the shown time, in microseconds; None for the run's. Default: the whole run.
    title
        Title. Default: one that names ports over time.

    Returns
    -------
    Drawing
        Picture, with a table of `result`, `seed`, `object` (a port or a flow), `what`, `from_us`, `to_us`,
        and in each row one of `queue_bytes`, `count` (of marks and CNPs), `state` with its `class`,
        `allowed_gbps`, `throughput_gbps`.

    Raises
    ------
    PlotError
        If there is no such port or flow, there are too many, or nothing was recorded for them.
    """
    first = [source.results[0] for source in sources]
    refuse_many(sources)
    limits = limits_of(first, window)
    senders = _senders(sources, flows, limits)
    names = _named_ports(first, objects)
    columns = [[_port(result, name, limits) for name in names] for result in first]
    if all(port.is_empty for column in columns for port in column):
        raise PlotError(f"nothing was recorded for these ports in this time; {KEEPS}", key="object")
    with plain_style():
        heading = shown(title) if title else titled("Ports in time", sources)
        labels = [source.label for source in sources] if len(sources) > 1 else []
        figure = draw(columns, senders, limits, title=heading, labels=labels)
    return Drawing(figure=figure, data=_table(sources, columns, senders))


def _named_ports(results: Sequence[Result], patterns: Sequence[str]) -> list[str]:
    """Return the chosen ports, in the order of the patterns."""
    if not patterns:
        return usual_ports(results)
    names = [name for pattern in patterns for name in chosen_ports_of(results[0], [pattern])]
    chosen = list(dict.fromkeys(names))
    if len(chosen) > MOST_PORTS:
        text = f"{len(chosen)} ports are too many panels for a picture; choose {MOST_PORTS} at most"
        raise PlotError(text, key="object")
    return chosen


def _port(result: Result, name: str, limits: tuple[float, float]) -> PortInTime:
    paused = paused_spans(result, name).with_columns(object=pl.lit(name))
    states = None if result.signals is None else state_spans(result)
    rows = None if result.signals is None else signal_rows(result)
    switches = {device.node for device in result.outcome.switches}
    return PortInTime(
        name=name,
        at_host=ends_of(name)[1] not in switches,
        pauses_recorded=result.pauses is not None,
        queue=_curve(result, name, limits, metric=QUEUE, points=POINTS),
        pauses=_cut(paused, name, limits, columns=("from_us", "to_us")),
        ticks={event: _ticks(rows, name, event, limits) for event in TICKS},
        states=_cut(states, name, limits, columns=("class", "state", "from_us", "to_us")),
    )


def _curve(
    result: Result, name: str, limits: tuple[float, float], *, metric: Metric, points: int
) -> pl.DataFrame:
    """Return the longest queue, or the throughput, in equal parts of the window."""
    watched = result.series.with_columns(pl.col("object").cast(pl.String)).filter(
        pl.col("object") == name,
        pl.col("time_us") + pl.col("bucket_us") > limits[0],
        pl.col("time_us") < limits[1],
    )
    parts = over_parts(watched, metric, points=points)
    return parts.select("time_us", "span_us", pl.col("value").cast(pl.Float64))


def _cut(
    spans: pl.DataFrame | None, name: str, limits: tuple[float, float], *, columns: Sequence[str]
) -> pl.DataFrame:
    """Return the spans of a port, cut to the window."""
    if spans is None:
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.Float64))
    return inside(spans.filter(pl.col("object") == name), limits).select(columns)


def _ticks(rows: pl.DataFrame | None, name: str, event: str, limits: tuple[float, float]) -> pl.DataFrame:
    """Count events in parts of the window that are too narrow to distinguish."""
    width = (limits[1] - limits[0]) / TICK_PLACES
    times = np.empty(0)
    if rows is not None:
        events = rows.filter(pl.col("object") == name, pl.col("event") == event)
        times = events["time_ns"].to_numpy() / 1000
    inside = times[(times >= limits[0]) & (times <= limits[1])]
    places, counts = np.unique(((inside - limits[0]) // width).astype(np.int64), return_counts=True)
    begins = limits[0] + places * width
    return pl.DataFrame({"from_us": begins, "to_us": begins + width, "count": counts.astype(np.int64)})


def _senders(
    sources: Sequence[Source], patterns: Sequence[str], limits: tuple[float, float]
) -> list[list[FlowInTime]]:
    """Return the chosen flows of each result; empty without recorded allowances and requested flows."""
    results = [source.results[0] for source in sources]
    if not patterns and all(result.allowances is None for result in results):
        return [[] for _ in results]
    spans = [_allowed(source, required=bool(patterns), name_source=len(sources) > 1) for source in sources]
    flow_ids = list(dict.fromkeys(name for frame in spans for name in frame["flow_id"].to_list()))
    for pattern in patterns:
        if not any(_is_flow(name, pattern) for name in flow_ids):
            noun = "a flow whose allowance was recorded"
            raise PlotError.of_choice(pattern, noun=noun, allowed=flow_ids, key="flow")
    chosen = [name for pattern in patterns for name in flow_ids if _is_flow(name, pattern)]
    names = list(dict.fromkeys(chosen)) if patterns else flow_ids[:USUAL_FLOWS]
    if len(names) > MOST_FLOWS:
        text = f"{len(names)} flows are too many curves for a picture; choose {MOST_FLOWS} at most"
        raise PlotError(text, key="flow")
    pairs = zip(results, spans, strict=True)
    return [[_flow(result, allowed, name, limits) for name in names] for result, allowed in pairs]


def _allowed(source: Source, *, required: bool, name_source: bool) -> pl.DataFrame:
    """Return the allowed rates of a result's senders; empty if they were not recorded and not required."""
    result = source.results[0]
    if result.allowances is None and not required:
        return pl.DataFrame(schema=ALLOWED)
    try:
        return allowed_spans(result)
    except PlotError as error:
        raise PlotError(f"{source.label}: {error}" if name_source else str(error), key="flow") from error


def _is_flow(name: str, pattern: str) -> bool:
    return matches(pattern, name, name.partition(":")[0])


def _flow(result: Result, spans: pl.DataFrame, name: str, limits: tuple[float, float]) -> FlowInTime:
    allowed = spans.filter(pl.col("flow_id") == name).with_columns(object=pl.lit(name))
    link = _last_link(result, name)
    return FlowInTime(
        name=name,
        allowed=_cut(allowed, name, limits, columns=("from_us", "to_us", "allowed_gbps")),
        link=link.partition(": ")[2],
        carried=_curve(result, link, limits, metric=THROUGHPUT, points=CARRIED_POINTS),
    )


def _last_link(result: Result, flow: str) -> str:
    """Return the watched link that leads to a flow's destination; empty if there is none."""
    row = result.flows.filter(pl.col("flow_id") == flow)
    if row.is_empty():
        return ""
    destination = str(row["destination"][0])
    watched = result.series["object"].cast(pl.String).unique().to_list()
    return min((name for name in watched if name.endswith(f">{destination}")), default="", key=natural)


def _table(
    sources: Sequence[Source],
    columns: Sequence[Sequence[PortInTime]],
    senders: Sequence[Sequence[FlowInTime]],
) -> pl.DataFrame:
    frames = [
        frame.select(*source.names, pl.lit(name).alias("object"), pl.lit(quantity).alias("what"), pl.all())
        for source, shown_ports, flows in zip(sources, columns, senders, strict=True)
        for name, quantity, frame in (*_port_rows(shown_ports), *_flow_rows(flows))
        if not frame.is_empty()
    ]
    return pl.concat([pl.DataFrame(schema=TABLE), *frames], how="diagonal_relaxed")


def _port_rows(shown_ports: Sequence[PortInTime]) -> Iterator[tuple[str, str, pl.DataFrame]]:
    for port in shown_ports:
        yield port.name, "queue", _parts(port.queue, "queue_bytes")
        yield port.name, "paused", port.pauses
        yield port.name, "state", port.states
        for event, ticks in port.ticks.items():
            yield port.name, event, ticks


def _flow_rows(flows: Sequence[FlowInTime]) -> Iterator[tuple[str, str, pl.DataFrame]]:
    for flow in flows:
        yield flow.name, "allowed", flow.allowed
        if flow.link:
            yield flow.name, f"carried {flow.link}", _parts(flow.carried, "throughput_gbps")


def _parts(curve: pl.DataFrame, column: str) -> pl.DataFrame:
    end = pl.col("time_us") + pl.col("span_us")
    return curve.select(from_us="time_us", to_us=end, value="value").rename({"value": column})


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
        *([name for name in names if ends_of(name)[1] in switches] for names in (counted, queued)),
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

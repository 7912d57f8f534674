"""Shares of links in time: the throughput of each flow, a panel for each direction and source."""

from __future__ import annotations

import fnmatch
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.common.errors import PlotError
from floodway.common.names import not_a_choice
from floodway.plot.axes import plain_style, shown
from floodway.plot.curves import WIDER_BELOW, Drawing, titled
from floodway.plot.share_panels import draw
from floodway.plot.window import limits_of
from floodway.results.metrics import chosen_objects, natural
from floodway.results.shares import share_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from floodway.plot.curves import Source
    from floodway.results import Result

__all__ = ["SharedLink", "shares"]

#: Parts of the window: wider ones hold more packets, so that one more or less does not show.
POINTS = 250
#: Of a width that is asked for; more would be neither seen nor drawn in reasonable time.
MOST_POINTS = 5000
#: Flows that have lines of their own; more cannot be distinguished.
MOST_FLOWS = 8
#: More panels than this are hard to read; side by side, fewer still.
MOST_PANELS, MOST_COLUMNS = 12, 4
#: Times in microseconds go down to the picosecond; how far off a number of buckets may be by its arithmetic.
DIGITS, NEARLY = 6, 1e-6
#: Half a picosecond: times that are less apart are the same.
HALF = 5e-7
#: What stands instead of lines.
NOT_KEPT = "shares not recorded"
#: Of a run that did not keep shares.
NOTHING: Mapping[str, type[pl.DataType]] = {
    "object": pl.String,
    "direction": pl.String,
    "flow_id": pl.String,
    "workload": pl.String,
    "time_us": pl.Float64,
    "bucket_us": pl.Float64,
    "tx_bytes": pl.UInt64,
}
#: What the objects of these rows are.
DIRECTION = "a direction of a link whose shares were recorded"
#: Columns of a line.
LINE: Mapping[str, type[pl.DataType]] = {
    "time_us": pl.Float64,
    "span_us": pl.Float64,
    "tx_bytes": pl.Int64,
    "throughput_gbps": pl.Float64,
}


@dataclass(frozen=True, kw_only=True)
class SharedLink:
    """What flows had of a direction of a link, inside the window.

    Attributes
    ----------
    source, object
        Label of the result, and `link: from>to`.
    lines
        By `flow_id`, and by what all others are called: `time_us`, `span_us`, `tx_bytes`, `throughput_gbps`
        of equal parts of the window. Flows that never had anything of this direction have none.
    lacking
        Why there are no lines, where there are none.
    """

    source: str
    object: str
    lines: Mapping[str, pl.DataFrame]
    lacking: str


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """The parts of the window that the buckets of a run are put together in.

    Attributes
    ----------
    width_us
        Of the run's buckets.
    first, count, each
        The first bucket, how many there are, and how many make a part.
    edges_us
        Where parts begin, and the last one ends.
    """

    width_us: float
    first: int
    count: int
    each: int
    edges_us: np.ndarray[tuple[int], np.dtype[np.float64]]

    def line(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Sum bytes up; a part in which nothing was sent has 0."""
        spans = np.diff(self.edges_us)
        number = (rows["time_us"] / self.width_us).round().cast(pl.Int64).to_numpy() - self.first
        # The width is less than that of whole buckets where the only one that is known was cut short.
        part = np.clip(number, 0, self.count - 1) // self.each
        sent = np.bincount(part, weights=rows["tx_bytes"].to_numpy(), minlength=len(spans))
        columns = (self.edges_us[:-1], spans.round(DIGITS), sent.astype(np.int64), sent * 8e-3 / spans)
        return pl.DataFrame(dict(zip(LINE, columns, strict=True)), schema=LINE)


def shares(  # noqa: PLR0913 (what a caller may choose)
    sources: Sequence[Source],
    *,
    objects: Sequence[str] = (),
    flows: Sequence[str] = (),
    window: tuple[float | None, float | None] = (None, None),
    bucket_us: float | None = None,
    title: str | None = None,
) -> Drawing:
    """Draw the throughput of flows over links in time, all panels over the same ranges.

    The eight flows with most bytes have lines of their own, in the same colours in all panels; all others are
    summed up. A flow that sends nothing has a throughput of 0.

    Parameters
    ----------
    sources
        The results; of several seeds the first is shown.
    objects
        Patterns of directions, as in `chosen_objects`. By default the direction that carried most.
    flows
        Patterns of `flow_id` or of workloads: only these are shown. By default all flows.
    window
        From when to when, in microseconds; buckets that reach into it are shown. Default: the whole run.
    bucket_us
        So many whole buckets are put together that they are at least this wide. By default so many that there
        are at most 250 parts.
    title
        What stands above. Default: that it is the throughput of flows.

    Returns
    -------
    Drawing
        Its table has `result`, `seed`, `object`, `flow_id`, `time_us`, `span_us`, `tx_bytes` and
        `throughput_gbps`.

    Raises
    ------
    PlotError
        If no shares were kept, there is no such direction or flow, or there is nothing or too much to show.
    """
    if bucket_us is not None and not 0 < bucket_us < math.inf:
        raise PlotError(f"{bucket_us:g} us is not a width above 0", key="bucket")
    first = [source.results[0] for source in sources]
    limits = limits_of(first, window)
    kept = _kept(first)
    names = chosen_objects(objects, kept, noun=DIRECTION) if objects else [_busiest(kept, limits)]
    _refuse_many(names, len(sources))
    rows = _chosen(kept, names, flows)
    own, others = _ranked(sources, rows, limits)
    columns = []
    for source, every, chosen in zip(sources, kept, rows, strict=True):
        parts = _parts(source.results[0], every, limits, bucket_us)
        columns.append([_link(source, name, parts, chosen, (own, others)) for name in names])
    with plain_style():
        heading = shown(title) if title else titled("Throughput of flows", sources)
        note = WIDER_BELOW if len(own) > 1 else ""
        figure = draw(columns, own, others, limits, title=heading, note=note)
    return Drawing(figure=figure, data=_table(sources, columns), note=note)


def _kept(results: Sequence[Result]) -> list[pl.DataFrame]:
    """Return the rows of each result; none of one that kept none, where others did."""
    if all(result.shares is None for result in results):
        share_rows(results[0])
    nothing = pl.DataFrame(schema=NOTHING)
    frames = [nothing if result.shares is None else share_rows(result) for result in results]
    return [frame.select(pl.col(name).cast(form) for name, form in NOTHING.items()) for frame in frames]


def _inside(rows: pl.DataFrame, limits: tuple[float, float]) -> pl.DataFrame:
    """Return the buckets that reach into the window."""
    end = pl.col("time_us") + pl.col("bucket_us")
    return rows.filter(end > limits[0] + HALF, pl.col("time_us") < limits[1] - HALF)


def _busiest(kept: Sequence[pl.DataFrame], limits: tuple[float, float]) -> str:
    """Name the direction of which flows had most."""
    sent = _inside(pl.concat(kept), limits).group_by("object").agg(pl.col("tx_bytes").sum())
    if sent.is_empty():
        raise PlotError(
            "no flow sent anything in this time over links whose shares were recorded", key="object"
        )
    name, _ = min(sent.iter_rows(), key=lambda row: (-row[1], natural(row[0])))
    return str(name)


def _refuse_many(names: Sequence[str], sources: int) -> None:
    if len(names) * sources > MOST_PANELS or min(len(names), sources) > MOST_COLUMNS:
        of = f" of {sources} results" if sources > 1 else ""
        directions = f"{len(names)} direction{'s' * (len(names) > 1)}"
        text = f"{directions}{of} are too many panels for a picture; choose fewer"
        raise PlotError(text, key="object")


def _chosen(
    kept: Sequence[pl.DataFrame], names: Sequence[str], patterns: Sequence[str]
) -> list[pl.DataFrame]:
    """Return the rows of these directions, and of the flows that patterns name if there are any."""
    rows = [frame.filter(pl.col("object").is_in(list(names))) for frame in kept]
    if not patterns:
        return rows
    known = dict(pl.concat(rows).select("flow_id", "workload").unique(maintain_order=True).iter_rows())
    for pattern in patterns:
        if not any(_names(pattern, flow, workload) for flow, workload in known.items()):
            allowed = (*dict.fromkeys(known.values()), *sorted(known, key=natural))
            text, near = not_a_choice(pattern, noun="a flow or workload of these directions", allowed=allowed)
            raise PlotError(text, key="flow", given=pattern, allowed=allowed, nearest=near)
    wanted = [
        flow
        for flow, workload in known.items()
        if any(_names(pattern, flow, workload) for pattern in patterns)
    ]
    return [frame.filter(pl.col("flow_id").is_in(wanted)) for frame in rows]


def _names(pattern: str, *names: str) -> bool:
    """Whether a pattern names a flow by its id or its workload; brackets have no meaning of their own."""
    return any(fnmatch.fnmatchcase(name, pattern.replace("[", "[[]")) for name in names)


def _ranked(
    sources: Sequence[Source], rows: Sequence[pl.DataFrame], limits: tuple[float, float]
) -> tuple[dict[str, str], str]:
    """Choose the flows with most bytes, and name all others together.

    Returns
    -------
    tuple
        Workloads by `flow_id`, in the order of the scenarios' workloads; what the others are called, nothing
        if there are none.
    """
    per_flow = _inside(pl.concat(rows), limits).group_by("flow_id", "workload").agg(pl.col("tx_bytes").sum())
    if per_flow.is_empty():
        raise PlotError("no such flow sent anything in this time over these directions", key="flow")
    ranked = sorted(per_flow.iter_rows(), key=lambda row: (-row[2], natural(row[0])))
    listed = [each.name for source in sources for each in source.results[0].outcome.workloads]
    place = {name: number for number, name in reversed(list(enumerate(listed)))}
    most = sorted(
        ranked[:MOST_FLOWS], key=lambda row: (place.get(row[1], len(listed)), row[1], natural(row[0]))
    )
    left = len(ranked) - len(most)
    others = f"others ({left:,} flow{'s' * (left > 1)})" if left else ""
    return {flow: workload for flow, workload, _ in most}, others


def _parts(
    result: Result, kept: pl.DataFrame, limits: tuple[float, float], bucket_us: float | None
) -> _Parts | None:
    """Cut the window into parts of whole buckets; none where there are no buckets, or the run had ended."""
    end = min(limits[1], result.outcome.simulated_us)
    if kept.is_empty() or end <= limits[0]:
        return None
    # The run's end may cut the last one short.
    width = float(kept["bucket_us"].max())  # type: ignore[arg-type]
    first, last = math.floor(limits[0] / width + NEARLY), math.ceil(end / width - NEARLY)
    each = -(-(last - first) // POINTS)
    if bucket_us is not None:
        each = max(1, math.ceil(bucket_us / width - NEARLY))
        if last - first > MOST_POINTS * each:
            text = f"parts of {width * each:g} us are too many for a picture: {(last - first) // each:,}"
            raise PlotError(f"{text}; choose wider ones, or a shorter time", key="bucket")
    begins = np.arange(first, last, each) * width
    edges = np.append(begins, min(last * width, result.outcome.simulated_us)).round(DIGITS)
    return _Parts(width_us=width, first=first, count=last - first, each=each, edges_us=edges)


def _link(
    source: Source, name: str, parts: _Parts | None, rows: pl.DataFrame, flows: tuple[Mapping[str, str], str]
) -> SharedLink:
    own, others = flows
    every = rows.filter(pl.col("object") == name)
    if parts is None or every.is_empty():
        kept = source.results[0].shares is not None
        lacking = "the run had ended" if parts is None else "no flow sent anything"
        return SharedLink(source=source.label, object=name, lines={}, lacking=lacking if kept else NOT_KEPT)
    here = dict.fromkeys(every["flow_id"])
    cut = _inside(every, (parts.edges_us[0], parts.edges_us[-1]))
    lines = {flow: parts.line(cut.filter(pl.col("flow_id") == flow)) for flow in own if flow in here}
    rest = cut.filter(~pl.col("flow_id").is_in(list(own)))
    if not rest.is_empty():
        lines[others] = parts.line(rest)
    return SharedLink(source=source.label, object=name, lines=lines, lacking="")


def _table(sources: Sequence[Source], columns: Sequence[Sequence[SharedLink]]) -> pl.DataFrame:
    return pl.concat(
        line.select(
            pl.lit(source.label).alias("result"),
            pl.lit(source.results[0].run.seed, dtype=pl.UInt64).alias("seed"),
            pl.lit(link.object).alias("object"),
            pl.lit(flow).alias("flow_id"),
            pl.all(),
        )
        for source, links in zip(sources, columns, strict=True)
        for link in links
        for flow, line in link.lines.items()
    )

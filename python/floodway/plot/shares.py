"""The picture of shares of links over time: each flow's throughput, a panel per direction and source."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.ticker import AutoMinorLocator, MaxNLocator

from floodway.common.errors import PlotError
from floodway.plot.axes import grid_of, limits_of, plain_style, shown, time_unit, value_unit
from floodway.plot.curves import (
    COLOURS,
    LEGEND_KEY,
    LEGEND_LETTERS,
    LEGEND_ROW,
    WIDER_BELOW,
    Drawing,
    Source,
    colour_of,
    note_lines,
    titled,
)
from floodway.plot.style import current
from floodway.results.feedback import share_rows
from floodway.results.metrics import chosen_objects, matches, natural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway.results import Result

__all__ = ["shares"]

#: Number of parts of the window by default: wide enough that single packets are not visible.
POINTS = 250
#: Maximum number of parts of a requested width: more are neither visible nor drawn in reasonable time.
MOST_POINTS = 5000
#: Number of flows with lines of their own; more cannot be distinguished.
MOST_FLOWS = 8
#: Maximum numbers of panels, and of panels side by side: more are hard to read.
MOST_PANELS, MOST_COLUMNS = 12, 4
#: Decimals of times in microseconds, down to picoseconds; and the rounding error of a number of buckets.
DIGITS, NEARLY = 6, 1e-6
#: Half a picosecond, in microseconds: times that differ by less are equal.
HALF = 5e-7
#: Text in place of lines.
NOT_RECORDED = "shares not recorded"
#: Columns of the rows of shares, which are empty for a run without them.
EMPTY_ROWS = {
    **dict.fromkeys(("object", "direction", "flow_id", "workload"), pl.String),
    **dict.fromkeys(("time_us", "bucket_us"), pl.Float64),
    "tx_bytes": pl.UInt64,
}
#: Kind of the objects, in errors.
DIRECTION = "a direction of a link whose shares were recorded"
#: Columns of a line's table.
LINE = {"time_us": pl.Float64, "span_us": pl.Float64, "tx_bytes": pl.Int64, "throughput_gbps": pl.Float64}
#: Heights of a single panel, of each of several, and of the space around all panels, in inches.
SINGLE_PANEL, PANEL, AROUND = 3.0, 2.1, 1.2
#: Range of the shades of a workload's flows: shares of black (below 0) and of white that are mixed in.
DARKEST, LIGHTEST = -0.45, 0.55
#: Numbers of distinguishable shades of a colour, and of colours with shades.
MOST_SHADES, MOST_SHADED = 4, 3
#: Style of lines when shades or colours repeat.
DASHED: Any = (0, (3, 1))
#: Widths in points: of the top line, of the bottom line at most, and of a workload's only flow beside others.
WIDTH, WIDEST, ALONE_WIDTH = 1.1, 3.0, 2.0
#: Maximum difference in width to the line above, in points.
WIDER = 0.6
OTHER_FLOWS: dict[str, Any] = {"color": "0.6", "linewidth": 1.0, "linestyle": "-", "zorder": 2.0}


@dataclass(frozen=True, kw_only=True)
class SharedLink:
    """The throughput of flows over a direction of a link, inside the window.

    Attributes
    ----------
    source, object
        Label of the result, and `link: from>to`.
    lines
        `time_us`, `span_us`, `tx_bytes`, `throughput_gbps` of equal parts of the window, by `flow_id` and by
        the label of all others. Flows that sent nothing over this direction have no line.
    lacking
        Why there are no lines; empty if there are.
    """

    source: str
    object: str
    lines: Mapping[str, pl.DataFrame]
    lacking: str


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """The parts of the window, each of several buckets of a run.

    Attributes
    ----------
    width_us
        Width of the run's buckets, in microseconds.
    first, count, per_part
        Number of the first bucket, and numbers of buckets in all and in each part.
    edges_us
        Begins of the parts, and end of the last one, in microseconds.
    """

    width_us: float
    first: int
    count: int
    per_part: int
    edges_us: np.ndarray[tuple[int], np.dtype[np.float64]]

    def line(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the throughput of rows in each part; a part without data has 0."""
        spans = np.diff(self.edges_us)
        number = (rows["time_us"] / self.width_us).round().cast(pl.Int64).to_numpy() - self.first
        # The width is less than that of a whole bucket if the only bucket was cut short.
        part = np.clip(number, 0, self.count - 1) // self.per_part
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
    """Draw the throughput of flows over links against time, all panels with the same ranges.

    The eight flows with most bytes have lines of their own, in the same colours in all panels; the others
    share a line with their sum. A flow that sends nothing has a throughput of 0.

    Parameters
    ----------
    sources
        Results; of several seeds the first is shown.
    objects
        Patterns of directions, as in `chosen_objects`. Default: the direction with most bytes.
    flows
        Patterns of `flow_id` or of workloads: only these are shown. Default: all flows.
    window
        Begin and end of the shown time, in microseconds, None for the run's; buckets that reach into it are
        shown. Default: the whole run.
    bucket_us
        Minimum width of a part, which has whole buckets, in microseconds. Default: a width by which there
        are at most 250 parts.
    title
        Title. Default: one that names the throughput of flows.

    Returns
    -------
    Drawing
        Picture, with a table of `result`, `seed`, `object`, `flow_id`, `time_us`, `span_us`, `tx_bytes` and
        `throughput_gbps`.

    Raises
    ------
    PlotError
        If no shares were recorded, there is no such direction or flow, or there is nothing or too much to
        show.

    Examples
    --------
    >>> import floodway
    >>> from floodway.builders import Burst, RecordKeys, ShareKeys, SingleSwitch, Workload
    >>> from floodway.plot import Source, shares
    >>> scenario = floodway.Scenario(
    ...     topology=SingleSwitch(hosts=3, rate="100G", delay="1us"),
    ...     workload=[Workload(name="pair", burst=Burst(from_=["h1", "h2"], to="h3", size="100KB"))],
    ...     records=RecordKeys(shares=ShareKeys(links="*h3*", bucket="1us")),
    ... )
    >>> drawing = shares([Source(label="pair", results=(floodway.run(scenario),))])
    >>> sorted(set(drawing.data["flow_id"]))
    ['pair:h1:0', 'pair:h2:0']
    """
    if bucket_us is not None and not 0 < bucket_us < math.inf:
        raise PlotError(f"{bucket_us:g} us is not a width above 0", key="bucket")
    first = [source.results[0] for source in sources]
    limits = limits_of(first, window)
    tables = _tables(first)
    names = chosen_objects(objects, tables, noun=DIRECTION) if objects else [_busiest(tables, limits)]
    _refuse_many(names, len(sources))
    rows = _chosen(tables, names, flows)
    shown_flows, others = _ranked(sources, rows, limits)
    columns = []
    for source, every, chosen in zip(sources, tables, rows, strict=True):
        parts = _parts(source.results[0], every, limits, bucket_us)
        columns.append([_link(source, name, parts, chosen, (shown_flows, others)) for name in names])
    with plain_style():
        heading = shown(title) if title else titled("Throughput of flows", sources)
        note = WIDER_BELOW if len(shown_flows) > 1 else ""
        figure = draw(columns, shown_flows, others, limits, title=heading, note=note)
    return Drawing(figure=figure, data=_table(sources, columns), note=note)


def _tables(results: Sequence[Result]) -> list[pl.DataFrame]:
    """Return the rows of each result; empty for a result without shares, if others have them."""
    if all(result.shares is None for result in results):
        share_rows(results[0])
    nothing = pl.DataFrame(schema=EMPTY_ROWS)
    frames = [nothing if result.shares is None else share_rows(result) for result in results]
    return [frame.select(pl.col(name).cast(form) for name, form in EMPTY_ROWS.items()) for frame in frames]


def _inside(rows: pl.DataFrame, limits: tuple[float, float]) -> pl.DataFrame:
    """Return the buckets that reach into the window."""
    end = pl.col("time_us") + pl.col("bucket_us")
    return rows.filter(end > limits[0] + HALF, pl.col("time_us") < limits[1] - HALF)


def _busiest(tables: Sequence[pl.DataFrame], limits: tuple[float, float]) -> str:
    """Return the direction over which flows sent most."""
    sent = _inside(pl.concat(tables), limits).group_by("object").agg(pl.col("tx_bytes").sum())
    if sent.is_empty():
        text = "no flow sent anything in this time over links whose shares were recorded"
        raise PlotError(text, key="object")
    name, _ = min(sent.iter_rows(), key=lambda row: (-row[1], natural(row[0])))
    return str(name)


def _refuse_many(names: Sequence[str], sources: int) -> None:
    if len(names) * sources > MOST_PANELS or min(len(names), sources) > MOST_COLUMNS:
        of_results = f" of {sources} results" if sources > 1 else ""
        directions = f"{len(names)} direction{'s' * (len(names) > 1)}"
        text = f"{directions}{of_results} are too many panels for a picture; choose fewer"
        raise PlotError(text, key="object")


def _chosen(
    tables: Sequence[pl.DataFrame], names: Sequence[str], patterns: Sequence[str]
) -> list[pl.DataFrame]:
    """Return the rows of these directions, only of the flows that patterns name if there are patterns."""
    rows = [frame.filter(pl.col("object").is_in(list(names))) for frame in tables]
    if not patterns:
        return rows
    workload_of = dict(pl.concat(rows).select("flow_id", "workload").unique(maintain_order=True).iter_rows())
    for pattern in patterns:
        if not any(matches(pattern, flow, workload) for flow, workload in workload_of.items()):
            allowed = (*dict.fromkeys(workload_of.values()), *sorted(workload_of, key=natural))
            noun = "a flow or workload of these directions"
            raise PlotError.of_choice(pattern, noun=noun, allowed=allowed, key="flow")
    flow_ids = [
        flow for flow, name in workload_of.items() if any(matches(one, flow, name) for one in patterns)
    ]
    return [frame.filter(pl.col("flow_id").is_in(flow_ids)) for frame in rows]


def _ranked(
    sources: Sequence[Source], rows: Sequence[pl.DataFrame], limits: tuple[float, float]
) -> tuple[dict[str, str], str]:
    """Return the flows with most bytes, and a label for all others.

    Returns
    -------
    tuple
        Workloads by `flow_id`, in the order of the scenarios' workloads; and the label of the others, empty
        if there are none.
    """
    per_flow = _inside(pl.concat(rows), limits).group_by("flow_id", "workload").agg(pl.col("tx_bytes").sum())
    if per_flow.is_empty():
        raise PlotError("no such flow sent anything in this time over these directions", key="flow")
    ranked = sorted(per_flow.iter_rows(), key=lambda row: (-row[2], natural(row[0])))
    listed = [workload.name for source in sources for workload in source.results[0].outcome.workloads]
    place = {name: number for number, name in reversed(list(enumerate(listed)))}
    most = sorted(
        ranked[:MOST_FLOWS], key=lambda row: (place.get(row[1], len(listed)), row[1], natural(row[0]))
    )
    left = len(ranked) - len(most)
    others = f"others ({left:,} flow{'s' * (left > 1)})" if left else ""
    return {flow: workload for flow, workload, _ in most}, others


def _parts(
    result: Result, table: pl.DataFrame, limits: tuple[float, float], bucket_us: float | None
) -> _Parts | None:
    """Return parts of whole buckets of the window; None without buckets, or if the run had ended."""
    end = min(limits[1], result.outcome.simulated_us)
    if table.is_empty() or end <= limits[0]:
        return None
    # The run's end may cut the last bucket short.
    width = float(table["bucket_us"].max())  # type: ignore[arg-type]
    first, last = math.floor(limits[0] / width + NEARLY), math.ceil(end / width - NEARLY)
    per_part = -(-(last - first) // POINTS)
    if bucket_us is not None:
        per_part = max(1, math.ceil(bucket_us / width - NEARLY))
        if last - first > MOST_POINTS * per_part:
            many = f"too many for a picture: {(last - first) // per_part:,}"
            text = f"parts of {width * per_part:g} us are {many}; choose wider ones, or a shorter time"
            raise PlotError(text, key="bucket")
    begins = np.arange(first, last, per_part) * width
    edges = np.append(begins, min(last * width, result.outcome.simulated_us)).round(DIGITS)
    return _Parts(width_us=width, first=first, count=last - first, per_part=per_part, edges_us=edges)


def _link(
    source: Source, name: str, parts: _Parts | None, rows: pl.DataFrame, flows: tuple[Mapping[str, str], str]
) -> SharedLink:
    shown_flows, others = flows
    every = rows.filter(pl.col("object") == name)
    if parts is None or every.is_empty():
        were_recorded = source.results[0].shares is not None
        lacking = "the run had ended" if parts is None else "no flow sent anything"
        return SharedLink(
            source=source.label, object=name, lines={}, lacking=lacking if were_recorded else NOT_RECORDED
        )
    present = dict.fromkeys(every["flow_id"])
    cut = _inside(every, (parts.edges_us[0], parts.edges_us[-1]))
    lines = {
        flow: parts.line(cut.filter(pl.col("flow_id") == flow)) for flow in shown_flows if flow in present
    }
    rest = cut.filter(~pl.col("flow_id").is_in(list(shown_flows)))
    if not rest.is_empty():
        lines[others] = parts.line(rest)
    return SharedLink(source=source.label, object=name, lines=lines, lacking="")


def _table(sources: Sequence[Source], columns: Sequence[Sequence[SharedLink]]) -> pl.DataFrame:
    return pl.concat(
        line.select(
            *source.names, pl.lit(link.object).alias("object"), pl.lit(flow).alias("flow_id"), pl.all()
        )
        for source, links in zip(sources, columns, strict=True)
        for link in links
        for flow, line in link.lines.items()
    )


def draw(  # noqa: PLR0913 (what is shown, and what it is called)
    columns: Sequence[Sequence[SharedLink]],
    flows: Mapping[str, str],
    others: str,
    limits: tuple[float, float],
    *,
    title: str,
    note: str,
) -> Figure:
    """Draw a panel for each direction and result.

    Parameters
    ----------
    columns
        Directions of each result, the same in all.
    flows
        Workloads by `flow_id` of the flows with lines of their own, in the order of the legend.
    others
        Label of the line of all others; empty without others.
    limits
        Begin and end of the window, in microseconds.
    title, note
        Texts above and below the figure.
    """
    results, names = len(columns), len(columns[0])
    every = [line for links in columns for link in links for line in link.lines.values()]
    per_time, time = time_unit(limits[1])
    values = [line.select(value="throughput_gbps") for line in every]
    per_value, unit = value_unit("throughput_gbps", values)
    rows, across = sorted((names, results), reverse=True)
    figure, grid = grid_of("", unit, title=title, rows=rows, columns=across)
    styles = {**styles_of(flows), others: OTHER_FLOWS}
    for c, links in enumerate(columns):
        for n, link in enumerate(links):
            axes = grid[n][c] if names >= results else grid[c][n]
            _panel(axes, link, styles, (per_time, per_value))
            parts = [link.source] * (results > 1) + [link.object.partition(": ")[2] or link.object]
            axes.set_title(shown(", ".join(parts)), loc="left", fontsize="small")
    # The panels share their ranges, which are set after all lines are drawn.
    grid[0][0].set_ylim(bottom=0)
    # Rates of links, and halves and quarters of these, are multiples of these steps.
    grid[0][0].yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2.5, 5, 10]))
    grid[0][0].yaxis.set_minor_locator(AutoMinorLocator(5))
    grid[0][0].set_xlim(limits[0] / per_time, limits[1] / per_time)
    for axes in grid[-1]:
        axes.set_xlabel(f"time in {time}")
    figure.set_figheight(((SINGLE_PANEL if rows == 1 else PANEL * rows) + AROUND) * current().scale)
    _legend(figure, flows, styles, others, note)
    return figure


def styles_of(flows: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the style of each flow's line, by the workloads of the flows.

    Of two or three workloads each has a colour, and its flows shades of it; else each flow has a colour of
    its own.

    Examples
    --------
    >>> [look["color"] for look in styles_of({"one:h1:0": "one", "two:h2:0": "two"}).values()]
    ['#0072b2', '#d55e00']
    """
    counts = Counter(flows.values())
    workloads = list(counts)
    shaded = 1 < len(workloads) <= MOST_SHADED
    seen: Counter[str] = Counter()
    styles = {}
    for number, (flow, workload) in enumerate(flows.items()):
        rank = seen[workload]
        # Lines below others are wider, so that equal lines are all visible.
        below = (counts[workload] if shaded else len(flows)) - 1 - (rank if shaded else number)
        width = WIDTH + below * min(WIDER, (WIDEST - WIDTH) / len(flows))
        look: dict[str, Any] = {"linewidth": width, "zorder": 2.2}
        seen[workload] += 1
        if shaded:
            base = colour_of(workloads.index(workload))
            shades = min(counts[workload], MOST_SHADES)
            look |= {"color": _shade(base, rank % shades, shades), "linestyle": _line(rank // shades)}
            if counts[workload] == 1 and max(counts.values()) > 1:
                look |= {"linewidth": ALONE_WIDTH, "zorder": 2.4}
        else:
            look |= {"color": colour_of(number), "linestyle": _line(number // len(COLOURS))}
        styles[flow] = look
    return styles


def _shade(base: str, number: int, count: int) -> str:
    """Return one of `count` shades of a colour, from dark to light; of a single one, the colour itself."""
    share = DARKEST + (LIGHTEST - DARKEST) * number / (count - 1) if count > 1 else 0.0
    toward = 0.0 if share < 0 else 1.0
    mixed = (np.array(to_rgb(base)) * (1 - abs(share)) + toward * abs(share)).tolist()
    return to_hex(mixed)


def _line(turn: int) -> Any:  # noqa: ANN401 (of lines)
    return DASHED if turn else "-"


def _panel(
    axes: Axes, link: SharedLink, styles: Mapping[str, dict[str, Any]], per: tuple[float, float]
) -> None:
    """Draw a step line for each flow, in the order of the lines."""
    if not link.lines:
        axes.text(0.5, 0.5, link.lacking, transform=axes.transAxes, ha="center", va="center", color="0.5")
    for flow, line in link.lines.items():
        begins, spans, _, rates = (column.to_numpy() for column in line.get_columns())
        edges = np.append(begins, begins[-1] + spans[-1]) / per[0]
        axes.step(edges, np.append(rates, rates[-1]) / per[1], where="post", **styles[flow])


def _legend(
    figure: Figure, flows: Mapping[str, str], styles: Mapping[str, dict[str, Any]], others: str, note: str
) -> None:
    """Add a legend of the flows below the panels; flows of a single workload are without its name."""
    workloads = set(flows.values())
    single = next(iter(workloads)) if len(workloads) == 1 and len(flows) > 1 else ""
    labels = {flow: shown(flow.removeprefix(f"{single}:") if single else flow) for flow in flows}
    if others:
        labels[others] = others
    handles = [Line2D([], [], **styles[flow]) for flow in labels]
    scale = current().scale
    wide = figure.get_figwidth() / scale
    longest = max(map(len, labels.values()), default=0)
    columns = max(1, int(LEGEND_LETTERS * wide) // (longest + LEGEND_KEY))
    lines = [*note_lines(note, wide=wide), *([f"flows of {shown(single)}"] if single else [])]
    high = -(-len(labels) // columns) - 1 + len(lines)
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * scale * high)
    look: dict[str, Any] = {"loc": "outside lower center", "ncols": columns, "fontsize": "small"}
    if lines:
        look |= {"title": "\n".join(lines), "title_fontsize": "small"}
    figure.legend(handles, list(labels.values()), **look)

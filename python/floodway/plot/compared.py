"""Pictures of variants side by side; a variant has the same colour in all of them.

Completion times and slowdown are over the flows of all seeds together, pauses are means with their
spread, curves in time are those of the first seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from floodway.plot.axes import axes_of, panels_of, plain_ticks, png_of
from floodway.results.rates import link_rates
from floodway.results.summary import size_buckets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway.comparison.metrics import ShownLink
    from floodway.results import Result

__all__ = ["Picture", "pictures"]

#: Told apart also by those who see fewer colours (Okabe and Ito 2008, without yellow).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
#: Once more round the colours, another line.
LINES = ("-", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
#: Of a curve in time.
POINTS = 250
#: Letters that fit into a row of the legend, and what the sample of a line takes of them.
LEGEND_LETTERS, LEGEND_KEY = 100, 8
#: Labels longer than this make bars unreadable when they stand side by side.
LONG_LABEL = 12


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture: its file's name, what it shows, and its bytes."""

    file: str
    caption: str
    png: bytes


@dataclass(frozen=True)
class _Curve:
    label: str
    results: Sequence[Result]
    colour: str
    line: str | tuple[int, tuple[int, ...]]
    width: float

    @property
    def flows(self) -> pl.DataFrame:
        """Measured flows of all seeds."""
        columns = ("flow_id", "size_bytes", "fct_us", "slowdown")
        own = [result.flows.filter(pl.col("measured")).select(columns) for result in self.results]
        return pl.concat(own)


def pictures(
    labels: Sequence[str], results: Sequence[Sequence[Result]], link: ShownLink | None
) -> tuple[Picture, ...]:
    """Draw every picture that has something to show.

    Parameters
    ----------
    labels
        What the variants are called.
    results
        For each variant one result a seed, at least one.
    link
        Whose throughput, buffer and pauses are drawn; none to leave these out.
    """
    curves = [
        _Curve(
            label, own, COLOURS[n % len(COLOURS)], LINES[n // len(COLOURS) % len(LINES)], _width(n, labels)
        )
        for n, (label, own) in enumerate(zip(labels, results, strict=True))
    ]
    several = len(results[0]) > 1
    drawn = [*_of_flows(curves, several=several)]
    if link is not None:
        drawn += _of_link(curves, link, several=several)
    return tuple(
        Picture(file=file, caption=caption, png=png_of(figure)) for file, caption, figure in drawn if figure
    )


def _of_flows(curves: Sequence[_Curve], *, several: bool) -> Iterator[tuple[str, str, Figure | None]]:
    pooled = ", over the flows of all seeds" if several else ""
    completed = f"Share of measured flows that completed within a time{pooled}"
    yield "fct.png", f"{completed}; a curve that ends below 1 has unfinished flows.", _fct(curves)
    yield (
        "slowdown.png",
        f"Slowdown against flow size, in buckets of as many flows{pooled}.",
        _slowdown(curves),
    )


def _of_link(
    curves: Sequence[_Curve], link: ShownLink, *, several: bool
) -> Iterator[tuple[str, str, Figure | None]]:
    seed = ", first seed" if several else ""
    mean = "; bars are means over the seeds, lines reach from the smallest to the largest" if several else ""
    yield "throughput.png", f"What {link.title} carried in time{seed}.", _throughput(curves, link)
    yield (
        "buffer.png",
        f"What the port at the receiving end of {link.name} held in time{seed}: the most of each bucket.",
        _buffer(curves, link),
    )
    held_up = f"Time in which a pause held {link.name} up while packets waited for it"
    yield "pauses.png", f"{held_up}, over the time in which they waited{mean}.", _pauses(curves, link)


def _fct(curves: Sequence[_Curve]) -> Figure | None:
    figure, axes = axes_of("flow completion time in us", "share of measured flows", title="Completion times")
    for curve in curves:
        flows = curve.flows
        times = np.sort(flows["fct_us"].drop_nulls().to_numpy())
        share = np.arange(1, len(times) + 1) / max(len(flows), 1)
        axes.step(times, share, where="post", **_style(curve))
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    return _finished(figure, axes)


def _slowdown(curves: Sequence[_Curve]) -> Figure | None:
    figure, axes = axes_of(
        "flow size in bytes", "slowdown", title="Slowdown against flow size: p50 full, p99 dashed"
    )
    for curve in curves:
        buckets = size_buckets(curve.flows)
        for name, line, marker in (("p50", "-", "o"), ("p99", "--", "^")):
            points = [(bucket.to_bytes, getattr(bucket, name)) for bucket in buckets]
            reached = [(size, value) for size, value in points if value is not None]
            if reached:
                axes.plot(
                    *zip(*reached, strict=True),
                    color=curve.colour,
                    linestyle=line,
                    marker=marker,
                    markersize=3,
                    linewidth=curve.width,
                    label=curve.label if name == "p50" else None,
                )
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain_ticks(axes)
    return _finished(figure, axes)


def _throughput(curves: Sequence[_Curve], link: ShownLink) -> Figure | None:
    def curve_of(result: Result) -> tuple[pl.Series, pl.Series]:
        rates = link_rates(result.series, points=POINTS).filter(pl.col("object") == link.object)
        return rates["time_us"], rates["gbps"]

    return _in_time(curves, curve_of, up="Gbit/s", title=f"Throughput of {link.title}")


def _buffer(curves: Sequence[_Curve], link: ShownLink) -> Figure | None:
    back = _reverse(link.object)

    def curve_of(result: Result) -> tuple[pl.Series, pl.Series]:
        of_port = (pl.col("object") == back) & (pl.col("metric") == "buffer_max_bytes")
        held = result.series.filter(of_port)
        return held["time_us"], held["value"] / 1e6

    return _in_time(curves, curve_of, up="MB", title=f"Buffer at the receiver of {link.title}")


def _in_time(
    curves: Sequence[_Curve],
    curve_of: Callable[[Result], tuple[pl.Series, pl.Series]],
    *,
    up: str,
    title: str,
) -> Figure | None:
    """Draw a panel a variant: curves that pauses cut up hide one another."""
    drawn = [curve_of(curve.results[0]) for curve in curves]
    if not any(len(times) for times, _ in drawn):
        return None
    figure, panels = panels_of("time in ms", up, title=title, panels=len(curves))
    for axes, curve, (times, values) in zip(panels, curves, drawn, strict=True):
        axes.plot(times / 1000, values, linewidth=0.9, color=curve.colour)
        axes.set_title(curve.label, loc="left", fontsize="small", color=curve.colour)
    # The panels share their range: what sets it has to see all curves.
    panels[0].set_ylim(bottom=0)
    return figure


def _pauses(curves: Sequence[_Curve], link: ShownLink) -> Figure | None:
    shares = [(curve, _paused_percent(curve, link)) for curve in curves]
    if not any(any(values) for _, values in shares):
        return None
    figure, axes = axes_of("", "% of the time loaded", title=f"{link.title} paused".capitalize())
    for place, (curve, values) in enumerate(shares):
        mean = sum(values) / len(values) if values else 0.0
        reach = [[mean - min(values)], [max(values) - mean]] if len(values) > 1 else None
        axes.bar(place, mean, yerr=reach, width=0.6, capsize=4, color=curve.colour)
        top = max(values, default=0.0)
        axes.annotate(f"{mean:.1f} %", (place, top), (0, 4), textcoords="offset points", ha="center")
    tilt = 30 if any(len(curve.label) > LONG_LABEL for curve in curves) and len(curves) > 2 else 0  # noqa: PLR2004 (room)
    axes.set_xticks(
        range(len(curves)), [curve.label for curve in curves], rotation=tilt, ha="right" if tilt else "center"
    )
    axes.grid(visible=False, axis="x")
    axes.set_xlim(-0.6, len(curves) - 0.4)
    axes.margins(y=0.12)
    axes.set_ylim(bottom=0)
    return figure


def _paused_percent(curve: _Curve, link: ShownLink) -> list[float]:
    links = [
        found for result in curve.results for found in result.summary().links if found.object == link.object
    ]
    return [found.loaded_paused_share * 100 for found in links if found.loaded_paused_share is not None]


def _reverse(name: str) -> str:
    """Name the other direction of a link."""
    link, _, direction = name.partition(": ")
    sender, _, receiver = direction.partition(">")
    return f"{link}: {receiver}>{sender}"


def _width(number: int, labels: Sequence[str]) -> float:
    """Draw what lies below wider, so that curves that are the same can all be seen."""
    return min(1.3 + 0.7 * (len(labels) - 1 - number), 4.5)


def _style(curve: _Curve) -> dict[str, Any]:
    look = {"color": curve.colour, "linestyle": curve.line, "linewidth": curve.width}
    return {**look, "label": curve.label}


def _finished(figure: Figure, axes: Axes) -> Figure | None:
    """Add the legend; a figure without any point is none."""
    if not any(np.size(line.get_xdata()) for line in axes.lines):
        return None
    longest = max(len(str(line.get_label())) for line in axes.lines)
    columns = max(1, min(4, LEGEND_LETTERS // (longest + LEGEND_KEY)))
    figure.legend(loc="outside lower center", ncols=columns, fontsize="small")
    return figure

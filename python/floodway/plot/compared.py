"""Pictures of variants side by side; a variant has the same colour in all of them.

Completion times are over the flows of all seeds together, slowdown and pauses are means with their confidence
intervals, curves in time are those of the first seed.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from floodway.common.documents import Picture
from floodway.common.errors import PlotError
from floodway.plot.axes import axes_of, plain_style, png_of, shown
from floodway.plot.busbw import busbw
from floodway.plot.curves import Source, colour_of
from floodway.plot.flows import fct, slowdown
from floodway.plot.series import series
from floodway.plot.timeline import timeline
from floodway.results.causes import ends_of
from floodway.results.interval import half_width, interval_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway.comparison.shown_link import ShownLink
    from floodway.results import Result

__all__ = ["pictures"]

#: Maximum number of characters of labels that are below bars horizontally.
LONG_LABEL = 12
#: Maximum number of a variant's operations: more take seconds, and only `floodway plot timeline` draws them.
MOST_OPERATIONS = 50_000
#: Maximum number of labels that are horizontal whatever their length.
FEW_LABELS = 2


def pictures(
    labels: Sequence[str], results: Sequence[Sequence[Result]], link: ShownLink | None
) -> tuple[Picture, ...]:
    """Draw every picture that has something to show.

    Parameters
    ----------
    labels
        Labels of the variants.
    results
        Results of each variant, one per seed, at least one.
    link
        Link whose throughput, buffer and pauses are drawn; None for no such pictures.

    Returns
    -------
    tuple of Picture
        Files of pictures with their captions.
    """
    sources = [
        Source(label=label, results=tuple(seeds)) for label, seeds in zip(labels, results, strict=True)
    ]
    several = len(results[0]) > 1
    drawn = [*_of_jobs(sources, several=several), *_of_flows(sources, several=several)]
    if link is not None:
        drawn += _of_link(sources, link, several=several)
    shown_pictures = []
    for file, caption, draw in drawn:
        with contextlib.suppress(PlotError):
            shown_pictures.append(Picture(file=file, caption=caption, png=png_of(draw())))
    return tuple(shown_pictures)


def _of_flows(sources: Sequence[Source], *, several: bool) -> Iterator[tuple[str, str, Callable[[], Figure]]]:
    pooled = ", over the flows of all seeds" if several else ""
    bars = f"; {_seeds_note(sources)}" if several else "."
    completed = f"Share of measured flows that completed within a time{pooled}"
    yield (
        "slowdown.png",
        f"Slowdown against flow size, in buckets of equal numbers of flows{bars}",
        lambda: slowdown(sources, workloads=None).figure,
    )
    yield (
        "fct.png",
        f"{completed}; a curve that ends below 1 has unfinished flows.",
        lambda: fct(sources, workloads=None).figure,
    )


def _of_jobs(sources: Sequence[Source], *, several: bool) -> Iterator[tuple[str, str, Callable[[], Figure]]]:
    yield (
        "busbw.png",
        f"Bus bandwidth of collectives against their size{', over all seeds' if several else ''}.",
        lambda: busbw(sources).figure,
    )
    operations = [source.results[0].operations for source in sources]
    if all(frame is not None and len(frame) <= MOST_OPERATIONS for frame in operations):
        yield (
            "timeline.png",
            f"What each rank of the jobs did in time{', first seed' if several else ''}.",
            lambda: timeline(sources).figure,
        )


def _seeds_note(sources: Sequence[Source]) -> str:
    counts = [len(source.results) for source in sources]
    return interval_note(min(counts), max(counts))


def _of_link(
    sources: Sequence[Source], link: ShownLink, *, several: bool
) -> Iterator[tuple[str, str, Callable[[], Figure]]]:
    seed = ", first seed" if several else ""
    mean = f"; bars are means over the seeds. {_seeds_note(sources)}" if several else "."
    yield (
        "throughput.png",
        f"What {link.title} carried in time{seed}.",
        lambda: (
            series(
                sources, objects=[link.object], metric="throughput", title=f"Throughput of {link.title}"
            ).figure
        ),
    )
    yield (
        "buffer.png",
        f"What the port at the receiving end of {link.name} held in time{seed}: the most of each part.",
        lambda: (
            series(
                sources,
                objects=[_reverse(link.object)],
                metric="buffer",
                title=f"Buffer at the receiver of {link.title}",
            ).figure
        ),
    )
    held_up = f"Time in which a pause held {link.name} up while packets waited for it"
    yield (
        "pauses.png",
        f"{held_up}, over the time in which they waited{mean}",
        lambda: _pauses(sources, link),
    )


def _pauses(sources: Sequence[Source], link: ShownLink) -> Figure:
    shares = [_paused_percent(source, link) for source in sources]
    if not any(any(values) for values in shares):
        raise PlotError("the link was never paused")
    with plain_style():
        title = f"{link.title[:1].upper()}{link.title[1:]} paused"
        figure, axes = axes_of("", "% of the time loaded", title=shown(title))
        for place, values in enumerate(shares):
            _bar(axes, place, values)
        _name_bars(axes, [shown(source.label) for source in sources])
        axes.margins(y=0.12)
        axes.set_ylim(bottom=0)
    return figure


def _bar(axes: Axes, place: int, values: Sequence[float]) -> None:
    mean = sum(values) / len(values) if values else 0.0
    reach = half_width(values)
    axes.bar(place, mean, yerr=reach, width=0.6, capsize=4, color=colour_of(place))
    top = mean + (reach or 0.0)
    axes.annotate(f"{mean:.1f} %", (place, top), (0, 4), textcoords="offset points", ha="center")


def _name_bars(axes: Axes, labels: Sequence[str]) -> None:
    tilted = any(len(label) > LONG_LABEL for label in labels) and len(labels) > FEW_LABELS
    axes.set_xticks(
        range(len(labels)), labels, rotation=30 if tilted else 0, ha="right" if tilted else "center"
    )
    axes.grid(visible=False, axis="x")
    axes.set_xlim(-0.6, len(labels) - 0.4)


def _paused_percent(source: Source, link: ShownLink) -> list[float]:
    links = [row for result in source.results for row in result.summary().links if row.object == link.object]
    return [row.loaded_paused_share * 100 for row in links if row.loaded_paused_share is not None]


def _reverse(name: str) -> str:
    """Return the name of the other direction of a link."""
    link, sender, receiver = ends_of(name)
    return f"{link}: {receiver}>{sender}"

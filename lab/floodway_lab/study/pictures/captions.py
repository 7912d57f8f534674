"""Captions of pictures of studies: numbers of seeds and flows, the meaning of bars and marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.results.interval import interval_note
from floodway.results.percentiles import of_flows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from floodway_lab.study.model import Plot
    from floodway_lab.study.pictures.bars import Bar

__all__ = ["few_flows", "first_of_seeds", "note_of", "over_seeds"]


def note_of(plot: Plot, table: Sequence[Bar]) -> str:
    """Return the note of a picture of numbers: on error bars, percentiles of few flows, unfinished flows."""
    return " ".join(_parts(plot, table))


def _parts(plot: Plot, table: Sequence[Bar]) -> Iterator[str]:
    shown = [bar for bar in table if bar.mean is not None]
    seeds = [bar.seeds for bar in shown]
    if plot.kind == "grid":
        yield f"Means over {_range(seeds)} {'seed' if max(seeds) == 1 else 'seeds'}."
    elif all(bar.exact for bar in shown):
        yield f"No error bars: {_range(seeds)} seeds gave the same results."
    else:
        yield interval_note(min(seeds), max(seeds))
    for metric in plot.metrics:
        yield from few_flows(bar.few for bar in shown if bar.metric == metric.name)
    if any(bar.unfinished for bar in shown):
        mark = "A cross" if plot.kind == "lines" else "A star"
        yield f"{mark}: some of the flows did not finish."


def few_flows(few: Iterable[tuple[int, int, int] | None]) -> Iterator[str]:
    """Yield notes on the number of flows of percentiles beyond which hardly any flow lies."""
    present = [counts for counts in few if counts is not None]
    for thousandths in dict.fromkeys(counts[0] for counts in present):
        rows = [counts for counts in present if counts[0] == thousandths]
        fewest, most = min(counts[1] for counts in rows), max(counts[2] for counts in rows)
        few_note = of_flows(fewest, most, thousandths=thousandths, unit="each run")
        if few_note:
            yield few_note


def over_seeds(seeds: Sequence[int]) -> str:
    """Return a note on the number of seeds whose flows are combined."""
    return f"Over the flows of {_range(seeds)} seeds together." if max(seeds) > 1 else "Of one seed."


def first_of_seeds(seeds: Sequence[Sequence[int]]) -> str:
    """Return a note on the seed that a picture shows, out of several."""
    most = max(map(len, seeds))
    first = sorted({run_seeds[0] for run_seeds in seeds})
    text = f"Seed {first[0]}" if len(first) == 1 else "The first seed of each"
    return f"{text}, of {most}." if most > 1 else f"{text}."


def _range(numbers: Sequence[int]) -> str:
    fewest, most = min(numbers), max(numbers)
    return f"{fewest}" if fewest == most else f"{fewest} to {most}"

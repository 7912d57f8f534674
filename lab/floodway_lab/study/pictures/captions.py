"""Captions of pictures of studies: numbers of seeds and flows, the meaning of bars and marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.results.interval import interval_note
from floodway.results.percentiles import of_flows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from floodway.study.format.model import Plot
    from floodway_lab.study.pictures.bars import Bar

__all__ = ["few_flows", "first_of_seeds", "note_of", "over_seeds"]


def note_of(plot: Plot, table: Sequence[Bar]) -> str:
    """Explain a picture of numbers: its error bars, percentiles of few flows, marks of unfinished flows."""
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
    """Say of how many flows percentiles are, where hardly any flow lies beyond them."""
    known = [each for each in few if each is not None]
    for thousandths in dict.fromkeys(each[0] for each in known):
        own = [each for each in known if each[0] == thousandths]
        fewest, most = min(each[1] for each in own), max(each[2] for each in own)
        few_note = of_flows(fewest, most, thousandths=thousandths, unit="each run")
        if few_note:
            yield few_note


def over_seeds(seeds: Sequence[int]) -> str:
    """Say over how many seeds flows are taken together."""
    return f"Over the flows of {_range(seeds)} seeds together." if max(seeds) > 1 else "Of one seed."


def first_of_seeds(seeds: Sequence[Sequence[int]]) -> str:
    """Say which seed a picture shows, where there are others."""
    most = max(map(len, seeds))
    first = sorted({own[0] for own in seeds})
    which = f"Seed {first[0]}" if len(first) == 1 else "The first seed of each"
    return f"{which}, of {most}." if most > 1 else f"{which}."


def _range(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least}" if least == most else f"{least} to {most}"

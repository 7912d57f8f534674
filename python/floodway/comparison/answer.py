"""The answer of a comparison in one sentence, for the terminal, the page and JSON.

It is about a number that depends on no single flow: the time of a job's collectives or iterations, else the
mean completion time, else what a link or flows without end carried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.documents import reading
from floodway.comparison.findings import is_of_the_same_work
from floodway.comparison.formatting import percent_text, rounds_to_zero
from floodway.results.interval import LEAST_SEEDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway.comparison.comparison import Comparison
    from floodway.comparison.metrics import Cell, Row

__all__ = ["answer", "first_picture", "headline", "is_better_if_less", "more", "of_jobs"]

#: Numbers that may be the headline, the first one that all variants have: what a sentence says of less of it
#: and of more of it, and what the best of several variants has.
_FORMS = {
    "job": ("{job} ends {by} sooner", "{job} ends {by} later", "the shortest time of {job}"),
    "fct_mean_us": (
        "flows end {by} sooner on average",
        "flows end {by} later on average",
        "the shortest mean completion time",
    ),
    "endless_goodput_gbps": (
        "flows that never end get {by} less",
        "flows that never end get {by} more",
        "most goodput of flows that never end",
    ),
    "link_loaded_gbps": (
        "{link} carries {by} less while loaded",
        "{link} carries {by} more while loaded",
        "most throughput of {link} while loaded",
    ),
    "link_paused_us": (
        "{link} is paused for {by} less time",
        "{link} is paused for {by} more time",
        "the shortest pauses of {link}",
    ),
}
#: Pictures of the numbers that an answer may be about.
_PICTURES = {
    "endless_goodput_gbps": "throughput.png",
    "link_loaded_gbps": "throughput.png",
    "link_paused_us": "pauses.png",
}
#: Ends of the keys of numbers of which more is better; of all others less is better.
_MORE_IS_BETTER = ("_gbps", "flows_finished")


def answer(comparison: Comparison) -> str:
    """Return a sentence: which variant is better, by how much, and over how many seeds."""
    if not comparison.complete:
        ended = sum(map(len, comparison.results))
        whole = sum(map(len, comparison.seeds))
        return f"Not all runs ended: {ended} of {whole}; nothing is compared."
    if comparison.extrapolated:
        return comparison.extrapolated[0].sentence()
    others = range(1, len(comparison.labels))
    if not all(is_of_the_same_work(comparison.results, number) for number in others):
        return f"{_and(comparison.labels)} do different work: their completion times are not compared."
    if text := _unfinished(comparison):
        return text
    row = headline(comparison)
    if row is None:
        return f"{_and(comparison.labels)} have no number in common that they can be compared by."
    return _of_two(comparison, row) if len(comparison.labels) == 2 else _of_several(comparison, row)  # noqa: PLR2004


def more(comparison: Comparison) -> Iterator[str]:
    """Yield sentences that qualify the answer: the link's throughput, losses, broken invariants."""
    rows = {row.key: row for row in comparison.rows}
    loaded = rows.get("link_loaded_gbps")
    if len(comparison.labels) == 2 and loaded is not None and loaded is not headline(comparison):  # noqa: PLR2004
        cell = loaded.cells[1]
        if cell.apart and not rounds_to_zero(cell) and comparison.link is not None:
            values = [reading(loaded.key, side.mean or 0.0) for side in (cell, loaded.cells[0])]
            title = comparison.link.title
            title = title[:1].upper() + title[1:]
            yield f"{title} carries {values[0]} instead of {values[1]} while loaded{_evidence(cell)}."
    bad = [
        (label, verdict)
        for label, verdict in zip(comparison.labels, comparison.verdicts, strict=True)
        if any(word in verdict for word in ("violated", "deadlock", "broken", "lost", "blocked"))
    ]
    for label, verdict in bad:
        yield f"{label}: {verdict}."


def headline(comparison: Comparison) -> Row | None:
    """Return the row that the answer is about; None if no row has a number of every variant."""
    by_key = {row.key: row for row in comparison.rows}
    jobs = of_jobs(comparison.rows)
    # Flows of a job are messages of different sizes, each of which waits for others.
    keys = [key for key in _FORMS if key in by_key and not (jobs and key == "fct_mean_us")]
    rows = [*jobs, *(by_key[key] for key in keys)]
    return next((row for row in rows if all(cell.mean is not None for cell in row.cells)), None)


def first_picture(comparison: Comparison) -> str:
    """Return the file of the picture that shows the answer; empty for the usual first picture.

    If all flows have the same size, that is completion times: there is no slowdown against size.
    """
    row = headline(comparison)
    if row is None or row.key in _PICTURES:
        return "" if row is None else _PICTURES[row.key]
    results = [result for results in comparison.results for result in results]
    sizes = {size for result in results for size in result.flows.filter("measured")["size_bytes"].unique()}
    return "fct.png" if row.key == "fct_mean_us" and len(sizes) == 1 else ""


def of_jobs(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the times of collectives and iterations, the one that differs most first."""
    return tuple(sorted((row for row in rows if row.job), key=lambda row: -_largest_change(row)))


def is_better_if_less(row: Row) -> bool:
    """Return whether less of a number is better."""
    return not row.key.endswith(_MORE_IS_BETTER)


def _largest_change(row: Row) -> float:
    return max((abs(cell.change or 0.0) for cell in row.cells if cell.apart), default=0.0)


def _unfinished(comparison: Comparison) -> str:
    """Return a sentence if flows did not finish, else an empty text: means are then of different flows."""
    rows = {row.key: row for row in comparison.rows}
    left, done = rows.get("flows_unfinished"), rows.get("flows_finished")
    if left is None or done is None or not any(cell.mean for cell in left.cells):
        return ""
    if of_jobs(comparison.rows) and headline(comparison) in of_jobs(comparison.rows):
        return ""
    parts = []
    for label, cell, finished in zip(comparison.labels, left.cells, done.cells, strict=True):
        whole = (cell.mean or 0.0) + (finished.mean or 0.0)
        parts.append(f"{label} {reading('flows', cell.mean or 0.0)} of {reading('flows', whole)}")
    runs = " a run" if max(len(cell.values) for cell in left.cells) > 1 else ""
    counts = ", ".join(parts)
    return f"Not all measured flows finished{runs}, so that mean times are not compared: {counts} did not."


def _of_two(comparison: Comparison, row: Row) -> str:
    first, label = comparison.labels
    cell = row.cells[1]
    values = [reading(row.key, side.mean or 0.0) for side in (cell, row.cells[0])]
    if cell.change is None and cell.mean == row.cells[0].mean:
        return f"{label} and {first} are the same: {_noun(row)} {values[0]} with both."
    if cell.values == row.cells[0].values:
        return f"{label} and {first} are the same: {_noun(row)} is {values[0]} with both{_evidence(cell)}."
    if not cell.apart:
        reach = (
            ""
            if cell.reach is None or cell.change is None
            else f" ({cell.change:+.1f} ± {percent_text(cell.reach)} %)"
        )
        return (
            f"The seeds decide no difference between {label} and {first}: {_noun(row)} is {values[0]} and "
            f"{values[1]}{reach}."
        )
    if rounds_to_zero(cell):
        return f"{label} and {first} differ by less than 0.1 %: {_noun(row)} is {values[0]} and {values[1]}."
    phrase = _phrase(comparison, row, cell)
    return f"With {label} {phrase} than with {first}: {values[0]} instead of {values[1]}{_evidence(cell)}."


def _of_several(comparison: Comparison, row: Row) -> str:
    first, count = comparison.labels[0], len(comparison.labels)
    means = [cell.mean or 0.0 for cell in row.cells]
    best = means.index(min(means) if is_better_if_less(row) else max(means))
    label, cell = comparison.labels[best], row.cells[best]
    has = f"Of {count} variants {label} has {_form(row, 2).format(job=row.job, link=_link(comparison))}"
    value = reading(row.key, means[best])
    if len(set(means)) == 1:
        return f"All {count} variants are the same: {_noun(row)} is {value}."
    if not best:
        return f"{has}: {value}, and the others are compared with it{_evidence(row.cells[1])}."
    if not cell.apart or rounds_to_zero(cell):
        return f"{has}: {value}; the seeds decide no difference from {first}."
    return f"{has}: {value}; {_phrase(comparison, row, cell)} than with {first}{_evidence(cell)}."


def _phrase(comparison: Comparison, row: Row, cell: Cell) -> str:
    change = cell.change or 0.0
    reach = "" if cell.reach is None else f" (± {percent_text(cell.reach)})"
    form = _form(row, 0 if change < 0 else 1)
    return form.format(by=f"{percent_text(change)} %{reach}", job=row.job, link=_link(comparison))


def _form(row: Row, index: int) -> str:
    return _FORMS["job" if row.job else row.key][index]


def _noun(row: Row) -> str:
    """Return the name of the number without its unit."""
    if row.key == "fct_mean_us":
        return "the mean completion time"
    if row.job:
        return f"the time of {row.job}"
    return f"the {row.label.rsplit(', ', 1)[0]}"


def _link(comparison: Comparison) -> str:
    return "" if comparison.link is None else comparison.link.title


def _evidence(cell: Cell) -> str:
    """Return the number of seeds of a difference, as text."""
    seeds = len(cell.values)
    if seeds >= LEAST_SEEDS:
        return f" (95 % intervals over {seeds} seeds)" if cell.reach is not None else f" ({seeds} seeds)"
    return " (one seed)" if seeds == 1 else f" (in each of {seeds} seeds)"


def _and(labels: tuple[str, ...]) -> str:
    few = len(labels) <= 3  # noqa: PLR2004 (as many as a sentence has room for)
    return f"{', '.join(labels[:-1])} and {labels[-1]}" if few else f"These {len(labels)} variants"

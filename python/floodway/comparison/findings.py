"""The answer of a comparison in one sentence, and its findings, computed from its numbers.

The answer is about a number that depends on no single flow: the time of a job's collectives or iterations,
else the mean completion time, else what a link or flows without end carried. A difference that the seeds do
not decide is not a finding. Few are named: what did not finish, then the groups of flows whose completion
times differ most, then the network.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from floodway.common.documents import reading
from floodway.comparison.formatting import percent_text, rounds_to_zero
from floodway.comparison.shown_link import link_of
from floodway.results.interval import LEAST_SEEDS
from floodway.results.parts import parts_of
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.comparison.comparison import Comparison
    from floodway.comparison.groups import Group
    from floodway.comparison.metrics import Cell, Row
    from floodway.comparison.shown_link import ShownLink
    from floodway.results import Result

__all__ = [
    "answer",
    "findings",
    "first_picture",
    "headline",
    "is_better_if_less",
    "is_of_the_same_work",
    "more",
    "of_jobs",
]

#: Number of groups of flows, or collectives, that a finding names: those that differ most.
MOST_GROUPS = 3


def findings(  # noqa: PLR0913, PLR0917 (what a comparison has)
    labels: Sequence[str],
    results: Sequence[Sequence[Result]],
    rows: Sequence[Row],
    groups: Sequence[Group],
    verdicts: Sequence[str],
    link: ShownLink | None,
) -> tuple[str, ...]:
    """Return how each variant differs from the first, one line per variant.

    Parameters
    ----------
    labels
        Labels of the variants.
    results
        Results of each variant, one per seed.
    rows, groups, verdicts, link
        Rows, groups, verdicts and the shown link of these results.
    """
    by_key = {row.key: row for row in rows}
    lines = []
    for number in range(1, len(labels)):
        pair = _Pair(labels[0], labels[number], number, by_key)
        parts = [*pair.unfinished()]
        if parts_of(results[0]) != parts_of(results[number]):
            parts.append(
                f"{labels[number]} simulates another part of an iteration than {labels[0]}: their times are "
                "not compared"
            )
        elif _workloads(results[0]) == _workloads(results[number]):
            # Flows of a job are messages of different sizes, each of which waits for others.
            times = pair.jobs() if any(row.job for row in rows) else pair.times(groups)
            parts += [*times, *pair.goodput()]
        else:
            parts.append(
                f"{labels[number]} has different workloads from {labels[0]}: their flows are not compared"
            )
        if link is not None:
            parts += [*pair.of_link(link), *_buffer(pair, link, results)]
        parts += [*pair.drops(), *pair.verdict(verdicts)]
        lines.append("; ".join(parts) or f"{labels[number]} and {labels[0]} have no number in common")
    if results and len(results[0]) == 1:
        lines.append("one seed gives no confidence interval; --seeds 3 shows the spread")
    return tuple(lines)


def _workloads(results: Sequence[Result]) -> list[str]:
    """Return the workloads of a variant: completion times of different ones are not comparable."""
    return (
        [workload["name"] for workload in results[0].run.scenario["scenario"]["workload"]] if results else []
    )


def is_of_the_same_work(results: Sequence[Sequence[Result]], number: int) -> bool:
    """Return whether a variant simulates the same work as the first, so that times can be compared."""
    if parts_of(results[0]) != parts_of(results[number]):
        return False
    return _workloads(results[0]) == _workloads(results[number])


class _Pair:
    """A variant and the first one."""

    def __init__(self, first: str, label: str, number: int, rows: Mapping[str, Row]) -> None:
        self.first, self.label = first, label
        self.number = number
        self._rows = rows

    def cell(self, row: Row) -> Cell | None:
        """Return the variant's cell if the seeds decide that it differs from the first one's, else None."""
        cell = row.cells[self.number]
        return cell if cell.change is not None and cell.apart and not rounds_to_zero(cell) else None

    def values(self, key: str) -> tuple[float, float] | None:
        """Return both means; None if one is missing."""
        row = self._rows.get(key)
        first, other = (None, None) if row is None else (row.cells[0].mean, row.cells[self.number].mean)
        return None if first is None or other is None else (first, other)

    def differing(self, key: str) -> tuple[float, float] | None:
        """Return both means if the seeds decide that they differ, else None."""
        row = self._rows.get(key)
        return self.values(key) if row is not None and self.cell(row) else None

    def times(self, groups: Sequence[Group]) -> Iterator[str]:
        """Compare completion times of the groups that differ most."""
        sizes = [(self._size_of(group), text) for group in groups if (text := self._differ(group))]
        texts = [text for _, text in sorted(sizes, key=lambda sized: -sized[0])[:MOST_GROUPS]]
        compared = [row for group in groups for row in _compared(group) if self._is_compared(row)]
        if texts:
            yield f"with {self.label}, {', '.join(texts)} than with {self.first}{self._seeds_of(compared)}"
        elif compared:
            yield self._no_difference("completion times", compared)

    def jobs(self) -> Iterator[str]:
        """Compare the times of collectives and iterations that differ most."""
        rows = [row for row in self._rows.values() if row.job and self._is_compared(row)]
        if not rows:
            yield f"no collective or iteration was complete with both {self.label} and {self.first}"
            return
        cells = sorted(
            ((_size([cell]), row.job, cell) for row in rows if (cell := self.cell(row))),
            key=lambda sized: -sized[0],
        )
        texts = [f"{job} ends {_sooner(cell)}" for _, job, cell in cells[:MOST_GROUPS]]
        if texts:
            yield f"with {self.label}, {', '.join(texts)} than with {self.first}{self._seeds_of(rows)}"
        else:
            yield self._no_difference("times of collectives and iterations", rows)

    def goodput(self) -> Iterator[str]:
        """Compare the goodput of flows that never end."""
        values = self.differing("endless_goodput_gbps")
        if values:
            yield f"under {self.label}, flows that never end get {_instead(values, 'Gbit/s')}"

    def unfinished(self) -> Iterator[str]:
        """Count the flows that did not finish."""
        values = self.values("flows_unfinished")
        if values and any(values):
            yield self._counted("unfinished measured flows", values, seeds=self._seeds("flows_unfinished"))

    def of_link(self, link: ShownLink) -> Iterator[str]:
        """Compare the throughput of a long link while loaded, or the number by which a port was chosen."""
        key, form = {
            "long link": ("link_loaded_gbps", "{title} carries {values} Gbit/s while loaded"),
            "busiest link": ("link_loaded_gbps", "{title} carries {values} Gbit/s while loaded"),
            "most paused link": ("link_paused_us", "{title} is paused for {values} us"),
            "link with the longest queue": (
                "link_queue_peak_kilobytes",
                "the longest queue of a port of a switch, before {name}, peaks at {values} KB",
            ),
        }[link.kind]
        values = self.differing(key)
        if values:
            yield form.format(title=link.title, name=link.name, values=_instead(values, ""))

    def drops(self) -> Iterator[str]:
        """Count dropped packets."""
        values = self.values("dropped_packets")
        seeds = self._seeds("dropped_packets")
        if values and any(values) and seeds > 1:
            yield self._counted("dropped packets", values, seeds=seeds)
        elif values and any(values):
            packets = "packet" if values[1] == 1 else "packets"
            yield f"{self.label} drops {_number(values[1])} {packets}, {self.first} {_number(values[0])}"

    def verdict(self, verdicts: Sequence[str]) -> Iterator[str]:
        """Yield the verdicts if they differ."""
        if verdicts[self.number] != verdicts[0]:
            yield f"verdicts: {self.label} {verdicts[self.number]}, {self.first} {verdicts[0]}"

    def _is_compared(self, row: Row) -> bool:
        return row.cells[self.number].change is not None

    def _size_of(self, group: Group) -> float:
        return _size([cell for row in _compared(group) if (cell := self.cell(row))])

    def _differ(self, group: Group) -> str:
        """Return how a group differs on average and at p99, as far as the seeds decide it."""
        texts = []
        if cell := self.cell(group.mean):
            texts.append(f"end {_sooner(cell)} on average")
        if group.is_class and (cell := self.cell(group.slowdown)):
            values = [side.mean or 0.0 for side in (cell, group.slowdown.cells[0])]
            reach = "" if cell.reach is None else f" ({cell.change:+.0f} ± {percent_text(cell.reach)} %)"
            slowdowns = f"{_number(values[0])} instead of {_number(values[1])}{reach}"
            texts.append(f"have a slowdown of {slowdowns} at {_p99(group.slowdown, self.number)}")
        elif not group.is_class and (cell := self.cell(group.p99)):
            texts.append(f"{'' if texts else 'end '}{_sooner(cell)} at {_p99(group.p99, self.number)}")
        return f"{group.label} {' and '.join(texts)}" if texts else ""

    def _no_difference(self, quantity: str, rows: Sequence[Row]) -> str:
        both = f"{self.label} and {self.first}"
        if all(row.cells[self.number].values == row.cells[0].values for row in rows):
            return f"the {quantity} with {both} are the same"
        if any(row.cells[self.number].apart for row in rows):
            return f"the {quantity} with {both} differ by less than 0.1 %"
        return f"the seeds decide no difference between the {quantity} with {both}"

    def _seeds_of(self, rows: Sequence[Row]) -> str:
        """Return the number of seeds of differences without an interval, as text."""
        seeds = min(len(row.cells[self.number].values) for row in rows)
        return "" if seeds >= LEAST_SEEDS else _few_seeds(seeds)

    def _seeds(self, key: str) -> int:
        """Return the number of values in each mean."""
        row = self._rows.get(key)
        return 0 if row is None else max(len(row.cells[number].values) for number in (0, self.number))

    def _counted(self, quantity: str, values: tuple[float, float], *, seeds: int) -> str:
        """Format two numbers side by side; over several seeds they are means, which need not be whole."""
        per_run, mean = (" per run", f" (mean of {seeds} seeds)") if seeds > 1 else ("", "")
        return (
            f"{quantity}{per_run}: {self.label} {_number(values[1])}, {self.first} {_number(values[0])}{mean}"
        )


def _buffer(pair: _Pair, link: ShownLink, results: Sequence[Sequence[Result]]) -> Iterator[str]:
    """Compare the peaks of the buffer at a long link's receiver, with the buffer's sizes."""
    values = pair.differing("link_receiver_peak_megabytes")
    if values is None or link.kind != "long link":
        return
    sizes = [_buffer_megabytes(results[number], link) for number in (0, pair.number)]
    if sizes[0] is None or sizes[1] is None:
        text = f"{_instead(values, 'MB')}"
    elif sizes[0] == sizes[1]:
        text = f"{_instead(values, f'of {sizes[0]:g} MB')}"
    else:
        text = f"{_number(values[1])} of {sizes[1]:g} MB instead of {_number(values[0])} of {sizes[0]:g} MB"
    yield f"the buffer at the receiver of {link.title} peaks at {text}"


def _buffer_megabytes(results: Sequence[Result], link: ShownLink) -> float | None:
    link_summary = link_of(results[0].summary(), link)
    size = link_summary.receiver_buffer_bytes if link_summary else None
    return None if size is None else size / 1e6


def _size(cells: Sequence[Cell]) -> float:
    """Return the size of the largest change as a logarithm: half and double have the same size."""
    ratios = [1 + cell.change / 100 for cell in cells if cell.change is not None]
    return max((abs(math.log(ratio)) if ratio > 0 else math.inf for ratio in ratios), default=0.0)


def _compared(group: Group) -> tuple[Row, Row]:
    """Return the rows by which a group is compared."""
    return group.mean, group.slowdown if group.is_class else group.p99


def _p99(row: Row, number: int) -> str:
    """Return the name of the percentile, with the number of flows if they are few."""
    counts = [cell.few for cell in (row.cells[0], row.cells[number]) if cell.few is not None]
    return f"p99 of {counted(min(counts), 'flow')}" if counts else "p99"


def _sooner(cell: Cell) -> str:
    """Return a change of time as text, with its interval."""
    change = cell.change or 0.0
    return f"{percent_text(change)} % {'sooner' if change < 0 else 'later'}{_reach(cell)}"


def _instead(values: tuple[float, float], unit: str) -> str:
    first, other = (_number(value) for value in values)
    after = f" {unit}" if unit else ""
    return f"{other}{after} in both" if other == first else f"{other} instead of {first}{after}"


def _number(value: float) -> str:
    """Return a number with three digits, or all before the point; whole numbers without decimals."""
    if value == round(value) or abs(value) >= 100:  # noqa: PLR2004 (three digits)
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"  # noqa: PLR2004 (three digits)


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
        is_known = cell.reach is not None and cell.change is not None
        reach = f" ({cell.change:+.1f} ± {percent_text(cell.reach or 0.0)} %)" if is_known else ""
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
    form = _form(row, 0 if change < 0 else 1)
    return form.format(by=f"{percent_text(change)} %{_reach(cell)}", job=row.job, link=_link(comparison))


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
    if seeds < LEAST_SEEDS:
        return _few_seeds(seeds)
    return f" (95 % intervals over {seeds} seeds)" if cell.reach is not None else f" ({seeds} seeds)"


def _few_seeds(seeds: int) -> str:
    return " (one seed)" if seeds == 1 else f" (in each of {seeds} seeds)"


def _reach(cell: Cell) -> str:
    """Return the interval of a difference in percent, as text."""
    return "" if cell.reach is None else f" (± {percent_text(cell.reach)})"


def _and(labels: tuple[str, ...]) -> str:
    few = len(labels) <= 3  # noqa: PLR2004 (as many as a sentence has room for)
    return f"{', '.join(labels[:-1])} and {labels[-1]}" if few else f"These {len(labels)} variants"

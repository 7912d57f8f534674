"""Findings of a comparison as sentences, computed from its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.comparison.metrics import link_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.comparison.metrics import Cell, Row, ShownLink
    from floodway.results import Result

__all__ = ["findings"]


def findings(
    labels: Sequence[str],
    results: Sequence[Sequence[Result]],
    rows: Sequence[Row],
    verdicts: Sequence[str],
    link: ShownLink | None,
) -> tuple[str, ...]:
    """Say how every variant differs from the first, a line each.

    Parameters
    ----------
    labels
        What the variants are called.
    results
        For each variant one result a seed.
    rows, verdicts, link
        The rows of `metrics` for these results.
    """
    by_key = {row.key: row for row in rows}
    lines = []
    for number in range(1, len(labels)):
        pair = _Pair(labels[0], labels[number], number, by_key)
        if _workloads(results[0]) == _workloads(results[number]):
            # Flows of a job are messages of different sizes, each of which waits for others.
            times = pair.jobs() if any(row.job for row in rows) else pair.times()
            parts = [*times, *pair.goodput(), *pair.unfinished()]
        else:
            parts = [
                f"{labels[number]} has different workloads from {labels[0]}: their flows are not compared"
            ]
        if link is not None:
            parts += [*pair.throughput(link.title), *_buffer(pair, link, results)]
        parts += [*pair.drops(), *pair.verdict(verdicts)]
        lines.append("; ".join(parts) or f"{labels[number]} and {labels[0]} have no number in common")
    if results and len(results[0]) == 1:
        lines.append("one seed gives no confidence interval; --seeds 3 shows the spread")
    return tuple(lines)


def _workloads(results: Sequence[Result]) -> list[str]:
    """Name the workloads of a variant: completion times of other ones say nothing about each other."""
    return (
        [workload["name"] for workload in results[0].run.scenario["scenario"]["workload"]] if results else []
    )


class _Pair:
    """A variant and the first one."""

    def __init__(self, first: str, label: str, number: int, rows: Mapping[str, Row]) -> None:
        self.first, self.label = first, label
        self._number, self._rows = number, rows

    def cells(self, key: str) -> tuple[Cell, Cell] | None:
        """Return both numbers, where both are there."""
        row = self._rows.get(key)
        if row is None:
            return None
        first, own = row.cells[0], row.cells[self._number]
        return None if first.mean is None or own.mean is None else (first, own)

    def values(self, key: str) -> tuple[float, float] | None:
        """Return both means, where both are there."""
        cells = self.cells(key)
        if cells is None or cells[0].mean is None or cells[1].mean is None:
            return None
        return cells[0].mean, cells[1].mean

    def times(self) -> Iterator[str]:
        """Compare completion times; means over different flows are not comparable."""
        texts = []
        for key, where in (("fct_mean_us", "on average"), ("fct_p99_us", "at p99")):
            cells = self.cells(key)
            if cells and cells[1].change is not None and not any(cell.finished_only for cell in cells):
                texts.append(f"{_sooner(cells[1].change)} {where}{_doubt(cells[1])}")
        if texts:
            yield f"{self.label} finishes flows {' and '.join(texts)} than {self.first}"

    def jobs(self) -> list[str]:
        """Compare the times of collectives and iterations."""
        found = []
        for row in self._rows.values():
            cells = self.cells(row.key) if row.job else None
            if cells and cells[1].change is not None:
                found.append(f"{row.job} ends {_sooner(cells[1].change)}{_doubt(cells[1])}")
        if not found:
            return [f"no collective or iteration was complete with both {self.label} and {self.first}"]
        return [f"with {self.label}, {', '.join(found)} than with {self.first}"]

    def goodput(self) -> Iterator[str]:
        """Compare what flows that never end got."""
        cells, values = self.cells("endless_goodput_gbps"), self.values("endless_goodput_gbps")
        if cells and values:
            got = _instead(values, "Gbit/s")
            yield f"under {self.label}, flows that never end get {got}{_doubt(cells[1])}"

    def unfinished(self) -> Iterator[str]:
        """Count the flows that did not finish."""
        values = self.values("flows_unfinished")
        if values and any(values):
            yield self._counted("unfinished measured flows", values, seeds=self._seeds("flows_unfinished"))

    def throughput(self, title: str) -> Iterator[str]:
        """Compare what the link carried while loaded."""
        cells, values = self.cells("link_loaded_gbps"), self.values("link_loaded_gbps")
        if cells and values:
            yield f"{title} carries {_instead(values, 'Gbit/s')} while loaded{_doubt(cells[1])}"

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
        """Name verdicts where they differ."""
        if verdicts[self._number] != verdicts[0]:
            yield f"verdicts: {self.label} {verdicts[self._number]}, {self.first} {verdicts[0]}"

    def _seeds(self, key: str) -> int:
        """Return how many numbers each mean is of."""
        cells = self.cells(key)
        return max(len(cell.values) for cell in cells) if cells else 0

    def _counted(self, what: str, values: tuple[float, float], *, seeds: int) -> str:
        """Format two numbers side by side; over several seeds they are means, which need not be whole."""
        each, mean = (" per run", f" (mean of {seeds} seeds)") if seeds > 1 else ("", "")
        return f"{what}{each}: {self.label} {_number(values[1])}, {self.first} {_number(values[0])}{mean}"

    @property
    def number(self) -> int:
        """Which variant it is."""
        return self._number


def _buffer(pair: _Pair, link: ShownLink, results: Sequence[Sequence[Result]]) -> Iterator[str]:
    """Compare the peaks at the link's receiver, of the buffers that they have."""
    values = pair.values("link_receiver_peak_megabytes")
    if values is None:
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
    found = link_of(results[0].summary(), link)
    size = found.receiver_buffer_bytes if found else None
    return None if size is None else size / 1e6


def _sooner(change: float) -> str:
    """Return a change of time as text; a change that rounds to 0 % is no change."""
    size = f"{abs(change):.0f}" if abs(change) >= 10 else f"{abs(change):.1f}"  # noqa: PLR2004 (two digits)
    if float(size) == 0:
        return "neither sooner nor later"
    return f"{size} % {'sooner' if change < 0 else 'later'}"


def _doubt(cell: Cell) -> str:
    return " (within the spread over seeds)" if len(cell.values) > 1 and not cell.apart else ""


def _instead(values: tuple[float, float], unit: str) -> str:
    first, own = (_number(value) for value in values)
    return f"{own} {unit} in both" if own == first else f"{own} instead of {first} {unit}"


def _number(value: float) -> str:
    """Write three digits or all before the point; whole numbers as such."""
    if value == round(value) or abs(value) >= 100:  # noqa: PLR2004 (three digits)
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"  # noqa: PLR2004 (three digits)

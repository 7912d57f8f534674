"""A comparison as a document, with all its numbers for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floodway.common.documents import Cell, Document, Section, Table
from floodway.common.documents.model import MOST_ROWS, fields_of
from floodway.comparison.findings import answer, is_better_if_less, more, of_jobs
from floodway.comparison.formatting import cell_text, change_text, notes, value_text
from floodway.results.percentiles import few_counted
from floodway.results.simulated import Realised, common_facts, facts, realised
from floodway.scenarios.keys import DESCRIPTIVE_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.comparison.comparison import Comparison
    from floodway.comparison.metrics import Cell as Number
    from floodway.comparison.metrics import Row

__all__ = ["document"]

#: A fact of a simulation: its name, and its lines by the labels of variants.
_Fact = tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]
#: Maximum number of variants that have a column each; more have a row each.
MOST_COLUMNS = 3
#: Numbers of the table, as far as they exist and differ between variants.
CHOSEN = (
    "flows_unfinished",
    "fct_mean_us",
    "fct_p99_us",
    "slowdown_p50",
    "slowdown_p99",
    "endless_goodput_gbps",
    "retransmitted_megabytes",
    "link_loaded_gbps",
    "link_loaded_paused_percent",
    "link_paused_us",
    "link_receiver_peak_megabytes",
    "link_queue_peak_kilobytes",
    "paused_us",
    "cut_packets",
    "dropped_packets",
)
#: Maximum number of differing keys below the answer, and the title of the section with all of them.
MOST_KEYS, DIFFERING = 4, "Keys that differ"
#: Facts of a simulation that share a line.
NAMED_FACTS = ("nodes", "traffic", "flows", "seeds")
#: Number of columns if variants have rows.
MOST_NUMBERS = 4
#: Maximum number of times of jobs, and of bus bandwidths, in the table.
MOST_JOBS = 2
#: Numbers of which neither more nor less is better.
NEUTRAL = ("link_receiver_peak_megabytes", "link_queue_peak_kilobytes")


def document(comparison: Comparison) -> Document:
    """Return the document of a comparison, for a terminal, its page and JSON.

    Parameters
    ----------
    comparison
        Comparison of which at least one run has completed.

    Returns
    -------
    Document
        The answer, its table, what was simulated, warnings, and all numbers.
    """
    simulated = list(_simulated(comparison))
    bad = any("violated" in verdict or "deadlock" in verdict for verdict in comparison.verdicts)
    return Document(
        title=comparison.title,
        answer=answer(comparison),
        tone="bad" if bad else "",
        more=tuple(more(comparison)),
        table=_table(comparison),
        simulated=tuple(_summary(comparison, simulated)),
        warnings=tuple(warning.whole for warning in comparison.warnings),
        sections=tuple(_sections(comparison, simulated)),
        data=_data(comparison),
    )


def _table(comparison: Comparison) -> Table:
    rows = _chosen(comparison)
    verdicts = comparison.verdicts
    notes_ = [*_same(comparison, rows)]
    cells = [cell for row in rows for cell in row.cells]
    few = [cell.few for cell in cells if cell.few is not None]
    if few:
        notes_.append(few_counted(min(few), max(few), unit="seed"))
    if any(cell.finished_only for cell in cells):
        notes_.append("* of the finished flows only; unfinished ones rank above every finished one")
    if len(comparison.labels) > MOST_COLUMNS:
        return _by_variant(comparison, rows[:MOST_NUMBERS], notes_)
    heads = [Cell(text=label, marks=_marks(comparison, label)) for label in comparison.labels]
    two = len(comparison.labels) == 2  # noqa: PLR2004 (a column has room for their differences)
    table_rows: list[tuple[Cell | str, ...]] = [
        (
            _name(row),
            *(_value(row, cell, details=not two) for cell in row.cells),
            *([_difference(row, 1)] if two else []),
        )
        for row in rows
    ]
    if len(set(verdicts)) > 1:
        table_rows.append(("lossless classes", *map(_verdict, verdicts), *([""] if two else [])))
    return Table(
        columns=("", *heads, *(["difference"] if two else [])), rows=tuple(table_rows), notes=tuple(notes_)
    )


def _by_variant(comparison: Comparison, rows: Sequence[Row], notes_: Sequence[str]) -> Table:
    """Return a row for each variant: the first one, and those that are best by the first number."""
    order = list(range(1, len(comparison.labels)))
    if rows:
        sign = 1 if is_better_if_less(rows[0]) else -1
        means = [cell.mean for cell in rows[0].cells]
        order.sort(key=lambda number: (means[number] is None, sign * (means[number] or 0.0)))
    shown = [0, *order[: MOST_ROWS - 1]]
    left = len(comparison.labels) - len(shown)
    verdicts = comparison.verdicts if len(set(comparison.verdicts)) > 1 else ()
    table_rows = tuple(
        (
            Cell(text=comparison.labels[number], marks=_marks(comparison, comparison.labels[number])),
            *(_value(row, row.cells[number], details=True) for row in rows),
            *([_verdict(verdicts[number])] if verdicts else []),
        )
        for number in shown
    )
    heads = ("lossless classes",) if verdicts else ()
    more_ = [f"{left} more variants: --full, and compare.json"] if left else []
    return Table(
        columns=("variant", *map(_name, rows), *heads),
        rows=table_rows,
        words=frozenset(heads),
        notes=(f"differences are to {comparison.labels[0]}", *more_, *notes_),
    )


def _chosen(comparison: Comparison) -> list[Row]:
    """Return the rows of the table: those of jobs first, none that is the same in all variants."""
    by_key = {row.key: row for row in comparison.rows}
    jobs = of_jobs(comparison.rows)[:MOST_JOBS]
    busbw = [row for row in comparison.rows if row.key.endswith("_busbw_gbps")][:MOST_JOBS]
    # Flows of a job are its messages.
    keys = [key for key in CHOSEN if key in by_key and not (jobs and key.startswith(("fct_", "slowdown_")))]
    rows = [*jobs, *busbw, *(by_key[key] for key in keys)]
    if "link_loaded_paused_percent" in by_key:
        rows = [row for row in rows if row.key != "link_paused_us"]
    return [row for row in rows if not _is_same(row)][: MOST_ROWS - 1]


def _is_same(row: Row) -> bool:
    return len({value_text(row, cell) for cell in row.cells}) == 1


def _same(comparison: Comparison, rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line with the numbers that are equal in all variants."""
    by_key = {row.key: row for row in comparison.rows}
    keys = ("flows_unfinished", "fct_mean_us", "endless_goodput_gbps", "dropped_packets")
    same = [by_key[key] for key in keys if key in by_key and by_key[key] not in rows]
    texts = [f"{_name(row)} {value_text(row, row.cells[0])}" for row in same if _is_same(row)]
    if len(set(comparison.verdicts)) == 1:
        texts.append(f"lossless classes: {comparison.verdicts[0]}")
    if texts:
        yield f"the same in all: {'; '.join(texts)}"


def _value(row: Row, cell: Number, *, details: bool) -> Cell:
    return Cell(text=value_text(row, cell), detail=change_text(row, cell) if details else "")


def _difference(row: Row, number: int) -> Cell:
    cell = row.cells[number]
    if not cell.apart or not cell.change or row.key in NEUTRAL:
        return Cell(text=change_text(row, cell))
    is_better = (cell.change < 0) == is_better_if_less(row)
    return Cell(text=change_text(row, cell), tone="good" if is_better else "bad")


def _verdict(text: str) -> Cell:
    return Cell(text=text, tone="bad" if "violated" in text or "deadlock" in text else "")


def _marks(comparison: Comparison, label: str) -> tuple[int, ...]:
    """Return the numbers of the warnings that concern one variant, not all of them."""
    return tuple(number for number, warning in enumerate(comparison.warnings, 1) if label in warning.labels)


def _name(row: Row) -> str:
    """Return a row's name without its unit, which its numbers have."""
    name, comma, unit = row.label.rpartition(", ")
    return name if comma and unit in {"us", "Gbit/s", "KB", "MB", "%"} else row.label


def _simulated(comparison: Comparison) -> Iterator[_Fact]:
    pairs = zip(comparison.labels, comparison.results, strict=True)
    # An interrupted comparison has variants without a run.
    facts_by_label = {
        label: facts(results[0]) + realised([Realised.from_result(result) for result in results])
        for label, results in pairs
        if results
    }
    yield from common_facts(tuple(facts_by_label), tuple(facts_by_label.values()))


def _summary(comparison: Comparison, simulated: Sequence[_Fact]) -> Iterator[str]:
    """Yield a few lines on what was simulated."""
    parts = []
    for name, groups in simulated:
        if name in NAMED_FACTS and len(groups) == 1:
            _, lines = groups[0]
            seed = "seed " if lines[0].isdigit() else "seeds "
            head = seed if name == "seeds" else ""
            parts.append(head + "; ".join(lines))
    yield f"simulated: {'; '.join(parts)}"
    # A name or a description decides nothing.
    keys = [key for key, _ in comparison.differing]
    keys.sort(key=lambda key: key.rpartition(".")[2] in DESCRIPTIVE_KEYS)
    if keys:
        left = len(keys) - MOST_KEYS
        more_ = f", and {left} more: see {DIFFERING}, --full" if left > 0 else ""
        yield f"varied: {', '.join(keys[:MOST_KEYS])}{more_}"
    if len(comparison.results[0]) == 1:
        yield "one seed gives no confidence interval; --seeds 3 shows the spread"


def _sections(comparison: Comparison, simulated: Sequence[_Fact]) -> Iterator[Section]:
    yield Section(title="All differences in words", lines=comparison.findings)
    yield Section(title="All numbers", tables=(_all_numbers(comparison),))
    rows = tuple(
        (name, label or "all", "; ".join(lines)) for name, groups in simulated for label, lines in groups
    )
    words = frozenset({"variants", "what"})
    table = Table(columns=("", "variants", "what"), rows=rows, words=words)
    yield Section(title="What was simulated", tables=(table,))
    table = Table(
        columns=("key", *comparison.labels),
        rows=tuple((_key_text(comparison, key), *values) for key, values in comparison.differing),
        words=frozenset(comparison.labels),
    )
    yield Section(title=DIFFERING, tables=(table,))


def _key_text(comparison: Comparison, key: str) -> str:
    """Return a key that differs; that of descriptions with what was changed of what they describe."""
    if key != "description":
        return key
    changed = dict.fromkeys(set_key for variant in comparison.variants for set_key, _ in variant.sets)
    if not changed or key in changed:
        return key
    return f"{key}, as its file says; changed: {', '.join(changed)}"


def _all_numbers(comparison: Comparison) -> Table:
    rows: list[tuple[Cell | str, ...]] = []
    for row in comparison.rows:
        texts = (cell_text(row, cell) for cell in row.cells)
        rows.append((row.label, *(Cell(text=value, detail=detail) for value, detail in texts)))
    rows.append(("verdict", *comparison.verdicts))
    return Table(
        columns=("number", *comparison.labels),
        rows=tuple(rows),
        notes=(f"differences are to {comparison.labels[0]}", *notes(comparison)),
    )


def _data(comparison: Comparison) -> dict[str, Any]:
    """Return all numbers with their variants, and the findings and warnings, for JSON."""
    link = comparison.link
    return {
        "scenario": comparison.name,
        "versions": dict(comparison.results[0][0].run.versions),
        "differs": [
            {"key": key, "values": dict(zip(comparison.labels, values, strict=True))}
            for key, values in comparison.differing
        ],
        "variants": [
            {"label": label, "seeds": list(seeds), "verdict": verdict}
            for label, seeds, verdict in zip(
                comparison.labels, comparison.seeds, comparison.verdicts, strict=True
            )
        ],
        "link": None if link is None else fields_of(link, "object", "title"),
        "rows": [_row(row, comparison.labels) for row in comparison.rows],
        "extrapolated": [
            {
                "workload": extrapolation.workload,
                "variants": list(extrapolation.variants),
                "simulated": [
                    fields_of(run, *extrapolation.wholes, "time_us") for run in extrapolation.simulated
                ],
                **extrapolation.wholes,
                **fields_of(extrapolation, "time_us", "error_us"),
            }
            for extrapolation in comparison.extrapolated
        ],
        "groups": [
            {
                **fields_of(group, "label", "workload"),
                "above_bytes": group.from_bytes,
                "up_to_bytes": group.to_bytes,
                "rows": [_row(row, comparison.labels) for row in (group.mean, group.p99, group.slowdown)],
            }
            for group in comparison.groups
        ],
        "findings": list(comparison.findings),
        "warnings": [
            {"text": warning.text, "variants": list(warning.labels or comparison.labels)}
            for warning in comparison.warnings
        ],
    }


def _row(row: Row, labels: tuple[str, ...]) -> dict[str, Any]:
    return {
        **fields_of(row, "key", "label", "change_unit"),
        "cells": {label: _cell(cell) for label, cell in zip(labels, row.cells, strict=True)},
    }


def _cell(cell: Number) -> dict[str, Any]:
    return {
        "mean": cell.mean,
        "min": cell.least,
        "max": cell.most,
        "values": list(cell.values),
        "of_finished_only": cell.finished_only,
        "of_few_flows": cell.few,
        "change": cell.change,
        "change_reach": cell.reach,
        "decided": cell.apart,
    }

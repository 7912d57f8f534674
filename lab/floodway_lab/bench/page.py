"""Measurements on docs/performance.md, between its marker lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from floodway.common.markdown import plain, table
from floodway_lab.bench.history import kind
from floodway_lab.bench.scaling import HEAD
from floodway_lab.bench.scaling import rows as scaling_rows
from floodway_lab.bench.tables import (
    CASES,
    COUNTS,
    PAIRS,
    case_rows,
    cause_rows,
    count_rows,
    pair_notes,
    pair_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from floodway_lab.bench.listing import Listing

__all__ = ["TEXT_COLUMNS", "benchmarks_block", "pairs_block", "scaling_block", "written"]

PICTURE = "![Cost of a packet-hop and memory of a host over the number of hosts](pictures/scaling.svg)"
#: Columns of words are aligned to the left.
TEXT_COLUMNS = frozenset(
    {"case", "what", "same work", "other simulator", "floodway", "count", "events per packet-hop"}
)


def benchmarks_block(entry: Mapping[str, Any], listing: Listing) -> str:
    """Return the tables of an entry of the history."""
    heading, causes = cause_rows(entry)
    parts = [
        _measured_when(entry),
        _table(CASES, case_rows(entry, listing)),
        _table(heading, causes),
        _table(COUNTS, count_rows(entry, listing)) if entry["instructions"] else "",
        _not_measured(entry),
    ]
    return _joined(parts)


def pairs_block(entry: Mapping[str, Any]) -> str:
    """Return the table of an entry's pairs with other simulators, with notes on builds and work."""
    parts = [
        _measured_when(entry),
        _table(PAIRS, pair_rows(entry)),
        entry.get("note", ""),
        pair_notes(entry),
        _not_measured(entry),
    ]
    return _joined(parts)


def _measured_when(entry: Mapping[str, Any]) -> str:
    cpu, cores = kind(entry)
    revision = f"{entry['revision'][:12]}{', with changes' if entry['changed'] else ''}"
    where = [f"{cpu}, {cores} cores", entry["rustc"], f"{entry['date'][:10]}, revision {revision}"]
    return plain(f"{'; '.join(part for part in where if part)}.")


def _not_measured(entry: Mapping[str, Any]) -> str:
    return plain("; ".join(f"{name}: not measured, {why}" for name, why in entry["skipped"].items()))


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def scaling_block(data: pl.DataFrame) -> str:
    """Return the table of the networks of growing size, and their picture."""
    return f"{_table(HEAD, scaling_rows(data))}\n\n{PICTURE}"


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return table(heading, rows, numbers=(column for column in heading if column not in TEXT_COLUMNS))


def written(page: str, name: str, block: str) -> str:
    """Put a block between its marker lines; a page without them stays unchanged."""
    marks = re.compile(rf"(<!-- begin: {name} -->\n).*(<!-- end: {name} -->)", flags=re.DOTALL)
    return marks.sub(lambda match: f"{match[1]}\n{block}\n\n{match[2]}", page)

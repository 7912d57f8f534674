"""A comparison as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from floodway.comparison.comparison import Comparison
    from floodway.comparison.metrics import Cell, Row

__all__ = ["document"]


def document(comparison: Comparison) -> dict[str, Any]:
    """Return all numbers of the table, with what they are of and what was found."""
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
        "link": None if link is None else {"object": link.object, "title": link.title},
        "rows": [_row(row, comparison.labels) for row in comparison.rows],
        "extrapolated": [
            {
                "workload": own.workload,
                "variants": list(own.variants),
                "simulated": [
                    {**{of: getattr(run, of) for of in own.wholes}, "time_us": run.time_us}
                    for run in own.simulated
                ],
                **own.wholes,
                "time_us": own.time_us,
                "error_us": own.error_us,
            }
            for own in comparison.extrapolated
        ],
        "groups": [
            {
                "label": group.label,
                "workload": group.workload,
                "above_bytes": group.from_bytes,
                "up_to_bytes": group.to_bytes,
                "rows": [_row(row, comparison.labels) for row in (group.mean, group.p99, group.slowdown)],
            }
            for group in comparison.groups
        ],
        "findings": list(comparison.findings),
        "warnings": [
            {"text": each.text, "variants": list(each.labels or comparison.labels)}
            for each in comparison.warnings
        ],
    }


def _row(row: Row, labels: tuple[str, ...]) -> dict[str, Any]:
    return {
        "key": row.key,
        "label": row.label,
        "change_unit": row.change_unit,
        "cells": {label: _cell(cell) for label, cell in zip(labels, row.cells, strict=True)},
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "mean": cell.mean,
        "min": min(cell.known, default=None),
        "max": max(cell.known, default=None),
        "values": list(cell.values),
        "of_finished_only": cell.finished_only,
        "of_few_flows": cell.few,
        "change": cell.change,
        "change_reach": cell.reach,
        "decided": cell.apart,
    }

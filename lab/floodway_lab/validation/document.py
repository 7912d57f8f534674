"""A validation as a JSON document."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from floodway_lab.validation.case_results import CaseResult
    from floodway_lab.validation.rows import Row
    from floodway_lab.validation.validation import Validation

__all__ = ["document"]

#: Number of unmatched flows that are named.
MOST_NAMED = 20


def document(validation: Validation) -> dict[str, Any]:
    """Return every number and verdict; missing numbers (a percentile of no values) are null."""
    return {
        "complete": validation.complete,
        "verdict": validation.verdict,
        "counts": validation.counts,
        "failures": list(validation.failures),
        "cases": [_case(result) for result in validation.cases],
    }


def _case(result: CaseResult) -> dict[str, Any]:
    case = result.case
    return {
        "case": case.name,
        "tag": case.tag,
        "verdict": result.verdict,
        "not_run": result.not_run or None,
        "equal": result.equal,
        "kind": result.kind,
        "first_difference": None if result.first is None else asdict(result.first),
        "flows": len(result.reference.side.flows),
        "seeds": list(result.seeds),
        "wall_s": list(result.wall_s),
        "warnings": list(result.warnings),
        "rows": [_row(row) for row in result.rows],
        "unmatched": list(result.unmatched(MOST_NAMED)),
        "pfc_by_node": result.nodes,
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "key": row.key,
        "label": row.label,
        "unit": row.unit,
        "reference": _finite(row.reference),
        "ours": [_finite(value) for value in row.ours],
        "difference": _finite(row.difference),
        "judged": _finite(row.bounded_value),
        "limit": None if row.limit is None else asdict(row.limit),
        "verdict": row.verdict,
        "note": row.note or None,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None

"""A plan as a JSON document and as frames."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.planning.answer import answers, asked, notes, verdict, warnings
from floodway.planning.arriving import headroom_terms

if TYPE_CHECKING:
    from floodway.planning.planner import Plan, Planned
    from floodway.planning.trials import Busy, Trial

__all__ = ["document", "formulas_frame", "frame"]


def document(plan: Plan) -> dict[str, Any]:
    """Return everything that a plan says, with units in the names of keys."""
    return {
        "question": asked(plan.question),
        "asked": asdict(plan.question),
        "answers": list(answers(plan)),
        "warnings": list(warnings(plan)),
        "notes": list(notes(plan)),
        "flow_controls": [_row(row) for row in plan.rows],
        "headroom_terms": [asdict(each) for each in headroom_terms(plan.question)],
        "by_mix": [asdict(each) for each in plan.by_mix],
        "formulas": [asdict(each) for each in plan.formulas],
        "pool": None if plan.pool is None else asdict(plan.pool) | {"alpha": plan.pool.alpha},
        "pool_run": None if plan.pool_run is None else _trial(plan.pool_run),
        "advice": None if plan.advice is None else asdict(plan.advice),
    }


def frame(plan: Plan) -> pl.DataFrame:
    """Return a row for each flow control, in bytes, metres and shares of the rate."""
    rows = []
    for row in plan.rows:
        planned = row.thresholds
        rows.append(
            {
                "flow_control": row.flow_control,
                "place": row.place,
                "refused": row.refused or None,
                "no_loss_bytes": row.no_loss or None,
                "busy_bytes": row.busy or None,
                "size_bytes": planned.size if planned else None,
                "xoff_bytes": planned.xoff if planned else None,
                "xon_bytes": planned.xon if planned else None,
                "headroom_bytes": planned.headroom if planned else None,
                "level_bytes": planned.level if planned else None,
                "links_no_loss": row.links_no_loss,
                "links_busy": row.links_busy,
                "reach_no_loss_m": row.reach_no_loss_m,
                "reach_busy_m": row.reach_busy_m,
                **{f"carried_at_{100 * drain:.0f}": share for drain, share in row.carried.items()},
                "least_bytes": row.trial.least if row.trial else None,
                "lost_packets": row.trial.lost_packets if row.trial else None,
                "spare_bytes": row.trial.spare if row.trial else None,
                "idle_us": row.busy_run.idle_ps / 1e6 if row.busy_run else None,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def formulas_frame(plan: Plan) -> pl.DataFrame:
    """Return a row for each formula of headroom, in bytes."""
    return pl.DataFrame([asdict(each) for each in plan.formulas], infer_schema_length=None)


def _row(row: Planned) -> dict[str, Any]:
    plain = {
        "flow_control": row.flow_control,
        "label": row.label,
        "place": row.place,
        "refused": row.refused or None,
    }
    if row.refused or row.thresholds is None:
        return plain
    return plain | {
        "no_loss_bytes": row.no_loss,
        "busy_bytes": row.busy,
        "switch_bytes": row.switch_bytes,
        "thresholds": asdict(row.thresholds),
        "links_no_loss": row.links_no_loss,
        "links_busy": row.links_busy,
        "reach_no_loss_m": row.reach_no_loss_m,
        "reach_busy_m": row.reach_busy_m,
        "carried": {str(drain): share for drain, share in row.carried.items()},
        "verdict": verdict(row),
        "trial": None if row.trial is None else _trial(row.trial),
        "least_headroom_bytes": row.least_headroom,
        "busy_run": None if row.busy_run is None else _busy(row.busy_run),
        "carried_run": {str(drain): share for drain, share in row.carried_run.items()},
        "flap_run": None if row.flap_run is None else _trial(row.flap_run),
        "notes": list(row.notes),
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "size_bytes": trial.size,
        "peak_bytes": trial.peak,
        "least_bytes": trial.least,
        "lost_packets": trial.lost_packets,
        "spare_bytes": trial.spare,
        "holds": trial.holds,
        "scenarios": sorted(trial.scenarios),
    }


def _busy(run: Busy) -> dict[str, Any]:
    return {"idle_us": run.idle_ps / 1e6, "lost_packets": run.lost_packets}

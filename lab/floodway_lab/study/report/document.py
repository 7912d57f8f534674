"""Results of studies as the document `study.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floodway.scenarios.keys import engine
from floodway_lab.study.report.claim_rows import COLUMNS, claim_rows
from floodway_lab.study.report.counts import verdict_counts
from floodway_lab.study.report.glance import COLUMNS as GLANCE
from floodway_lab.study.report.glance import at_a_glance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.study.numbers import Conducted, Part
    from floodway.study.running.runs import Run
    from floodway_lab.study.claims.judgement import Ablation, Judged

__all__ = ["document"]


def document(
    conducted: Conducted,
    pictures: Sequence[Sequence[dict[str, str]]],
    overview: dict[str, str] | None,
) -> dict[str, Any]:
    """Return the counts, statements, claims, pictures and runs of some studies.

    Parameters
    ----------
    conducted
        The studies with their verdicts.
    pictures, overview
        File, title and caption of each picture of each study, and of the picture of all statements.
    """
    return {
        "complete": True,
        "engine": engine(),
        "quick": conducted.plan.quick,
        "counts": list(verdict_counts(conducted)),
        "overview": overview,
        "glance": [dict(zip(GLANCE, row, strict=True)) for row in at_a_glance(conducted)],
        "studies": [
            _part_document(part, conducted, part_pictures)
            for part, part_pictures in zip(conducted.parts, pictures, strict=True)
        ],
    }


def _part_document(part: Part, conducted: Conducted, pictures: Sequence[dict[str, str]]) -> dict[str, Any]:
    return {
        "name": part.study.name,
        "title": part.study.title,
        "paper": part.study.paper,
        "shows": " ".join(part.study.shows.split()),
        "notes": part.study.notes.strip(),
        "readings": [{"name": reading["name"], "says": reading["says"]} for reading in part.study.readings],
        "rows": [dict(zip(COLUMNS, row.cells, strict=True)) for row in claim_rows(part)],
        "pictures": list(pictures),
        "claims": [
            {
                "name": judged.claim.name,
                "statement": judged.claim.statement,
                "reading": judged.claim.reading,
                "part": judged.claim.part,
                "setting": judged.claim.setting,
                "origin": judged.claim.origin,
                "about": judged.claim.about,
                "figure": judged.claim.figure,
                "says": judged.claim.says,
                "published": list(judged.claim.order or judged.claim.between or ()) or judged.claim.value,
                "unit": judged.claim.unit,
                "tolerance": judged.claim.margin if judged.claim.order else judged.claim.tolerance,
                "ours": [name for name, _ in judged.means] if judged.claim.order else judged.ours,
                **(
                    {"parts": [_number_document(judged_part) for judged_part in judged.parts]}
                    if judged.parts
                    else {}
                ),
                "low": judged.low,
                "high": judged.high,
                "seeds": judged.seeds,
                "exact": judged.exact,
                "unfinished": judged.unfinished,
                "cause": judged.cause,
                "verdict": judged.verdict,
                "notes": list(judged.notes),
                "without": [_ablation_document(ablation) for ablation in judged.ablations]
                or judged.claim.no_ablation
                or None,
            }
            for judged in part.judged
        ],
        "runs": [_run_document(part, run, conducted) for run in part.numbers.runs],
    }


def _ablation_document(ablation: Ablation) -> dict[str, Any]:
    """Return the document of a claim without its mechanism."""
    judged = ablation.judged
    return {
        "variant": ablation.variant,
        "ours": [name for name, _ in judged.means] if judged.claim.order else judged.ours,
        "low": judged.low,
        "high": judged.high,
        "verdict": judged.verdict,
        "agrees": ablation.agrees,
        "differs": ablation.differs,
    }


def _number_document(judged: Judged) -> dict[str, Any]:
    """Return the document of one of several numbers of a claim."""
    return {
        "at": dict(judged.claim.at),
        "against": judged.claim.against or None,
        "ours": [name for name, _ in judged.means] if judged.claim.order else judged.ours,
        "verdict": judged.verdict,
    }


def _run_document(part: Part, run: Run, conducted: Conducted) -> dict[str, Any]:
    values = {
        name: {"value": by_key[run.key].value, "unfinished": by_key[run.key].unfinished}
        for name, by_key in part.numbers.values.items()
        if run.key in by_key
    }
    return {
        "variant": run.variant,
        "at": dict(run.at),
        "seed": run.seed,
        "key": run.key,
        "error": conducted.failures.get(run.key),
        "metrics": values,
    }

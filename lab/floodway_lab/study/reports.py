"""Verdicts and reports of studies, for `floodway study`, `floodway reproduce` and `conduct`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from floodway.common.documents import Cell, Document, Section, Table
from floodway.study.numbers import Part, evaluated
from floodway_lab.study.claims.judgement import HOLDS
from floodway_lab.study.claims.outcome import decided_together
from floodway_lab.study.claims.verdicts import alone
from floodway_lab.study.report.claim_rows import COLUMNS, claim_rows
from floodway_lab.study.report.counts import verdict_counts, verdict_sentence
from floodway_lab.study.report.glance import COLUMNS as GLANCE
from floodway_lab.study.report.glance import at_a_glance
from floodway_lab.study.report.run_facts import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from floodway.plot import Format
    from floodway.results import Result
    from floodway.study.format.model import Study
    from floodway.study.numbers import Conducted
    from floodway.study.running.runs import Run
    from floodway.study.running.storage import Runs

__all__ = ["claims", "judged", "written"]

#: The note below the table of all claims.
RULE_IS_IN = "The report states the rule of a verdict; docs/studies.md explains it."
#: The column of verdicts in a row.
VERDICT = 5


def judged(ran: Conducted, store: Runs, *, on_message: Callable[[str], None]) -> Conducted:
    """Return executed studies with the verdicts of their claims.

    Raises
    ------
    StudyError
        If a metric cannot be computed.
    """
    parts = [_part(study, runs, ran, store, on_message) for study, runs in ran.plan.studies]
    return replace(ran, parts=decided_together(parts))


def written(
    conducted: Conducted,
    store: Runs,
    *,
    title: str,
    formats: Sequence[Format],
    on_message: Callable[[str], None],
) -> tuple[Path, ...]:
    """Write numbers, pictures and the report beside the runs, and return the files.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    # Drawing is loaded where it is needed: it takes as long as all the rest.
    from floodway_lab.study.report.report import write_report  # noqa: PLC0415

    return write_report(conducted, store, title=title, formats=formats, on_message=on_message)


def claims(conducted: Conducted) -> Document | None:
    """Return counts of verdicts, the claims with those that do not hold first, and all claims, if any."""
    # For several studies only published statements: the report has all claims and readings.
    glance = list(at_a_glance(conducted)) if len(conducted.parts) > 1 else []
    columns = GLANCE if glance else COLUMNS
    rows = glance or [row.cells for part in conducted.parts for row in claim_rows(part)]
    if not rows:
        return None
    answer, tone = verdict_sentence(conducted)
    whole = Table(columns=columns, rows=tuple(rows), words=frozenset(columns), notes=(RULE_IS_IN,))
    return Document(
        title="",
        answer=answer,
        tone=tone,
        more=tuple(verdict_counts(conducted)),
        table=_worst_first(rows),
        sections=(Section(title="Every claim", tables=(whole,)),),
    )


def _worst_first(rows: Sequence[tuple[str, ...]]) -> Table:
    """Return the first claims, those that do not hold before the others."""
    worst = sorted(rows, key=lambda row: row[VERDICT] in HOLDS)
    return Table(
        columns=("claim", "published", "ours", "verdict"),
        rows=tuple((row[1], row[2], row[3], _judged(row[VERDICT])) for row in worst),
        words=frozenset(("published", "ours", "verdict")),
    ).shortened("more", "--full, and the report")


def _judged(verdict: str) -> Cell:
    return Cell(text=verdict, tone="good" if verdict in HOLDS else "bad" if verdict == "differs" else "")


def _part(
    study: Study, runs: Sequence[Run], ran: Conducted, store: Runs, on_message: Callable[[str], None]
) -> Part:
    run_facts: dict[str, Known] = {}

    def remember(key: str, result: Result) -> None:
        run_facts[key] = Known.of(result)

    numbers = evaluated(
        study,
        runs,
        store,
        done=ran.done,
        failures=ran.failures,
        on_message=on_message,
        on_result=remember,
    )
    return Part(study=study, numbers=numbers, judged=alone(study, numbers), known=run_facts)

"""The validation of all rows of a folder of reference times of jobs."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.common.errors import RunError, ValidationError
from floodway.simulation.execution import Task, cores, run_all
from floodway_lab.validation.folder import DOCUMENT_FILE, open_folder
from floodway_lab.validation.jobs import astra, goal
from floodway_lab.validation.jobs.networks import scenario_of
from floodway_lab.validation.selection import selected

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from floodway.results import Result
    from floodway_lab.validation.jobs.rows import Expected, Job, Row

__all__ = ["JobsValidation", "Set", "is_of_jobs", "validate_jobs"]

#: Tables of reference times, and their readers.
TABLES = {
    astra.COLLECTIVES_FILE: astra.collectives,
    astra.TRACES_FILE: astra.traces,
    goal.FILE: goal.schedules,
}


@dataclass(frozen=True, kw_only=True)
class Set:
    """Rows of a table of reference times.

    Attributes
    ----------
    name
        The name of the table.
    rows
        All rows of the table.
    """

    name: str
    rows: tuple[Row, ...]

    @property
    def judged(self) -> tuple[Row, ...]:
        """Rows that can be met, and have run."""
        return tuple(row for row in self.rows if row.expected is not None and row.ours_ns is not None)

    @property
    def failed(self) -> tuple[Row, ...]:
        """Judged rows that are not met."""
        return tuple(row for row in self.judged if not row.met)

    @property
    def greatest(self) -> Row | None:
        """The judged row that differs most from the reference; `None` without any."""
        return max(self.judged, key=lambda row: abs(row.difference), default=None)

    @property
    def reasons(self) -> dict[str, int]:
        """Number of rows for each reason why rows cannot be met."""
        counts: dict[str, int] = {}
        for row in self.rows:
            if row.reason:
                counts[row.reason] = counts.get(row.reason, 0) + 1
        return counts


@dataclass(frozen=True, kw_only=True)
class JobsValidation:
    """Rows with their verdicts.

    Attributes
    ----------
    sets
        The sets, in the order of the tables.
    runs
        Number of runs for the rows: those of one network and trace share one.
    complete
        Whether all runs ended; false after Ctrl-C.
    """

    sets: tuple[Set, ...]
    runs: int
    complete: bool

    @property
    def failed(self) -> tuple[Row, ...]:
        """Rows that can be met and are not."""
        return tuple(row for job_set in self.sets for row in job_set.failed)


def is_of_jobs(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder has reference times of jobs."""
    return any((Path(folder) / name).is_file() for name in TABLES)


def validate_jobs(  # noqa: PLR0913 (what a caller may choose)
    folder: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    only: Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    on_progress: Callable[[Sequence[Task]], None] | None = None,
) -> JobsValidation:
    """Run traces and schedules of jobs, and compare their times with those of other simulators.

    Parameters
    ----------
    folder
        A folder with `astra-times.tsv`, `chakra-dags-times.tsv` and `goal-compare.tsv`, or some of these, and
        the traces and schedules that they name.
    jobs
        Number of runs at a time; by default one per core.
    only
        Patterns of rows' labels, in which `*` and `?` are wildcards; all by default.
    out
        The folder of `validate.json`; by default it is not written.
    force
        Whether an earlier validation there may be replaced.
    on_progress
        Called about ten times a second in the calling thread.

    Raises
    ------
    ValidationError
        If there is no table, or one is malformed or names a file that is missing; nothing has run then.
    ScenarioError
        If a trace or schedule cannot be read; nothing has run then.
    OutputError
        If the folder has other files, or cannot be written.
    RunError
        If a run failed.
    """
    root = Path(folder)
    if not is_of_jobs(root):
        message = f"{root}: has no times of jobs: expected {', '.join(TABLES)}, or one of these"
        raise ValidationError(message, place=os.fspath(root), allowed=tuple(TABLES))
    rows = [row for name, read in TABLES.items() if (root / name).is_file() for row in read(root)]
    rows = selected(rows, only, unmatched=_unmatched)
    planned = {row.expected.job: row.label for row in rows if row.expected is not None}
    tasks = {
        job: Task(label=label, scenario=scenario_of(job.network, job.workload))
        for job, label in planned.items()
    }
    with open_folder(out, force=force) as target:
        ends = _run(tasks, jobs=jobs or cores(), on_progress=on_progress)
        names = dict.fromkeys(row.set for row in rows)
        judged = [_judged(row, ends) for row in rows]
        sets = [Set(name=name, rows=tuple(row for row in judged if row.set == name)) for name in names]
        done = JobsValidation(sets=tuple(sets), runs=len(ends), complete=len(ends) == len(tasks))
        if out is not None:
            text = json.dumps(document(done), indent=2, ensure_ascii=False)
            (target / DOCUMENT_FILE).write_text(text + "\n", encoding="utf-8")
    return done


def _unmatched(pattern: str, labels: Sequence[str], near: str | None) -> ValidationError:
    hint = f"; did you mean {near!r}?" if near else ""
    message = f"{pattern!r} matches none of the {len(labels):,} rows, such as {labels[0]!r}{hint}"
    return ValidationError(message, key="only", given=pattern, nearest=near)


def _run(
    tasks: dict[Job, Task],
    *,
    jobs: int,
    on_progress: Callable[[Sequence[Task]], None] | None,
) -> dict[Job, pl.DataFrame]:
    """Run every job, and return the operations of those that ended."""
    ends: dict[Job, pl.DataFrame] = {}
    ordered = list(tasks)

    def keep(number: int, result: Result) -> None:
        label = tasks[ordered[number]].label
        if result.operations is None or any(job.finished < job.ranks for job in result.outcome.jobs):
            raise RunError("the run ended before the job was complete", label=label)
        ends[ordered[number]] = result.operations.select("rank", "kind", "end_us")

    run_all([tasks[job] for job in ordered], jobs=jobs, on_progress=on_progress, on_result=keep)
    return ends


def _judged(row: Row, ends: dict[Job, pl.DataFrame]) -> Row:
    if row.expected is None or row.expected.job not in ends:
        return row
    return replace(row, ours_ns=_end_ns(ends[row.expected.job], row.expected))


def _end_ns(operations: pl.DataFrame, expected: Expected) -> float | None:
    """Return the end of the operations that count; `None` without any."""
    if expected.rank is not None:
        operations = operations.filter(pl.col("rank") == expected.rank)
    if expected.kinds:
        operations = operations.filter(pl.col("kind").cast(pl.String).is_in(expected.kinds))
    last = operations["end_us"].max()
    return None if not isinstance(last, float) else last * 1000


def document(validation: JobsValidation) -> dict[str, Any]:
    """Return every row with its numbers and verdict."""
    return {
        "complete": validation.complete,
        "verdict": "fail" if validation.failed else "pass",
        "runs": validation.runs,
        "sets": [
            {
                "set": job_set.name,
                "rows": len(job_set.rows),
                "met": len(job_set.judged) - len(job_set.failed),
                "failed": len(job_set.failed),
                "not_to_be_met": job_set.reasons,
                "each": [_row(row) for row in job_set.rows],
            }
            for job_set in validation.sets
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    if row.expected is None:
        return {"row": row.label, "verdict": "not to be met", "reason": row.reason}
    return {
        "row": row.label,
        "verdict": "not run" if row.ours_ns is None else "pass" if row.met else "fail",
        "reference_ns": row.expected.reference_ns,
        "ours_ns": row.ours_ns,
        "least_ns": row.expected.least_ns,
        "most_ns": row.expected.most_ns,
    }

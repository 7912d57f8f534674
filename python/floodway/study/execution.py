"""The execution of studies, by one process or by shards: a failed run does not stop the others.

A run is locked while it is executed. The process that ends the last missing run writes the report, which
depends on the runs alone.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.common.errors import InUseError, LostResultsError, OutputError, output_errors
from floodway.results.locks import report_lock
from floodway.results.store import finish_left_behind, remove_left_behind
from floodway.simulation.execution import cores
from floodway.study.numbers import Conducted, Part, evaluated, reports
from floodway.study.running.executors import run_on
from floodway.study.running.storage import Runs, StudyFolder
from floodway.study.running.work import Task

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from distributed import Client

    from floodway.plot import Format
    from floodway.simulation.shards import Shard
    from floodway.study.running.runs import Plan, Run

__all__ = ["conduct", "report_of"]

#: The end of the error when runs can no longer be written.
GOES_ON = "; completed runs are kept, and the same command continues once that is fixed"


def conduct(  # noqa: PLR0913 (what a caller may choose)
    plan: Plan,
    *,
    out: str | os.PathLike[str],
    jobs: int | None = None,
    shard: Shard | None = None,
    executor: Executor | Client | None = None,
    force: bool = False,
    title: str = "",
    formats: Sequence[Format] = (),
    report: bool = True,
    on_progress: Callable[[Sequence[Task]], None] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Conducted:
    """Run the missing runs of some studies, and write numbers, pictures and a report.

    Each run is a process's work and is stored as soon as it has ended; so an interrupted study continues
    where it was. A run that fails is noted and leaves the others alone.

    Parameters
    ----------
    plan
        What `plan_of` returned.
    out
        Folder of the runs and the report.
    jobs
        Number of processes; by default one per core. With an executor of `concurrent.futures`, how many runs
        it does at once.
    shard
        Where several processes divide the runs of one folder, which of them this one is. The one after which
        no run is missing writes the report.
    executor
        What runs them instead of processes of this machine: a client of Dask, or an executor of
        `concurrent.futures`. Its workers have the same version of floodway. A worker that sees the folder
        writes the results there, and another sends them back.
    force
        Whether all runs are run again.
    title
        Of the report; by default that of the first study.
    formats
        In which pictures are written as well as in PNG, which the page shows. `floodway.plot.look` chooses
        how they look.
    report
        Whether pictures and a report are written; without them the verdicts are computed alone.
    on_progress
        Called about ten times a second.
    on_message
        Called with messages: a run that failed, or that was incomplete and is run again; a picture
        that cannot be drawn.

    Returns
    -------
    Conducted
        The outcome: completed and failed runs, numbers and verdicts, and the files that were written.

    Raises
    ------
    OutputError
        If the folder holds something else, is in use, or cannot be written.
    LostResultsError
        If the results of a run that has ended cannot be written, and no other is begun then; or if the
        pictures or the report cannot be.
    ClusterError
        If the executor is lost, or a worker of it has another version.
    StudyError
        If a metric cannot be computed.
    """
    folder = Path(out)
    notify = on_message or (lambda _: None)
    runs = plan.runs if shard is None else shard.of(plan.runs)
    with StudyFolder(folder, shared=shard is not None) as study_folder, output_errors(folder):
        study_folder.tidy(runs)
        for run in runs if force else ():
            study_folder.runs.forget(run.key)
        missing = [run for run in runs if not _is_there(study_folder.runs, run, notify)]

        def work(tasks: Sequence[Task], on_end: Callable[[Task], None]) -> bool:
            """Run tasks here or on an executor, and return whether all have ended."""
            with contextlib.nullcontext() if executor is None else study_folder.mark() as mark:
                return run_on(
                    executor,
                    tasks,
                    mark=mark,
                    jobs=jobs or cores(),
                    on_progress=on_progress,
                    on_end=on_end,
                    on_message=notify,
                )

        complete = _run_missing(missing, study_folder, work, notify)
        study_folder.tidy(runs)
        so_far = _so_far(plan, study_folder, complete=complete)
        if not complete or so_far.missing:
            return so_far
        written = _Report(
            title=title, formats=formats if report or shard is not None else None, notify=notify
        )
        if shard is None:
            return _reported(so_far, study_folder, written)
        try:
            with report_lock(folder, shown=str(folder)):
                return _checked(so_far, study_folder, written)
        except InUseError:
            # The process that writes it began when all runs were there.
            return so_far


def report_of(
    plan: Plan,
    *,
    out: str | os.PathLike[str],
    title: str = "",
    formats: Sequence[Format] = (),
    on_message: Callable[[str], None] | None = None,
) -> Conducted:
    """Write numbers, pictures and a report of completed runs, without running any.

    Parameters
    ----------
    plan, out, title, formats, on_message
        As `conduct`'s.

    Returns
    -------
    Conducted
        The outcome, as `conduct` returns it.

    Raises
    ------
    OutputError
        If runs are missing, or as `conduct`.
    LostResultsError
        If the pictures or the report cannot be written.
    StudyError
        If a metric cannot be computed.
    """
    folder = Path(out)
    if not folder.is_dir():
        raise _lacking(folder, len(plan.runs), plan)
    with (
        StudyFolder(folder, shared=True) as study_folder,
        output_errors(folder),
        report_lock(folder, shown=str(folder)),
    ):
        so_far = _so_far(plan, study_folder, complete=True)
        if not so_far.missing:
            written = _Report(title=title, formats=formats, notify=on_message or (lambda _: None))
            so_far = _checked(so_far, study_folder, written)
        if so_far.missing:
            raise _lacking(folder, so_far.missing, plan)
        return so_far


def _lacking(folder: Path, missing: int, plan: Plan) -> OutputError:
    return OutputError(
        str(folder),
        f"{missing} of {len(plan.runs)} runs are missing; the same command without --report runs them",
    )


def _run_missing(
    missing: Sequence[Run],
    study_folder: StudyFolder,
    work: Callable[[Sequence[Task], Callable[[Task], None]], bool],
    notify: Callable[[str], None],
) -> bool:
    """Run the missing runs, and return whether all have ended or are at work in another process."""
    runs = study_folder.runs

    def end(task: Task) -> None:
        if task.unwritable:
            # The others could not be written either, so they are not run.
            raise LostResultsError(str(study_folder.folder), f"{task.label}: {task.error}{GOES_ON}")
        if not task.taken:
            runs.note_failure(task.run.key, task.error or None)
        if task.error:
            notify(f"{task.label}: {task.error}")

    taken: list[Task] = []
    # A process that has a run may be at its end, as that of a command that was killed: it is asked again.
    for _ in range(2):
        tasks = [Task(run=run, folder=runs.folder_of(run.key)) for run in missing]
        if tasks and not work(tasks, end):
            return False
        taken = [task for task in tasks if task.taken]
        missing = [task.run for task in taken]
    for task in taken:
        notify(f"{task.label}: {task.taken}")
    return True


def _is_there(runs: Runs, run: Run, notify: Callable[[str], None], *, then: str = "it is run again") -> bool:
    """Whether a run's results are stored; incomplete ones are removed with a message."""
    if not runs.folder_of(run.key).exists():
        return False
    fault = runs.fault(run.key)
    if fault is None:
        return True
    runs.drop(run.key)
    notify(f"{run.label}: {fault}; {then}")
    return False


def _so_far(plan: Plan, study_folder: StudyFolder, *, complete: bool) -> Conducted:
    """Return which runs are there by now, and which have failed, in any process."""
    runs = study_folder.runs
    done = frozenset(run.key for run in plan.runs if runs.folder_of(run.key).exists())
    others = {run.key: runs.failure(run.key) for run in plan.runs if run.key not in done}
    return Conducted(
        plan=plan,
        folder=study_folder.folder,
        parts=(),
        done=done,
        failures={key: error for key, error in others.items() if error is not None},
        complete=complete,
        missing=sum(error is None for error in others.values()),
    )


@dataclass(frozen=True, kw_only=True)
class _Report:
    """A report that is asked for: its title, further formats of its pictures, and who gets messages.

    Without formats it is not written.
    """

    title: str
    formats: Sequence[Format] | None
    notify: Callable[[str], None]


def _checked(so_far: Conducted, study_folder: StudyFolder, report: _Report) -> Conducted:
    """Write the report unless a run that another process ran is not whole: then it is missing again."""
    store = study_folder.runs
    done = [run for run in so_far.plan.runs if run.key in so_far.done]
    then = "it is missing again, and the command that ran it runs it again"
    torn = [run for run in done if not _is_there(store, run, report.notify, then=then)]
    if torn:
        return replace(so_far, done=so_far.done - {run.key for run in torn}, missing=len(torn))
    # Nobody else writes here now: the report is locked, and no run is missing.
    remove_left_behind(study_folder.folder)
    finish_left_behind(store.folder)
    return _reported(so_far, study_folder, report)


def _reported(so_far: Conducted, study_folder: StudyFolder, report: _Report) -> Conducted:
    """Compute the verdicts and, if formats are given, write numbers, pictures and the report.

    Without a package that does so there are numbers alone.
    """
    writer, store = reports(), study_folder.runs
    if writer is None:
        evaluate = partial(evaluated, done=so_far.done, failures=so_far.failures, on_message=report.notify)
        studies = so_far.plan.studies
        parts = (Part(study=study, numbers=evaluate(study, runs, store)) for study, runs in studies)
        return replace(so_far, parts=tuple(parts))
    conducted = writer.judged(so_far, store, on_message=report.notify)
    if report.formats is None:
        return conducted
    heading = report.title or so_far.plan.studies[0][0].title
    try:
        files = writer.written(
            conducted, store, title=heading, formats=report.formats, on_message=report.notify
        )
    except OutputError as error:
        raise LostResultsError(error.path, f"{error.reason}{GOES_ON}") from error
    except OSError as error:
        reason = f"cannot be written: {error.strerror or error}{GOES_ON}"
        raise LostResultsError(str(study_folder.folder), reason) from error
    return replace(conducted, files=files)

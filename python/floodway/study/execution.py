"""The execution of studies: missing runs are run, and a failed run does not stop the others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from floodway.comparison.execution import cores
from floodway.errors import LostResultsError, OutputError
from floodway.results.store import remove_left_behind
from floodway.study.claims.numbers import evaluated
from floodway.study.claims.outcome import Conducted, Part
from floodway.study.claims.verdicts import claim_verdicts
from floodway.study.running.pool import Task, run_tasks
from floodway.study.running.storage import Runs, StudyFolder, output_errors

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from floodway.plot import Format
    from floodway.study.format.model import Study
    from floodway.study.running.plan import Plan
    from floodway.study.running.runs import Run

__all__ = ["conduct"]

#: The end of the error when runs can no longer be written.
GOES_ON = "; completed runs are kept, and the same command continues once that is fixed"


def conduct(  # noqa: PLR0913 (what a caller may choose)
    plan: Plan,
    *,
    out: str | os.PathLike[str],
    jobs: int | None = None,
    force: bool = False,
    title: str = "",
    formats: Sequence[Format] = (),
    report: bool = True,
    on_progress: Callable[[Sequence[Task]], None] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Conducted:
    """Run what is missing of some studies, and write numbers, pictures and a report.

    Each run is a process's work and is stored as soon as it has ended; so an interrupted study continues
    where it was. A run that fails is noted and leaves the others alone.

    Parameters
    ----------
    plan
        What `plan_of` returned.
    out
        Folder of the runs and the report.
    jobs
        So many processes; by default one per core.
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

    Raises
    ------
    OutputError
        If the folder holds something else, is in use, or cannot be written.
    LostResultsError
        If the results of a run that has ended cannot be written, and no other is begun then; or if the
        pictures or the report cannot be.
    StudyError
        If a metric cannot be computed.
    """
    folder = Path(out)
    notify = on_message or (lambda _: None)
    with StudyFolder(folder) as study_folder, output_errors(folder):
        for run in plan.runs if force else ():
            study_folder.runs.forget(run.key)
        missing = [run for run in plan.runs if not _is_there(study_folder.runs, run, notify)]
        tasks = [Task(run=run, folder=study_folder.runs.folder_of(run.key)) for run in missing]

        def end(task: Task) -> None:
            if task.unwritable:
                # The others could not be written either, so they are not run.
                raise LostResultsError(str(folder), f"{task.label}: {task.error}{GOES_ON}")
            study_folder.runs.note_failure(task.run.key, task.error or None)
            if task.error:
                notify(f"{task.label}: {task.error}")

        complete = not tasks or run_tasks(tasks, jobs=jobs or cores(), on_progress=on_progress, on_end=end)
        remove_left_behind(study_folder.runs.folder)
        return _finished(
            plan,
            study_folder,
            tasks,
            complete=complete,
            title=title,
            formats=formats if report else None,
            notify=notify,
        )


def _is_there(runs: Runs, run: Run, notify: Callable[[str], None]) -> bool:
    """Whether a run's results are there; what is not whole is removed."""
    if not runs.folder_of(run.key).exists():
        return False
    fault = runs.fault(run.key)
    if fault is None:
        return True
    runs.drop(run.key)
    notify(f"{run.label}: {fault}; it is run again")
    return False


def _finished(  # noqa: PLR0913 (as `conduct`)
    plan: Plan,
    study_folder: StudyFolder,
    tasks: Sequence[Task],
    *,
    complete: bool,
    title: str,
    formats: Sequence[Format] | None,
    notify: Callable[[str], None],
) -> Conducted:
    failures = {task.run.key: task.error for task in tasks if task.error}
    ended = {task.run.key: task.wall_s is not None for task in tasks}
    done = frozenset(run.key for run in plan.runs if ended.get(run.key, True))
    parts = (
        tuple(_part(study, runs, study_folder.runs, done, failures, notify) for study, runs in plan.studies)
        if complete
        else ()
    )
    conducted = Conducted(
        plan=plan, folder=study_folder.folder, parts=parts, done=done, failures=failures, complete=complete
    )
    if not complete or formats is None:
        return conducted
    # Drawing is loaded where it is needed: it takes as long as all the rest.
    from floodway.study.report.report import write_report  # noqa: PLC0415

    heading = title or plan.studies[0][0].title
    try:
        files = write_report(conducted, study_folder.runs, title=heading, formats=formats, on_message=notify)
    except OutputError as error:
        raise LostResultsError(error.path, f"{error.reason}{GOES_ON}") from error
    except OSError as error:
        reason = f"cannot be written: {error.strerror or error}{GOES_ON}"
        raise LostResultsError(str(study_folder.folder), reason) from error
    return Conducted(**{**conducted.__dict__, "files": files})


def _part(  # noqa: PLR0913, PLR0917 (as `conduct`)
    study: Study,
    runs: Sequence[Run],
    store: Runs,
    done: frozenset[str],
    failures: Mapping[str, str],
    notify: Callable[[str], None],
) -> Part:
    own = [run.key for run in runs if run.key in done]
    numbers = evaluated(study, runs, store, done=own, failures=failures, on_message=notify)
    return Part(study=study, numbers=numbers, judged=claim_verdicts(study, numbers))

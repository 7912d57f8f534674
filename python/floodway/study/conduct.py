"""Studies run to their end: what is there already is not run again, and what fails stops nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from floodway.comparison.execution import cores
from floodway.errors import LostResultsError, OutputError
from floodway.results.store import remove_left_behind
from floodway.study.evaluation import Numbers, evaluated
from floodway.study.pool import Task, work_off
from floodway.study.runs import Run, runs_of
from floodway.study.storage import Runs, StudyFolder, told
from floodway.study.verdicts import Judged, judged

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from floodway.plot import Format
    from floodway.study.model import Study

__all__ = ["Conducted", "Part", "Plan", "State", "conduct", "expected_minutes", "plan_of", "states_of"]

#: What is said where runs can no longer be written.
GOES_ON = "; the runs that had ended are kept, and the same command goes on once that is mended"
State = Literal["done", "failed", "to do"]
#: Cores that `minutes` of a study counts on.
STATED_CORES = 2


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be run of some studies.

    Attributes
    ----------
    studies
        Each with its runs.
    quick
        Whether in their quick form.
    """

    studies: tuple[tuple[Study, tuple[Run, ...]], ...]
    quick: bool

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run once: what two studies share is run once."""
        return tuple({run.key: run for _, runs in self.studies for run in runs}.values())


@dataclass(frozen=True, kw_only=True)
class Part:
    """A study with its numbers and verdicts."""

    study: Study
    numbers: Numbers
    judged: tuple[Judged, ...]


@dataclass(frozen=True, kw_only=True)
class Conducted:
    """Studies that have been run.

    Attributes
    ----------
    plan
        What was to be run.
    folder
        Where runs, pictures and the report are.
    parts
        What came out, a part for each study; empty after Ctrl-C.
    done, failures
        Keys of the runs that are there, and why the others failed.
    complete
        Whether every run came to an end, good or bad; not so after Ctrl-C.
    files
        What was written: the report first.
    """

    plan: Plan
    folder: Path
    parts: tuple[Part, ...]
    done: frozenset[str]
    failures: Mapping[str, str]
    complete: bool
    files: tuple[Path, ...] = ()


def plan_of(
    studies: Sequence[Study], *, quick: bool = False, seeds: int | tuple[int, ...] | None = None
) -> Plan:
    """Read and build every scenario of some studies.

    Raises
    ------
    ScenarioError
        If one cannot be simulated.
    StudyError
        If a study has no runs.
    """
    return Plan(
        studies=tuple((study, runs_of(study, quick=quick, seeds=seeds)) for study in studies), quick=quick
    )


def conduct(  # noqa: PLR0913 (what a caller may choose)
    plan: Plan,
    *,
    out: str | os.PathLike[str],
    jobs: int | None = None,
    force: bool = False,
    title: str = "",
    formats: Sequence[Format] = (),
    on_progress: Callable[[Sequence[Task]], None] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Conducted:
    """Run what is missing of some studies, and write numbers, pictures and a report.

    Each run is a process's work and is stored as soon as it has ended; so a study that was cut short goes on
    where it was. A run that fails is noted and leaves the others alone.

    Parameters
    ----------
    plan
        What `plan_of` returned.
    out
        Folder of the runs and the report.
    jobs
        So many processes; by default one a core.
    force
        Whether all runs shall be run anew.
    title
        Of the report; by default that of the first study.
    formats
        In which pictures are written as well as in PNG, which the page shows. `floodway.plot.look` chooses
        how they look.
    on_progress
        Called about ten times a second.
    on_message
        Called with what is to be said: a run that failed, or that was not whole and is run again; a picture
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
    say = on_message or (lambda _: None)
    with StudyFolder(folder) as place, told(folder):
        for run in plan.runs if force else ():
            place.runs.forget(run.key)
        missing = [run for run in plan.runs if not _is_there(place.runs, run, say)]
        tasks = [Task(run=run, place=place.runs.place(run.key)) for run in missing]

        def end(task: Task) -> None:
            if task.unwritable:
                # Nor could the others be: none is run in vain.
                raise LostResultsError(str(folder), f"{task.label}: {task.error}{GOES_ON}")
            place.runs.note_failure(task.run.key, task.error or None)
            if task.error:
                say(f"{task.label}: {task.error}")

        complete = not tasks or work_off(tasks, jobs=jobs or cores(), on_progress=on_progress, on_end=end)
        remove_left_behind(place.runs.folder)
        return _finished(plan, place, tasks, complete=complete, title=title, formats=formats, say=say)


def states_of(plan: Plan, folder: Path) -> dict[str, State]:
    """Return what has become of each run, by its key, without touching anything."""
    runs = Runs(folder / "runs")
    return {run.key: _state(runs, run.key) for run in plan.runs}


def expected_minutes(plan: Plan, folder: Path, *, states: Mapping[str, State], jobs: int) -> float | None:
    """Estimate how long the runs that are missing will take; none where nothing is known.

    What studies say counts first, then what their runs that are there have taken. A run that studies have in
    common counts once.
    """
    runs = Runs(folder / "runs")
    total = 0.0
    counted: set[str] = set()
    for study, own in plan.studies:
        walls = [runs.wall_s(run.key) for run in own if states.get(run.key) == "done"]
        left = {run.key for run in own if states.get(run.key) != "done"}
        missing = len(left - counted)
        counted |= left
        stated = study.quick.minutes if plan.quick and study.has_quick_form else study.minutes
        if stated is not None:
            total += stated * STATED_CORES / jobs * missing / len(own)
        elif walls:
            total += sum(walls) / len(walls) * missing / 60 / jobs
        elif missing:
            return None
    return total


def _state(runs: Runs, key: str) -> State:
    if runs.has(key):
        return "done"
    return "failed" if runs.failure(key) is not None else "to do"


def _is_there(runs: Runs, run: Run, say: Callable[[str], None]) -> bool:
    """Whether a run's results are there; what is not whole is removed."""
    if not runs.place(run.key).exists():
        return False
    fault = runs.fault(run.key)
    if fault is None:
        return True
    runs.drop(run.key)
    say(f"{run.label}: {fault}; it is run again")
    return False


def _finished(  # noqa: PLR0913 (as `conduct`)
    plan: Plan,
    place: StudyFolder,
    tasks: Sequence[Task],
    *,
    complete: bool,
    title: str,
    formats: Sequence[Format],
    say: Callable[[str], None],
) -> Conducted:
    # Drawing is loaded where it is needed: it takes as long as all the rest.
    from floodway.study.report import write_report  # noqa: PLC0415

    failures = {task.run.key: task.error for task in tasks if task.error}
    ended = {task.run.key: task.wall_s is not None for task in tasks}
    done = frozenset(run.key for run in plan.runs if ended.get(run.key, True))
    parts = (
        tuple(_part(study, runs, place.runs, done, say) for study, runs in plan.studies) if complete else ()
    )
    conducted = Conducted(
        plan=plan, folder=place.folder, parts=parts, done=done, failures=failures, complete=complete
    )
    if not complete:
        return conducted
    heading = title or plan.studies[0][0].title
    try:
        files = write_report(conducted, place.runs, title=heading, formats=formats, on_message=say)
    except OutputError as error:
        raise LostResultsError(error.path, f"{error.reason}{GOES_ON}") from error
    except OSError as error:
        reason = f"cannot be written: {error.strerror or error}{GOES_ON}"
        raise LostResultsError(str(place.folder), reason) from error
    return Conducted(**{**conducted.__dict__, "files": files})


def _part(
    study: Study, runs: Sequence[Run], store: Runs, done: frozenset[str], say: Callable[[str], None]
) -> Part:
    own = [run.key for run in runs if run.key in done]
    numbers = evaluated(study, runs, store, done=own, on_message=say)
    return Part(study=study, numbers=numbers, judged=judged(study, numbers))

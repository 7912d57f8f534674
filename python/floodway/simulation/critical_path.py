"""The critical path of a collective or of a training iteration, to the picosecond.

As for the causes of a flow's completion time, the run needs no records for it: the scenario runs again until
the collective is complete, while each rank logs the event that each of its events waited for, and once more
to break down the time of the messages on the path.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway import _floodway
from floodway.common.errors import InputError, RunError, UnknownNameError
from floodway.common.names import nearest
from floodway.results.iterations import iterations_of
from floodway.results.quantities import counted
from floodway.simulation.path_phases import Phase, phases_of
from floodway.simulation.run import frame
from floodway.simulation.why import CAUSES, Part, by_cause, differs, run_again, scenario_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from floodway._floodway import Progress
    from floodway.results import Result
    from floodway.results.outcome import JobTotals
    from floodway.scenarios.scenario import Scenario

__all__ = ["PATH_CAUSES", "CriticalPath", "Step", "find_path", "target_of", "targets_of"]

#: Causes of the time of a path: those of a flow's time, and the work of ranks.
PATH_CAUSES = {
    "computation": "computing",
    "reduction": "reducing what had arrived",
    **CAUSES,
    "acknowledgement": "the acknowledgement on its way back",
}
#: Causes that are work of ranks, not of messages.
_OF_RANKS = ("computation", "reduction")
#: Digits of the largest number that a collective can have.
MOST_DIGITS = 9
#: How many of the operations that a job waits for an error names.
NAMED_WAITS = 3
#: An iteration of a workload.
_ITERATION = re.compile(r"(.+):iteration-(\d{1,6})")


@dataclass(frozen=True, kw_only=True)
class Target:
    """A collective of a group of ranks, or an iteration of all ranks of a job.

    Attributes
    ----------
    name
        `WORKLOAD:NUMBER`, by which `floodway why` takes it, or `WORKLOAD:iteration-NUMBER`.
    title
        Its kind and size, in words.
    workload, iteration
        Its workload, and the iteration of the ranks' programs that it is in.
    call
        For a collective: its group, and its number within the group.
    start_us, end_us
        The start at its first rank and the end at its last one.
    """

    name: str
    title: str
    workload: str
    iteration: int
    call: tuple[int, int] | None
    start_us: float
    end_us: float


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of a critical path.

    Attributes
    ----------
    from_ps, to_ps
        Begin and end, in picoseconds; the first step begins at the start of the path.
    rank
        The rank at which it ended.
    began_at
        The rank at which it began: the sender of a message.
    peer
        For a message in flight, its sender; for one that the rank waited to complete or to leave, its
        receiver; else `None`.
    kind
        `message`, from its posting until it is there; `completion`, from its posting until it is complete for
        its sender; `turn`, from its posting until it has left and the next one's turn comes; `computation`;
        `reduction`.
    iteration, operation
        The operation that it is a part of, at the rank where it began.
    name
        That operation in words.
    of_target
        Whether that operation is the collective, or in the iteration: if not, a rank had not begun its part.
    parts
        The causes of its time; their times add up to that of the step.
    """

    from_ps: int
    to_ps: int
    rank: int
    began_at: int
    peer: int | None
    kind: str
    iteration: int
    operation: int
    name: str
    of_target: bool
    parts: tuple[Part, ...]

    @property
    def time_ps(self) -> int:
        """Time of the step, in picoseconds."""
        return self.to_ps - self.from_ps

    @property
    def waited_for(self) -> str:
        """The event that the rank waited for, in words."""
        return {
            "message": f"message of rank {self.peer}",
            "completion": f"its message to rank {self.peer} to be complete",
            "turn": f"its message to rank {self.peer} to leave",
            "computation": "its computation",
            "reduction": "its reduction",
        }[self.kind]


@dataclass(frozen=True, kw_only=True)
class CriticalPath:
    """The critical path of a collective or an iteration.

    Attributes
    ----------
    target
        The collective or iteration.
    start_ps, end_ps
        The start at the first rank and the end at the last one, in picoseconds.
    steps
        From start to end; each follows from the one before, so that they add up to the time between.
    """

    target: Target
    start_ps: int
    end_ps: int
    steps: tuple[Step, ...]

    @property
    def time_ps(self) -> int:
        """From start to end, in picoseconds."""
        return self.end_ps - self.start_ps

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the time of all steps: one for each cause, port and origin of pauses."""
        sums: Counter[tuple[str, str | None, str | None]] = Counter()
        for part in (part for step in self.steps for part in step.parts):
            sums[part.cause, part.port, part.origin] += part.time_ps
        causes = list(PATH_CAUSES)
        ordered = sorted(sums.items(), key=lambda item: (causes.index(item[0][0]), -item[1]))
        return tuple(
            Part(cause=cause, port=port, origin=origin, time_ps=time)
            for (cause, port, origin), time in ordered
        )

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Steps that belong together: of one operation, within nodes, between nodes or between sites."""
        return phases_of(self.steps)

    @property
    def frame(self) -> pl.DataFrame:
        """One row a step: its times in microseconds, ranks, kind, operation, and its share of the path."""
        columns = ("rank", "began_at", "peer", "kind", "iteration", "operation", "name", "of_target")
        times = dict.fromkeys(("from_us", "to_us", "time_us"), pl.Float64)
        other = {"kind": pl.String, "name": pl.String, "of_target": pl.Boolean}
        schema = {**times, **{name: other.get(name, pl.Int64) for name in columns}, "share": pl.Float64}
        rows = []
        for step in self.steps:
            span = (step.from_ps / 1e6, step.to_ps / 1e6, step.time_ps / 1e6)
            share = step.time_ps / max(self.time_ps, 1)
            rows.append((*span, *(getattr(step, name) for name in columns), share))
        return pl.DataFrame(rows, schema=schema, orient="row")

    def by_cause(self) -> dict[str, tuple[Part, ...]]:
        """Return the parts by cause.

        Returns
        -------
        dict of tuple
            The parts of each cause that has any, in the order of `PATH_CAUSES`.
        """
        return by_cause(self.parts, PATH_CAUSES)

    def summary(self) -> str:
        """Summarise the path.

        Returns
        -------
        str
            The shares of computation and network, and the ranks that began late.
        """
        sums = {cause: sum(part.time_ps for part in parts) for cause, parts in self.by_cause().items()}
        computing = sum(time for cause, time in sums.items() if cause in _OF_RANKS)
        network = {cause: time for cause, time in sums.items() if cause not in _OF_RANKS}
        text = f"computation {self._percent(computing)}, network {self._percent(sum(network.values()))}"
        if network:
            text += f" ({', '.join(f'{cause} {self._percent(time)}' for cause, time in network.items())})"
        late = [step for step in self.steps if not step.of_target]
        if late:
            ranks = list(dict.fromkeys(step.began_at for step in late))
            rank_text = f"rank {ranks[0]}" if len(ranks) == 1 else f"{len(ranks)} ranks"
            before = self._percent(sum(step.time_ps for step in late))
            text += f"; {before} of it before {rank_text} had begun its part"
        return text

    def _percent(self, time_ps: int) -> str:
        return f"{time_ps * 100 / max(self.time_ps, 1):.1f} %"


def targets_of(result: Result) -> tuple[Target, ...]:
    """Return the collectives and iterations of a run that are complete, each workload's in their order."""
    if result.operations is None or result.collectives is None:
        return ()
    return (*_collectives(result.collectives), *_iterations(result))


def _collectives(collectives: pl.DataFrame) -> tuple[Target, ...]:
    counts: Counter[str] = Counter()
    targets = []
    for row in collectives.iter_rows(named=True):
        workload = str(row["workload"])
        if row["time_us"] is not None:
            title = f"{row['name'] or row['kind']} of {counted(row['ranks'], 'rank')}"
            call = (row["group"], row["sequence"])
            targets.append(_target(row, f"{workload}:{counts[workload]}", title, call))
        counts[workload] += 1
    return tuple(targets)


def _target(row: Mapping[str, Any], name: str, title: str, call: tuple[int, int] | None) -> Target:
    return Target(
        name=name,
        title=title,
        workload=str(row["workload"]),
        iteration=row["iteration"],
        call=call,
        start_us=row["start_us"],
        end_us=row["end_us"],
    )


def _iterations(result: Result) -> tuple[Target, ...]:
    operations = result.operations
    # Where rows are left out, the end of an iteration may be one of them.
    if operations is None or result.outcome.operations_beyond:
        return ()
    done = {job.workload: job.finished == job.ranks for job in result.outcome.jobs}
    grouped = (
        iterations_of(operations)
        .group_by("workload", "iteration", maintain_order=True)
        .agg(pl.len().alias("ranks"), pl.col("start_us").min(), pl.col("end_us").max())
    )
    targets = []
    for row in grouped.iter_rows(named=True):
        workload, iteration = str(row["workload"]), row["iteration"]
        after = grouped.filter(
            (pl.col("workload").cast(pl.String) == workload) & (pl.col("iteration") == iteration + 1)
        )
        # A rank begins an iteration when all of the one before is complete there.
        if not done.get(workload, False) and after["ranks"].to_list() != [row["ranks"]]:
            continue
        name, title = f"{workload}:iteration-{iteration}", counted(row["ranks"], "rank")
        targets.append(_target(row, name, title, None))
    return tuple(targets)


def target_of(result: Result, name: str) -> Target:
    """Return the collective or iteration of this name.

    Parameters
    ----------
    result
        The run.
    name
        `WORKLOAD:NUMBER`, a collective by its number in the table of the workload's collectives, from 0;
        `WORKLOAD:iteration-NUMBER`; or what the printed table says, a `WORKLOAD` or `WORKLOAD NAME`, such as
        `gradients all-reduce 1MB`: the collective that took longest of these.

    Raises
    ------
    UnknownNameError
        If the run has no collective or iteration of this name.
    InputError
        If it is not complete.
    """
    if not isinstance(name, str):
        raise InputError(f"{name!r} is not a collective: expected a string", key="collective", given=name)
    targets = targets_of(result)
    exact = next((target for target in targets if target.name == name), None)
    if exact is not None:
        return exact
    called = [target for target in targets if name in _names(target, result)]
    if called:
        return max(called, key=lambda target: target.end_us - target.start_us)
    raise _unknown(result, name, targets)


def _names(target: Target, result: Result) -> tuple[str, ...]:
    """Return names of a collective that others share; none of an iteration."""
    if target.call is None:
        return ()
    title = target.title.rpartition(" of ")[0]
    alone = len({job.workload for job in result.outcome.jobs}) == 1
    return (target.workload, f"{target.workload} {title}", *((title,) if alone else ()))


def _unknown(result: Result, name: str, targets: tuple[Target, ...]) -> InputError:
    """Return the error for an unknown name, with the collectives that the run has."""
    if result.collectives is None:
        message = f"{name!r} is no collective: the run has no jobs"
        return UnknownNameError(message, key="collective", given=name)
    if (unfinished := _unfinished(result, name, targets)) is not None:
        return InputError(unfinished, key="collective", given=name)
    names = list(dict.fromkeys(name for target in targets for name in (target.name, *_names(target, result))))
    near = nearest(name, names)
    hint = f"; did you mean {near!r}?" if near else ""
    span = "none that is complete"
    if targets:
        span = f"{len(targets):,} from {targets[0].name!r} to {targets[-1].name!r}"
    span = f"{targets[0].name!r} alone" if len(targets) == 1 else span
    message = f"{name!r} is no collective or iteration of this run, which has {span}{hint}"
    return UnknownNameError(message, key="collective", given=name, nearest=near)


def _is_number(text: str) -> bool:
    """Whether a text is the number of a collective as the table writes it."""
    return text.isdecimal() and len(text) <= MOST_DIGITS and str(int(text)) == text


def _unfinished(result: Result, name: str, targets: tuple[Target, ...]) -> str | None:
    """Say that it was not complete and which operations its job waited for; `None` for an unknown name."""
    workload, _, number = name.rpartition(":")
    iteration = _ITERATION.fullmatch(name)
    numbered = {target.workload for target in targets if target.call is None}
    for job in result.outcome.jobs:
        ended = f"when the run ended at {result.outcome.simulated_us:,.1f} us"
        if iteration is not None and iteration[1] == job.workload:
            if job.finished == job.ranks and job.workload in numbered:
                # Every iteration of the job is there, and the name is not among them.
                continue
            message = f"{name} was not complete at all ranks {ended}, or has no rows of its own"
        elif workload == job.workload and _is_number(number):
            if int(number) < _count(result.collectives, workload):
                message = f"{name} was not complete at all its ranks {ended}"
            elif job.finished < job.ranks:
                message = f"{name} was complete at no rank {ended}"
            else:
                continue
        elif job.finished < job.ranks and _is_of(name, job):
            message = f"no collective {name!r} was complete at all its ranks {ended}"
        else:
            continue
        left = f"; {job.ranks - job.finished:,} of {job.ranks:,} ranks of {job.workload} had not finished"
        waiting = f", waiting for {'; '.join(job.waiting[:NAMED_WAITS])}" if job.waiting else ""
        return message + (f"{left}{waiting}" if job.finished < job.ranks else "")
    return None


def _is_of(name: str, job: JobTotals) -> bool:
    """Whether a name is of a job, or of an operation that it waits for."""
    title = name.removeprefix(f"{job.workload} ")
    return name == job.workload or any(f": {title} (" in f"{waits} (" for waits in job.waiting)


def _count(collectives: pl.DataFrame | None, workload: str) -> int:
    if collectives is None:
        return 0
    return collectives.filter(pl.col("workload").cast(pl.String) == workload).height


def find_path(
    result: Result,
    name: str,
    *,
    scenario: Scenario | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> CriticalPath:
    """Find the critical path of a collective or an iteration; `Result.critical_path` calls it.

    Parameters
    ----------
    result
        The run.
    name
        The name of a collective or iteration, in the forms of `target_of`.
    scenario
        The scenario of the run; by default it is read again from the record of the run.
    on_progress
        As for `floodway.run`.

    Raises
    ------
    UnknownNameError
        If there is no such collective.
    InputError
        If it is not complete, or its path takes more memory than is allowed.
    RunError
        If the run differs when it is repeated.
    ScenarioError
        If the scenario cannot be read again.
    KeyboardInterrupt
        If Ctrl-C ended it.
    """
    target = target_of(result, name)
    if scenario is None:
        scenario = scenario_of(result)
    work = partial(
        _floodway.critical_path,
        scenario.native,
        target.workload,
        iteration=target.iteration,
        call=target.call,
        from_ps=round(target.start_us * 1e6),
    )
    path = run_again(work, on_progress)
    if path is None or (path.start_ps / 1e6, path.end_ps / 1e6) != (target.start_us, target.end_us):
        now = None if path is None else (path.end_ps - path.start_ps) / 1e6
        was = target.end_us - target.start_us
        raise RunError(differs(result, target.name, was_us=was, now_us=now))
    if path.steps is None:
        message = f"{target.name} has more messages than fit into the logs of its ranks, 2 GiB in all"
        raise InputError(message, key="collective", given=name)
    steps = _steps(frame(path.steps), frame(path.parts))
    return CriticalPath(target=target, start_ps=path.start_ps, end_ps=path.end_ps, steps=steps)


def _steps(steps: pl.DataFrame, parts: pl.DataFrame) -> tuple[Step, ...]:
    of_step: dict[int, list[Part]] = {}
    for row in parts.iter_rows(named=True):
        of_step.setdefault(row.pop("step"), []).append(Part(**row))
    peers = steps.with_columns(pl.col("peer").cast(pl.Int64))
    return tuple(
        Step(**row, parts=tuple(of_step.get(at, ()))) for at, row in enumerate(peers.iter_rows(named=True))
    )

"""The command `floodway why`: causes of a completion time, a critical path, or what was skipped."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.cli.output import DONE
from floodway.cli.show_document import print_answer
from floodway.cli.watch import Watch
from floodway.cli.watched_path import watched_path
from floodway.common.documents import Document, Section, Table, share_text, time_text
from floodway.common.documents.model import MOST_ROWS, fields_of
from floodway.common.errors import InputError, UnknownNameError
from floodway.results import read
from floodway.results.folders import run_folder
from floodway.simulation.why import Why, chosen, is_rank, scenario_of, short_name, take_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from floodway.results import Outcome, Result
    from floodway.simulation.critical_path import CriticalPath, Step
    from floodway.simulation.path_phases import Phase
    from floodway.simulation.why import Part

__all__ = ["Request", "cause_rows", "skips_of", "us_text", "why"]

#: Columns of the table of all parts; the first three are text.
PART_COLUMNS = ("cause", "where", "began at", "us", "% of the FCT")


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of `floodway why`."""

    folder: Path
    flow: str
    quiet: bool
    json: bool
    full: bool


def why(request: Request) -> int:
    """Repeat the run, print the breakdown or the critical path, and return the exit code."""
    result = read(run_folder(request.folder))
    if (skips := skips_of(result, request.flow)) is not None:
        document = skips
    elif _is_flow(result, request.flow):
        # An unknown name is an error before the run.
        flow = chosen(result.flows, request.flow)
        scenario = scenario_of(result)
        with Watch(scenario, quiet=request.quiet) as watch:
            breakdown = take_apart(result, flow, scenario=scenario, on_progress=watch.update)
        document = _document(breakdown, [*_beside(request, result, breakdown)])
    else:
        document = _path_document(watched_path(result, request.flow, quiet=request.quiet))
    print_answer(document, json_=request.json, quiet=False, full=request.full)
    return DONE


def _beside(request: Request, result: Result, breakdown: Why) -> Iterator[str]:
    """Yield facts beside the causes: the ideal time, the feedback, and flows that never finished."""
    alone = (
        f"alone it would take {time_text(breakdown.ideal_fct_ps / 1e6)}: slowdown {breakdown.slowdown:,.2f}"
    )
    yield f"{alone}; {_feedback_text(result, breakdown.flow_id)}"
    if request.flow == "worst":
        measured = result.flows.filter("measured")
        cut = len(measured) - measured["finished"].sum()
        if cut:
            yield f"{cut:,} of {len(measured):,} measured flows never finished, and rank above it"


def _is_flow(result: Result, name: str) -> bool:
    """Return whether a name is of a flow, not of a collective, which only runs with jobs have."""
    if result.operations is None or name in result.flows["flow_id"].cast(pl.String):
        return True
    return is_rank(name) or name.count(":") > 1


def _feedback_text(result: Result, flow: str) -> str:
    """Return the counts of congestion feedback and losses of a flow's sender, as text."""
    row = result.flows.filter(result.flows["flow_id"].cast(pl.String) == flow).row(0, named=True)
    counts = [
        (row["cnps"], "CNPs"),
        (row["timeouts"], "timeouts"),
        (row["retransmitted_bytes"], "bytes retransmitted"),
    ]
    parts = [f"{count:,} {label}" for count, label in counts if count]
    return ", ".join(parts) or "no CNP, no timeout, nothing retransmitted"


def _document(breakdown: Why, beside: Sequence[str]) -> Document:
    """Return the document: a sentence, a row for each cause, and all parts, unrounded."""
    rows = [_row(cause, parts, breakdown) for cause, parts in breakdown.by_cause().items()]
    rows.sort(key=lambda row: -row[0])
    shown = rows[: MOST_ROWS - 1] if len(rows) > MOST_ROWS else rows
    parts = Table(
        columns=PART_COLUMNS,
        rows=(
            *cause_rows(breakdown.by_cause(), breakdown.parts, breakdown.fct_ps),
            ("completion time", "", "", us_text(breakdown.fct_ps), "100.0"),
        ),
        words=frozenset(PART_COLUMNS[:3]),
    )
    return Document(
        title=f"{breakdown.flow_id}, started at {breakdown.start_us:,.3f} us",
        answer=breakdown.sentence(),
        more=tuple(beside),
        table=Table(
            columns=("cause", "time", "share", "most of it at", "most began at"),
            rows=tuple(cells for _, cells in shown),
            words=frozenset(("most of it at", "most began at")),
        ),
        sections=(Section(title="All parts", tables=(parts,)),),
        data=_data(breakdown),
    )


def _row(cause: str, parts: Sequence[Part], breakdown: Why) -> tuple[int, tuple[str, ...]]:
    """Return the time of a cause in picoseconds, and its row."""
    whole = sum(part.time_ps for part in parts)
    port, origin = (_largest(parts, field, breakdown) for field in ("port", "origin"))
    share = share_text(whole / max(breakdown.fct_ps, 1))
    return whole, (cause, time_text(whole / 1e6), share, port, origin)


def _largest(parts: Sequence[Part], field: str, breakdown: Why) -> str:
    """Return the port, or the origin of pauses, with most of a cause's time; empty if it has none."""
    sums: dict[str, int] = {}
    for part in parts:
        name = getattr(part, field)
        if name is not None:
            sums[name] = sums.get(name, 0) + part.time_ps
    return breakdown.short(max(sums, key=sums.__getitem__)) if sums else ""


def _data(breakdown: Why) -> dict[str, Any]:
    """Return the breakdown for JSON, without what the results already contain of the flow."""
    return {
        **fields_of(breakdown, "flow_id", "start_us", "fct_us", "fct_ps"),
        "ideal_fct_us": breakdown.ideal_fct_ps / 1e6,
        "slowdown": breakdown.slowdown,
        "sentence": breakdown.sentence(),
        "parts": [{**asdict(part), "share": part.time_ps / breakdown.fct_ps} for part in breakdown.parts],
    }


#: Suffix of a job's name.
SKIPS_SUFFIX = ":skips"
SKIP_COLUMNS = ("skipped", "repeat", "their time (us)")
COLUMNS = ("parts", "that differ", "the first", "its field", "before", "now")


def skips_of(result: Result, name: str) -> Document | None:
    """Return what was skipped of a job, or what prevented it; None for a name without `:skips`.

    Raises
    ------
    UnknownNameError
        If the run has no such job.
    InputError
        If the run has no record of it: its job has one iteration, the run skipped iterations of other jobs
        alone, or it was run with `--no-skip`.
    """
    job, suffix, rest = name.rpartition(SKIPS_SUFFIX)
    if not suffix or rest:
        return None
    outcome = result.outcome
    jobs = [row.workload for row in outcome.jobs]
    if job not in jobs:
        jobs_text = f"the run has {', '.join(jobs)}" if jobs else "the run has none"
        raise UnknownNameError(f"{job!r} is no job: {jobs_text}", key="name", given=name)
    document = _document_of_skips(outcome, job)
    not_skipped = outcome.not_skipped
    is_of_job = outcome.skips_of(job) or (not_skipped is not None and not_skipped.workload == job)
    # The operations of a large job are many, so they are read only where the record is of another job.
    if document is None or (not is_of_job and _is_single(result, job)):
        raise InputError(_without_record(result, job), key="name", given=name)
    return document


def _is_single(result: Result, job: str) -> bool:
    """Whether a job has one iteration, and no micro-batches that could repeat one another."""
    totals = next(row for row in result.outcome.jobs if row.workload == job)
    if totals.iterations:
        return totals.iterations == 1 and not totals.micro_batches
    # Results of earlier versions: operations of one iteration are all that there is of it.
    operations = result.operations
    return operations is not None and set(operations.filter(pl.col("workload") == job)["iteration"]) == {0}


def _without_record(result: Result, job: str) -> str:
    """Say why the run has no record of what it skipped of a job."""
    if result.run.scenario.get("scenario", {}).get("engine", {}).get("skip") is False:
        return "skips were switched off (engine.skip = false, or --no-skip): all was simulated"
    if _is_single(result, job):
        return f"the run has one iteration of {job}, of which nothing could repeat"
    others = dict.fromkeys(row.workload for row in result.outcome.skipped)
    skipped = "; ".join(filter(None, map(result.outcome.skip_sentence, others)))
    if skipped:
        reason = "a run has a reason only where it skipped none of any job"
        return f"nothing of {job} was skipped; {skipped}; {reason}"
    return f"the run has no record of what it skipped of {job}"


def _document_of_skips(outcome: Outcome, job: str) -> Document | None:
    skips, not_skipped = outcome.skips_of(job), outcome.not_skipped
    title = f"{job}, what repeats"
    sentence = outcome.skip_sentence(job)
    if sentence is not None:
        data = {
            "iterations": sum(skipped.iterations for skipped in skips),
            "of": skips[0].of,
            "micro_batches": sum(skipped.micro_batches for skipped in skips),
            "time_us": sum(skipped.time_ps for skipped in skips) / 1e6,
        }
        parts = tuple((f"{part.count:,}", part.recurring, f"{part.time_ps / 1e6:,.1f}") for part in skips)
        table = (
            Table(columns=SKIP_COLUMNS, rows=parts, words=frozenset({"repeat"})) if len(parts) > 1 else None
        )
        return Document(title=title, answer=sentence, table=table, data=data)
    if not_skipped is None:
        return None
    # The state that recurs is that of the whole network, so the reason holds for all jobs.
    is_named = not_skipped.workload == job
    rows = tuple(
        (row.parts, f"{row.differing:,} of {row.of:,}", row.first, row.field, row.before, row.now)
        for row in not_skipped.differences
    )
    times = "once" if not_skipped.looks == 1 else f"{not_skipped.looks:,} times"
    looked = f"the state of the network was written down {times}"
    notes = ("before and now: the last two comparisons; times count from them",) if rows else ()
    return Document(
        title=title,
        answer=not_skipped.sentence if is_named else f"nothing of {job} was skipped; {not_skipped.sentence}",
        more=(looked,),
        table=Table(columns=COLUMNS, rows=rows, words=frozenset(COLUMNS[2:]), notes=notes),
        data={
            "iterations": 0,
            **({"of": not_skipped.of} if is_named else {"job": not_skipped.workload}),
            "looks": not_skipped.looks,
            "why": not_skipped.why,
            "differences": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
        },
    )


#: Steps at each end of a path that are shown, with one row for those between.
SHOWN = 20
#: Parts of a cause that are smaller than 1/DIVISOR of the path share a row: a ring has one for each port.
DIVISOR = 100
#: Attributes of a step in JSON.
STEP_FIELDS = (
    *("from_ps", "to_ps", "rank", "began_at", "peer"),
    *("kind", "iteration", "operation", "name", "of_target"),
)
#: The same by default, as of a flow's completion time.
FINE_DIVISOR = 1000
PHASE_COLUMNS = ("phase", "where", "most of that")
TEXT_COLUMNS = ("operation", "what the rank waited for", "most of that")
CAUSE_COLUMNS = ("cause", "where", "began at", "us", "% of the path")


def _path_document(path: CriticalPath) -> Document:
    """Return the document: a summary of the path's time, its phases, steps and causes."""
    target = path.target
    whole = ("whole path", "", "", us_text(path.time_ps), "100.0")
    causes = Table(
        columns=CAUSE_COLUMNS,
        rows=(*cause_rows(path.by_cause(), path.parts, path.time_ps, divisor=DIVISOR), whole),
        words=frozenset(CAUSE_COLUMNS[:3]),
    )
    summary = path.summary()
    return Document(
        title=f"{target.name}, {target.title}, started at {path.start_ps / 1e6:,.3f} us",
        answer=f"{time_text(path.time_ps / 1e6)}: {summary}",
        table=_shown_phases(path),
        sections=(
            Section(title="Phases", tables=(_phases(path),)),
            Section(title="Steps", tables=(_steps(path),)),
            Section(title="Causes", tables=(causes,)),
        ),
        data=_path_data(path),
    )


def _shown_phases(path: CriticalPath) -> Table:
    """Return the longest phases, in their order in time."""
    longest = sorted(path.phases, key=lambda phase: -phase.time_ps)[:MOST_ROWS]
    left = len(path.phases) - len(longest)
    return Table(
        columns=("phase", "where", "steps", "most of that", "time", "share"),
        rows=tuple(
            (
                phase.name,
                phase.place,
                f"{len(phase.steps):,}",
                _most_of(phase),
                time_text(phase.time_ps / 1e6),
                share_text(phase.time_ps / max(path.time_ps, 1)),
            )
            for phase in path.phases
            if phase in longest
        ),
        words=frozenset(PHASE_COLUMNS),
        notes=(f"{left} shorter phases: --full",) if left else (),
    )


def _phases(path: CriticalPath) -> Table:
    rows = []
    for phase in path.phases:
        several = f" in {phase.stretches:,} parts" if phase.stretches > 1 else ""
        rows.append((
            _time(phase.from_ps), _time(phase.to_ps), phase.name, phase.place,
            f"{len(phase.steps):,}{several}", f"{phase.ranks:,}", _most_of(phase),
            us_text(phase.time_ps), _share(phase.time_ps, path),
        ))  # fmt: skip
    name, place, cause = PHASE_COLUMNS
    columns = ("from us", "to us", name, place, "steps", "ranks", cause, "us", "%")
    return Table(columns=columns, rows=tuple(rows), words=frozenset(PHASE_COLUMNS))


def _most_of(phase: Phase) -> str:
    """Return the cause with most of a phase's time, and its share."""
    sums: dict[str, int] = {}
    for part in phase.parts:
        sums[part.cause] = sums.get(part.cause, 0) + part.time_ps
    if phase.place == "computation" or not sums:
        return ""
    cause = max(sums, key=sums.__getitem__)
    return f"{cause} {sums[cause] * 100 / max(phase.time_ps, 1):.0f} %"


def _steps(path: CriticalPath) -> Table:
    between = path.steps[SHOWN:-SHOWN] if len(path.steps) > 2 * SHOWN + 1 else ()
    rows: list[tuple[str, ...]] = []
    for number, step in enumerate(path.steps):
        if between and SHOWN <= number < len(path.steps) - SHOWN:
            if number == SHOWN:
                rows.append(_several(between, path))
            continue
        rows.append((
            _time(step.from_ps), _time(step.to_ps), str(step.rank), step.name, step.waited_for,
            _most(step, path), us_text(step.time_ps), _share(step.time_ps, path),
        ))  # fmt: skip
    columns = ("from us", "to us", "rank", *TEXT_COLUMNS, "us", "%")
    return Table(columns=columns, rows=tuple(rows), words=frozenset(TEXT_COLUMNS))


def _several(steps: Sequence[Step], path: CriticalPath) -> tuple[str, ...]:
    whole = sum(step.time_ps for step in steps)
    times = _time(steps[0].from_ps), _time(steps[-1].to_ps)
    return (*times, "", f"{len(steps):,} steps", "", "", us_text(whole), _share(whole, path))


def _most(step: Step, path: CriticalPath) -> str:
    """Return the cause with most of a message's time, its share and its port."""
    if step.kind in {"computation", "reduction"} or not step.parts:
        return ""
    part = max(step.parts, key=lambda part: part.time_ps)
    where = "" if part.port is None else f" at {short_name(part.port, path.parts)}"
    origin = "" if part.origin is None else f", from {short_name(part.origin, path.parts)}"
    return f"{part.cause} {part.time_ps * 100 / step.time_ps:.0f} %{where}{origin}"


def _time(time_ps: int) -> str:
    return f"{time_ps / 1e6:,.3f}"


def _share(time_ps: int, path: CriticalPath) -> str:
    return f"{time_ps * 100 / max(path.time_ps, 1):.1f}"


def _path_data(path: CriticalPath) -> dict[str, Any]:
    """Return the path for JSON."""
    target = path.target
    return {
        "collective": target.name,
        **fields_of(target, "title", "workload", "iteration"),
        "start_us": path.start_ps / 1e6,
        "time_us": path.time_ps / 1e6,
        "time_ps": path.time_ps,
        "summary": path.summary(),
        "phases": [
            {
                **fields_of(phase, "name", "place"),
                "steps": len(phase.steps),
                **fields_of(phase, "stretches", "from_ps", "to_ps", "time_ps"),
            }
            for phase in path.phases
        ],
        "steps": [
            {
                **fields_of(step, *STEP_FIELDS),
                "share": step.time_ps / max(path.time_ps, 1),
                "parts": list(map(asdict, step.parts)),
            }
            for step in path.steps
        ],
    }


def cause_rows(
    causes: Mapping[str, Sequence[Part]],
    all_parts: Sequence[Part],
    whole_ps: int,
    *,
    divisor: int = FINE_DIVISOR,
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each cause, and below it one for each port, the largest first.

    Parameters
    ----------
    causes
        Parts of each cause.
    all_parts
        All parts; a port's name is shortened unless another of these ports has the same short name.
    whole_ps
        Time of which shares are given, in picoseconds.
    divisor
        Parts of a cause that are smaller than 1/divisor of the whole share a row.

    Yields
    ------
    tuple of str
        Cause, port, origin, microseconds and share.
    """
    for cause, parts in causes.items():
        whole = sum(part.time_ps for part in parts)
        if len(parts) == 1:
            yield cause, *_location(parts[0], all_parts), *_amount(whole, whole_ps)
            continue
        yield cause, "", "", *_amount(whole, whole_ps)
        by_time = sorted(parts, key=lambda part: -part.time_ps)
        small = [part for part in by_time if part.time_ps * divisor < whole_ps]
        small = small if len(small) > 1 else []
        for part in by_time[: len(by_time) - len(small)]:
            yield "", *_location(part, all_parts), *_amount(part.time_ps, whole_ps)
        if small:
            several = _amount(sum(part.time_ps for part in small), whole_ps)
            label = "places" if len(small) == len(parts) else "others"
            yield "", f"{len(small)} {label}", "", *several


def _location(part: Part, all_parts: Sequence[Part]) -> tuple[str, str]:
    port, origin = ("" if name is None else short_name(name, all_parts) for name in (part.port, part.origin))
    return port, origin


def _amount(time_ps: int, whole_ps: int) -> tuple[str, str]:
    return us_text(time_ps), f"{time_ps * 100 / whole_ps:.1f}"


def us_text(time_ps: int) -> str:
    """Return picoseconds as microseconds, unrounded."""
    return f"{time_ps // 10**6:,}.{time_ps % 10**6:06d}"

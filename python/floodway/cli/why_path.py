"""The document of a collective's or an iteration's critical path, rank by rank."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from floodway.common.documents import Document, Section, Table, share_text, time_text
from floodway.common.documents.model import MOST_ROWS, fields_of
from floodway.simulation.why import short_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.simulation.critical_path import CriticalPath, Step
    from floodway.simulation.path_phases import Phase
    from floodway.simulation.why import Part

__all__ = ["cause_rows", "document", "us_text"]

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


def document(path: CriticalPath) -> Document:
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
        data=_data(path),
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


def _data(path: CriticalPath) -> dict[str, Any]:
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

"""A plan as a document, with its tables and all its numbers for programs, and as frames."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.common.documents import Cell, Document, Section, Table, Tone, share_text, size_text
from floodway.common.documents.readable import three_digits
from floodway.planning.answer import (
    answer,
    answers,
    distance,
    lost,
    notes,
    question_text,
    suffices,
    verdict,
    warnings,
)
from floodway.planning.headroom import headroom_terms
from floodway.planning.units import missing
from floodway.results.quantities import bytes_text, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from floodway.planning.planner import Plan, Planned
    from floodway.planning.pool import Pool
    from floodway.planning.question import Question
    from floodway.planning.trials import Busy, Trial

__all__ = ["document", "formulas_frame", "frame", "tables"]

#: Description of the runs of a plan, and of their limits.
TRIED = (
    "For each flow control one class of one link, whose far end stops when the link has been full for a round"
    " trip: frames of the mix that fill cells worst, a full frame of the other direction just ahead of the"
    " pause, and interfaces that take as long to pause and to obey as they may; the least size that holds,"
    " and one a cell less;"
    " a far end that drains again; and one that drains at half and at 90 % of the rate. For the shared buffer"
    " all links and classes at once. That nothing was lost in these runs is no proof for other faults: links"
    " that fail, pauses that are lost, frames larger than the MTU."
)
UNTRIED = "Nothing was simulated: all numbers are by formula."
#: Columns that hold words.
TEXT_COLUMNS = frozenset({
    "flow control", "frames", "formula", "term", "what",
    "what that assumes", "in the", "verdict", "value", "source",
})  # fmt: skip
#: Sizes that are configured, in bytes.
SIZES = ("size", "xoff", "xon", "headroom", "level")
#: For how many links, and up to which length, the memory suffices.
SUFFICES = ("links_no_loss", "links_busy", "reach_no_loss_m", "reach_busy_m")

Row = tuple[object, ...]


def document(plan: Plan) -> Document:
    """Return what a plan says: on a terminal, on its page, and as JSON."""
    chosen = next((row for row in plan.rows if not row.refused), None)
    tone: Tone = ""
    if chosen is not None and plan.question.buffer_bytes is not None:
        tone = {"busy": "good", "": "bad"}.get(suffices(plan.question, chosen), "")  # type: ignore[assignment]
    losses = tuple(f"{text[:1].upper()}{text[1:]}." for text in lost(plan))
    marked = sorted(_warnings(plan), key=lambda warning: not warning[1])
    tried = len(plan.scenarios())
    trials = f"tried: the lossless sizes, by {tried} runs that stop the far end at the worst moment"
    return Document(
        title=question_text(plan.question),
        answer=answer(plan),
        tone="bad" if losses else tone,
        more=losses,
        table=_overview(plan, marked),
        simulated=(trials if tried else UNTRIED,),
        warnings=tuple(text for text, _ in marked),
        sections=tuple(_sections(plan)),
        data=_data(plan),
    )


def _overview(plan: Plan, marked: Sequence[tuple[str, frozenset[str]]]) -> Table:
    """Return a row for each flow control; those with equal numbers share one."""
    question = plan.question
    count = question.links * question.classes
    by_cells: dict[tuple[Cell | str, ...], list[str]] = {}
    for row in plan.rows:
        cells: tuple[Cell | str, ...] = ()
        if row.refused:
            cells = (Cell(text="not planned", detail=row.refused.removeprefix(f"{row.label}: ")),)
        else:
            relay = " a relay" if row.place != "switch" else ""
            sizes = (row.no_loss, row.busy) if relay else (row.no_loss * count, row.busy * count)
            cells = (*_enough(question, row), *(f"{size_text(size)}{relay}" for size in sizes), *_tried(row))
        by_cells.setdefault(cells, []).append(row.label)
    memory = question.buffer_bytes
    enough = [] if memory is None else [f"{size_text(memory)} carry"]
    heads = ["flow control", *enough, "lossless takes", "busy takes", "tried"]
    rows = []
    for cells, labels in by_cells.items():
        marks = tuple(n for n, (_, affected) in enumerate(marked, 1) if affected & set(labels))
        padded = (*cells, *([""] * (len(heads) - 1 - len(cells))))
        rows.append((Cell(text=label_of(labels), marks=marks), *padded))
    return Table(columns=tuple(heads), rows=tuple(rows), words=frozenset((*enough, heads[-1])))


def _enough(question: Question, row: Planned) -> Iterator[Cell]:
    """Say what the given memory is enough for; nothing where none is given."""
    if question.buffer_bytes is None:
        return
    enough = suffices(question, row)
    links = "the link" if question.links == 1 else f"all {question.links} links"
    if enough == "busy":
        yield Cell(text=f"{links}", tone="good")
    elif enough == "no loss":
        share = share_text(min(row.carried.values(), default=0.0))
        yield Cell(text=links, detail=f"{share} busy if half drains")
    else:
        few = f"{row.links_no_loss or 0} of {question.links} links"
        reach = f"all up to {_rounded(row.reach_no_loss_m)}" if row.reach_no_loss_m else ""
        yield Cell(text=few, detail=reach, tone="bad")


def _tried(row: Planned) -> Iterator[Cell]:
    """Say in few words what the hardest runs showed."""
    runs = [run for run in (row.trial, row.busy_run, row.flap_run) if run is not None]
    if not runs or row.trial is None:
        yield Cell(text="no")
        return
    lost = sum(run.lost_packets for run in runs)
    if lost:
        yield Cell(text=f"loses {counted(lost, 'packet')}", tone="bad")
    else:
        yield Cell(text="holds")


def _rounded(metres: int) -> str:
    km = metres / 1000
    return f"{three_digits(km)} km" if km >= 1 else f"{metres} m"


def _warnings(plan: Plan) -> Iterator[tuple[str, frozenset[str]]]:
    """Return the warnings, each with the labels of the flow controls that it concerns."""
    for row in plan.rows:
        if not row.refused and row.place != "switch":
            text = f"{row.label}: sizes do not promise it, since relays may hold more where data go both ways"
            yield text, frozenset({row.label})
    pfc = frozenset(row.label for row in plan.rows if row.label.startswith("PFC"))
    for text in warnings(plan):
        yield text, pfc if text.startswith(("PFC", "the frames")) else frozenset()


def _sections(plan: Plan) -> Iterator[Section]:
    yield Section(title="Each flow control", lines=tuple(answers(plan)))
    yield Section(title="How the numbers are meant", lines=tuple(notes(plan)))
    for table in tables(plan):
        yield Section(title=table.title, tables=(replace(table, title=""),))
    scenarios = sorted(plan.scenarios())
    again = "Each scenario is in scenarios/ beside the page; floodway run scenarios/NAME.toml runs it again: "
    lines = (TRIED, again + ", ".join(scenarios)) if scenarios else (UNTRIED,)
    yield Section(title="What was simulated", lines=lines)


def _data(plan: Plan) -> dict[str, Any]:
    """Return everything that a plan says, with units in the names of keys."""
    return {
        "question": question_text(plan.question),
        "asked": asdict(plan.question),
        "answers": list(answers(plan)),
        "warnings": list(warnings(plan)),
        "notes": list(notes(plan)),
        "flow_controls": [_row(row) for row in plan.rows],
        "headroom_terms": [asdict(term) for term in headroom_terms(plan.question)],
        "by_mix": [asdict(mix) for mix in plan.by_mix],
        "formulas": [asdict(formula) for formula in plan.formulas],
        "pool": None if plan.pool is None else asdict(plan.pool) | {"alpha": plan.pool.alpha},
        "pool_run": None if plan.pool_run is None else _trial(plan.pool_run),
        "advice": None if plan.advice is None else asdict(plan.advice),
    }


def frame(plan: Plan) -> pl.DataFrame:
    """Return a row for each flow control, in bytes, metres and shares of the rate."""
    return pl.DataFrame([_flat(row) for row in plan.rows], infer_schema_length=None)


def _flat(row: Planned) -> dict[str, Any]:
    return {
        "flow_control": row.flow_control,
        "place": row.place,
        "refused": row.refused or None,
        "no_loss_bytes": row.no_loss or None,
        "busy_bytes": row.busy or None,
        **{f"{name}_bytes": getattr(row.thresholds, name, None) for name in SIZES},
        **{name: getattr(row, name) for name in SUFFICES},
        **{f"carried_at_{100 * drain:.0f}": share for drain, share in row.carried.items()},
        "least_bytes": row.trial.least if row.trial else None,
        "lost_packets": row.trial.lost_packets if row.trial else None,
        "spare_bytes": row.trial.spare if row.trial else None,
        "idle_us": row.busy_run.idle_ps / 1e6 if row.busy_run else None,
    }


def formulas_frame(plan: Plan) -> pl.DataFrame:
    """Return a row for each formula of headroom, in bytes."""
    return pl.DataFrame([asdict(formula) for formula in plan.formulas], infer_schema_length=None)


def _row(row: Planned) -> dict[str, Any]:
    names = {"flow_control": row.flow_control, "label": row.label, "place": row.place}
    plain: dict[str, Any] = {**names, "refused": row.refused or None}
    if row.refused or row.thresholds is None:
        return plain
    return plain | {
        "no_loss_bytes": row.no_loss,
        "busy_bytes": row.busy,
        "switch_bytes": row.switch_bytes,
        "thresholds": asdict(row.thresholds),
        **{name: getattr(row, name) for name in SUFFICES},
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


def tables(plan: Plan) -> Iterator[Table]:
    """Return the tables that have rows; flow controls whose numbers are equal share one."""
    builders = (_needs, _mixes, _settings, _runs, _terms, _formulas, _pool, _advice)
    yield from (table for table in (make(plan) for make in builders) if table.rows)


def label_of(labels: Sequence[str]) -> str:
    """Name several flow controls at once; forms of one have its name once.

    Examples
    --------
    >>> label_of(["PFC, on-off", "PFC, timer"]), label_of(["SWING"])
    ('PFC, on-off or timer', 'SWING')
    """
    heads = {label.partition(", ")[0] for label in labels}
    if len(labels) == 1 or len(heads) > 1:
        return " and ".join(labels)
    return f"{heads.pop()}, {' or '.join(label.partition(', ')[2] for label in labels)}"


def merged(rows: Iterable[tuple[str, Row]]) -> Iterator[Row]:
    """Return rows with their labels; those whose cells are equal are one row."""
    by_cells: dict[Row, list[str]] = {}
    for label, cells in rows:
        by_cells.setdefault(cells, []).append(label)
    yield from ((label_of(labels), *cells) for cells, labels in by_cells.items())


def _table(title: str, columns: tuple[str, ...], rows: Iterable[Row]) -> Table:
    """Return a table, in which whole numbers have commas, and `-` is for none."""
    texts = tuple(tuple(_text(cell) for cell in row) for row in rows)
    return Table(title=title, columns=columns, rows=texts, words=TEXT_COLUMNS)


def _text(cell: object) -> str:
    return "-" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)


def _needs(plan: Plan) -> Table:
    planned = [row for row in plan.rows if not row.refused]
    rows = []
    for row in planned:
        reach = (distance(row.reach_no_loss_m), distance(row.reach_busy_m))
        cells = (row.place, row.no_loss, row.busy, row.links_no_loss, row.links_busy, *reach)
        rows.append((row.label, cells))
    sizes, links = ("no loss", "and busy"), ("links, no loss", "links, busy")
    title = "Needed by one class of one link, in bytes, and for what the given memory suffices"
    columns = ("flow control", "in the", *sizes, *links, "reach, no loss", "reach, busy")
    return _table(title, columns, merged(rows))


def _mixes(plan: Plan) -> Table:
    rows = [
        (f"{mix.mix} (asked)" if mix.is_asked else mix.mix, mix.no_loss, mix.busy, mix.verdict, mix.meaning)
        for mix in plan.by_mix
    ]
    title = "What the frames decide (--mix): PFC for all links and classes, in bytes"
    return _table(title, ("frames", "no loss", "and busy", "given memory", "what that assumes"), rows)


def _settings(plan: Plan) -> Table:
    rows = []
    for row in plan.rows:
        if row.thresholds is not None:
            numbers = (getattr(row.thresholds, name) for name in SIZES)
            rows.append((row.label, (*numbers, *_percents(row.carried.values()))))
    title = "Set for one class of one link, in bytes, with what would be enough where memory is not"
    columns = ("flow control", "buffer", *SIZES[1:], "drained at 50 %", "at 90 %")
    return _table(title, columns, merged(rows))


def _percents(shares: Iterable[float]) -> Iterator[str]:
    return (f"{100 * share:.1f} %" for share in shares)


def _runs(plan: Plan) -> Table:
    rows = []
    for row in plan.rows:
        if row.trial is not None:
            carried = _percents(row.carried_run.values())
            rows.append((row.label, (row.trial.peak, row.trial.least, *carried, verdict(row))))
    columns = ("flow control", "most held", "least that holds", "drained at 50 %", "at 90 %", "verdict")
    return _table("Tried by runs that stop the far end at the worst moment", columns, merged(rows))


def _terms(plan: Plan) -> Table:
    terms = headroom_terms(plan.question)
    rows = [(term.name, term.bytes, term.value, term.source) for term in terms]
    rows.append(("together", sum(term.bytes for term in terms), "", ""))
    title = "PFC's headroom for one class of one link, term by term, in bytes"
    return _table(title, ("term", "bytes", "value", "source"), rows)


def _formulas(plan: Plan) -> Table:
    smallest = next((row.least_headroom for row in plan.rows if row.least_headroom is not None), None)
    rows: list[Row] = []
    for formula in plan.formulas:
        if formula.bytes is None or formula.difference is None:
            rows.append((formula.name, None, None, None, formula.why_not))
            continue
        against = "not tried" if smallest is None else _against(formula.bytes - smallest)
        source = f"{formula.source} ({formula.version})"
        rows.append((formula.name, formula.bytes, f"{formula.difference:+,}", against, source))
    columns = ("formula", "headroom", "to physics", "in the hardest run", "source")
    return _table("PFC's headroom for one class of one link, in bytes, by formula", columns, rows)


def _against(spare: int) -> str:
    return f"holds, {spare:,} to spare" if spare >= 0 else f"loses, {-spare:,} short"


def _alpha(shared: Pool) -> str:
    largest = ", the largest of the chip: a class that is alone idles" if shared.is_largest else ""
    return f"{shared.alpha:g} (dynamic_th {shared.exponent}){largest}"


def _pool(plan: Plan) -> Table:
    shared = plan.pool
    rows: list[Row] = []
    if shared is not None:
        count, run = plan.question.links * plan.question.classes, plan.pool_run
        rows = [
            ("headroom of each", f"{shared.headroom_each:,} bytes, with the packet that causes the pause"),
            ("pool of headroom", f"{shared.headroom_pool:,} bytes for {counted(count, 'class')} of links"),
        ]
        if shared.reserve_each:
            reserve = f"{shared.reserve_each:,} bytes for the pipeline of ports of 8 lanes"
            rows.append(("reserve of each", reserve))
        if shared.exponent is None:
            rows.append(("left to share", f"nothing: {missing(1 - shared.shared)}"))
        else:
            both = f"{shared.xoff_alone:,} bytes alone, {shared.xoff_all:,} if all are congested"
            rows += [("left to share", f"{shared.shared:,} bytes"), ("alpha", _alpha(shared)), ("xoff", both)]
        if run is not None:
            held = f"holds with at least {run.spare:,} bytes of headroom to spare"
            lost = f"loses {counted(run.lost_packets, 'packet')}"
            rows.append(("all stop at once", held if run.holds else lost))
    return _table("PFC in a shared buffer", ("what", "value"), rows)


def _advice(plan: Plan) -> Table:
    advice = plan.advice
    rows: list[Row] = []
    if advice is not None:
        thresholds = f"from {bytes_text(advice.ecn_kmin)} to {bytes_text(advice.ecn_kmax)}"
        marks = f"{thresholds}, {100 * advice.ecn_pmax:.0f} %"
        wait = f"{advice.longest_wait_ps / 1e6:,.0f} us"
        timers = f"low {advice.irn_rto_low_ps / 1e6:,.0f} us, high {advice.irn_rto_high_ps / 1e6:,.0f} us"
        shorter = (
            f"shorter than the one-way delay, in which {advice.pauses_in_flight:.1f} would follow one another"
            if advice.pauses_in_flight > 1
            else "longer than the one-way delay"
        )
        watchdog = (
            f"detection {advice.watchdog_detection_ms} ms, restoration {advice.watchdog_restoration_ms} ms; a"
            f" far end that drains at the link's rate again keeps its upstream paused for {wait} at most, one"
            " that drains less for longer"
        )
        rows = [
            ("ECN marks", f"{marks} (HPCC's values, by the rate)"),
            ("PFC watchdog", watchdog),
            ("IRN's timeouts", f"{timers} (a round trip; one with the buffer full)"),
            ("longest pause of a frame", f"{advice.longest_pause_ps / 1e6:,.1f} us, {shorter}"),
        ]
    return _table("Beside the buffer, with PFC", ("what", "value"), rows)

"""The tables behind the answer of a plan, in all digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.documents import Table
from floodway.planning.answer import distance, verdict
from floodway.planning.headroom import headroom_terms
from floodway.planning.units import missing
from floodway.results.quantities import bytes_text, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from floodway.planning.planner import Plan
    from floodway.planning.pool import Pool

__all__ = ["label_of", "merged", "tables"]

#: Columns that hold words.
TEXT_COLUMNS = frozenset(
    (
        "flow control",
        "frames",
        "formula",
        "term",
        "what",
        "what that assumes",
        "in the",
        "verdict",
        "value",
        "source",
    )
)


Row = tuple[str, ...]


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


def merged(rows: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, ...]]:
    """Return rows with their labels; those whose cells are equal are one row."""
    by_cells: dict[Row, list[str]] = {}
    for label, cells in rows:
        by_cells.setdefault(cells, []).append(label)
    yield from ((label_of(labels), *cells) for cells, labels in by_cells.items())


def _table(*, title: str, columns: tuple[str, ...], rows: Iterable[Row]) -> Table:
    return Table(title=title, columns=columns, rows=tuple(rows), words=TEXT_COLUMNS)


def _needs(plan: Plan) -> Table:
    rows = [
        (
            row.label,
            (
                row.place,
                f"{row.no_loss:,}",
                f"{row.busy:,}",
                _count(row.links_no_loss),
                _count(row.links_busy),
                distance(row.reach_no_loss_m),
                distance(row.reach_busy_m),
            ),
        )
        for row in plan.rows
        if not row.refused
    ]
    return _table(
        title="Needed by one class of one link, in bytes, and for what the given memory suffices",
        columns=(
            "flow control",
            "in the",
            "no loss",
            "and busy",
            "links, no loss",
            "links, busy",
            "reach, no loss",
            "reach, busy",
        ),
        rows=merged(rows),
    )


def _mixes(plan: Plan) -> Table:
    rows = [
        (
            f"{mix.mix} (asked)" if mix.is_asked else mix.mix,
            f"{mix.no_loss:,}",
            f"{mix.busy:,}",
            mix.verdict,
            mix.meaning,
        )
        for mix in plan.by_mix
    ]
    return _table(
        title="What the frames decide (--mix): PFC for all links and classes, in bytes",
        columns=("frames", "no loss", "and busy", "given memory", "what that assumes"),
        rows=rows,
    )


def _settings(plan: Plan) -> Table:
    rows = []
    for row in plan.rows:
        thresholds = row.thresholds
        if thresholds is None:
            continue
        numbers = (thresholds.size, thresholds.xoff, thresholds.xon, thresholds.headroom, thresholds.level)
        texts = ("-" if number is None else f"{number:,}" for number in numbers)
        rows.append((row.label, (*texts, *(f"{100 * share:.1f} %" for share in row.carried.values()))))
    return _table(
        title="Set for one class of one link, in bytes, with what would be enough where memory is not",
        columns=("flow control", "buffer", "xoff", "xon", "headroom", "level", "drained at 50 %", "at 90 %"),
        rows=merged(rows),
    )


def _runs(plan: Plan) -> Table:
    rows = []
    for row in plan.rows:
        if row.trial is None:
            continue
        smallest = "-" if row.trial.least is None else f"{row.trial.least:,}"
        carried = (f"{100 * share:.1f} %" for share in row.carried_run.values())
        rows.append((row.label, (f"{row.trial.peak:,}", smallest, *carried, verdict(row))))
    return _table(
        title="Tried by runs that stop the far end at the worst moment",
        columns=("flow control", "most held", "least that holds", "drained at 50 %", "at 90 %", "verdict"),
        rows=merged(rows),
    )


def _terms(plan: Plan) -> Table:
    terms = headroom_terms(plan.question)
    rows = [(term.name, f"{term.bytes:,}", term.value, term.source) for term in terms]
    rows.append(("together", f"{sum(term.bytes for term in terms):,}", "", ""))
    return _table(
        title="PFC's headroom for one class of one link, term by term, in bytes",
        columns=("term", "bytes", "value", "source"),
        rows=rows,
    )


def _formulas(plan: Plan) -> Table:
    smallest = next((row.least_headroom for row in plan.rows if row.least_headroom is not None), None)
    rows = []
    for formula in plan.formulas:
        if formula.bytes is None or formula.difference is None:
            rows.append((formula.name, "-", "-", "-", formula.why_not))
            continue
        against = "not tried" if smallest is None else _against(formula.bytes - smallest)
        source = f"{formula.source} ({formula.version})"
        rows.append((formula.name, f"{formula.bytes:,}", f"{formula.difference:+,}", against, source))
    return _table(
        title="PFC's headroom for one class of one link, in bytes, by formula",
        columns=("formula", "headroom", "to physics", "in the hardest run", "source"),
        rows=rows,
    )


def _against(spare: int) -> str:
    return f"holds, {spare:,} to spare" if spare >= 0 else f"loses, {-spare:,} short"


def _alpha(shared: Pool) -> str:
    largest = ", the largest of the chip: a class that is alone idles" if shared.is_largest else ""
    return f"{shared.alpha:g} (dynamic_th {shared.exponent}){largest}"


def _pool(plan: Plan) -> Table:
    shared = plan.pool
    rows: list[tuple[str, ...]] = []
    if shared is not None:
        count = plan.question.links * plan.question.classes
        rows = [
            ("headroom of each", f"{shared.headroom_each:,} bytes, with the packet that causes the pause"),
            ("pool of headroom", f"{shared.headroom_pool:,} bytes for {counted(count, 'class')} of links"),
        ]
        if shared.reserve_each:
            rows.append(
                ("reserve of each", f"{shared.reserve_each:,} bytes for the pipeline of ports of 8 lanes")
            )
        if shared.exponent is None:
            rows.append(("left to share", f"nothing: {missing(1 - shared.shared)}"))
        else:
            both = f"{shared.xoff_alone:,} bytes alone, {shared.xoff_all:,} if all are congested"
            rows += [
                ("left to share", f"{shared.shared:,} bytes"),
                ("alpha", _alpha(shared)),
                ("xoff", both),
            ]
        run = plan.pool_run
        if run is not None:
            held = f"holds with at least {run.spare:,} bytes of headroom to spare"
            rows.append(
                ("all stop at once", held if run.holds else f"loses {counted(run.lost_packets, 'packet')}")
            )
    return _table(title="PFC in a shared buffer", columns=("what", "value"), rows=rows)


def _advice(plan: Plan) -> Table:
    advice = plan.advice
    rows: list[tuple[str, ...]] = []
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
    return _table(title="Beside the buffer, with PFC", columns=("what", "value"), rows=rows)


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"

"""Verdicts on the rows of a switch configuration: by physics, by known formulas, by the hardest run.

A configuration is read in any of three forms.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.common.errors import PlanError
from floodway.planning.asics import asic as chip
from floodway.planning.question import Question
from floodway.planning.question_files import text_of
from floodway.planning.sonic.config_db import read_config_db
from floodway.planning.sonic.fits import Fit, fits
from floodway.planning.sonic.json_tables import read_json
from floodway.planning.sonic.lookup import read_lookup, read_table
from floodway.planning.sonic.verdict import Assumptions, Level, bounds, question_of_row, verdict
from floodway.planning.trials import Runs, Simulate, at_once
from floodway.planning.units import span_of
from floodway.results.quantities import counted
from floodway.simulation.execution import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from floodway.planning.sonic.row import Row, Sheet
    from floodway.planning.sonic.verdict import Bounds, Verdict

__all__ = ["Judged", "Lint", "lint", "read"]

#: The largest payload where neither an option nor a port says it.
DEFAULT_MTU = "4096B"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A row with its verdict.

    Attributes
    ----------
    row
        The row of the file.
    assumed
        The assumptions of its verdict: the file's switch with the largest frame of its port.
    bounds
        The headroom that physics requires; None for a port of unknown rate or length.
    verdict
        The verdict on the path of its packets, and on its headroom.
    fit
        The formula that its numbers follow, if one is known.
    least
        The smallest headroom without loss in the hardest run, in bytes; None without a run.
    """

    row: Row
    assumed: Assumptions
    bounds: Bounds | None
    verdict: Verdict
    fit: Fit | None = None
    least: int | None = None

    @property
    def part(self) -> float:
        """The share of the required headroom that the row has."""
        return self.row.xoff / self.bounds.asked if self.bounds and not self.row.unknown else 0.0

    @property
    def text(self) -> str:
        """The verdict with the warnings of the row."""
        return "; warning: ".join((self.verdict.text, *self.row.warnings))

    @property
    def tried(self) -> str:
        """The result of the hardest run in words; empty without a run."""
        if self.least is None or self.row.unknown:
            return ""
        spare = self.row.xoff - self.least
        return f"holds, {spare:,} to spare" if spare >= 0 else f"loses, {-spare:,} short"


@dataclass(frozen=True, kw_only=True)
class Lint:
    """A file's rows, worst first.

    Attributes
    ----------
    file, form
        The file, and its form: ``pg_profile_lookup.ini``, ``table`` or ``CONFIG_DB``.
    assumed
        The assumptions about the switch and its traffic.
    rows
        The rows, worst first: by level, then by the share of the required headroom that they have.
    notes
        Notes on the file, such as parts that were not read.
    warnings
        Warnings of the whole file, which fail with ``--strict``.
    conditions
        Conditions under which the rows hold, in words.
    not_judged
        Tables that decide whether classes are lossless, and are not in the file or not read.
    """

    file: str
    form: str
    assumed: Assumptions
    rows: tuple[Judged, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every row holds for what is asked, as far as the file says."""
        return all(judged.verdict.level.holds for judged in self.rows)

    @property
    def warned(self) -> int:
        """How many rows have a warning."""
        return sum(bool(judged.row.warnings) for judged in self.rows)

    @property
    def text(self) -> str:
        """The verdict on the whole file, in words."""
        if not self.rows:
            rest = f"; not judged: {', '.join(self.not_judged)}" if self.not_judged else ""
            return f"there is no lossless class{rest}"
        kind = "lossless class" if self.form == "CONFIG_DB" else "row"
        warned = f"; {counted(self.warned, 'row')} with a warning" if self.warned else ""
        warned += f"; {counted(len(self.warnings), 'warning')} of the file" if self.warnings else ""
        conditions = f" if {' and '.join(self.conditions)}" if self.conditions else ""
        if not self.holds:
            levels = [row.verdict.level for row in self.rows]
            unknown = levels.count(Level.NOT_JUDGED)
            failing = sum(not level.holds for level in levels) - unknown
            texts = {"does not hold" if failing == 1 else "do not hold": failing, "cannot be judged": unknown}
            summary = " and ".join(f"{count:,} {phrase}" for phrase, count in texts.items() if count)
            return f"fails: of {counted(len(levels), 'row')} {summary}{warned}"
        if self.not_judged:
            judged = f"{conditions}, as far as it is judged" if conditions else " as far as it is judged"
            return f"holds{judged}{warned}; not judged: {', '.join(self.not_judged)}"
        led = ", if classes are led to this headroom: a CONFIG_DB says so"
        whole = "" if self.form == "CONFIG_DB" else led
        return f"every {kind} holds{conditions}{whole}{warned}"

    @property
    def counts(self) -> dict[Level, int]:
        """How many rows have each level, worst first."""
        levels = Counter(judged.verdict.level for judged in self.rows)
        return {level: levels[level] for level in Level if levels[level]}

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A row for each row of the file, worst first; bytes, metres and Gbit/s."""
        rows = [_flat(judged) for judged in self.rows]
        return pl.DataFrame(rows, schema=None if rows else list(COLUMNS), infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdicts as a document.

        Returns
        -------
        dict
            Rows, verdict, notes and assumptions, as `floodway lint --json` prints them; the names of keys
            have the units.
        """
        assumed = self.assumed
        return {
            "file": self.file,
            "form": self.form,
            "assumed": asdict(assumed) | {"mix_bytes": list(assumed.mix_bytes), "asic": assumed.asic or None},
            "holds": self.holds,
            "verdict": self.text,
            "not_judged": list(self.not_judged),
            "counts": {level.label: count for level, count in self.counts.items()},
            "rows": [
                _flat(judged) | {name: list(getattr(judged.row, name)) for name in LISTS}
                for judged in self.rows
            ],
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }


def lint(  # noqa: PLR0913 (one argument an option)
    path: str | Path,
    *,
    mtu: str | None = None,
    cell: str | None = None,
    mix: str = "any",
    asic: str | None = None,
    latency: str | None = None,
    least: Callable[[Question, Simulate], int] | None = None,
    jobs: int | None = None,
    done: Callable[[int, int], None] | None = None,
    runs: Runs | None = None,
) -> Lint:
    """Judge the headroom of every row of a SONiC configuration.

    Parameters
    ----------
    path
        A `pg_profile_lookup.ini`, a table of such rows, or a CONFIG_DB as JSON.
    mtu
        The largest payload of a packet, in either direction; by default what the ports of a CONFIG_DB take
        (`PORT`: `mtu`), else 4096 bytes.
    cell
        The cell of the switch's buffer; by default the chip's, else 1 byte.
    mix
        Sizes of the frames of data: ``any``, ``small``, ``dnx``, or a list such as ``64B:3,1082B``.
    asic
        The switch's chip; by default the one that a CONFIG_DB tells by its `hwsku`.
    latency
        Beside the cable, one way: FEC, gearbox, retimer, MACsec. None counts nothing, which verdicts say.
    least
        Computes the least headroom that holds for a question, such as `least.least_headroom` does by runs; it
        is called once for each rate and length, in a thread, with what runs a scenario. None to run nothing.
    jobs
        How many of those are at work at once; one a core, if none.
    done
        Called before the first of those, and after each, with how many are done and how many there are.
    runs
        Has finished runs, which are not run again, and gets the others as they end.

    Returns
    -------
    Lint
        The rows, worst first.

    Raises
    ------
    PlanError
        If the file has a mistake, or an argument is out of its range.
    UnknownNameError
        If no chip has that name.
    RunError
        If a run failed.
    KeyboardInterrupt
        After Ctrl-C, when all runs have ended.

    Examples
    --------
    >>> from floodway.planning.sonic import lint
    >>> report = lint("pg_profile_lookup.ini", asic="tomahawk-5")  # doctest: +SKIP
    >>> report.rows[0].verdict.text  # doctest: +SKIP
    'holds for frames of 509 bytes and larger; 101,234 bytes short for frames of any size'
    """
    chip_name = chip(asic).name if asic else ""
    sheet = read(Path(path), asic=chip_name)
    assumed = _assumed(mtu=mtu, cell=cell, mix=mix, asic=chip_name or sheet.asic or None, latency=latency)
    formulas = fits([row for row in sheet.rows if not row.unknown])
    fit = iter(formulas)
    judged = [
        _judged(row, None if row.unknown else next(fit), assumed, is_given=mtu is not None)
        for row in sheet.rows
    ]
    if least is not None:
        judged = _tried(judged, least, jobs or cores(), done or (lambda _done, _total: None), runs)
    judged.sort(key=lambda row: (row.verdict.level, row.part))
    facts = {name: getattr(sheet, name) for name in ("file", "form", "warnings", "conditions", "not_judged")}
    notes = _notes(sheet.notes, judged)
    return Lint(**facts, assumed=assumed, rows=tuple(judged), notes=notes)


def _assumed(
    *, mtu: str | None, cell: str | None, mix: str, asic: str | None, latency: str | None
) -> Assumptions:
    """Return the assumptions, checked as a question of the planner."""
    latency_text, mtu = latency or "0us", mtu or DEFAULT_MTU
    link = Question.of(rate="100G", length="1m", mtu=mtu, cell=cell, mix=mix, asic=asic, latency=latency_text)
    return Assumptions(
        mtu_bytes=link.mtu_bytes,
        cell_bytes=link.cell_bytes,
        mix_bytes=link.mix_bytes,
        asic=link.asic,
        latency_ps=None if latency is None else span_of(latency, "latency"),
    )


def _judged(row: Row, fit: Fit | None, assumed: Assumptions, *, is_given: bool) -> Judged:
    assumptions = assumed
    if row.frame_bytes is not None:
        if not is_given:
            assumptions = assumed.with_frame(row.frame_bytes)
        elif row.frame_bytes > assumed.largest_frame:
            takes = f"the port takes frames of {row.frame_bytes:,} bytes (PORT: mtu)"
            warning = f"{takes}, judged for {assumed.largest_frame:,} as asked"
            row = replace(row, warnings=(*row.warnings, warning))
    bound = bounds(row.rate_bps, row.length_m, assumptions) if row.has_link else None
    judgement = verdict(row, bound, assumptions)
    return Judged(row=row, assumed=assumptions, bounds=bound, verdict=judgement, fit=fit)


def _tried(
    judged: list[Judged],
    least: Callable[[Question, Simulate], int],
    jobs: int,
    done: Callable[[int, int], None],
    runs: Runs | None,
) -> list[Judged]:
    """Find the least headroom of each rate and length once; rows of no length have no long link to run."""
    questions = [_question(row) for row in judged]
    kinds = sorted(
        {question for question in questions if question is not None},
        key=lambda question: (question.rate_bps, question.length_m, question.mtu_bytes),
    )
    parts = [partial(least, question) for question in kinds]
    headrooms = dict(zip(kinds, at_once(parts, jobs=jobs, done=done, runs=runs), strict=True))
    return [
        replace(row, least=None if question is None else headrooms[question])
        for row, question in zip(judged, questions, strict=True)
    ]


def _question(judged: Judged) -> Question | None:
    """Return the link of a row that is tried by runs; none for one that is not."""
    row = judged.row
    if row.unknown or not row.length_m:
        return None
    return question_of_row(row.rate_bps, row.length_m, judged.assumed)


def _notes(notes: tuple[str, ...], judged: list[Judged]) -> tuple[str, ...]:
    unknown = sorted({row.row.rate_bps for row in judged if row.bounds and row.bounds.reaction_ps is None})
    texts = list(notes)
    if unknown:
        rates = ", ".join(f"{rate // 1_000_000} Mb/s" for rate in unknown)
        lacks = f"no reaction to a pause is known for {rates}, nor the delay of an interface"
        texts.append(f"{lacks}: none is counted, so that more may arrive")
    texts += [f"{row.row.place}: {row.row.remark}" for row in judged if row.row.remark]
    return tuple(texts)


#: Columns that a document has as lists and a frame as texts.
LISTS = ("classes", "dscps", "faults", "warnings")
#: Columns of the frame and of the document.
COLUMNS: dict[str, Callable[[Judged], object]] = {
    "place": lambda judged: judged.row.place,
    "group": lambda judged: judged.row.group or None,
    "rate_gbps": lambda judged: judged.row.rate_bps / 1e9 if judged.row.has_link else None,
    "length_m": lambda judged: judged.row.length_m if judged.row.has_link else None,
    "largest_frame_bytes": lambda judged: judged.assumed.largest_frame,
    "size_bytes": lambda judged: judged.row.size,
    "xon_bytes": lambda judged: judged.row.xon,
    "xoff_bytes": lambda judged: None if judged.row.unknown else judged.row.xoff,
    "threshold": lambda judged: judged.row.threshold,
    "xon_offset_bytes": lambda judged: judged.row.xon_offset,
    "classes": lambda judged: ",".join(str(one) for one in judged.row.classes) or None,
    "dscps": lambda judged: ",".join(str(one) for one in judged.row.dscps) or None,
    "is_computed": lambda judged: judged.row.is_computed,
    "propagation_bytes": lambda judged: _bound(judged, "propagation"),
    "physics_least_bytes": lambda judged: _bound(judged, "least"),
    "physics_in_bytes_bytes": lambda judged: _bound(judged, "in_bytes"),
    "physics_bytes": lambda judged: _bound(judged, "asked"),
    "physics_any_size_bytes": lambda judged: _bound(judged, "any_size"),
    "formula": lambda judged: judged.fit.formula if judged.fit else None,
    "formula_rows": lambda judged: judged.fit.rows if judged.fit else None,
    "formula_of": lambda judged: judged.fit.of if judged.fit else None,
    "formula_others": lambda judged: judged.fit.others if judged.fit else None,
    "least_bytes": lambda judged: judged.least,
    "tried": lambda judged: judged.tried or None,
    "level": lambda judged: judged.verdict.level.label,
    "spare_bytes": lambda judged: judged.verdict.spare,
    "holds_from_bytes": lambda judged: judged.verdict.holds_from_bytes,
    "holds": lambda judged: judged.verdict.level.holds,
    "verdict": lambda judged: judged.verdict.text,
    "faults": lambda judged: "; ".join(judged.row.faults) or None,
    "warnings": lambda judged: "; ".join(judged.row.warnings) or None,
}


def _flat(judged: Judged) -> dict[str, Any]:
    return {name: value(judged) for name, value in COLUMNS.items()}


def _bound(judged: Judged, name: str) -> int | None:
    return None if judged.bounds is None else getattr(judged.bounds, name)


def read(path: Path, *, asic: str = "") -> Sheet:
    """Read a configuration: a `pg_profile_lookup.ini`, a table of such rows, or a CONFIG_DB.

    Parameters
    ----------
    path
        The file. What it holds tells its form: an object of JSON, a first line with tabs, or else columns.
    asic
        The switch's chip, which some switches compute headroom for; by default the one that a CONFIG_DB
        tells by its `hwsku`.

    Raises
    ------
    PlanError
        If it cannot be read, is a template, or has a mistake; the error names file and line, or table and
        key.
    """
    file, text = str(path), text_of(path)
    _no_template(text, file)
    if text.lstrip().startswith(("{", "[")):
        return read_config_db(read_json(text, file), file, asic)
    first = text.partition("\n")[0]
    if "\t" in first and not first.lstrip().startswith("#") and not first.strip()[:1].isdigit():
        return read_table(text, file)
    return read_lookup(text, file)


def _no_template(text: str, file: str) -> None:
    for number, line in enumerate(text.splitlines(), start=1):
        if "{%" in line or "{{" in line:
            place = f"{file}:{number}"
            error = (
                "a template of jinja; render it first: sonic-cfggen -d -t FILE prints what the switch uses"
            )
            raise PlanError(f"{place}: {error}", place=place)

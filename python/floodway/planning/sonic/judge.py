"""Every row of a switch configuration judged: physics, the formula that it follows, the hardest run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.comparison.execution import cores
from floodway.planning.question import Question
from floodway.planning.runs import at_once
from floodway.planning.sonic.files import read
from floodway.planning.sonic.fits import fits
from floodway.planning.sonic.physics import Assumptions, bounds, question_of_row
from floodway.planning.sonic.verdict import Level, verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from floodway.planning.runs import Simulate
    from floodway.planning.sonic.fits import Fit
    from floodway.planning.sonic.physics import Bounds
    from floodway.planning.sonic.row import Row
    from floodway.planning.sonic.verdict import Verdict

__all__ = ["Judged", "Lint", "lint"]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A row with what is said of it.

    Attributes
    ----------
    row
        What the file says.
    bounds
        What physics asks for.
    verdict
        What its headroom is enough for.
    fit
        The formula that its numbers follow, if one is known.
    least
        The least headroom that holds in the hardest run, in bytes; none where none was run.
    """

    row: Row
    bounds: Bounds
    verdict: Verdict
    fit: Fit | None = None
    least: int | None = None

    @property
    def tried(self) -> str:
        """What the hardest run says of the row; empty where none was run."""
        if self.least is None:
            return ""
        spare = self.row.xoff - self.least
        return f"holds, {spare:,} to spare" if spare >= 0 else f"loses, {-spare:,} short"


@dataclass(frozen=True, kw_only=True)
class Lint:
    """A file's rows, worst first.

    Attributes
    ----------
    file, form
        The file, and what it is: ``pg_profile_lookup.ini``, ``table`` or ``CONFIG_DB``.
    assumed
        What was assumed of the switch and its traffic.
    rows
        Worst first: by level, then by the part of what is asked that they have.
    notes
        What a reader must know of the file.
    """

    file: str
    form: str
    assumed: Assumptions
    rows: tuple[Judged, ...]
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[Level, int]:
        """How many rows have each level, worst first."""
        found = Counter(judged.verdict.level for judged in self.rows)
        return {level: found[level] for level in Level if found[level]}

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A row for each row of the file, worst first; bytes, metres and Gbit/s."""
        rows = [_flat(judged) for judged in self.rows]
        return pl.DataFrame(rows, schema=None if rows else list(COLUMNS), infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as a document of JSON."""
        return {
            "file": self.file,
            "form": self.form,
            "assumed": {
                "mtu_bytes": self.assumed.mtu_bytes,
                "cell_bytes": self.assumed.cell_bytes,
                "mix_bytes": list(self.assumed.mix_bytes),
                "asic": self.assumed.asic or None,
            },
            "counts": {level.label: count for level, count in self.counts.items()},
            "rows": [_flat(judged) | {"classes": list(judged.row.classes)} for judged in self.rows],
            "notes": list(self.notes),
        }


def lint(  # noqa: PLR0913 (one argument an option)
    path: str | Path,
    *,
    mtu: str = "4096B",
    cell: str | None = None,
    mix: str = "any",
    asic: str | None = None,
    least: Callable[[Question, Simulate], int] | None = None,
    jobs: int | None = None,
    done: Callable[[int, int], None] | None = None,
) -> Lint:
    """Judge the headroom of every row of a SONiC configuration.

    Parameters
    ----------
    path
        A `pg_profile_lookup.ini`, a table of such rows, or a CONFIG_DB as JSON.
    mtu
        The largest payload of a packet, in either direction.
    cell
        The cell of the switch's buffer; by default the chip's, else 1 byte.
    mix
        Sizes of the frames of data: ``any``, ``small``, ``dnx``, or a list such as ``64B:3,1082B``.
    asic
        The switch's chip.
    least
        Computes the least headroom that holds for a question, such as `least.least_headroom` does by runs; it
        is called once for each rate and length, in a thread, with what runs a scenario. None to run nothing.
    jobs
        How many of those are at work at once; one a core, if none.
    done
        Called before the first of those, and after each, with how many are done and how many there are.

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
    >>> found = lint("pg_profile_lookup.ini", asic="tomahawk-5")  # doctest: +SKIP
    >>> found.rows[0].verdict.text  # doctest: +SKIP
    'holds for frames of 509 bytes and larger; 101,234 bytes short for frames of any size'
    """
    assumed = _assumed(mtu=mtu, cell=cell, mix=mix, asic=asic)
    sheet = read(Path(path))
    judged = [_judged(row, fit, assumed) for row, fit in zip(sheet.rows, fits(sheet.rows), strict=True)]
    if least is not None:
        judged = _tried(judged, assumed, least, jobs or cores(), done or (lambda _done, _of: None))
    judged.sort(key=lambda each: (each.verdict.level, each.row.xoff / each.bounds.asked))
    return Lint(
        file=sheet.file,
        form=sheet.form,
        assumed=assumed,
        rows=tuple(judged),
        notes=_notes(sheet.notes, judged),
    )


def _assumed(*, mtu: str, cell: str | None, mix: str, asic: str | None) -> Assumptions:
    """Return what is assumed; a link of the planner checks it."""
    asked = Question.of(rate="100G", length="1m", mtu=mtu, cell=cell, mix=mix, asic=asic)
    return Assumptions(
        mtu_bytes=asked.mtu_bytes,
        cell_bytes=asked.cell_bytes,
        mix_bytes=asked.mix_bytes,
        asic=asked.asic,
    )


def _judged(row: Row, fit: Fit | None, assumed: Assumptions) -> Judged:
    bound = bounds(row.rate_bps, row.length_m, assumed)
    return Judged(row=row, bounds=bound, verdict=verdict(row, bound, assumed), fit=fit)


def _tried(
    judged: list[Judged],
    assumed: Assumptions,
    least: Callable[[Question, Simulate], int],
    jobs: int,
    done: Callable[[int, int], None],
) -> list[Judged]:
    """Find the least headroom of each rate and length once; rows of no length have no long link to run."""
    kinds = sorted({(each.row.rate_bps, each.row.length_m) for each in judged if each.row.length_m})
    parts = [partial(least, question_of_row(*kind, assumed)) for kind in kinds]
    found = dict(zip(kinds, at_once(parts, jobs=jobs, done=done), strict=True))
    return [replace(each, least=found.get((each.row.rate_bps, each.row.length_m))) for each in judged]


def _notes(notes: tuple[str, ...], judged: list[Judged]) -> tuple[str, ...]:
    unknown = sorted({each.row.rate_bps for each in judged if each.bounds.reaction_ps is None})
    found = list(notes)
    if unknown:
        rates = ", ".join(f"{rate // 1_000_000} Mb/s" for rate in unknown)
        found.append(f"no reaction to a pause is known for {rates}: none is counted, so that more may arrive")
    found += [f"{each.row.place}: {each.row.remark}" for each in judged if each.row.remark]
    return tuple(found)


#: What a row of the frame and of the document has.
COLUMNS: dict[str, Callable[[Judged], object]] = {
    "place": lambda each: each.row.place,
    "group": lambda each: each.row.group or None,
    "rate_gbps": lambda each: each.row.rate_bps / 1e9,
    "length_m": lambda each: each.row.length_m,
    "size_bytes": lambda each: each.row.size,
    "xon_bytes": lambda each: each.row.xon,
    "xoff_bytes": lambda each: each.row.xoff,
    "threshold": lambda each: each.row.threshold,
    "xon_offset_bytes": lambda each: each.row.xon_offset,
    "classes": lambda each: ",".join(str(one) for one in each.row.classes) or None,
    "propagation_bytes": lambda each: each.bounds.propagation,
    "physics_least_bytes": lambda each: each.bounds.least,
    "physics_in_bytes_bytes": lambda each: each.bounds.in_bytes,
    "physics_bytes": lambda each: each.bounds.asked,
    "physics_any_size_bytes": lambda each: each.bounds.any_size,
    "formula": lambda each: each.fit.formula if each.fit else None,
    "formula_rows": lambda each: each.fit.rows if each.fit else None,
    "formula_of": lambda each: each.fit.of if each.fit else None,
    "formula_others": lambda each: each.fit.others if each.fit else None,
    "least_bytes": lambda each: each.least,
    "tried": lambda each: each.tried or None,
    "level": lambda each: each.verdict.level.label,
    "spare_bytes": lambda each: each.verdict.spare,
    "holds_from_bytes": lambda each: each.verdict.holds_from_bytes,
    "verdict": lambda each: each.verdict.text,
}


def _flat(judged: Judged) -> dict[str, Any]:
    return {name: value(judged) for name, value in COLUMNS.items()}

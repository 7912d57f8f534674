"""The result of a case: every number with its verdict, from files in the simulator's formats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway_lab.validation.counts import COUNTS_FILE, count_rows, read_counts, reference_counts
from floodway_lab.validation.equality import equal
from floodway_lab.validation.files import read_flows, read_pauses, read_queues
from floodway_lab.validation.first import first_difference
from floodway_lab.validation.flows import bucket_rows, flow_rows, matched, tied
from floodway_lab.validation.pauses import frames_by_node, pause_rows
from floodway_lab.validation.queues import queue_rows
from floodway_lab.validation.rows import worst
from floodway_lab.validation.rules import RULES, SHOWN_FLOWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from floodway_lab.validation.cases import Case
    from floodway_lab.validation.counts import Counts
    from floodway_lab.validation.first import First
    from floodway_lab.validation.rows import Row
    from floodway_lab.validation.rules import Kind, Verdict

__all__ = [
    "FLOWS_FILE",
    "PAUSES_FILE",
    "QUEUES_FILE",
    "CaseResult",
    "Reference",
    "Side",
    "compare_sides",
    "side_of",
]

#: Names of exported files.
FLOWS_FILE, PAUSES_FILE, QUEUES_FILE = "fct.txt", "pfc.txt", "qlen.txt"


@dataclass(frozen=True, kw_only=True, eq=False)
class Side:
    """Results of one simulator for a case in one run: frames with the columns of `files`.

    Attributes
    ----------
    flows
        Completion times.
    pauses, queues
        PFC frames and the histogram of queues; `None` where they were not recorded.
    counts
        Totals, as far as they are known.
    """

    flows: pl.DataFrame
    pauses: pl.DataFrame | None
    queues: pl.DataFrame | None
    counts: Counts | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """A case with the other simulator's results.

    Attributes
    ----------
    case
        The case.
    side
        The results.
    other_build
        Whether another build or fork of that simulator made them, whose ties, draws and paths may differ.
    """

    case: Case
    side: Side
    other_build: bool = False

    @classmethod
    def of(cls, case: Case, *, other_build: bool = False) -> Reference:
        """Read the reference of a case.

        Raises
        ------
        ValidationError
            If a file is malformed, or no flow has finished.
        """
        side = _read(case.flows, case.pauses, case.queues, reference_counts(case))
        if side.flows.is_empty():
            shown = str(case.flows)
            raise ValidationError(f"{shown}: no flow has finished: there is nothing to compare", place=shown)
        return cls(case=case, side=side, other_build=other_build)

    def kind(self, ours: Side) -> Kind:
        """Return the kind of the case: what may differ in a run with the configuration's own seed.

        Where a hash chooses paths that are not listed, the run shows whether they are those of the reference.
        """
        if self.other_build:
            return self.chance
        if self.case.pinned:
            return "equal"
        first = first_difference(self.side, ours)
        shown = first is None or first.time_ns is None or first.before >= SHOWN_FLOWS
        return "equal" if shown else self.chance

    @cached_property
    def chance(self) -> Kind:
        """The kind of the case without regard to any run: what may differ between two correct simulators."""
        if not self.case.pinned:
            return "hashed"
        return "random" if self.case.marks else "tied" if tied(self.side.flows) else "exact"

    @property
    def begin_ns(self) -> int:
        """Start of the first flow, in nanoseconds."""
        return int(self.side.flows["start_ns"].min())  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseResult:
    """A case with its verdict.

    Attributes
    ----------
    reference
        The case and the other simulator's side of it.
    not_run
        The reason why it has not run; empty if it has.
    seeds
        Seeds of our runs.
    sides
        Results of each run.
    wall_s
        Wall-clock time of each run, in seconds.
    warnings
        Settings of the configuration that are allowed but rarely intended, or have no effect.
    """

    reference: Reference
    not_run: str = ""
    seeds: tuple[int, ...] = ()
    sides: tuple[Side, ...] = ()
    wall_s: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def case(self) -> Case:
        """The case."""
        return self.reference.case

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """All numbers; empty for a case that has not run."""
        return () if self.not_run else tuple(compare_sides(self.reference, self.sides))

    @cached_property
    def kind(self) -> Kind:
        """The kind of the case, which decides between equality and bounds."""
        return self.reference.kind(self.sides[0]) if self.sides else self.reference.chance

    @cached_property
    def first(self) -> First | None:
        """The first difference of the run with the configuration's own seed, if it has run and has one."""
        return first_difference(self.reference.side, self.sides[0]) if self.sides else None

    @cached_property
    def equal(self) -> bool:
        """Whether the run with the configuration's own seed equals the reference to the nanosecond."""
        return bool(self.sides) and equal(self.reference.side, self.sides[0])

    @property
    def verdict(self) -> Verdict:
        """A pass if ours is equal; else a failure if equality is expected, or the verdict of all numbers."""
        if self.not_run:
            return "not run"
        if self.equal or self.kind == "equal":
            return "pass" if self.equal else "fail"
        return worst(row.verdict for row in self.rows)

    @property
    def nodes(self) -> list[dict[str, object]]:
        """PFC frames node by node; empty where either side did not record them."""
        frames = [side.pauses for side in self.sides if side.pauses is not None]
        expected = self.reference.side.pauses
        return [] if expected is None or not frames else frames_by_node(expected, frames)

    def unmatched(self, most: int) -> Iterator[str]:
        """Yield the flows of the first seed that only one side has finished, at most `most` of each side."""
        if not self.sides:
            return
        match = matched(self.reference.side.flows, self.sides[0].flows)
        for owner, flows in (("the reference", match.only_reference), ("floodway", match.only_ours)):
            columns = ("source", "destination", "source_port", "destination_port", "size_bytes")
            for source, destination, a, b, size in flows.select(columns).head(most).iter_rows():
                yield f"only {owner} finished {source}:{a} to {destination}:{b}, {size:,} bytes"
            if len(flows) > most:
                yield f"and {len(flows) - most:,} more flows that only {owner} finished"


def side_of(folder: Path) -> Side:
    """Read the files of `export_hpcc` in a folder.

    Raises
    ------
    ValidationError
        If a file is malformed.
    """
    pauses, queues, counts = (folder / name for name in (PAUSES_FILE, QUEUES_FILE, COUNTS_FILE))
    return _read(
        folder / FLOWS_FILE,
        pauses if pauses.is_file() else None,
        queues if queues.is_file() else None,
        read_counts(counts) if counts.is_file() else None,
    )


def compare_sides(reference: Reference, sides: Sequence[Side]) -> Iterator[Row]:
    """Compare all results that both sides have.

    Parameters
    ----------
    reference
        The reference.
    sides
        Our results, one a seed, at least one.
    """
    rules = RULES[reference.kind(sides[0])]
    expected = reference.side
    flows = [side.flows for side in sides]
    yield from flow_rows(expected.flows, flows, rules)
    yield from bucket_rows(expected.flows, flows, rules)
    pauses = [side.pauses for side in sides if side.pauses is not None]
    if expected.pauses is not None and pauses:
        yield from pause_rows(expected.pauses, pauses, rules, begin_ns=reference.begin_ns)
    queues = [side.queues for side in sides if side.queues is not None]
    if expected.queues is not None and queues:
        yield from queue_rows(expected.queues, queues, rules)
    counts = [side.counts for side in sides if side.counts is not None]
    if expected.counts is not None and counts:
        yield from count_rows(expected.counts, counts, rules)


def _read(flows: Path, pauses: Path | None, queues: Path | None, counts: Counts | None) -> Side:
    def optional(read: Callable[[Path], pl.DataFrame], file: Path | None) -> pl.DataFrame | None:
        return None if file is None else read(file)

    return Side(
        flows=read_flows(flows),
        pauses=optional(read_pauses, pauses),
        queues=optional(read_queues, queues),
        counts=counts,
    )

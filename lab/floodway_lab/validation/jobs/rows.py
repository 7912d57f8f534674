"""Rows of reference times, and what a packet simulator has to make of them."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway.common.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["Cells", "Expected", "Job", "Row", "cells_of"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """A run, by which one row or several are judged: a network and a workload in TOML."""

    network: str
    workload: str


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a row allows.

    Attributes
    ----------
    job
        The run.
    rank
        Whose end counts; the last one's, if it is none.
    kinds
        Operations whose ends count; all, if there are none.
    reference_ns
        The time of the other simulator, less what it adds that no packet has.
    least_ns, most_ns
        What packets may make of it.
    """

    job: Job
    rank: int | None = None
    kinds: tuple[str, ...] = ()
    reference_ns: float
    least_ns: float
    most_ns: float


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of reference times.

    Attributes
    ----------
    set
        The set that it belongs to.
    label
        What it is of.
    expected
        What is allowed; none where a packet simulator cannot meet it.
    reason
        Why not, then.
    ours_ns
        Our time; none if it has not run.
    """

    set: str
    label: str
    expected: Expected | None = None
    reason: str = ""
    ours_ns: float | None = None

    @property
    def met(self) -> bool:
        """Whether our time is within what is allowed."""
        if self.expected is None or self.ours_ns is None:
            return False
        return self.expected.least_ns <= self.ours_ns <= self.expected.most_ns

    @property
    def difference(self) -> float:
        """Of our time from the reference's, in parts of that."""
        if self.expected is None or self.ours_ns is None:
            return 0.0
        return self.ours_ns / self.expected.reference_ns - 1

    @property
    def allowed(self) -> float:
        """The most that packets may add, in parts of the reference's time."""
        return 0.0 if self.expected is None else self.expected.most_ns / self.expected.reference_ns - 1


@dataclass(frozen=True)
class Cells:
    """The cells of a line of a table, by column."""

    place: str
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        """Return a cell."""
        return self.cells[column]

    def number(self, column: str) -> int:
        """Return a cell that has to be a whole number.

        Raises
        ------
        ValidationError
            If it is none.
        """
        text = self.cells[column]
        if not text.isdecimal():
            message = f"{self.place}: {column} is {text!r}: expected a whole number"
            raise ValidationError(message, place=self.place, key=column, given=text)
        return int(text)


def cells_of(file: Path, columns: Sequence[str]) -> Iterator[Cells]:
    """Read a table whose cells are separated by tabs.

    Parameters
    ----------
    file
        The file.
    columns
        Those that it has to have.

    Raises
    ------
    ValidationError
        If it cannot be read, lacks a column, or has a line of another number of cells.
    """
    shown = os.fspath(file)
    try:
        text = read_text(file)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ValidationError(f"{shown}: cannot be read: {error}", place=shown) from error
    lines = list(csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    head = lines[0] if lines else []
    for column in columns:
        if column not in head:
            message = f"{shown}: has no column {column!r}; its first line names: {', '.join(head) or 'none'}"
            raise ValidationError(message, place=shown, key=column, allowed=tuple(columns))
    for number, cells in enumerate(lines[1:], start=2):
        place = f"{shown}:{number}"
        if len(cells) != len(head):
            message = f"{place}: {len(cells)} cells where the first line has {len(head)}"
            raise ValidationError(message, place=place)
        yield Cells(place, dict(zip(head, cells, strict=True)))

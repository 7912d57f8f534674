"""Rows of reference times, with the times that are allowed for a packet simulator."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway_lab.validation.texts import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["Cells", "Expected", "Job", "Row", "cells_of"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """A run that decides one row or several: a network and a workload in TOML."""

    network: str
    workload: str


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The times that a row allows.

    Attributes
    ----------
    job
        The run.
    rank
        The rank whose end counts; `None` for the last one.
    kinds
        Operations whose ends count; all if empty.
    reference_ns
        The time of the other simulator, without the delays that only it adds.
    least_ns, most_ns
        The least and the largest time that is allowed.
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
        Its name within the set.
    expected
        The times that are allowed; `None` where a packet simulator cannot meet it.
    reason
        The reason why it cannot be met; empty if it can.
    ours_ns
        Our time; `None` if it has not run.
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
        """Difference of our time from the reference's, in parts of the latter."""
        if self.expected is None or self.ours_ns is None:
            return 0.0
        return self.ours_ns / self.expected.reference_ns - 1

    @property
    def allowed(self) -> float:
        """The largest difference that is allowed, in parts of the reference's time."""
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
            If it is not one.
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
        The columns that it must have.

    Raises
    ------
    ValidationError
        If the file cannot be read, lacks a column, or has a line with another number of cells.
    """
    shown = os.fspath(file)
    lines = list(csv.reader(text_of(file).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
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

"""Exceptions with one base class; the location of the fault is in their attributes."""

from __future__ import annotations

import contextlib
import errno
import os
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from floodway.common.names import not_a_choice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "ClusterError",
    "ComparisonError",
    "ExtensionError",
    "Fault",
    "FloodwayError",
    "GraphError",
    "InUseError",
    "InputError",
    "InternalError",
    "LostResultsError",
    "MechanismError",
    "OutOfMemoryError",
    "OutputError",
    "PlanError",
    "PlotError",
    "RanksError",
    "RunError",
    "ScenarioError",
    "StudyError",
    "TableError",
    "UnknownNameError",
    "UnverifiedWarning",
    "ValidationError",
    "by_name",
    "output_errors",
    "unwritable",
    "value_of",
]

#: Faults of a disk, whatever the name of the file: no room, no quota, too large a file, a broken device.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault of a scenario.

    Attributes
    ----------
    text
        The whole fault in one line, as the command line prints it: the parts below and what is wrong.
    file
        The scenario's file, its name where it came as text, or the `--set` that set it.
    line
        Line in that file, from 1; none where the fault is of the whole.
    key
        Path of the key at fault, such as ``long-haul.flow-control.pfc``.
    given
        What the scenario says there.
    allowed
        What it may say, where that is a list.
    nearest
        The right name nearest to a wrong one.
    """

    text: str
    file: str
    line: int | None = None
    key: str | None = None
    given: str | None = None
    allowed: tuple[str, ...] = ()
    nearest: str | None = None


class FloodwayError(Exception):
    """Base of every error that floodway raises on purpose."""


class ScenarioError(FloodwayError):
    """A scenario that cannot be simulated; its text has a line for each fault.

    The attributes `file`, `line`, `key`, `given`, `allowed` and `nearest` are those of the first fault.

    Parameters
    ----------
    faults
        Every fault that was found, at least one.
    """

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(fault.text for fault in faults))
        self.faults = faults
        first = faults[0]
        self.file, self.line, self.key = first.file, first.line, first.key
        self.given, self.allowed, self.nearest = first.given, first.allowed, first.nearest


class ComparisonError(FloodwayError):
    """Variants that cannot be compared; the text says which, and what helps.

    Parameters
    ----------
    text
        The whole fault.
    place
        What is at fault: the key that varies, or the label or file of a variant; none where it is the
        whole.
    given
        What was given there.
    """

    def __init__(self, text: str, *, place: str | None = None, given: str | None = None) -> None:
        super().__init__(text)
        self.place = place
        self.given = given


class InputError(FloodwayError):
    """An argument that a function cannot use: the base of errors of graphs, tables and pictures.

    Parameters
    ----------
    text
        The whole fault in one line.
    place
        Where it is: a node or an edge of a graph, a row of a table; none where it is of the whole.
    key
        What is at fault there: an attribute, a column, `metric`, `object`, `workload`.
    given
        What was given.
    allowed
        What is allowed, where that is a list.
    nearest
        The right name nearest to a wrong one.
    """

    def __init__(  # noqa: PLR0913 (the parts of a fault)
        self,
        text: str,
        *,
        place: str | None = None,
        key: str | None = None,
        given: str | None = None,
        allowed: tuple[str, ...] = (),
        nearest: str | None = None,
    ) -> None:
        super().__init__(text)
        self.place = place
        self.key = key
        self.given = given
        self.allowed = allowed
        self.nearest = nearest

    @classmethod
    def of_choice(cls, given: str, *, noun: str, allowed: Iterable[str], key: str | None = None) -> Self:
        """Return the error for a name that is not allowed, with the nearest of those that are.

        Parameters
        ----------
        given
            The name.
        noun
            What it should have been, with its article.
        allowed
            The right names.
        key
            As of this class.

        Returns
        -------
        Self
            The error, to be raised.
        """
        names = tuple(allowed)
        text, near = not_a_choice(given, noun=noun, allowed=names)
        return cls(text, key=key, given=given, allowed=names, nearest=near)


class PlotError(InputError):
    """A picture that cannot be drawn: nothing to show, or no such metric, object or workload."""


class GraphError(InputError):
    """A graph that is no network; `place` is the node or edge, `key` its attribute."""


class TableError(InputError):
    """A table that is no list of flows; `place` is the row, `key` the column."""


class UnknownNameError(InputError):
    """A name that nothing has: `given`, with the `nearest` right one."""


class StudyError(InputError):
    """A study with a mistake; `place` is its file, `key` the path of the key at fault."""


class PlanError(InputError):
    """A question that cannot be planned; `key` is the option or key at fault."""


class RanksError(FloodwayError):
    """A run that several processes cannot execute together, or no longer."""


class ValidationError(InputError):
    """Reference results that cannot be read; `place` is the file, with the line where there is one."""


class RunError(FloodwayError):
    """A run that failed.

    Parameters
    ----------
    text
        What happened.
    label
        Which run it was, among several; none for a single one.
    """

    def __init__(self, text: str, *, label: str | None = None) -> None:
        super().__init__(text)
        self.label = label


class MechanismError(RunError):
    """Code of a mechanism in Python has raised something, which is the `__cause__` of this.

    Parameters
    ----------
    call
        What was called, such as ``MyControl.on_ack``, or a file.
    place
        Of which flow, ``WORKLOAD:SOURCE:NUMBER``, or at which port; none before a run.
    at
        When, in simulated time; none before a run.
    line
        The line that it is about, ``FILE:LINE``, where what was raised has no traceback.
    """

    def __init__(
        self, call: str, place: str | None = None, at: str | None = None, line: str | None = None
    ) -> None:
        super().__init__(call)
        self.call = call
        self.place = place
        self.at = at
        self.line = line

    def __str__(self) -> str:
        """Say what was raised, where and when."""
        cause = self.__cause__
        raised = "raised an exception" if cause is None else f"raised {type(cause).__name__}: {cause}"
        label = "" if self.label is None else f"{self.label}: "
        return f"{label}{self.call} {raised}{self.location}"

    @property
    def location(self) -> str:
        """The line of the user's code, the flow or port, and the time, as far as they are known."""
        cause = self.__cause__
        last = traceback.extract_tb(cause.__traceback__)[-1:] if cause is not None else []
        lines = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in last]
        lines = lines or ([] if self.line is None else [self.line])
        parts = [part for part in (*lines, self.place, self.at and f"at {self.at}") if part]
        return f" ({', '.join(parts)})" if parts else ""


class ExtensionError(RunError):
    """A mechanism of an extension has panicked or returned an invalid value; the text says where."""


class OutOfMemoryError(RunError, MemoryError):
    """A run that needs more memory than there is, as its estimate says before it or as it turned out.

    Nothing of the run is kept, and all that it had is free again. It is a `MemoryError`, too.

    Parameters
    ----------
    reason
        What happened.
    label
        Which run it was, among several; none for a single one.
    hint
        What the caller may try; none where there is nothing to try.
    """

    def __init__(self, reason: str, *, label: str | None = None, hint: str | None = None) -> None:
        super().__init__(reason if hint is None else f"{reason}; {hint}", label=label)
        self.reason = reason


class ClusterError(RunError):
    """A cluster that is lost, cannot be had, or whose workers have another version; the text says which."""


class InternalError(RunError):
    """A bug of the simulator itself; the text says where."""


class OutputError(FloodwayError):
    """Results that cannot be written or read.

    Parameters
    ----------
    path
        The folder or file.
    reason
        What is the matter with it, and what helps.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class InUseError(OutputError):
    """A folder that another process writes to; the text names the process."""


class LostResultsError(OutputError):
    """Results of a run that has ended, or pictures or a report of them, that cannot be written.

    So is every file for which there is no room.
    """


def unwritable(path: str | os.PathLike[str], error: OSError) -> OutputError:
    """Return the error of a file or folder that cannot be written: a `LostResultsError` if there is no room.

    Parameters
    ----------
    path
        The folder or file, as its user calls it.
    error
        Why.
    """
    kind = LostResultsError if error.errno in _NO_ROOM else OutputError
    return kind(os.fspath(path), f"cannot be written: {error.strerror or error}")


@contextlib.contextmanager
def output_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise errors of the system as errors of output that name a file or folder.

    Raises
    ------
    OutputError
        Instead of an OSError, as `unwritable` returns it.
    """
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error


class UnverifiedWarning(UserWarning):
    """Results that cannot be verified: an earlier version wrote them, without digests."""


class Named(Protocol):
    """An object with a name."""

    @property
    def name(self) -> str:
        """The name."""


NamedObject = TypeVar("NamedObject", bound=Named)
Value = TypeVar("Value")


def by_name(objects: Iterable[NamedObject], name: str, *, noun: str, key: str) -> NamedObject:
    """Return the object of a name; other names raise an `UnknownNameError`, as in `value_of`."""
    return value_of({candidate.name: candidate for candidate in objects}, name, noun=noun, key=key)


def value_of(values: Mapping[str, Value], name: str, *, noun: str, key: str) -> Value:
    """Return the value of a name.

    Parameters
    ----------
    values
        By their names.
    name
        One of these names.
    noun
        What the name is, with its article.
    key
        The error's `key`.

    Raises
    ------
    UnknownNameError
        If no value has this name; with all names and the nearest.
    """
    if name not in values:
        raise UnknownNameError.of_choice(name, noun=noun, allowed=values, key=key)
    return values[name]

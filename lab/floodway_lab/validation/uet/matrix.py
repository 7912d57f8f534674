"""Connection matrices: the flows of a run of the Ultra Ethernet Consortium's simulator."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway_lab.validation.texts import text_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Connection", "Matrix", "matrix_of"]

#: Words with a value behind a connection.
TAKEN = ("start", "size", "id", "prio")
#: Words behind a connection, and at the start of a line, that floodway does not model.
NOT_MODELLED = ("trigger", "send_done_trigger", "recv_done_trigger", "msg")
LINES = ("trigger", "failure")
#: Words of the head.
HEAD = ("Nodes", "Connections", "Triggers", "Failures")


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A flow of a connection matrix; hosts are numbered from 0, `start_us` is in microseconds.

    `number` is its id there, where it has one.
    """

    source: int
    destination: int
    start_us: int
    size: int
    number: int | None = None


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """A connection matrix.

    Attributes
    ----------
    hosts
        Number of hosts.
    connections
        The flows, in their order.
    unsupported
        What floodway does not model.
    """

    hosts: int
    connections: tuple[Connection, ...]
    unsupported: tuple[str, ...]


def matrix_of(file: Path) -> Matrix:
    """Read a connection matrix.

    Raises
    ------
    ValidationError
        If it cannot be read, has a line that is not one of a connection, or no connections.
    """
    hosts, connections, unsupported = 0, [], []
    for number, line in enumerate(text_of(file).splitlines(), start=1):
        words = line.split()
        place = f"{file}:{number}"
        if not words or words[0].startswith("#"):
            continue
        if words[0] in HEAD:
            if words[0] == "Nodes":
                hosts = _whole(place, words[0], words[1:])
        elif words[0] in LINES:
            unsupported.append(f"{words[0]} in {place}")
        else:
            connections.append(_connection(place, line.strip(), unsupported))
    if not connections or not hosts:
        raise ValidationError(f"{file}: has no flows, or no line `Nodes N`", place=os.fspath(file))
    return Matrix(hosts=hosts, connections=tuple(connections), unsupported=tuple(unsupported))


def _connection(place: str, line: str, unsupported: list[str]) -> Connection:
    """Read the line of a connection; what is not modelled is appended."""
    ends, *words = line.split()
    source, arrow, destination = ends.partition("->")
    values: dict[str, int] = {}
    allowed = (*TAKEN, *NOT_MODELLED)
    keys, rest = words[::2], words[1::2]
    if not (arrow and source.isdecimal() and destination.isdecimal()) or any(
        key not in allowed for key in keys
    ):
        form = "SOURCE->DESTINATION start MICROSECONDS size BYTES"
        raise ValidationError(f"{place}: expected {form}, got {line!r}", place=place)
    for at, key in enumerate(keys):
        values[key] = _whole(place, key, rest[at : at + 1])
    missing = [key for key in NOT_MODELLED if key in values]
    unsupported += [f"{key} in {place}" for key in missing]
    if not missing and not {"start", "size"} <= values.keys():
        raise ValidationError(f"{place}: has no start, or no size", place=place)
    return Connection(
        source=int(source),
        destination=int(destination),
        start_us=values.get("start", 0),
        size=values.get("size", 0),
        number=values.get("id"),
    )


def _whole(place: str, key: str, words: list[str]) -> int:
    """Return the number behind a word; the simulator cuts starts to whole microseconds."""
    try:
        number = float(words[0]) if words else -1.0
    except ValueError:
        number = -1.0
    if not 0 <= number < 2**53:
        value = words[0] if words else None
        raise ValidationError(f"{place}: expected a number from 0 behind {key}", place=place, given=value)
    return int(number)

"""Cases of a folder: command lines of the Ultra Ethernet Consortium's simulator, with their results."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway_lab.validation.jobs.rows import cells_of
from floodway_lab.validation.texts import text_of
from floodway_lab.validation.uet.matrix import matrix_of
from floodway_lab.validation.uet.options import options_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway_lab.validation.uet.matrix import Connection
    from floodway_lab.validation.uet.options import Options

__all__ = ["Expected", "UetCase", "is_of_uet", "uet_cases_of"]

COMMAND_FILE, FLOWS_FILE = "command.txt", "flows.tsv"
PATHS_FILE, TRACE_FILE = "paths.tsv", "trace.txt"
FLOW_COLUMNS = ("name", "flow_id", "size_bytes", "rx_done_ps", "ack_done_ps")
PATH_COLUMNS = ("flow_id", "kind", "queue", "first_ps")
#: The first flow's number; replies have the number behind that of their flow.
FIRST_FLOW = 1_000_000_001


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Completion of a flow: at its receiver, and at its sender, in picoseconds of the run."""

    received_ps: int
    acknowledged_ps: int


@dataclass(frozen=True, kw_only=True)
class UetCase:
    """One command line with its results.

    Attributes
    ----------
    label
        The path of its folder within the folder of all cases.
    folder
        The folder.
    hosts
        Number of hosts.
    options
        The options of the command line.
    connections
        The flows, in their order.
    expected
        Completion of each flow.
    paths
        Output queues of each flow in their order, by the flow and the kind `"data"` or `"reply"`. Empty where
        the reference does not list them.
    """

    label: str
    folder: Path
    hosts: int
    options: Options
    connections: tuple[Connection, ...]
    expected: tuple[Expected, ...]
    paths: dict[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)


def is_of_uet(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder has cases of the Ultra Ethernet Consortium's simulator."""
    return next(_folders(Path(folder)), None) is not None


def uet_cases_of(folder: str | os.PathLike[str]) -> tuple[UetCase, ...]:
    """Read the cases of a folder, in the order of their names.

    Raises
    ------
    ValidationError
        If a file is missing or malformed, or a command line has an option that is not known.
    """
    root = Path(folder)
    return tuple(_case(root, case_folder) for case_folder in _folders(root))


def _folders(root: Path) -> Iterator[Path]:
    """Yield the folders of cases: a folder itself, or those below it, at most two levels deep."""
    if _is_case(root):
        yield root
        return
    for depth in ("*", "*/*"):
        try:
            yield from (path for path in sorted(root.glob(depth)) if _is_case(path))
        except OSError:
            return


def _is_case(folder: Path) -> bool:
    try:
        return (folder / COMMAND_FILE).is_file() and (folder / FLOWS_FILE).is_file()
    except OSError:
        return False


def _case(root: Path, folder: Path) -> UetCase:
    command = folder / COMMAND_FILE
    options = options_of(command, text_of(command))
    matrix = matrix_of(folder / options.matrix)
    connections = matrix.connections
    expected = tuple(
        Expected(received_ps=cells.number("rx_done_ps"), acknowledged_ps=cells.number("ack_done_ps"))
        for cells in cells_of(folder / FLOWS_FILE, FLOW_COLUMNS)
    )
    if len(expected) != len(connections):
        place = os.fspath(folder / FLOWS_FILE)
        message = f"{place}: {len(expected)} flows, and {len(connections)} connections"
        raise ValidationError(message, place=place)
    label = folder.resolve().name if folder == root else os.fspath(folder.relative_to(root))
    paths = _paths(folder / PATHS_FILE, connections) if (folder / PATHS_FILE).is_file() else {}
    return UetCase(
        label=label,
        folder=folder,
        hosts=matrix.hosts,
        options=replace(options, unsupported=(*options.unsupported, *matrix.unsupported)),
        connections=connections,
        expected=expected,
        paths=paths,
    )


def _paths(file: Path, connections: Sequence[Connection]) -> dict[tuple[int, str], tuple[str, ...]]:
    """Read the output queues of flows, by the place of the flow and the kind of its packets."""
    places = {flow.number: place for place, flow in enumerate(connections) if flow.number is not None}
    by_flow: dict[tuple[int, str], list[str]] = {}
    for cells in cells_of(file, PATH_COLUMNS):
        number = cells.number("flow_id")
        place = places.get(number, (number - FIRST_FLOW) // 2)
        by_flow.setdefault((place, cells["kind"]), []).append(cells["queue"])
    return {key: tuple(queues) for key, queues in by_flow.items()}

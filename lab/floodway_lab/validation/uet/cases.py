"""Cases of a folder: command lines of the Ultra Ethernet Consortium's simulator, with their results."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway.common.files import read_text
from floodway.common.names import nearest
from floodway_lab.validation.jobs.rows import cells_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Connection", "Expected", "Options", "UetCase", "is_of_uet", "uet_cases_of"]

COMMAND_FILE, FLOWS_FILE = "command.txt", "flows.tsv"
PATHS_FILE, TRACE_FILE = "paths.tsv", "trace.txt"
FLOW_COLUMNS = ("name", "flow_id", "size_bytes", "rx_done_ps", "ack_done_ps")
PATH_COLUMNS = ("flow_id", "kind", "queue", "first_ps")
#: The first flow's number; replies have the number behind that of their flow.
FIRST_FLOW = 1_000_000_001
#: Options without a value.
FLAGS = (
    "-sender_cc_only",
    "-receiver_cc_only",
    "-receiver_cc",
    "-disable_trim",
    "-disable_base_rtt_update_on_nack",
    "-sleek",
)
#: Options with as many values.
VALUED = {
    "-tm": 1,
    "-o": 1,
    "-end": 1,
    "-seed": 1,
    "-load_balancing_algo": 1,
    "-paths": 1,
    "-linkspeed": 1,
    "-hop_latency": 1,
    "-q": 1,
    "-ecn": 2,
    "-topo": 1,
    "-tiers": 1,
    "-nodes": 1,
    "-failed": 1,
}
#: Options that floodway does not model, with the number of their values.
UNSUPPORTED = {
    "-enable_accurate_base_rtt": 0,
    "-disable_quick_adapt": 0,
    "-trimsize": 1,
    "-mtu": 1,
    "-start_delta": 1,
    "-conn_reuse": 0,
    "-bounce": 0,
}
#: Text in cases of the simulator whose coin always cuts the arriving packet.
COIN = "UEC_COIN"


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A flow of a connection matrix; hosts are numbered from 0, `start_us` is in microseconds."""

    source: int
    destination: int
    start_us: int
    size: int


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Completion of a flow: at its receiver, and at its sender, in picoseconds of the run."""

    received_ps: int
    acknowledged_ps: int


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a command line, with the simulator's defaults.

    Attributes
    ----------
    sender, receiver
        Whether NSCC, and RCCC, is on.
    balancing, paths
        The algorithm that chooses entropy values, and the number of values.
    rate_gbps, hop_us
        Rate and delay of each link.
    queue, ecn
        Size of a queue of data and thresholds of marks, in packets; by default from the network's
        bandwidth-delay product.
    end_us
        End of the run, in microseconds.
    trims
        Whether full queues cut packets rather than drop them.
    topology, tiers
        A file of the network, and its tiers of switches.
    arriving
        Whether a full queue always cuts the packet that arrives.
    cuts_lower_base_rtt
        Whether a cut packet's round trip may be the base round trip.
    failed
        Number of links with a quarter of their rate, queue and thresholds.
    sleek
        Whether losses are found by the packets behind them, and by probes.
    unsupported
        Options that floodway does not model.
    """

    sender: bool = True
    receiver: bool = False
    balancing: str = "mixed"
    paths: int = 64
    rate_gbps: int = 100
    hop_us: int = 1
    queue: int | None = None
    ecn: tuple[int, int] | None = None
    end_us: int = 1000
    seed: int = 13
    trims: bool = True
    topology: str | None = None
    tiers: int = 3
    arriving: bool = False
    cuts_lower_base_rtt: bool = True
    sleek: bool = False
    failed: int = 0
    unsupported: tuple[str, ...] = ()


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
    words, arriving = _command(folder / COMMAND_FILE)
    values = _values(folder / COMMAND_FILE, words)
    options = _options(folder / COMMAND_FILE, values, arriving=arriving)
    hosts, connections = _connections(folder / values.get("-tm", ["connections.cm"])[0])
    expected = tuple(
        Expected(received_ps=cells.number("rx_done_ps"), acknowledged_ps=cells.number("ack_done_ps"))
        for cells in cells_of(folder / FLOWS_FILE, FLOW_COLUMNS)
    )
    if len(expected) != len(connections):
        place = os.fspath(folder / FLOWS_FILE)
        message = f"{place}: {len(expected)} flows, and {len(connections)} connections"
        raise ValidationError(message, place=place)
    label = folder.resolve().name if folder == root else os.fspath(folder.relative_to(root))
    paths = _paths(folder / PATHS_FILE) if (folder / PATHS_FILE).is_file() else {}
    return UetCase(
        label=label,
        folder=folder,
        hosts=hosts,
        options=options,
        connections=connections,
        expected=expected,
        paths=paths,
    )


def _text(file: Path) -> str:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        shown = os.fspath(file)
        raise ValidationError(f"{shown}: cannot be read: {error}", place=shown) from error


def _command(file: Path) -> tuple[list[str], bool]:
    """Return the arguments of a command line, and whether full queues always cut the arriving packet."""
    text = _text(file)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    try:
        words = shlex.split(lines[0]) if lines else []
    except ValueError as error:
        raise ValidationError(f"{file}:1: {error}", place=f"{file}:1") from error
    return words[1:], COIN in text


def _values(file: Path, words: Sequence[str]) -> dict[str, list[str]]:
    options = (*FLAGS, *VALUED, *UNSUPPORTED)
    by_option: dict[str, list[str]] = {}
    at = 0
    while at < len(words):
        option = words[at]
        if option not in options:
            near = nearest(option, options)
            hint = f"; did you mean {near}?" if near else ""
            message = f"{file}:1: {option!r} is not an option that floodway knows: {', '.join(options)}{hint}"
            raise ValidationError(message, place=f"{file}:1", given=option, allowed=options, nearest=near)
        count = VALUED.get(option, UNSUPPORTED.get(option, 0))
        values = list(words[at + 1 : at + 1 + count])
        if len(values) < count:
            raise ValidationError(f"{file}:1: {option} has no value", place=f"{file}:1", key=option)
        by_option[option] = values
        at += 1 + count
    return by_option


def _options(file: Path, values: dict[str, list[str]], *, arriving: bool) -> Options:
    def number(option: str, place: int = 0) -> int:
        text = values[option][place]
        if not text.isdecimal():
            message = f"{file}:1: {option} is {text!r}: expected a whole number"
            raise ValidationError(message, place=f"{file}:1", key=option, given=text)
        return int(text)

    numbers = {
        "paths": "-paths",
        "hop_us": "-hop_latency",
        "queue": "-q",
        "end_us": "-end",
        "seed": "-seed",
        "tiers": "-tiers",
        "failed": "-failed",
    }
    fields = {name: number(option) for name, option in numbers.items() if option in values}
    if "-linkspeed" in values:
        fields["rate_gbps"] = number("-linkspeed") // 1000
    return Options(
        sender="-receiver_cc_only" not in values,
        receiver="-receiver_cc_only" in values or "-receiver_cc" in values,
        balancing=values.get("-load_balancing_algo", ["mixed"])[0],
        ecn=(number("-ecn"), number("-ecn", 1)) if "-ecn" in values else None,
        trims="-disable_trim" not in values,
        cuts_lower_base_rtt="-disable_base_rtt_update_on_nack" not in values,
        sleek="-sleek" in values,
        unsupported=tuple(option for option in values if option in UNSUPPORTED),
        topology=values.get("-topo", [None])[0],
        arriving=arriving,
        **fields,
    )


CONNECTION = re.compile(r"(\d+)->(\d+)\s+start\s+(\d+)\s+size\s+(\d+)")


def _connections(file: Path) -> tuple[int, tuple[Connection, ...]]:
    """Read a connection matrix: the number of hosts, and the flows."""
    hosts, connections = 0, []
    for number, line in enumerate(_text(file).splitlines(), start=1):
        words = line.split()
        if not words or words[0] == "Connections":
            continue
        if words[0] == "Nodes" and len(words) > 1 and words[1].isdecimal():
            hosts = int(words[1])
            continue
        match = CONNECTION.fullmatch(line.strip())
        if match is None:
            place = f"{file}:{number}"
            form = "SOURCE->DESTINATION start MICROSECONDS size BYTES"
            raise ValidationError(f"{place}: expected {form}, got {line.strip()!r}", place=place)
        source, destination, start, size = (int(text) for text in match.groups())
        connections.append(Connection(source=source, destination=destination, start_us=start, size=size))
    if not connections or not hosts:
        raise ValidationError(f"{file}: has no flows, or no line `Nodes N`", place=os.fspath(file))
    return hosts, tuple(connections)


def _paths(file: Path) -> dict[tuple[int, str], tuple[str, ...]]:
    """Read the output queues of flows, by the place of the flow and the kind of its packets."""
    by_flow: dict[tuple[int, str], list[str]] = {}
    for cells in cells_of(file, PATH_COLUMNS):
        number = cells.number("flow_id") - FIRST_FLOW
        by_flow.setdefault((number // 2, cells["kind"]), []).append(cells["queue"])
    return {key: tuple(queues) for key, queues in by_flow.items()}

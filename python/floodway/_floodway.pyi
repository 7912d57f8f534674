"""The simulator's native module: conversions between Rust and Python, without rules of the simulation."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final

__all__ = [
    "Ack",
    "Check",
    "Cnp",
    "Column",
    "CriticalPath",
    "Flow",
    "Hop",
    "Loss",
    "Packet",
    "Plan",
    "Port",
    "Progress",
    "Queue",
    "Ranks",
    "Records",
    "Scenario",
    "Sent",
    "Table",
    "Why",
    "__version__",
    "catalog_json",
    "check",
    "critical_path",
    "export_goal",
    "import_hpcc",
    "import_job",
    "interface_bits",
    "occupied_bytes",
    "parse_file",
    "parse_json",
    "parse_mutants",
    "parse_study",
    "parse_text",
    "parse_unit",
    "pfc_bytes_until_heeded",
    "pfc_utilisation",
    "queue_states",
    "register_congestion_point",
    "register_rate_control",
    "run",
    "schema_json",
    "study_catalog_json",
    "study_schema_json",
    "waiting",
    "why",
]

__version__: str

@final
class Scenario:
    """A parsed and valid scenario; immutable."""

    @property
    def name(self) -> str:
        """Its file's name without the ending, or the name given with its text."""
    @property
    def file(self) -> str:
        """Its file, or the name given with its text, as messages show it."""
    @property
    def seed(self) -> int:
        """Seed of all random streams and of the order of ties."""
    @property
    def limit_us(self) -> float:
        """The maximum simulated time, in microseconds."""
    @property
    def arrivals_end_us(self) -> float:
        """The latest start of a measured flow, in microseconds."""
    @property
    def origin_ns(self) -> int:
        """Time 0 on the clock of the simulator whose files it reads, in nanoseconds."""
    @property
    def warnings(self) -> list[str]:
        """Warnings about valid settings that are seldom intended, one per line."""
    @property
    def resolved_json(self) -> str:
        """The whole scenario with defaults, as JSON."""
    @property
    def written_json(self) -> str:
        """The scenario as it was written, as JSON."""
    def written_toml(self) -> str:
        """The scenario as it was written, as TOML text."""
    def replaced(
        self, keys_json: str, *, sets: Sequence[tuple[str, str]], tables: Callable[[Path], str]
    ) -> Scenario:
        """The same scenario with other values for keys of the top level, then for paths of keys."""
    @property
    def mtu_bytes(self) -> int:
        """Payload of a full packet, in bytes."""
    @property
    def offered_gbps(self) -> list[tuple[str, float | None]]:
        """Name and offered load of each workload; the load, in Gbit/s, only for Poisson arrivals."""
    @property
    def nodes(self) -> list[tuple[str, bool]]:
        """Its nodes in order: names, and whether each is a switch."""
    def pair_times(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[int, int, int] | None]:
        """Propagation, payload (ns) and the lowest rate (bit/s) one way between pairs of hosts.

        None for a pair without a path from one to the other.
        """
    def with_seed(self, seed: int) -> Scenario:
        """The same scenario with another seed."""

@final
class Check:
    """The result of building a scenario without running it."""

    @property
    def text(self) -> str:
        """Report for users."""
    @property
    def json(self) -> str:
        """Report for programs."""

@final
class Ranks:
    """A process among those that MPI has started: this one."""

    def __new__(cls) -> Ranks: ...
    @staticmethod
    def is_built() -> bool:
        """Whether this module was built with MPI."""
    @property
    def rank(self) -> int:
        """The number of this process, from 0."""
    @property
    def count(self) -> int:
        """How many processes there are."""
    def agree(self, text: str | None) -> list[str | None]:
        """Return the texts of all processes, of which this one has `text`; all call it alike."""
    def finish(self) -> None:
        """Disconnect, when all processes are done."""
    def abort(self, code: int) -> None:
        """End all processes at once, this one with `code`."""

@final
class Progress:
    """Progress of a run, shared with its observer."""

    def __new__(cls) -> Progress: ...
    @property
    def time_us(self) -> float:
        """Simulated microseconds so far."""
    @property
    def flows_done(self) -> int:
        """Flows finished so far."""
    @property
    def flows_started(self) -> int:
        """Flows started so far."""
    @property
    def packet_hops(self) -> int:
        """Packets received over a link so far, data and replies alike."""
    @property
    def share(self) -> float:
        """How far the run is, from 0 to 1; it never goes back."""
    @property
    def by_work(self) -> bool:
        """Whether that is by its work, not by the simulated time of its limit."""
    @property
    def bytes(self) -> tuple[int, int]:
        """Payload of its lists and loops that has arrived, and all of it."""
    @property
    def operations(self) -> tuple[int, int]:
        """Operations of its jobs that are complete, and all of them."""
    @property
    def is_stopping(self) -> bool:
        """Whether the run was requested to end."""
    def stop(self) -> None:
        """Request the run to end within a fraction of a second and to return its complete records."""

    def stop_if_short_of_memory(self) -> None:
        """Request the run to end if there is hardly any memory left; it returns no records then."""

@final
class Plan:
    """The plan of a run of a scenario, with its cost."""

    def __new__(
        cls, scenario: Scenario, *, threads: int | None = None, force: bool = False, ranks: int = 1
    ) -> Plan: ...
    @property
    def ranks(self) -> int:
        """Number of processes of the run."""
    @property
    def lookahead_us(self) -> float:
        """Simulated time in which nothing reaches another process; infinite where nothing ever does."""
    @property
    def threads(self) -> int:
        """Number of threads of the run."""
    @property
    def threads_why(self) -> str | None:
        """The reason why not more, if the scenario has one."""
    @property
    def cost_json(self) -> str:
        """Its estimated cost, as JSON."""
    @property
    def too_large(self) -> str | None:
        """The reason why it needs more memory than there is, if so."""

@final
class Column:
    """A named column, whose values are in Rust's memory."""

    @property
    def name(self) -> str:
        """Name in files; its suffix is the unit."""
    @property
    def kind(self) -> Literal["u64", "f64", "bool", "text"]:
        """Type of the values: u64, f64 (NaN for none), u8 for bool, u32 codes for text."""
    @property
    def dictionary(self) -> list[str]:
        """Texts of the codes of a text column; empty for the others."""
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Its values by Arrow's C data interface, without a copy: u8 for bool, u32 codes for text."""

@final
class Table:
    """Columns of one length."""

    @property
    def columns(self) -> list[Column]:
        """Its columns, in order."""

@final
class Records:
    """All records of a run."""

    @property
    def flows(self) -> Table:
        """One row per flow."""
    @property
    def latency(self) -> Table:
        """One row per workload, component and bucket of packet delay."""
    @property
    def series(self) -> Table:
        """One row per watched object, metric and time bucket."""
    @property
    def counters(self) -> Table:
        """One row per port and class."""
    @property
    def pauses(self) -> Table | None:
        """One row per pause or resume as it was received, if the scenario requests them."""
    @property
    def signals(self) -> Table | None:
        """One row per mark, CNP or change of state of a congestion point, if the scenario requests them."""
    @property
    def allowances(self) -> Table | None:
        """One row per change of a sender's allowance, if the scenario requests them."""
    @property
    def shares(self) -> Table | None:
        """One row per chosen port, bucket of time and flow, if the scenario requests them."""
    @property
    def queue_histogram(self) -> Table | None:
        """One row per switch's egress port and bin of queue length, if the scenario requests them."""
    @property
    def operations(self) -> Table | None:
        """One row per operation of a rank that is complete, if there are jobs."""
    @property
    def capture(self) -> bytes | None:
        """Captured frames as a pcapng file; none without a capture."""
    @property
    def outcome_json(self) -> str:
        """Verdicts and totals, as JSON."""
    @property
    def threads(self) -> int:
        """Number of threads of the run; no other record depends on it."""
    @property
    def threads_why(self) -> str | None:
        """The reason why not more, if the scenario has one."""
    @property
    def ranks(self) -> int:
        """Number of processes of the run; no other record depends on it."""

@final
class Why:
    """The breakdown of a flow's completion time."""

    @property
    def start_ps(self) -> int:
        """Its start, in picoseconds."""
    @property
    def fct_ps(self) -> int:
        """Time from its start to its completion at the receiver, in picoseconds."""
    @property
    def ideal_ps(self) -> int:
        """Completion time of the flow alone, in picoseconds."""
    @property
    def parts(self) -> Table:
        """One row per cause, port and origin; the rows add up to `fct_ps`."""
    @property
    def sent(self) -> Table:
        """Payload by the time at which it left the NIC, retransmissions included, in buckets of one width."""

def parse_file(
    path: str | PathLike[str], *, sets: Sequence[tuple[str, str]], tables: Callable[[Path], str]
) -> Scenario:
    """Read a scenario's file, with values that replace those of the file.

    `tables` returns the rows of files that are not text as CSV.
    """

def parse_text(
    name: str, text: str, *, sets: Sequence[tuple[str, str]], tables: Callable[[Path], str]
) -> Scenario:
    """Read a scenario from its text, as `parse_file` does."""

def parse_json(
    name: str,
    json: str,
    *,
    sets: Sequence[tuple[str, str]],
    tables: Callable[[Path], str],
    folder: str | PathLike[str] | None = None,
) -> Scenario:
    """Read a scenario from JSON of the same form, as `parse_text` does; paths start at `folder`."""

def import_hpcc(
    path: str | PathLike[str], *, to: str | PathLike[str] | None = None
) -> tuple[str, Path, list[str]]:
    """Read a configuration of the HPCC simulator as a scenario's text, its folder, and warnings."""

def import_job(
    kind: str,
    files: Sequence[str | PathLike[str]],
    *,
    keys: Sequence[tuple[str, str]],
    topology: str | None,
    network: str | PathLike[str] | None,
    gpu_nodes: str | None,
    config: str | PathLike[str] | None,
    rate: str,
    delay: str,
    to: str | PathLike[str],
) -> tuple[str, list[str]]:
    """Read the files of a job as a scenario's text, whose relative paths start at `to`, and warnings."""

def export_goal(
    scenario: Scenario, write: Callable[[str], object], *, workload: str | None = None
) -> list[str]:
    """Write a job as GOAL, part by part; return what GOAL cannot express."""

def pfc_utilisation(drain: float, *, xoff_bytes: float, round_trip_bytes: float) -> float:
    """Return the share of its rate that PFC lets a long link carry, from 0 to 1."""

def interface_bits(rate_bps: int) -> int | None:
    """Return the most that an interface of this rate takes, out and in, in bit times."""

def pfc_bytes_until_heeded(*, rate_bps: int, delay_ps: int, react_ps: int, mtu_frame_bytes: int) -> int:
    """Return the bytes of a link's time from a decision to pause to the first moment that obeys it."""

def occupied_bytes(
    wire_bytes: int, *, cell_bytes: int, mtu_frame_bytes: int, mix_bytes: Sequence[int]
) -> int:
    """Return the most bytes of a buffer that frames occupy which begin in so many bytes of a link's time.

    The frames are those of the mix, in this order, from the worst of them on; of any size, if it is empty.
    """

def queue_states() -> list[tuple[str, list[str]]]:
    """The queue states of each congestion point, by name, if it has any."""

def schema_json() -> str:
    """The grammar of scenarios as JSON Schema."""

def parse_study(name: str, text: str, *, folder: Path) -> str:
    """Read a study from its text, as JSON, with `like` and readings applied."""

def parse_mutants(name: str, text: str) -> str:
    """Read the mutants of a paper from their text, as JSON."""

def study_catalog_json() -> str:
    """Kinds of metrics, and formulas with their arguments, as JSON."""

def study_schema_json() -> str:
    """The grammar of studies as JSON Schema."""

def catalog_json() -> str:
    """The names that a scenario can use, as JSON."""

def check(scenario: Scenario, *, resolved: bool = False) -> Check:
    """Build a scenario without running it; `resolved` adds the final settings of every object."""

def run(scenario: Scenario, *, progress: Progress, plan: Plan, ranks: Ranks | None = None) -> Records | None:
    """Build and run a scenario as planned; the interpreter lock is released meanwhile.

    In several processes that are connected as `ranks`, the first one has the records of all.
    """

def why(scenario: Scenario, flows: Sequence[tuple[str, str, int]], *, progress: Progress) -> list[Why | None]:
    """Run a scenario until some flows are complete, and break down the completion time of each.

    None for one that is not complete at the end, or if the run was interrupted. Flows are given by workload,
    source and number, each once. The interpreter lock is released meanwhile.
    """

def waiting(scenario: Scenario, flow: tuple[str, str, int], *, progress: Progress) -> str | None:
    """Run a scenario to its end, and say what the sender of a flow waits for then.

    None if it has not started, is complete, or there is no such flow. The flow is given by workload, source
    and number; the interpreter lock is released meanwhile.
    """

@final
class CriticalPath:
    """The critical path of a collective or an iteration."""

    @property
    def start_ps(self) -> int:
        """The start at the first rank, in picoseconds."""
    @property
    def end_ps(self) -> int:
        """The end at the last rank, in picoseconds."""
    @property
    def steps(self) -> Table | None:
        """One row per step, from start to end; none if what ranks logged did not fit."""
    @property
    def parts(self) -> Table:
        """One row per part of a step."""

def critical_path(
    scenario: Scenario,
    workload: str,
    *,
    iteration: int,
    call: tuple[int, int] | None,
    from_ps: int,
    progress: Progress,
) -> CriticalPath | None:
    """Run a scenario until a collective or an iteration is complete, and find its critical path.

    None if it is not complete at the end, or was interrupted. The interpreter lock is released meanwhile.
    """

@final
class Flow:
    """The constant properties of a queue pair, at the start of its rate control."""

    @property
    def name(self) -> str:
        """Name of its first flow in results, `WORKLOAD:SOURCE:NUMBER`; empty outside a run."""

    @property
    def line_rate_bps(self) -> int:
        """Rate of the sender's NIC, in bit/s."""

    @property
    def path_rate_bps(self) -> int:
        """Lowest rate on the path, in bit/s."""

    @property
    def base_rtt_ps(self) -> int:
        """Round-trip time without queues, in picoseconds."""

    @property
    def bdp_bytes(self) -> int:
        """Capacity of the path in that time, in bytes."""

    @property
    def mtu_bytes(self) -> int:
        """Payload of a full packet, in bytes."""

    @property
    def wire_bytes(self) -> int:
        """Size of a full packet on the link, in bytes."""

    @property
    def lossless(self) -> bool:
        """Whether none of its packets can be lost on its path."""

@final
class Ack:
    """An acknowledgement."""

    @property
    def now_ps(self) -> int:
        """Time of its arrival, in picoseconds."""

    @property
    def acked_bytes(self) -> int:
        """Payload newly acknowledged, in bytes."""

    @property
    def next(self) -> int:
        """All packets before this number are acknowledged."""

    @property
    def sent(self) -> int:
        """Number of the next packet to send, new or again."""

    @property
    def rtt_ps(self) -> int:
        """Time from the data packet's start on the wire to now, in picoseconds."""

    @property
    def in_flight_bytes(self) -> int:
        """Payload in flight, in bytes."""

    @property
    def marked(self) -> bool:
        """Whether the data packet was marked CE."""

    @property
    def undetermined(self) -> bool:
        """Whether the data packet was marked UE (TCD)."""

    @property
    def hops(self) -> list[Hop]:
        """Telemetry of each hop, if the class needs `"int"`."""

@final
class Hop:
    """A hop of in-band telemetry."""

    @property
    def rate_bps(self) -> int:
        """Rate of its link, in bit/s."""

    @property
    def time_ps(self) -> int:
        """Time at which the packet left, in picoseconds."""

    @property
    def tx_bytes(self) -> int:
        """Bytes that the port sent before it."""

    @property
    def queue_bytes(self) -> int:
        """Bytes left in the port's queues."""

@final
class Cnp:
    """A CNP from a receiver or a switch."""

    @property
    def now_ps(self) -> int:
        """Time of its arrival, in picoseconds."""

    @property
    def marked(self) -> bool:
        """Whether it reports a mark CE."""

    @property
    def undetermined(self) -> bool:
        """Whether it reports a mark UE (TCD)."""

    @property
    def window_bytes(self) -> int | None:
        """The window to use, in bytes, if it has one."""

    @property
    def rate_bps(self) -> int | None:
        """The rate to use, in bit/s, if it has one."""

    @property
    def degree(self) -> float:
        """A weight."""

@final
class Loss:
    """A loss, as the sender detects it."""

    @property
    def now_ps(self) -> int:
        """Time of its detection, in picoseconds."""

    @property
    def lost_bytes(self) -> int:
        """Payload that will be retransmitted, in bytes."""

    @property
    def by_timeout(self) -> bool:
        """Whether a timer detected it, and not a reply."""

@final
class Sent:
    """A data packet that starts on the wire."""

    @property
    def now_ps(self) -> int:
        """The time, in picoseconds."""

    @property
    def wire_bytes(self) -> int:
        """Size on the link, in bytes."""

@final
class Port:
    """The constant properties of an egress port, at the start of its congestion point."""

    @property
    def name(self) -> str:
        """Name in results; empty outside a run."""

    @property
    def rate_bps(self) -> int:
        """Rate, in bit/s."""

    @property
    def delay_ps(self) -> int:
        """Delay of its link, in picoseconds."""

    @property
    def mtu_bytes(self) -> int:
        """Size of the largest frame in buffers, in bytes."""

    @property
    def wire_bytes(self) -> int:
        """Size of the largest frame on the link, in bytes."""

@final
class Packet:
    """A packet at an egress port."""

    @property
    def now_ps(self) -> int:
        """The time, in picoseconds."""

    @property
    def flow(self) -> int:
        """Number of its flow, for `send_cnp`; it may be another flow's number later."""

    @property
    def priority(self) -> int:
        """Its class; control is 6."""

    @property
    def frame_bytes(self) -> int:
        """Size in buffers, in bytes."""

    @property
    def wire_bytes(self) -> int:
        """Size on the link, in bytes."""

    @property
    def ecn_capable(self) -> bool:
        """Whether it may be marked."""

    @property
    def is_reply(self) -> bool:
        """Whether it is a reply to data: an ACK or NAK."""

    @property
    def marked(self) -> bool:
        """Whether it is already marked CE."""

    @property
    def undetermined(self) -> bool:
        """Whether it is already marked UE (TCD)."""

    @property
    def source(self) -> int:
        """Number of the host that sent it."""

    @property
    def destination(self) -> int:
        """Number of the host that receives it."""

@final
class Queue:
    """A queue of an egress port."""

    @property
    def now_ps(self) -> int:
        """The time, in picoseconds."""

    @property
    def priority(self) -> int:
        """Its class."""

    @property
    def len_bytes(self) -> int:
        """Number of bytes that wait in it."""

    @property
    def rate_bps(self) -> int:
        """Rate of its port, in bit/s."""

    @property
    def paused(self) -> bool:
        """Whether the downstream has paused it."""

def parse_unit(kind: str, text: str) -> int:
    """The value of a text with a unit, in picoseconds (`Duration`), bytes (`Size`) or bit/s (`Rate`)."""

def register_congestion_point(name: str, head: str, class_: type, described: dict[str, Any]) -> None:
    """Register a class as a congestion point of scenarios; `head` is its page."""

def register_rate_control(name: str, head: str, class_: type, described: dict[str, Any]) -> None:
    """Register a class as a rate control of scenarios; `head` is its page."""

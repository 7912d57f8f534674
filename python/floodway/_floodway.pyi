"""The simulator's native half: conversions between Rust and Python, no rule of the simulation."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final

__all__ = [
    "Ack",
    "Check",
    "Cnp",
    "Column",
    "Flow",
    "Hop",
    "Loss",
    "Packet",
    "Plan",
    "Port",
    "Progress",
    "Queue",
    "Records",
    "Scenario",
    "Sent",
    "Table",
    "Why",
    "__version__",
    "catalog_json",
    "check",
    "import_hpcc",
    "parse_file",
    "parse_json",
    "parse_text",
    "parse_unit",
    "pfc_utilisation",
    "queue_states",
    "register_congestion_point",
    "register_rate_control",
    "run",
    "schema_json",
    "why",
]

__version__: str

@final
class Scenario:
    """A scenario that was parsed and found valid; immutable."""

    @property
    def name(self) -> str:
        """Its file's name without the ending, or the name given with its text."""
    @property
    def file(self) -> str:
        """Its file, or the name given with its text: what messages call it."""
    @property
    def seed(self) -> int:
        """What seeds every random stream and tie."""
    @property
    def limit_us(self) -> float:
        """The run never simulates more, in microseconds."""
    @property
    def arrivals_end_us(self) -> float:
        """When the last measured flow may start, in microseconds."""
    @property
    def origin_ns(self) -> int:
        """What time 0 is on the clock of the simulator whose files it reads, in nanoseconds."""
    @property
    def warnings(self) -> list[str]:
        """What is allowed but seldom meant, a line each."""
    @property
    def resolved_json(self) -> str:
        """The whole scenario after defaults, as JSON."""
    @property
    def written_json(self) -> str:
        """The scenario as it was written, as JSON."""
    def written_toml(self) -> str:
        """The scenario as it was written, as TOML text."""
    def replaced(
        self, keys_json: str, *, sets: Sequence[tuple[str, str]], tables: Callable[[Path], str]
    ) -> Scenario:
        """The same scenario with other values for keys of the top level, then of paths of keys."""
    @property
    def mtu_bytes(self) -> int:
        """Payload of a full packet, in bytes."""
    @property
    def offered_gbps(self) -> list[tuple[str, float | None]]:
        """Of each workload its name and, of Poisson arrivals, what they offer, in Gbit/s."""
    @property
    def nodes(self) -> list[tuple[str, bool]]:
        """Its nodes in order: names, and whether each is a switch."""
    def pair_times(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[int, int, int] | None]:
        """Propagation, payload (ns) and the lowest rate (bit/s) one way between pairs of hosts.

        None stands for a pair without a way from one to the other.
        """
    def with_seed(self, seed: int) -> Scenario:
        """The same scenario with another seed."""

@final
class Check:
    """What a scenario comes to when it is built but not run."""

    @property
    def text(self) -> str:
        """For people."""
    @property
    def json(self) -> str:
        """For programs."""

@final
class Progress:
    """Shared between a run and whoever watches it."""

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
    def is_stopping(self) -> bool:
        """The run was asked to end."""
    def stop(self) -> None:
        """Ask the run to end within a fraction of a second and to hand out what is complete."""

    def stop_if_short_of_memory(self) -> None:
        """Ask the run to end if there is hardly any memory left; it hands out nothing then."""

@final
class Plan:
    """How a run of a scenario is to be done, and what it comes to."""

    def __new__(cls, scenario: Scenario, *, threads: int | None = None, force: bool = False) -> Plan: ...
    @property
    def threads(self) -> int:
        """On how many threads it will run."""
    @property
    def threads_why(self) -> str | None:
        """Why not on more, where there is a reason in the scenario."""
    @property
    def cost_json(self) -> str:
        """What it comes to, about, as JSON."""
    @property
    def too_large(self) -> str | None:
        """Why it needs more memory than there is, if so."""

@final
class Column:
    """A named column, whose values Rust holds."""

    @property
    def name(self) -> str:
        """Name, as files show it; its suffix is the unit."""
    @property
    def kind(self) -> Literal["u64", "f64", "bool", "text"]:
        """What the values are: u64, f64 (NaN for none), u8 for bool, u32 codes for text."""
    @property
    def dictionary(self) -> list[str]:
        """What the codes of a text column mean; empty for the others."""
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Its values by Arrow's C data interface, where they lie: u8 for bool, u32 codes for text."""

@final
class Table:
    """Columns of one length."""

    @property
    def columns(self) -> list[Column]:
        """Its columns, in order."""

@final
class Records:
    """Everything that a run keeps."""

    @property
    def flows(self) -> Table:
        """One row a flow."""
    @property
    def latency(self) -> Table:
        """One row a workload, component and bucket of packet delay."""
    @property
    def series(self) -> Table:
        """One row a watched object, metric and time bucket."""
    @property
    def counters(self) -> Table:
        """One row a port and class."""
    @property
    def pauses(self) -> Table | None:
        """One row a pause or resume as it was received, where the scenario asks for them."""
    @property
    def signals(self) -> Table | None:
        """One row a mark, CNP or change of state of a congestion point, where the scenario asks for them."""
    @property
    def allowances(self) -> Table | None:
        """One row each time that a sender's allowance changed, where the scenario asks for them."""
    @property
    def shares(self) -> Table | None:
        """One row a chosen port, bucket of time and flow, where the scenario asks for them."""
    @property
    def queue_histogram(self) -> Table | None:
        """One row a switch's egress port and bin of queue length, where the scenario asks for them."""
    @property
    def capture(self) -> bytes | None:
        """Captured frames as a pcapng file; none where nothing was to be captured."""
    @property
    def outcome_json(self) -> str:
        """Verdicts and totals, as JSON."""
    @property
    def threads(self) -> int:
        """On how many threads it ran; nothing else that is kept depends on it."""
    @property
    def threads_why(self) -> str | None:
        """Why not on more, where there is a reason in the scenario."""

@final
class Why:
    """A flow's completion time, taken apart."""

    @property
    def start_ps(self) -> int:
        """When it started."""
    @property
    def fct_ps(self) -> int:
        """From its start to its completion at the receiver."""
    @property
    def ideal_ps(self) -> int:
        """What it would have taken alone."""
    @property
    def parts(self) -> Table:
        """One row a cause, port and origin: they add up to `fct_ps`."""

def parse_file(
    path: str | PathLike[str], *, sets: Sequence[tuple[str, str]], tables: Callable[[Path], str]
) -> Scenario:
    """Read a scenario's file, with values that replace those of the file.

    `tables` gives the rows of files that are not text as CSV.
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
    """Read a scenario from JSON of the same form, as `parse_text` does; paths begin at `folder`."""

def import_hpcc(
    path: str | PathLike[str], *, to: str | PathLike[str] | None = None
) -> tuple[str, Path, list[str]]:
    """Read a configuration of the HPCC simulator as a scenario's text, its folder, and warnings."""

def pfc_utilisation(drain: float, *, xoff_bytes: float, round_trip_bytes: float) -> float:
    """Return the share of its rate that PFC lets a long link carry, from 0 to 1."""

def queue_states() -> list[tuple[str, list[str]]]:
    """Of each congestion point by name the states that it gives to queues, where it gives any."""

def schema_json() -> str:
    """The grammar of scenarios as JSON Schema."""

def catalog_json() -> str:
    """What a scenario can name, as JSON."""

def check(scenario: Scenario, *, resolved: bool = False) -> Check:
    """Build a scenario without running it; `resolved` adds what every object ended up with."""

def run(scenario: Scenario, *, progress: Progress, plan: Plan) -> Records:
    """Build and run a scenario as planned; the interpreter lock is released meanwhile."""

def why(scenario: Scenario, flow: tuple[str, str, int], *, progress: Progress) -> Why | None:
    """Run a scenario until a flow is complete, and take its completion time apart.

    None where it is not complete at the end, or was interrupted. The interpreter lock is released meanwhile.
    """

@final
class Flow:
    """A queue pair as its rate control begins: what is fixed about it."""

    @property
    def name(self) -> str:
        """Its first flow as results name it, `WORKLOAD:SOURCE:NUMBER`; empty where nothing runs yet."""

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
        """What the path holds in that time, in bytes."""

    @property
    def mtu_bytes(self) -> int:
        """Payload of a full packet, in bytes."""

    @property
    def wire_bytes(self) -> int:
        """A full packet on the link, in bytes."""

    @property
    def lossless(self) -> bool:
        """No packet of it can be lost on its path."""

@final
class Ack:
    """An acknowledgement."""

    @property
    def now_ps(self) -> int:
        """When it arrived, in picoseconds."""

    @property
    def acked_bytes(self) -> int:
        """Payload newly acknowledged, in bytes."""

    @property
    def next(self) -> int:
        """All packets before this number are acknowledged."""

    @property
    def sent(self) -> int:
        """Number of the packet that is sent next, new or again."""

    @property
    def rtt_ps(self) -> int:
        """From the data packet's start on the wire to now, in picoseconds."""

    @property
    def in_flight_bytes(self) -> int:
        """Payload in flight, in bytes."""

    @property
    def marked(self) -> bool:
        """The data packet was marked CE."""

    @property
    def undetermined(self) -> bool:
        """The data packet was marked UE (TCD)."""

    @property
    def hops(self) -> list[Hop]:
        """Of each hop, where the class needs `"int"`."""

@final
class Hop:
    """A hop of in-band telemetry."""

    @property
    def rate_bps(self) -> int:
        """Rate of its link, in bit/s."""

    @property
    def time_ps(self) -> int:
        """When the packet left, in picoseconds."""

    @property
    def tx_bytes(self) -> int:
        """Sent by the port before it, in bytes."""

    @property
    def queue_bytes(self) -> int:
        """Left behind in the port's queues, in bytes."""

@final
class Cnp:
    """A CNP, whoever made it."""

    @property
    def now_ps(self) -> int:
        """When it arrived, in picoseconds."""

    @property
    def marked(self) -> bool:
        """It tells of a mark CE."""

    @property
    def undetermined(self) -> bool:
        """It tells of a mark UE (TCD)."""

    @property
    def window_bytes(self) -> int | None:
        """The window to use, in bytes, if it says one."""

    @property
    def rate_bps(self) -> int | None:
        """The rate to use, in bit/s, if it says one."""

    @property
    def degree(self) -> float:
        """A weight."""

@final
class Loss:
    """A loss, as the sender learns of it."""

    @property
    def now_ps(self) -> int:
        """When it learned of it, in picoseconds."""

    @property
    def lost_bytes(self) -> int:
        """Payload that will be sent again, in bytes."""

    @property
    def by_timeout(self) -> bool:
        """Found by a timer rather than by a reply."""

@final
class Sent:
    """A data packet that starts on the wire."""

    @property
    def now_ps(self) -> int:
        """When, in picoseconds."""

    @property
    def wire_bytes(self) -> int:
        """On the link, in bytes."""

@final
class Port:
    """An egress port as its congestion point begins: what is fixed about it."""

    @property
    def name(self) -> str:
        """As results name it; empty where nothing runs yet."""

    @property
    def rate_bps(self) -> int:
        """In bit/s."""

    @property
    def delay_ps(self) -> int:
        """Delay of its link, in picoseconds."""

    @property
    def mtu_bytes(self) -> int:
        """The largest frame as buffers hold it, in bytes."""

    @property
    def wire_bytes(self) -> int:
        """The largest frame on the link, in bytes."""

@final
class Packet:
    """A packet at an egress port."""

    @property
    def now_ps(self) -> int:
        """The time, in picoseconds."""

    @property
    def flow(self) -> int:
        """A number that stands for its flow, as `send_cnp` takes it; another flow may have it later."""

    @property
    def priority(self) -> int:
        """The class that it bears; control is 6."""

    @property
    def frame_bytes(self) -> int:
        """As buffers hold it, in bytes."""

    @property
    def wire_bytes(self) -> int:
        """On the link, in bytes."""

    @property
    def ecn_capable(self) -> bool:
        """May be marked."""

    @property
    def is_reply(self) -> bool:
        """Answers data: an ACK or NAK."""

    @property
    def marked(self) -> bool:
        """Is marked CE already."""

    @property
    def undetermined(self) -> bool:
        """Is marked UE already (TCD)."""

    @property
    def source(self) -> int:
        """A number that stands for the host that sent it."""

    @property
    def destination(self) -> int:
        """A number that stands for the host that receives it."""

@final
class Queue:
    """A queue of an egress port."""

    @property
    def now_ps(self) -> int:
        """The time, in picoseconds."""

    @property
    def priority(self) -> int:
        """The class whose queue it is."""

    @property
    def len_bytes(self) -> int:
        """Bytes that wait in it."""

    @property
    def rate_bps(self) -> int:
        """Rate of its port, in bit/s."""

    @property
    def paused(self) -> bool:
        """The downstream has paused it."""

def parse_unit(kind: str, text: str) -> int:
    """What a text with a unit comes to, in picoseconds (`Duration`), bytes (`Size`) or bit/s (`Rate`)."""

def register_congestion_point(name: str, head: str, class_: type, described: dict[str, Any]) -> None:
    """Makes a class a congestion point of scenarios; `head` is its page."""

def register_rate_control(name: str, head: str, class_: type, described: dict[str, Any]) -> None:
    """Makes a class a rate control of scenarios; `head` is its page."""

"""Minimal cases of what floodway does otherwise than three simulators, for the page on validation.

`python tests/semantics.py docs/validation.md` writes their table into the page, from runs of
`scenarios/semantics/`.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import floodway

if TYPE_CHECKING:
    from collections.abc import Callable

    from floodway import Result

__all__ = ["BEGIN", "CASES", "END", "SCENARIOS", "Case", "results_of", "table", "written"]

ROOT = Path(__file__).parent.parent
SCENARIOS = ROOT / "scenarios" / "semantics"
BEGIN, END = "<!-- begin: semantics -->", "<!-- end: semantics -->"
HEAD = (
    "option",
    "floodway's default, and why",
    "minimal case",
    "result with floodway's default",
    "result with the simulator's",
)


def slowest(result: Result) -> str:
    """Return the longest time from a start to the last ACK."""
    return _ns(max(_times(result)))


def each(result: Result) -> str:
    """Return the time from start to last ACK of every flow, in the order of the flows."""
    return "; ".join(_ns(time).removesuffix(" ns") for time in _times(result)) + " ns"


def pauses(result: Result) -> str:
    return f"{result.counters['pfc_tx'].sum()} PFC frames, {slowest(result)}"


def paused(result: Result) -> str:
    """Return for how long ports were paused, all together."""
    return f"{_ns(float(result.counters['paused_us'].sum()))} paused"


def losses(result: Result) -> str:
    return f"{result.counters['drops_buffer'].sum()} packets lost, {slowest(result)}"


def marks(result: Result) -> str:
    return f"{result.counters['ecn_marks'].sum()} marks, {slowest(result)}"


def notifications(result: Result) -> str:
    return f"{result.flows['cnps'].sum()} CNP frames, {slowest(result)}"


def spines(result: Result) -> str:
    """Return how many frames, data and ACKs, went through each spine."""
    at = result.counters.with_columns(pl.col("node").cast(pl.String)).filter(
        pl.col("node").is_in(["c1", "c2"])
    )
    sent = at.group_by("node").agg(pl.col("tx_packets").sum()).sort("node")
    return ", ".join(f"{node} {packets}" for node, packets in sent.iter_rows()) + " frames"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A scenario, and the one option that is set in it as the simulator has it."""

    file: str
    key: str
    value: str
    own: str
    metric: Callable[[Result], str]


CASES = (
    Case(
        file="rounding",
        key="semantics.rounding",
        value="hpcc-ns3",
        own="`picosecond`: links have their exact rate; in that simulator 100G is 1 % too fast, 400G up to "
        "5 %",
        metric=slowest,
    ),
    Case(
        file="acks",
        key="semantics.acks",
        value="data-class",
        own="`control`: ACKs have a class of their own, as NICs are configured; pauses of data do not stop "
        "it",
        metric=each,
    ),
    Case(
        file="release",
        key="semantics.release",
        value="start",
        own="`end`: a packet occupies the buffer until its last bit has left it",
        metric=pauses,
    ),
    Case(
        file="window",
        key="semantics.window",
        value="overshoot",
        own="`whole`: the bytes in flight never exceed the window",
        metric=slowest,
    ),
    Case(
        file="hpcc",
        key="semantics.base-rtt",
        value="payload",
        own="`exact`: the round trip of a full packet and its ACK on an idle path",
        metric=each,
    ),
    Case(
        file="hpcc",
        key="semantics.base-rtt",
        value="one-way",
        own="`exact`: as above; SWING's simulator leaves out the ACK",
        metric=each,
    ),
    Case(
        file="hpcc",
        key="semantics.pacing",
        value="off",
        own="`on`: packets are paced at the rate; `off` is that simulator with `RATE_BOUND 0`",
        metric=each,
    ),
    Case(
        file="dcqcn",
        key="semantics.repacing",
        value="kept",
        own="`moved`: a rate decrease applies from the next packet on; in that simulator, except with HPCC, "
        "from the packet after it",
        metric=each,
    ),
    Case(
        file="rate-timers",
        key="semantics.rate-timers",
        value="silent",
        own="`look`: a packet that a new rate allows is sent at once; in that simulator the NIC waits for "
        "another event",
        metric=each,
    ),
    Case(
        file="turns",
        key="semantics.turns",
        value="hpcc-ns3",
        own="`ring`: round robin stays fair when a flow finishes",
        metric=each,
    ),
    Case(
        file="list",
        key="semantics.turns",
        value="swing-ns3",
        own="`ring`: queue pairs take turns in the order in which they start; in SWING's simulator, in the "
        "order of the flow list",
        metric=each,
    ),
    Case(
        file="ties",
        key="semantics.ties",
        value="scheduling-order",
        own="`hashed`: no host is always first, and results do not depend on threads",
        metric=each,
    ),
    Case(
        file="starts",
        key="semantics.starts",
        value="last",
        own="`first`: a flow precedes the other events of its start time; has an effect only with ties in "
        "scheduling order",
        metric=each,
    ),
    Case(
        file="paths",
        key="semantics.visit",
        value="descending",
        own="`listed`: ports have the order of the topology; in that simulator, of addresses in memory",
        metric=spines,
    ),
    Case(
        file="draws",
        key="semantics.draws",
        value="hpcc-ns3",
        own="`per-node`: the draws of a switch depend neither on other switches nor on threads",
        metric=marks,
    ),
    Case(
        file="draws",
        key="semantics.draws",
        value="swing-ns3",
        own="`per-node`: as above; in SWING's simulator each switch has a stream of ns-3's generator",
        metric=marks,
    ),
    Case(
        file="link-control",
        key="semantics.link-control",
        value="control-class",
        own="`first`: a MAC sends pause frames before all others (IEEE 802.3); in ConWeave's simulator they "
        "wait behind ACKs",
        metric=paused,
    ),
    Case(
        file="check",
        key="defaults.rate-control.dcqcn.timers",
        value="ticking",
        own="`asleep`: at one instant CNPs precede the check; in that simulator the check was scheduled "
        "before that ACK was sent, and precedes it",
        metric=each,
    ),
    Case(
        file="timers",
        key="defaults.rate-control.dcqcn.timers",
        value="ticking",
        own="`asleep`: at one instant the check precedes the increase step; in that simulator the step was "
        "scheduled earlier, and precedes it",
        metric=each,
    ),
    Case(
        file="means",
        key="defaults.rate-control.dcqcn.means",
        value="halves",
        own="`up`: a sender that has recovered is at line rate; in that simulator it stays a bit/s or two "
        "below",
        metric=slowest,
    ),
    Case(
        file="dcqcn",
        key="defaults.rate-control.dcqcn.cnp",
        value="ack-flag",
        own="`packet`: CNPs are frames with a minimum interval, as in DCQCN's paper and in NICs",
        metric=notifications,
    ),
    Case(
        file="pause",
        key="defaults.flow-control.pfc.pause",
        value="on-off",
        own="`timer`: a pause ends after its quanta unless refreshed (IEEE 802.1Qbb)",
        metric=pauses,
    ),
    Case(
        file="headroom",
        key="defaults.flow-control.pfc.headroom",
        value="{ delays = 3 }",
        own="`auto`: the bytes that may arrive by IEEE 802.1Qbb, with a frame in transmission at each end",
        metric=losses,
    ),
)


def results_of(case: Case) -> tuple[str, str]:
    """Run a case as it is, and with the option as the simulator has it."""
    scenario = floodway.load(SCENARIOS / f"{case.file}.toml")
    return (
        case.metric(floodway.run(scenario)),
        case.metric(floodway.run(scenario.replace(sets=[(case.key, case.value)]))),
    )


def table() -> str:
    """Return the table of all cases in Markdown."""
    rows = [
        (
            f"`{case.key.removeprefix('defaults.')} = {case.value}`",
            case.own,
            f"`scenarios/semantics/{case.file}.toml`",
            *results_of(case),
        )
        for case in CASES
    ]
    lines = ["| " + " | ".join(cells) + " |" for cells in (HEAD, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(HEAD), *lines[1:]])


def written(page: str) -> str:
    """Return a page with the table between its marks."""
    marked = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), flags=re.DOTALL)
    return marked.sub(lambda _: f"{BEGIN}\n{table()}\n{END}", page, count=1)


def _times(result: Result) -> list[float]:
    flows = result.flows.sort("flow_id")
    times: list[float] = (flows["finish_sender_us"] - flows["start_us"]).to_list()
    return times


def _ns(time_us: float) -> str:
    return f"{round(time_us * 1000, 2):,.2f}".rstrip("0").rstrip(".") + " ns"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(written(file.read_text(encoding="utf-8")), encoding="utf-8")

"""The breakdown of a flow's completion time by cause and port, to the picosecond.

A run is deterministic, and its results hold its scenario. So the run needs no records for it: the scenario
runs again until the flow is complete, and this time the simulator follows that flow.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import polars as pl

from floodway import _floodway
from floodway.common.documents import time_text
from floodway.common.errors import InputError, OutputError, RunError, ScenarioError, UnknownNameError
from floodway.common.names import nearest, not_a_choice
from floodway.scenarios.own_code import changed, missing
from floodway.scenarios.scenario import Scenario, recorded
from floodway.simulation.run import frame
from floodway.simulation.watching import stopped_by_interrupt, watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from floodway._floodway import Progress
    from floodway.results import Result

__all__ = ["CAUSES", "Part", "Sent", "Why", "by_cause", "chosen", "differs", "is_rank", "run_again"]
__all__ += ["scenario_of", "short_name", "take_apart", "take_each_apart"]

_Found_co = TypeVar("_Found_co", covariant=True)

#: The causes of a completion time, in the order in which they are shown, with their descriptions.
CAUSES = {
    "serialisation": "its data on the wire",
    "propagation": "on its way along links",
    "switching": "passing switches",
    "queueing": "behind other packets",
    "paused": "paused",
    "held-back": "held back by a congestion point",
    "receive-buffer": "in the receive buffer of a slow host",
    "pacing": "waiting for its pacing time",
    "window": "waiting for ACKs",
    "retransmission": "retransmitted, or waiting for that",
    "predecessors": "behind earlier messages of its queue pair",
    "link-down": "cut off by its own link",
}
#: Causes whose port is the NIC of the sender.
AT_NIC = ("predecessors", "link-down")
#: Causes that a flow has even when it is alone in the network.
NEEDED = ("serialisation", "propagation", "switching")
#: The summary names other causes if they take at least one part in so many of the completion time.
LEAST_REST = 100
#: A percentile, such as p99 or p99.9.
PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,6})?)")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a flow's completion time.

    Attributes
    ----------
    cause
        The cause: a key of `CAUSES`.
    port
        The egress port, `link: from>to` as in the table `series`; `None` where the cause has no port.
    origin
        Of pauses: the egress port, or the host, where they began.
    time_ps
        The time, in picoseconds.
    """

    cause: str
    port: str | None
    origin: str | None
    time_ps: int

    @property
    def time_us(self) -> float:
        """The time, in microseconds."""
        return self.time_ps / 1e6


@dataclass(frozen=True, kw_only=True)
class Sent:
    """Bytes that a flow's sender transmitted, retransmissions included, in buckets of equal width.

    Attributes
    ----------
    begin_us
        Begin of each bucket.
    width_us
        Width of a bucket.
    bytes
        Bytes of payload that left the NIC in each bucket.
    """

    begin_us: tuple[float, ...]
    width_us: float
    bytes: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Why:
    """The breakdown of a flow's completion time.

    Attributes
    ----------
    flow_id
        The flow.
    start_us
        When it started.
    fct_ps
        Its completion time, in picoseconds.
    ideal_fct_ps
        Completion time of the flow alone in the network, in picoseconds.
    parts
        The parts, which add up to `fct_ps`; by cause, then by port.
    sent
        Bytes that its sender transmitted over time.
    """

    flow_id: str
    start_us: float
    fct_ps: int
    ideal_fct_ps: int
    parts: tuple[Part, ...]
    sent: Sent

    @property
    def fct_us(self) -> float:
        """Its completion time in microseconds, as the table of flows has it."""
        return self.fct_ps / 1e6

    @property
    def slowdown(self) -> float:
        """Its completion time over the ideal one."""
        return self.fct_ps / max(self.ideal_fct_ps, 1)

    @property
    def frame(self) -> pl.DataFrame:
        """One row a part: `cause`, `port`, `origin`, `time_us`, and its `share` of the completion time."""
        texts = dict.fromkeys(("cause", "port", "origin"), pl.String)
        numbers = dict.fromkeys(("time_us", "share"), pl.Float64)
        rows = [
            (part.cause, part.port, part.origin, part.time_us, part.time_ps / self.fct_ps)
            for part in self.parts
        ]
        return pl.DataFrame(rows, schema={**texts, **numbers}, orient="row")

    def by_cause(self) -> dict[str, tuple[Part, ...]]:
        """Return the parts by cause.

        Returns
        -------
        dict of tuple
            The parts of each cause that has any, in the order of `CAUSES`.
        """
        return by_cause(self.parts, CAUSES)

    def sentence(self) -> str:
        """Summarise the breakdown.

        Returns
        -------
        str
            The largest cause; and if every flow has that cause, also the largest of the others.
        """
        causes = self.by_cause()
        text = self._most(causes, self.fct_ps, time_text(self.fct_us))
        rest = {cause: parts for cause, parts in causes.items() if cause not in NEEDED}
        beyond = sum(map(_sum, rest.values()))
        if _largest_of(causes) in rest or beyond * LEAST_REST < self.fct_ps:
            return text
        return f"{text}. {self._most(rest, beyond, 'the rest')}"

    def _most(self, causes: Mapping[str, tuple[Part, ...]], whole_ps: int, whole: str) -> str:
        cause = _largest_of(causes)
        text = f"{CAUSES[cause]}: {_percent(_sum(causes[cause]), whole_ps)} of {whole}"
        where = self._where(causes[cause], "its NIC, " if cause in AT_NIC else "")
        return text[:1].upper() + text[1:] + where

    def _where(self, parts: tuple[Part, ...], prefix: str) -> str:
        whole = _sum(parts)
        port, at_port = _largest((part.port, part.time_ps) for part in parts)
        if port is None:
            return ""
        share = "" if at_port == whole else f", {_percent(at_port, whole)} of that"
        where = f"{share} at {prefix}{self.short(port)}"
        origin, from_there = _largest((part.origin, part.time_ps) for part in parts)
        if origin is None:
            return where
        some = f"{_percent(from_there, whole)} of the pauses, by time,"
        pauses = "those pauses" if from_there == whole else some
        return f"{where}; {pauses} began at {self.short(origin)}"

    def short(self, name: str) -> str:
        """Return a port's name without that of its link, where no other link has ports of that name.

        Parameters
        ----------
        name
            The port, `link: from>to`.

        Returns
        -------
        str
            `from>to`, or the whole name where that is ambiguous.
        """
        return short_name(name, self.parts)


def by_cause(parts: Sequence[Part], causes: Iterable[str]) -> dict[str, tuple[Part, ...]]:
    """Return the parts of each of these causes that has any."""
    grouped = {cause: tuple(part for part in parts if part.cause == cause) for cause in causes}
    return {cause: of_cause for cause, of_cause in grouped.items() if of_cause}


def take_apart(
    result: Result,
    flow: str,
    *,
    scenario: Scenario | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Why:
    """Break down the completion time of a flow by cause and port; `Result.why` calls it.

    Parameters
    ----------
    result
        The run.
    flow
        A flow, in the forms of `chosen`.
    scenario
        The scenario of the run; by default it is read again from the record of the run.
    on_progress
        As for `floodway.run`.

    Raises
    ------
    UnknownNameError
        If there is no such flow.
    InputError
        If it is not complete.
    RunError
        If the run differs when it is repeated.
    ScenarioError
        If the scenario cannot be read again.
    KeyboardInterrupt
        If Ctrl-C ended it.
    """
    (why,) = take_each_apart(result, [flow], scenario=scenario, on_progress=on_progress)
    return why


def take_each_apart(
    result: Result,
    flows: Sequence[str],
    *,
    scenario: Scenario | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Why]:
    """Break down the completion times of several flows in one repetition of the run.

    Parameters
    ----------
    result
        The run.
    flows
        The flows, each in the forms of `chosen`; no flow twice.
    scenario, on_progress
        As for `take_apart`, whose errors it raises.
    """
    rows = [_row(result, flow) for flow in flows]
    if not rows:
        return []
    if scenario is None:
        scenario = scenario_of(result)
    ids = [(str(row["workload"]), str(row["source"]), int(row["flow_id"].rpartition(":")[2])) for row in rows]
    for row, flow in zip(rows, ids, strict=True):
        if not row["finished"]:
            waiting = run_again(partial(_floodway.waiting, scenario.native, flow), on_progress)
            raise _incomplete(row, waiting)
    whys = run_again(partial(_floodway.why, scenario.native, ids), on_progress) or []
    return [_why(result, row, why) for row, why in zip(rows, whys, strict=True)]


def _row(result: Result, flow: str) -> dict[str, Any]:
    flow_id = chosen(result.flows, flow)
    return result.flows.row(by_predicate=pl.col("flow_id") == flow_id, named=True)


def _incomplete(row: Mapping[str, Any], waiting: str | None) -> InputError:
    """Return the error for a flow that is not complete: how far it is, and what its sender waits for."""
    flow_id = str(row["flow_id"])
    done = f"{row['delivered_bytes']:,} of {row['size_bytes']:,} bytes had arrived"
    more = "" if waiting is None else f"; {waiting}"
    message = f"{flow_id} was not complete when the run ended: {done}{more}"
    return InputError(message, key="flow", given=flow_id)


def _why(result: Result, row: Mapping[str, Any], why: _floodway.Why | None) -> Why:
    """Return the breakdown that the repetition gave, if it agrees with the results."""
    if why is None or (why.start_ps / 1e6, why.fct_ps / 1e6) != (row["start_us"], row["fct_us"]):
        now = None if why is None else why.fct_ps / 1e6
        raise RunError(differs(result, "the flow", was_us=row["fct_us"], now_us=now))
    sent = frame(why.sent)
    return Why(
        flow_id=str(row["flow_id"]),
        start_us=why.start_ps / 1e6,
        fct_ps=why.fct_ps,
        ideal_fct_ps=why.ideal_ps,
        parts=tuple(Part(**part) for part in frame(why.parts).iter_rows(named=True)),
        sent=Sent(
            begin_us=tuple(sent["time_us"]),
            width_us=float(sent["bucket_us"][0]) if len(sent) else 0.0,
            bytes=tuple(sent["bytes"]),
        ),
    )


def chosen(flows: pl.DataFrame, flow: str) -> str:
    """Return the id of the selected flow.

    Parameters
    ----------
    flows
        The table of flows.
    flow
        A `flow_id`; `worst`, the one with the largest slowdown of measured flows; or a percentile such as
        `p99`, the one whose slowdown has that rank. Unfinished flows rank above all others.

    Raises
    ------
    UnknownNameError
        If there is no such flow.
    InputError
        If the flow of that rank is not complete.
    """
    if not isinstance(flow, str):
        raise InputError(f"{flow!r} is not a flow: expected a string", key="flow", given=flow)
    ids = flows["flow_id"].cast(pl.String)
    if flow in ids:
        return flow
    if not is_rank(flow):
        raise _unknown(flows, flow)
    percentile = PERCENTILE.fullmatch(flow)
    measured = flows.filter("measured")
    finished = measured.filter("finished").sort("slowdown", pl.col("flow_id").cast(pl.String))
    rank = len(finished) - 1
    if percentile is not None:
        rank = int(Decimal(percentile[1]) * len(measured) / 100)
    if not 0 <= rank < len(finished):
        problem = "is not reached" if len(finished) else "does not exist"
        complete = f"{len(finished):,} of {len(measured):,} measured flows are complete"
        raise InputError(f"{flow} {problem}: {complete}", key="flow", given=flow)
    return str(finished["flow_id"][rank])


def is_rank(name: str) -> bool:
    """Whether a name is a rank: `worst`, or a percentile."""
    return name == "worst" or PERCENTILE.fullmatch(name) is not None


def scenario_of(result: Result) -> Scenario:
    """Read the scenario of a run again from its record.

    Raises
    ------
    ScenarioError
        If it cannot be read, for example because a file that it names is missing.
    OutputError
        If this version cannot read the record.
    """
    try:
        return recorded(result.run.scenario)
    except ScenarioError as error:
        lacks = missing(result.run.code)
        if lacks is not None:
            raise InputError(f"{result.run.name}: {lacks}", key="--python") from error
        hint = "files of the scenario are looked for as in the run: call this in the same folder"
        last = replace(error.faults[-1], text=f"{error.faults[-1].text}; {hint}")
        raise ScenarioError((*error.faults[:-1], last)) from error
    except (KeyError, TypeError) as error:
        raise OutputError(result.run.name, "has no scenario that this version can read") from error


class _Work(Protocol[_Found_co]):
    """A call of the native module that runs a scenario."""

    def __call__(self, *, progress: Progress) -> _Found_co | None: ...


def run_again(work: _Work[_Found_co], on_progress: Callable[[Progress], None] | None) -> _Found_co | None:
    """Call a function that runs a scenario again; Ctrl-C stops it.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended it.
    """
    progress = _floodway.Progress()
    interrupted: list[bool] = []

    def stop() -> None:
        interrupted.append(True)
        progress.stop()

    with stopped_by_interrupt(stop):
        outcome = watched(partial(work, progress=progress), progress, on_progress)
    if interrupted:
        raise KeyboardInterrupt
    return outcome


def _unknown(flows: pl.DataFrame, flow: str) -> UnknownNameError:
    """Return the error for an unknown flow, with the flows that the run has."""
    ids = flows["flow_id"].cast(pl.String).to_list()
    workload = flow.partition(":")[0]
    alike = [flow_id for flow_id in ids if flow_id.startswith(f"{workload}:")] or ids
    if not alike:
        return UnknownNameError(f"{flow!r} is not a flow: the run has no flows", key="flow", given=flow)
    if ":" not in flow:
        text, near = not_a_choice(flow, noun="a flow", allowed=("a flow_id", "worst", "p0 to p99.999999"))
        return UnknownNameError(f"{text}; a flow_id is {alike[0]!r}", key="flow", given=flow, nearest=near)
    near = nearest(flow, alike)
    hint = f"; did you mean {near!r}?" if near else ""
    of_workload = f" of {workload}" if len(alike) < len(ids) else ""
    span = f"{len(alike):,} flows{of_workload} from {alike[0]!r} to {alike[-1]!r}"
    span = f"{alike[0]!r} alone{of_workload}" if len(alike) == 1 else span
    return UnknownNameError(
        f"{flow!r} is not a flow of this run, which has {span}{hint}", key="flow", given=flow, nearest=near
    )


def differs(result: Result, subject: str, *, was_us: float, now_us: float | None) -> str:
    """Return the text of an error: the repeated run differs from the recorded one, with the likely reason."""
    now = "is not complete" if now_us is None else f"takes {now_us:,.6f} us"
    text = f"{subject} {now} when the scenario runs again, and took {was_us:,.6f} us in these results"
    other = changed(result.run.code)
    if other is not None:
        return f"{text}: {other}"
    wrote, current = result.run.versions.get("floodway"), _floodway.__version__
    if wrote != current:
        return f"{text}: floodway {wrote} wrote them, and this is {current}"
    build = f"another build of floodway {current} wrote them"
    return f"{text}: {build}, or files that the scenario names have changed"


def short_name(name: str, parts: Iterable[Part]) -> str:
    """Return a port's name without that of its link, where no other link has ports of that name.

    Parallel links have such ports, even where `parts` name only one of them.
    """
    ports = {port for part in parts for port in (part.port, part.origin)}
    link, _, direction = name.rpartition(": ")
    alike = {other for other in ports if other is not None and other.rpartition(": ")[2] == direction}
    return direction if alike <= {name} and "#" not in link else name


def _sum(parts: Iterable[Part]) -> int:
    return sum(part.time_ps for part in parts)


def _largest_of(causes: Mapping[str, tuple[Part, ...]]) -> str:
    """Return the cause with the most; the first of several."""
    return max(causes, key=lambda cause: _sum(causes[cause]))


def _largest(times: Iterable[tuple[str | None, int]]) -> tuple[str | None, int]:
    """Return the name with the largest sum of times, and the sum; the first of several."""
    sums: Counter[str | None] = Counter()
    for name, time in times:
        sums[name] += time
    return sums.most_common(1)[0]


def _percent(part: int, whole: int) -> str:
    return f"{part * 100 / whole:.0f} %"

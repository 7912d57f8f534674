"""`floodway report`: a page of one run or several, with everything that it shows as one JSON document."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING, Any

from floodway.common.errors import InputError
from floodway.results.answer import answer as run_answer
from floodway.results.causes import Grid, grid_of
from floodway.results.quantities import counted
from floodway.results.simulated import facts
from floodway.simulation.report.flows import (
    Chosen,
    flows_document,
    jobs_document,
    longest,
    named_flow,
    path_of,
    usual_flows,
    why_document,
    whys_of,
)
from floodway.simulation.report.network import Network, network_of
from floodway.simulation.report.page import packed, page
from floodway.simulation.report.timeline import (
    Frames,
    Steps,
    frames_of,
    marks_document,
    pauses_document,
    states_document,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from floodway.results import Result
    from floodway.simulation.critical_path import CriticalPath
    from floodway.simulation.why import Why

__all__ = ["MOST_RUNS", "report"]

#: Steps of loads and queues, the finest first; the first that keep the frames below the limit are used.
STEPS = tuple(
    Steps(load=load, queue=queue) for load, queue in ((200, 250), (100, 120), (50, 60), (20, 30), (10, 16))
)
#: Bytes of a run in a page, if the coarsest steps reach that.
LARGEST = 980_000
#: Bytes of text that hold three of data.
TEXT_BYTES, DATA_BYTES = 4, 3
#: The most runs of a page: more are not readable side by side.
MOST_RUNS = 4


def _run(  # noqa: PLR0913, PLR0917 (what a page shows of a run, and what runs it again)
    label: str,
    result: Result,
    folder: Path | None,
    flows: Sequence[Chosen],
    why: Callable[[Result, Sequence[str]], Sequence[Why]],
    find: Callable[[Result, str], CriticalPath],
) -> dict[str, Any]:
    """Return the data of a run: its name in the page, its folder if it has one, and flows with causes."""
    network, grid = network_of(result), grid_of(result)
    frames = frames_of(grid, network.ports, network.rates_gbps)
    whys, lacks = whys_of(result, flows, why)
    path, lacking = path_of(result, longest(result), find)
    numbers = {node.name: index for index, node in enumerate(network.nodes)}
    ports = {port: index for index, port in enumerate(network.ports)}
    nodes, links = network.nodes, network.links
    # The name of a host that began a pause is that of its port to the network.
    rest = {
        "label": label,
        "folder": "" if folder is None else quote(folder.as_posix()),
        "name": result.run.name,
        "seed": result.run.seed,
        "floodway": result.run.versions.get("floodway", ""),
        "simulatedUs": result.outcome.simulated_us,
        "stopped": result.outcome.stopped,
        "warnings": list(_warnings(result)),
        "notes": [*_notes(result, network, frames), *lacks, *lacking],
        "facts": [[fact.name, list(fact.lines)] for fact in facts(result)],
        "nodes": {
            "name": [node.name for node in nodes],
            "kind": [node.kind for node in nodes],
            "site": packed([node.site for node in nodes], "u16"),
            "tier": packed([node.tier for node in nodes], "u16"),
            "pod": packed([node.pod for node in nodes], "i32"),
        },
        "links": {
            "name": [link.name for link in links],
            "from": packed([link.ends[0] for link in links], "u32"),
            "to": packed([link.ends[1] for link in links], "u32"),
            "delay": packed([link.delay_us for link in links], "f32"),
            "long": packed([link.is_long for link in links], "u8"),
        },
        "ports": {
            "node": packed(network.port_nodes, "u32"),
            "link": packed(network.port_links, "u32"),
            "rate": packed(network.rates_gbps, "f32"),
            "paused": packed(_paused_us(grid, network.ports), "f64"),
        },
        "pauses": pauses_document(result, grid, frames, network.ports),
        "states": states_document(result, frames, network.ports),
        "marks": marks_document(result, frames, network.ports),
        "flows": flows_document(result, numbers, [why.flow_id for _, why in whys]),
        "why": [why_document(flow, why, ports) for flow, why in whys],
        "jobs": jobs_document(result, path),
    }
    room = (LARGEST - len(json.dumps(rest))) * DATA_BYTES // TEXT_BYTES
    # As finely as there is room for.
    steps = next((steps for steps in STEPS[:-1] if frames.packed_bytes(steps) <= room), STEPS[-1])
    return {**rest, "frames": frames.document(steps)}


def _paused_us(grid: Grid, ports: Sequence[str]) -> list[float]:
    """Return how long each port was paused in all, by its series; 0 where it was not recorded."""
    sums = grid.values["paused_us"].sum(axis=1) if grid.buckets else ()
    paused = dict(zip(grid.ports, sums, strict=False))
    return [float(paused.get(port, 0.0)) for port in ports]


def _warnings(result: Result) -> Iterator[str]:
    """Yield warnings about the run's numbers, which a page shows at its top."""
    outcome = result.outcome
    if outcome.stopped in ("interrupted", "deadlock"):
        yield f"The run ended early, at {outcome.simulated_us:,.1f} us: {outcome.stopped}."
    for name, breach in outcome.broken:
        yield f"Invariant {name} does not hold, a bug in floodway: {breach}."
    if outcome.deadlocks:
        since = outcome.deadlocks[0].time_us
        yield f"{counted(len(outcome.deadlocks), 'deadlock')}, the first since {since:,.1f} us."
    loss, failed = outcome.lossless.loss, outcome.lossless.failed
    if loss is not None:
        lost = f"{counted(loss.packets, 'packet')} ({counted(loss.bytes, 'byte')})"
        yield f"Lossless classes lost {lost} by buffer overflow."
    if failed is not None:
        lost = f"{counted(failed.packets, 'packet')} ({counted(failed.bytes, 'byte')})"
        yield f"Lossless classes lost {lost} by failures."
    if outcome.blocked:
        were = "was" if len(outcome.blocked) == 1 else "were"
        yield f"{counted(len(outcome.blocked), 'port')} {were} still blocked at the end without need."
    measured = result.flows.filter("measured")
    unfinished = int((~measured["finished"]).sum())
    if unfinished:
        yield (
            f"{unfinished:,} of {len(measured):,} measured flows did not finish; they have no completion "
            "time, and curves and percentiles of completion times count them as slower than all others."
        )


def _notes(result: Result, network: Network, frames: Frames) -> Iterator[str]:
    """Yield notes on what the run did not record, and on how the page shows the rest."""
    recorded = int((frames.widths_us > 0).sum())
    if recorded < len(network.ports):
        some = f"{recorded:,} of {len(network.ports):,} ports"
        grey = "the others are grey. `floodway run --report` records all."
        yield f"Load and queues of {some} were recorded; {grey}"
    if result.pauses is None:
        yield "Single pauses were not recorded; only the paused share of each frame is known, and no causes."
    if result.outcome.pauses_beyond:
        yield f"The last {result.outcome.pauses_beyond:,} pauses and resumes have no row, and are not shown."
    if result.outcome.signals_beyond:
        yield f"The last {result.outcome.signals_beyond:,} marks and states have no row, and are not shown."
    if result.signals is None:
        yield "Marks, CNPs and states of ports were not recorded."


def report(  # noqa: PLR0913 (what a caller may choose)
    results: Mapping[str, Result],
    *,
    title: str | None = None,
    answer: str | None = None,
    flows: Sequence[str] | None = None,
    folders: Mapping[str, Path] | None = None,
    why: Callable[[Result, Sequence[str]], Sequence[Why]] | None = None,
    path: Callable[[Result, str], CriticalPath] | None = None,
) -> str:
    """Return a self-contained page of runs: the network over time, its ports, flows and causes.

    Parameters
    ----------
    results
        The runs by their labels, four at most; they are side by side, under one slider of time.
    title
        The heading of the page; by default the names of the scenarios.
    answer
        The sentence below it; by default the answer of a single run, or none.
    flows
        Flows whose completion times are divided into their causes, as `floodway why` takes them; by default
        the one at p99 of slowdowns, and the slowest of each workload, five at most. The run is repeated once
        for all of them.
    folders
        Folders of runs by label; the page names them in commands.
    why
        Function that breaks down the completion times; by default `floodway.simulation.why.take_each_apart`.
    path
        Function that finds the critical path of the longest iteration or collective of a run with jobs, whose
        phases the page has; by default `floodway.simulation.critical_path.find_path`. The run is repeated
        twice for it.

    Raises
    ------
    InputError
        If there is no run, or there are too many.
    RunError
        If a run differs when it is repeated.
    """
    if not 1 <= len(results) <= MOST_RUNS:
        count = len(results)
        raise InputError(f"{count} runs: a page shows 1 to {MOST_RUNS}", key="RUN", given=str(count))
    # They need the results.
    from floodway.simulation.critical_path import find_path  # noqa: PLC0415
    from floodway.simulation.why import take_each_apart  # noqa: PLC0415

    chosen = None if flows is None else [named_flow(flow) for flow in flows]
    runs = [
        _run(
            label,
            result,
            (folders or {}).get(label),
            usual_flows(result) if chosen is None else chosen,
            why or take_each_apart,
            path or find_path,
        )
        for label, result in results.items()
    ]
    if answer is None and len(results) == 1:
        answer = run_answer(next(iter(results.values())).summary())
    names = dict.fromkeys(result.run.name for result in results.values())
    data = {"format": 1, "title": title or ", ".join(names), "runs": runs}
    return page(data, answer=answer or "")

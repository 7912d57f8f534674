"""Flows and jobs as a page has them: causes of completion times, and phases of the longest collective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.common.errors import InputError, UnknownNameError
from floodway.simulation.critical_path import CriticalPath, targets_of
from floodway.simulation.report.page import packed
from floodway.simulation.why import CAUSES, Why, chosen, is_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np

    from floodway.results import Result

__all__ = ["Chosen", "flows_document", "jobs_document", "longest", "named_flow", "path_of", "usual_flows"]
__all__ += ["why_document", "whys_of"]

#: The most flows in a page; of a run with more, the slowest ones and an even sample of the others.
MOST_FLOWS, SLOWEST = 20_000, 2_000
#: The most flows with causes by default: the one at p99, and the slowest of each workload.
MOST_USUAL = 5
#: Iterations that a page lists.
MOST_ITERATIONS = 50


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A flow whose completion time is divided into its causes.

    Attributes
    ----------
    flow
        Its id or rank, in the forms of `floodway why`.
    short, title
        Its description, for a button and in a sentence.
    """

    flow: str
    short: str
    title: str


def named_flow(flow: str) -> Chosen:
    """Return the flow of a name or a rank."""
    if not is_rank(flow):
        return Chosen(flow=flow, short="", title="Causes")
    title = "The flow with the largest slowdown" if flow == "worst" else f"The flow at {flow} of slowdowns"
    return Chosen(flow=flow, short=flow, title=title)


def usual_flows(result: Result) -> list[Chosen]:
    """Return the flow at p99 of slowdowns, and the slowest measured flow of each workload."""
    finished = result.flows.filter("measured", "finished").with_columns(
        pl.col("workload", "flow_id").cast(pl.String)
    )
    slowest = (
        finished.sort("slowdown", "flow_id", descending=[True, False])
        .group_by("workload", maintain_order=True)
        .first()
        .head(MOST_USUAL - 1)
    )
    one = "slowest", "The slowest flow"
    usual = [named_flow("p99")]
    for workload, flow in slowest.select("workload", "flow_id").iter_rows():
        short, title = one if len(slowest) == 1 else (f"{text} of {workload}" for text in one)
        usual.append(Chosen(flow=flow, short=short, title=title))
    return usual


def flows_document(result: Result, nodes: Mapping[str, int], always: Sequence[str]) -> dict[str, Any]:
    """Write the flows of a run.

    Parameters
    ----------
    result
        The run.
    nodes
        Numbers of the nodes, by name.
    always
        Ids of flows that are in the page in any case.
    """
    plain = result.flows.with_columns(pl.col("workload", "source", "destination", "flow_id").cast(pl.String))
    shown = _sample(plain, always)
    workloads = shown["workload"].unique(maintain_order=True).to_list()
    index = {name: number for number, name in enumerate(workloads)}
    numbers = shown["flow_id"].str.extract(r"(\d+)$").cast(pl.UInt32, strict=False).fill_null(0)
    regular = pl.format("{}:{}:{}", "workload", "source", numbers.alias("number"))
    usual = bool((shown.select(regular).to_series() == shown["flow_id"]).all())
    return {
        "total": len(plain),
        "measured": int(plain["measured"].sum()),
        "unfinished": int((~plain["finished"]).sum()),
        "workloads": workloads,
        "ids": None if usual else shown["flow_id"].to_list(),
        "number": packed(numbers.to_numpy(), "u32"),
        "workload": packed([index[name] for name in shown["workload"]], "u16"),
        "source": packed([nodes[name] for name in shown["source"]], "u32"),
        "destination": packed([nodes[name] for name in shown["destination"]], "u32"),
        "size": packed(shown["size_bytes"].to_numpy(), "f64"),
        "left": packed((shown["size_bytes"] - shown["delivered_bytes"]).to_numpy(), "f64"),
        "start": packed(shown["start_us"].to_numpy(), "f32"),
        "fct": packed(_or_nan(shown["fct_us"]), "f32"),
        "ideal": packed(_or_nan(shown["ideal_fct_us"]), "f32"),
        "isMeasured": packed(shown["measured"].to_numpy(), "u8"),
    }


def _sample(flows: pl.DataFrame, always: Sequence[str]) -> pl.DataFrame:
    """Take all flows, or the slowest and an even sample of the others, sorted by start."""
    ordered = flows.sort("start_us", "flow_id")
    if len(flows) <= MOST_FLOWS:
        return ordered
    every = -(-(len(flows) - SLOWEST) // (MOST_FLOWS - SLOWEST))
    rank = pl.col("slowdown").fill_null(float("inf")).rank("ordinal", descending=True)
    keeps = (rank <= SLOWEST) | ((rank.cast(pl.Int64) - SLOWEST) % every == 0)
    return ordered.filter(keeps | pl.col("flow_id").is_in(list(always)))


def _or_nan(column: pl.Series) -> np.ndarray[Any, np.dtype[np.float64]]:
    return column.fill_null(float("nan")).to_numpy()


def whys_of(
    result: Result, flows: Sequence[Chosen], why: Callable[[Result, Sequence[str]], Sequence[Why]]
) -> tuple[list[tuple[Chosen, Why]], list[str]]:
    """Break down the completion times of flows into their causes, where that can be done.

    Parameters
    ----------
    result
        The run.
    flows
        The flows.
    why
        Function that runs the scenario again and returns the breakdowns of flows by their ids.

    Returns
    -------
    list of tuple, list of str
        Each flow with its breakdown, once; and for the others, the reasons why they have none.

    Raises
    ------
    UnknownNameError
        If there is no such flow.
    """
    finished: dict[str, Chosen] = {}
    lacks = []
    for flow in flows:
        try:
            flow_id = chosen(result.flows, flow.flow)
        except UnknownNameError:
            raise
        except InputError as error:
            lacks.append(f"Causes of {flow.flow}: {error}.")
            continue
        row = result.flows.row(by_predicate=pl.col("flow_id") == flow_id, named=True)
        if row["finished"]:
            finished.setdefault(flow_id, flow)
        else:
            done = f"{row['delivered_bytes']:,} of {row['size_bytes']:,} bytes had arrived"
            lacks.append(f"Causes of {flow_id}: it was not complete when the run ended; {done}.")
    whys = why(result, list(finished)) if finished else []
    return list(zip(finished.values(), whys, strict=True)), lacks


def why_document(choice: Chosen, why: Why, ports: Mapping[str, int]) -> dict[str, Any]:
    """Write the causes of a flow's completion time; ports by their numbers, -1 for those of no link."""

    def number(port: str | None) -> int:
        return -1 if port is None else ports.get(port, -1)

    return {
        "flow": why.flow_id,
        "asked": choice.short,
        "title": choice.title,
        "fctPs": str(why.fct_ps),
        "idealPs": str(why.ideal_fct_ps),
        "parts": [
            {
                "cause": part.cause,
                "port": number(part.port),
                "portName": part.port or "",
                "origin": number(part.origin),
                "originName": part.origin or "",
                "ps": str(part.time_ps),
            }
            for part in why.parts
        ],
        "sent": {
            "begin": packed(why.sent.begin_us, "f64"),
            "width": why.sent.width_us,
            "bytes": packed(why.sent.bytes, "f64"),
        },
        "causes": CAUSES,
    }


def longest(result: Result) -> str | None:
    """Return the name of the longest iteration, or without computation of the longest collective, if any."""
    computing = {row.workload for row in result.summary().iterations}
    targets = targets_of(result)
    iterations = [target for target in targets if target.call is None and target.workload in computing]
    candidates = iterations or [target for target in targets if target.call is not None]
    most = max(candidates, key=lambda target: target.end_us - target.start_us, default=None)
    return None if most is None else most.name


def path_of(
    result: Result, name: str | None, path: Callable[[Result, str], CriticalPath]
) -> tuple[CriticalPath | None, list[str]]:
    """Return the critical path of a collective or an iteration, or the reason why it has none."""
    if name is None:
        return None, []
    try:
        return path(result, name), []
    except InputError as error:
        return None, [f"Phases of {name}: {error}."]


def jobs_document(result: Result, path: CriticalPath | None) -> dict[str, Any] | None:
    """Write iterations and collectives, and the phases of a critical path; nothing without jobs."""
    if result.operations is None:
        return None
    return {
        "iterations": list(_iterations(result))[:MOST_ITERATIONS],
        "collectives": list(_collectives(result)),
        "path": None if path is None else _path(path),
    }


def _iterations(result: Result) -> Iterator[dict[str, Any]]:
    spans = {
        target.name: (target.start_us, target.end_us) for target in targets_of(result) if target.call is None
    }
    for row in result.summary().iterations:
        span = spans.get(f"{row.workload}:iteration-{row.iteration}")
        if span is not None:
            yield {
                "name": f"{row.workload}, iteration {row.iteration}{f', {row.part}' if row.part else ''}",
                "us": row.time_us,
                "computeUs": row.compute_us,
                "exposedUs": row.exposed_us,
                "idleUs": row.idle_us,
                "from": span[0],
                "to": span[1],
            }


def _collectives(result: Result) -> Iterator[dict[str, Any]]:
    """Yield a row for each operation and size, with the time of the longest one."""
    if result.collectives is None:
        return
    done = result.collectives.filter(pl.col("time_us").is_not_null())
    plain = done.with_columns(pl.col("workload", "name").cast(pl.String)).sort("time_us", descending=True)
    by_name = plain.partition_by("workload", "name", "ranks", as_dict=True)
    for row in result.summary().collectives:
        span = by_name[row.workload, row.name, row.ranks].row(0, named=True)
        yield {
            "name": f"{row.workload}: {row.name}",
            "ranks": row.ranks,
            "count": row.count,
            "us": row.mean_us,
            "mostUs": row.most_us,
            "busbw": row.busbw_gbps / 8,
            "from": span["start_us"],
            "to": span["end_us"],
        }


def _path(path: CriticalPath) -> dict[str, Any]:
    phases = [
        {
            "name": phase.name,
            "place": phase.place,
            "steps": len(phase.steps),
            "stretches": phase.stretches,
            "ranks": phase.ranks,
            "us": phase.time_ps / 1e6,
            "from": phase.from_ps / 1e6,
            "to": phase.to_ps / 1e6,
        }
        for phase in path.phases
    ]
    target, us = path.target, path.time_ps / 1e6
    return {"name": target.name, "title": target.title, "us": us, "summary": path.summary(), "phases": phases}

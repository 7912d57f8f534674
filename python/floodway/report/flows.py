"""Flows as a page has them, and the causes of the completion times of some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.errors import InputError, UnknownNameError
from floodway.report.columns import packed
from floodway.why import CAUSES, chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from floodway.results import Result
    from floodway.why import Why

__all__ = ["MOST_FLOWS", "USUAL", "flows_document", "why_document", "whys_of"]

#: So many flows are in a page; of more, the slowest ones and every so-manyth of the rest.
MOST_FLOWS, SLOWEST = 20_000, 2_000
#: Flows whose completion time is divided into its causes where none are named.
USUAL = ("p99",)


def flows_document(result: Result, nodes: Mapping[str, int], always: Sequence[str]) -> dict[str, Any]:
    """Write the flows of a run.

    Parameters
    ----------
    result
        The run.
    nodes
        Numbers of nodes.
    always
        Flows that are in the page in any case.
    """
    plain = result.flows.with_columns(pl.col("workload", "source", "destination", "flow_id").cast(pl.String))
    kept = _kept(plain, always)
    workloads = kept["workload"].unique(maintain_order=True).to_list()
    index = {name: number for number, name in enumerate(workloads)}
    numbers = kept["flow_id"].str.extract(r"(\d+)$").cast(pl.UInt32, strict=False).fill_null(0)
    regular = pl.format("{}:{}:{}", "workload", "source", numbers.alias("number"))
    usual = bool((kept.select(regular).to_series() == kept["flow_id"]).all())
    return {
        "total": len(plain),
        "measured": int(plain["measured"].sum()),
        "unfinished": int((~plain["finished"]).sum()),
        "workloads": workloads,
        "ids": None if usual else kept["flow_id"].to_list(),
        "number": packed(numbers.to_numpy(), "u32"),
        "workload": packed([index[name] for name in kept["workload"]], "u16"),
        "source": packed([nodes[name] for name in kept["source"]], "u32"),
        "destination": packed([nodes[name] for name in kept["destination"]], "u32"),
        "size": packed(kept["size_bytes"].to_numpy(), "f64"),
        "left": packed((kept["size_bytes"] - kept["delivered_bytes"]).to_numpy(), "f64"),
        "start": packed(kept["start_us"].to_numpy(), "f32"),
        "fct": packed(_or_nan(kept["fct_us"]), "f32"),
        "ideal": packed(_or_nan(kept["ideal_fct_us"]), "f32"),
        "isMeasured": packed(kept["measured"].to_numpy(), "u8"),
    }


def _kept(flows: pl.DataFrame, always: Sequence[str]) -> pl.DataFrame:
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
    result: Result, names: Sequence[str], why: Callable[[Result, str], Why]
) -> tuple[list[tuple[str, Why]], list[str]]:
    """Divide the completion times of flows into their causes; say of which ones that cannot be done.

    Parameters
    ----------
    result
        The run.
    names
        Flows, as `floodway why` takes them.
    why
        Runs the scenario again for one.

    Returns
    -------
    list of tuple, list of str
        Each name with what was found, one for each flow; and reasons.

    Raises
    ------
    UnknownNameError
        If there is no such flow.
    """
    found: dict[str, tuple[str, Why]] = {}
    lacks = []
    for name in names:
        try:
            flow = chosen(result.flows, name)
            if flow not in found:
                found[flow] = (name, why(result, flow))
        except UnknownNameError:
            raise
        except InputError as error:
            lacks.append(f"causes of {name}: {error}")
    return list(found.values()), lacks


def why_document(asked: str, why: Why, ports: Mapping[str, int]) -> dict[str, Any]:
    """Write the causes of a flow's completion time; ports by their numbers, -1 for those of no link."""

    def number(port: str | None) -> int:
        return -1 if port is None else ports.get(port, -1)

    return {
        "flow": why.flow_id,
        "asked": asked,
        "fctPs": str(why.fct_ps),
        "idealPs": str(why.ideal_fct_ps),
        "sentence": why.sentence(),
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
        "causes": CAUSES,
    }

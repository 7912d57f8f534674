"""`floodway why`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import polars as pl

from floodway.cli.exits import DONE
from floodway.cli.output import echo
from floodway.cli.show import WIDTH, table_of
from floodway.cli.terminal import Terminal
from floodway.cli.watch import Watch
from floodway.cli.watched_path import watched_path
from floodway.cli.why_path import print_path
from floodway.cli.why_table import add_causes, us_text
from floodway.results import read
from floodway.results.folders import run_folder
from floodway.simulation.why import Why, chosen, is_rank, scenario_of, take_apart

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.results import Result

__all__ = ["Request", "why"]

#: Columns that hold words.
TEXT_COLUMNS = ("cause", "where", "began at")


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of a call."""

    folder: Path
    flow: str
    quiet: bool
    json: bool


def why(request: Request) -> int:
    """Run again, print the breakdown or the path, and return the exit code."""
    result = read(run_folder(request.folder))
    # A name that nothing has is known before the run.
    if not _is_flow(result, request.flow):
        return _path(request, result)
    flow = chosen(result.flows, request.flow)
    scenario = scenario_of(result)
    with Watch(scenario, quiet=request.quiet) as watch:
        found = take_apart(result, flow, scenario=scenario, on_progress=watch.update)
    if request.json:
        echo(json.dumps(_document(found), indent=2, ensure_ascii=False))
    else:
        _show(found, sys.stdout)
        echo(_feedback_text(result, flow))
        if request.flow == "worst":
            measured = result.flows.filter("measured")
            cut = len(measured) - measured["finished"].sum()
            if cut:
                echo(f"{cut:,} of {len(measured):,} measured flows never finished, and rank above it")
    return DONE


def _is_flow(result: Result, name: str) -> bool:
    """Whether a name is of a flow, not of a collective: only runs with jobs have these."""
    if result.operations is None or name in result.flows["flow_id"].cast(pl.String):
        return True
    return is_rank(name) or name.count(":") > 1


def _path(request: Request, result: Result) -> int:
    found = watched_path(result, request.flow, quiet=request.quiet)
    print_path(found, as_json=request.json)
    return DONE


def _feedback_text(result: Result, flow: str) -> str:
    """Return the congestion feedback and losses of its sender, as the results count them."""
    row = result.flows.filter(result.flows["flow_id"].cast(pl.String) == flow).row(0, named=True)
    counts = [
        (row["cnps"], "CNPs"),
        (row["timeouts"], "timeouts"),
        (row["retransmitted_bytes"], "bytes retransmitted"),
    ]
    parts = [f"{count:,} {what}" for count, what in counts if count]
    return ", ".join(parts) or "no CNP, no timeout, nothing retransmitted"


def _document(found: Why) -> dict[str, Any]:
    """Write what was found as a JSON document; what the results have of flows anyway is not in it."""
    return {
        "flow_id": found.flow_id,
        "start_us": found.start_us,
        "fct_us": found.fct_us,
        "fct_ps": found.fct_ps,
        "ideal_fct_us": found.ideal_fct_ps / 1e6,
        "slowdown": found.slowdown,
        "sentence": found.sentence(),
        "parts": [
            {
                "cause": part.cause,
                "port": part.port,
                "origin": part.origin,
                "time_ps": part.time_ps,
                "share": part.time_ps / found.fct_ps,
            }
            for part in found.parts
        ],
    }


def _show(found: Why, stream: TextIO) -> None:
    console = Terminal(stream)
    if not console.is_terminal:
        console.width = WIDTH
    table = table_of(
        f"{found.flow_id}, started at {found.start_us:,.3f} us",
        ("cause", "where", "began at", "us", "% of the FCT"),
        text_columns=TEXT_COLUMNS,
    )
    add_causes(table, found.by_cause(), found.parts, found.fct_ps)
    table.add_section()
    table.add_row("completion time", "", "", us_text(found.fct_ps), "100.0", style="bold")
    console.print(table)
    alone = f"alone it would take {us_text(found.ideal_fct_ps)} us: slowdown {found.slowdown:,.2f}"
    console.print(alone, soft_wrap=True)
    console.print(found.sentence(), soft_wrap=True)

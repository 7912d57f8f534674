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
from floodway.results import read
from floodway.results.folders import run_folder
from floodway.why import Part, Why, chosen, scenario_of, take_apart

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.results import Result

__all__ = ["Request", "why"]

#: Parts of a cause that are smaller than 1/LEAST of the whole share a row.
LEAST = 1000
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
    """Run again, print the breakdown, and return the exit code."""
    result = read(run_folder(request.folder))
    # A name that nothing has is known before the run.
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
    for cause, parts in found.by_cause().items():
        whole = sum(part.time_ps for part in parts)
        if len(parts) == 1:
            table.add_row(cause, *_location(found, parts[0]), *_amount(whole, found))
            continue
        table.add_row(cause, "", "", *_amount(whole, found))
        by_time = sorted(parts, key=lambda part: -part.time_ps)
        small = [part for part in by_time if part.time_ps * LEAST < found.fct_ps]
        small = small if len(small) > 1 else []
        for part in by_time[: len(by_time) - len(small)]:
            table.add_row("", *_location(found, part), *_amount(part.time_ps, found))
        if small:
            several = _amount(sum(part.time_ps for part in small), found)
            what = "places" if len(small) == len(parts) else "others"
            table.add_row("", f"{len(small)} {what}", "", *several)
    table.add_section()
    table.add_row("completion time", "", "", *_amount(found.fct_ps, found), style="bold")
    console.print(table)
    alone = f"alone it would take {_us(found.ideal_fct_ps)} us: slowdown {found.slowdown:,.2f}"
    console.print(alone, soft_wrap=True)
    console.print(found.sentence(), soft_wrap=True)


def _location(found: Why, part: Part) -> tuple[str, str]:
    port, origin = ("" if name is None else found.short(name) for name in (part.port, part.origin))
    return port, origin


def _amount(time_ps: int, found: Why) -> tuple[str, str]:
    return _us(time_ps), f"{time_ps * 100 / found.fct_ps:.1f}"


def _us(time_ps: int) -> str:
    """Write picoseconds as microseconds, with nothing rounded."""
    return f"{time_ps // 10**6:,}.{time_ps % 10**6:06d}"

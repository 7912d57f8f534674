"""Options that the imports of jobs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.loading import loading

__all__ = ["Delay", "ForceFile", "OutFile", "Rate", "Topology", "TraceKeys", "imported"]

OutFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File of the scenario.", show_default="stdout")
]
ForceFile = Annotated[bool, typer.Option("--force", help="Replace an existing file.", show_default=False)]
Topology = Annotated[
    str | None,
    typer.Option(
        metavar="KIND={...}",
        help="The network, as a scenario's topology has it.",
        show_default="a switch with a host for each rank",
    ),
]
Rate = Annotated[str, typer.Option(metavar="RATE", help="Rate of the links of that switch.")]
Delay = Annotated[str, typer.Option(metavar="TIME", help="Delay of the links of that switch.")]
TraceKeys = Annotated[
    list[str] | None,
    typer.Option(
        "--trace",
        metavar="KEY=VALUE",
        help="A further key of the scenario's table trace; may be repeated.",
        show_default=False,
    ),
]


def imported(  # noqa: PLR0913 (one argument an option)
    kind: str,
    files: list[Path],
    *,
    topology: str | None,
    rate: str,
    delay: str,
    trace: list[str] | None,
    out: Path | None,
    force: bool,
) -> int:
    """Write the scenario that runs a job's files; returns the exit code."""
    with loading():
        from floodway.cli import import_ as importing
    job = importing.Job(format=kind, files=files, keys=trace or [], topology=topology, rate=rate, delay=delay)
    return importing.import_job(job, out=out, force=force)

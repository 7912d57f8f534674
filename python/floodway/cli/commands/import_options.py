"""Options that the imports of jobs share, and the command of those that read one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from floodway.loading import loading

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Delay", "ForceFile", "OutFile", "Rate", "Topology", "TraceKeys", "imported", "of_one_file"]

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
Rate = Annotated[
    str | None, typer.Option(metavar="RATE", help="Rate of the links of that switch.", show_default="400G")
]
Delay = Annotated[
    str | None, typer.Option(metavar="TIME", help="Delay of the links of that switch.", show_default="1us")
]
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
    rate: str | None,
    delay: str | None,
    trace: list[str] | None,
    out: Path | None,
    force: bool,
) -> int:
    """Write the scenario that runs a job's files; returns the exit code."""
    with loading():
        from floodway.cli import import_ as importing
    job = importing.Job(format=kind, files=files, keys=trace or [], topology=topology, rate=rate, delay=delay)
    return importing.import_job(job, out=out, force=force)


def of_one_file(kind: str, *, what: str, file_help: str, example: str) -> Callable[..., int]:
    """Define the import of a format whose jobs are one file.

    Parameters
    ----------
    kind
        The format.
    what, file_help
        What the scenario runs, and what the file is, in the help.
    example
        The arguments of an example.
    """

    def command(  # noqa: PLR0913 (one argument an option)
        file: Path,
        *,
        topology: Topology = None,
        rate: Rate = None,
        delay: Delay = None,
        trace: TraceKeys = None,
        out: OutFile = None,
        force: ForceFile = False,
    ) -> int:
        return imported(
            kind, [file], topology=topology, rate=rate, delay=delay, trace=trace, out=out, force=force
        )

    command.__annotations__["file"] = Annotated[
        Path, typer.Argument(metavar="FILE", help=file_help, show_default=False)
    ]
    command.__doc__ = f"""Make a scenario that runs {what}.

    Without --topology the network is a switch with a host for each rank. Warnings say what is not used.

    \b
    Examples:
      floodway import {kind} {example}

    \b
    Exit codes:
      0    done
      2    bad usage, or a file with an error; nothing is written
    """
    return command

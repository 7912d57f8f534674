"""Options that the imports of jobs share, and the command of those that read one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from floodway.cli import options
from floodway.common.loading import loading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["TraceOptions", "imported", "of_one_file", "trace_options"]

#: Options of every import of a job.
TRACE_OPTIONS = (
    click.option(
        "--topology",
        metavar="KIND={...}|FILE",
        help="The network, as a scenario's topology has it, or in a file of another simulator.",
        show_default="a switch with a host for each rank",
    ),
    click.option(
        "--gpu-nodes",
        metavar="{...}|none",
        help="GPU nodes, as a scenario's gpu-nodes has them.",
        show_default="those of the network's file; of SimAI without a network, of 8 GPUs",
    ),
    click.option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Of SimAI, with its topology file: SimAI.conf.",
        show_default="none",
    ),
    click.option("--rate", metavar="RATE", help="Rate of the links of that switch.", show_default="400G"),
    click.option("--delay", metavar="TIME", help="Delay of the links of that switch.", show_default="1us"),
    click.option(
        "--trace",
        multiple=True,
        metavar="KEY=VALUE",
        help="A further key of the scenario's table trace; may be repeated.",
    ),
    options.scenario_out,
    options.force_file,
)


def trace_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of every import of a job to a command."""
    for option in reversed(TRACE_OPTIONS):
        command = option(command)
    return command


class TraceOptions(TypedDict):
    """Values of the options of every import of a job."""

    topology: str | None
    gpu_nodes: str | None
    config: Path | None
    rate: str | None
    delay: str | None
    trace: tuple[str, ...]
    out: Path | None
    force: bool


def imported(kind: str, files: Sequence[Path], options: TraceOptions) -> int:
    """Write the scenario that runs a job's files; returns the exit code."""
    with loading():
        from floodway.cli import import_ as importing
    job = importing.Job(
        format=kind,
        files=list(files),
        keys=list(options["trace"]),
        topology=options["topology"],
        gpu_nodes=options["gpu_nodes"],
        config=options["config"],
        rate=options["rate"],
        delay=options["delay"],
    )
    return importing.import_job(job, out=options["out"], force=options["force"])


def of_one_file(kind: str, *, runs: str, file_help: str, example: str) -> click.Command:
    """Define the import of a format whose jobs are one file.

    Parameters
    ----------
    kind
        The format.
    runs, file_help
        Description of the job and of the file, in the help.
    example
        The arguments of an example.
    """
    shown = f"""Make a scenario that runs {runs}.

    Without --topology the network is a switch with a host for each rank. Warnings say what is not used.

    \b
    Examples:
      floodway import {kind} {example}

    \b
    Exit codes:
      0    done
      2    bad usage, or a file with an error; nothing is written
    """

    @click.command(help=shown)
    @click.argument("file", type=click.Path(path_type=Path), metavar="FILE", help=file_help)
    @trace_options
    def command(*, file: Path, **options: Unpack[TraceOptions]) -> int:
        return imported(kind, [file], options)

    return command

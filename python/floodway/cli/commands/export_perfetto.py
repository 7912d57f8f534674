"""Definition of `floodway export perfetto`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.loading import loading

__all__ = ["command"]


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder that `run` wrote.", show_default=False)
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of the trace.", show_default="RUN/trace.perfetto-trace"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file.", show_default=False)
    ] = False,
) -> int:
    """Write a run as a trace that Perfetto (ui.perfetto.dev) shows.

    The tracks are ports (longest queue, pauses, states), flows by source, and collectives. Arrows lead to a
    pause from its cause. Warnings say what the run did not record; `floodway run --export perfetto` records
    all of it.

    \b
    Examples:
      floodway run scenarios/incast.toml --export perfetto
      floodway export perfetto out/incast --out incast.perfetto-trace

    \b
    Exit codes:
      0    done; the file's name is on stdout
      2    bad usage, no results, or the file is there already; nothing is written
    """
    with loading():
        from floodway.cli import export as exporting
    return exporting.export_perfetto(folder, out=out, force=force)

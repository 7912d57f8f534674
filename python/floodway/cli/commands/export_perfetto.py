"""Definition of `floodway export perfetto`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.common.loading import loading

__all__ = ["command"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="RUN", help="Folder that `run` wrote.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File of the trace.",
    show_default="RUN/trace.perfetto-trace",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
def command(
    *,
    folder: Path,
    out: Path | None,
    force: bool,
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

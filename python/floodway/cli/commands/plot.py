"""Definition of `floodway plot`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.cli.options import FontSize, Formats, Log, NoNote, Title, Width
from floodway.cli.pictures import Kind, picture_options
from floodway.loading import loading

__all__ = ["command"]


def command(  # noqa: PLR0913 (one argument an option)
    kind: Annotated[
        Kind,
        typer.Argument(
            metavar="KIND",
            help="fct: completion times; slowdown: slowdown by flow size; series: a metric over time; "
            "heatmap: a metric of links over time, as colours; ports: ports and senders over time; region: "
            "the congestion region over time; shares: throughput of each flow on a link; timeline: "
            "operations of the ranks of jobs over time; busbw: bus bandwidth of collectives by size.",
            show_default=False,
        ),
    ],
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            help="Folder that `run` or `compare` wrote, or several; runs and variants are overlaid.",
            show_default=False,
        ),
    ],
    *,
    form: Formats = None,
    width: Width = None,
    font_size: FontSize = None,
    log: Log = None,
    title: Title = None,
    no_note: NoNote = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE",
            help="Folder of the files, or the file of the picture.",
            show_default="out/plot/DIR",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="For series and heatmap: throughput, utilisation, paused, queue, queue-max, buffer, or a "
            "metric of series.parquet.",
            show_default="throughput; utilisation of a heatmap",
        ),
    ] = None,
    objects: Annotated[
        list[str] | None,
        typer.Option(
            "--object",
            metavar="GLOB",
            help="For series, heatmap, ports and shares: a link (x1-x2) or its direction (x1>x2); may be "
            "repeated.",
            show_default="the busiest; all in a heatmap; the ports with most events",
        ),
    ] = None,
    workloads: Annotated[
        list[str] | None,
        typer.Option(
            "--workload",
            metavar="NAME",
            help="For fct, slowdown, timeline and busbw: only this workload; may be repeated.",
            show_default=False,
        ),
    ] = None,
    flows: Annotated[
        list[str] | None,
        typer.Option(
            "--flow",
            metavar="GLOB",
            help="For ports and shares: a flow (its flow_id) or a workload to show; may be repeated.",
            show_default="the first six; all, with a line for each of the eight with most bytes",
        ),
    ] = None,
    class_: Annotated[
        int | None,
        typer.Option(
            "--class",
            metavar="N",
            help="For region: the class of the queues.",
            show_default="the most severe state of any class",
        ),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="For ports, region, shares and timeline: start of the time shown.",
            show_default="0us",
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="TIME",
            help="For ports, region, shares and timeline: end of the time shown.",
            show_default="the run's end",
        ),
    ] = None,
    bucket: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="For shares: merge buckets until they are at least this wide.",
            show_default="at most 250 buckets",
        ),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Write only the data.", show_default=False)] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace existing files.", show_default=False)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="No warnings, no file names.", show_default=False)
    ] = False,
) -> int:
    """Draw results, and write the data of each picture as CSV.

    \b
    Examples:
      floodway plot fct out/demo
      floodway plot slowdown out/demo out/demo-7 --format pdf,svg --out figures
      floodway plot fct out/demo --width 3.4 --font-size 8 --title '' --out column.pdf
      floodway plot series out/demo --object 'x1>x2' --metric queue --out queue.svg
      floodway plot heatmap out/demo --metric paused
      floodway plot ports out/demo --object 'x1>x2' --from 1ms --to 2ms
      floodway plot region out/rcm-incast --from 140us
      floodway plot shares out/rcm-incast --object 't1>h1' --from 140us --to 200us --bucket 2us
      floodway plot timeline out/two-sites/pfc --workload gradients --from 0us --to 2ms
      floodway plot busbw out/two-sites/pfc out/two-sites/bifrost

    \b
    Exit codes:
      0    done; the files' names are on stdout
      2    bad usage, no results, or nothing to show; nothing is written
      130  interrupted
    """
    with loading():
        from floodway.cli import plot as plotting
    return plotting.plot(
        plotting.Request(
            kind=kind,
            folders=folders,
            pictures=picture_options(form, width, font_size, log, title, note=not no_note),
            out=out,
            metric=metric,
            objects=objects or [],
            workloads=workloads or [],
            flows=flows or [],
            class_=class_,
            begin=begin,
            end=end,
            bucket=bucket,
            csv=csv,
            force=force,
            quiet=quiet,
        )
    )

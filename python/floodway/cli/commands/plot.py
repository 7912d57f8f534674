"""Definition of `floodway plot`: arguments, options and help."""

from __future__ import annotations

from typing import Any, get_args

import click

from floodway.cli import options
from floodway.cli.pictures import Kind, picture_options
from floodway.common.loading import loading

__all__ = ["command"]


@click.command(cls=options.GroupedCommand)
@click.argument(
    "kind",
    type=click.Choice(get_args(Kind)),
    metavar="KIND",
    help="fct: completion times; slowdown: slowdown by flow size; series: a metric over time; "
    "heatmap: a metric of links over time, as colours; ports: ports and senders over time; region: "
    "the congestion region over time; shares: throughput of each flow on a link; timeline: "
    "operations of the ranks of jobs over time; busbw: bus bandwidth of collectives by size.",
)
@options.paths(
    "folders",
    "DIR",
    "Folder that `run` or `compare` wrote, or several; runs and variants are overlaid. For busbw also "
    "a scenario, whose collective is run in the sizes of -b, -e and -f, and the output of nccl-tests.",
)
@options.pictures("Format of pictures: png, pdf, svg, or several.", "png")
@options.value(
    "--label",
    "NAME",
    "Name of a result or variant in the picture; once for each, in their order.",
    "the folder's, or the variant's",
    name="labels",
    multiple=True,
)
@options.out("DIR|FILE", "Folder of the files, or the file of the picture.", "out/plot/DIR")
@click.option(
    "--metric",
    help="For series and heatmap: throughput, utilisation, paused, queue, queue-max, buffer, or a "
    "metric of series.parquet.",
    show_default="throughput; utilisation of a heatmap",
)
@options.value(
    "--object",
    "GLOB",
    "For series, heatmap, ports and shares: a link (x1-x2) or its direction (x1>x2); may be repeated.",
    "the busiest; all in a heatmap; the ports with most events",
    name="objects",
    multiple=True,
)
@options.value(
    "--workload",
    "NAME",
    "For fct, slowdown, timeline and busbw: only this workload; may be repeated.",
    name="workloads",
    multiple=True,
)
@options.value(
    "--flow",
    "GLOB",
    "For ports and shares: a flow (its flow_id) or a workload to show; may be repeated.",
    "the first six; all, with a line for each of the eight with most bytes",
    name="flows",
    multiple=True,
)
@options.value(
    "--class",
    "N",
    "For region: the class of the queues.",
    "the most severe state of any class",
    name="class_",
    type=int,
)
@options.value(
    "--from", "TIME", "For ports, region, shares and timeline: start of the time shown.", "0us", name="begin"
)
@options.value(
    "--to",
    "TIME",
    "For ports, region, shares and timeline: end of the time shown.",
    "the run's end",
    name="end",
)
@options.value(
    "--bucket", "TIME", "For shares: merge buckets until they are at least this wide.", "at most 250 buckets"
)
@options.value(
    "--path",
    "NAME",
    "For timeline: draw the critical path of a collective or an iteration, named as `why` takes it "
    "(gradients:0, job:iteration-0), and show its time; the scenario is run again, twice.",
)
@click.option(
    "-b",
    "--minbytes",
    "first_size",
    metavar="SIZE",
    help="For busbw of a scenario: the first size, as nccl-tests have it: 8, 32K, 128M (powers of 1024), or "
    "with a unit.",
)
@click.option(
    "-e", "--maxbytes", "last_size", metavar="SIZE", help="The last size.", show_default="the first"
)
@click.option(
    "-f",
    "--stepfactor",
    "factor",
    type=click.IntRange(min=2),
    metavar="N",
    help="By what each size is multiplied for the next one.",
    show_default="2",
)
@click.option("-i", "--stepbytes", "step", metavar="SIZE", help="What each size is increased by, instead.")
@click.option(
    "-n",
    "--iters",
    "iterations",
    type=click.IntRange(min=1, max=4096),
    metavar="N",
    help="How often all sizes are run.",
    show_default="1",
)
@options.sets
@click.option("--csv", is_flag=True, help="Write only the data.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--quiet", is_flag=True, help="No warnings, no file names.")
@click.option("--full", is_flag=True, help="For busbw of a scenario: print all sizes, as nccl-tests do.")
@click.option("--json", is_flag=True, help="For busbw of a scenario: print its bandwidths as JSON.")
def command(**values: Any) -> int:
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
      floodway plot timeline out/two-sites/pfc --path gradients:0
      floodway plot busbw out/two-sites/pfc out/two-sites/bifrost
      floodway plot busbw scenarios/nccl-two-nodes.toml -b 8 -e 256M -f 2
      floodway plot busbw cluster.toml all_reduce.log -b 1M -e 1G -f 4

    \b
    Exit codes:
      0    done; the files' names are on stdout, after the bandwidths of a scenario's sizes
      2    bad usage, no results, or nothing to show; nothing is written
      130  interrupted
    """
    with loading():
        from floodway.cli import plot as plotting
        from floodway.cli.sweep import Sizes
    first, last, factor, step, iterations = (
        values.pop(name) for name in ("first_size", "last_size", "factor", "step", "iterations")
    )
    sizes = None
    if first is not None:
        sizes = Sizes(first=first, last=last or first, factor=factor, step=step, iterations=iterations or 1)
    elif any(option is not None for option in (last, factor, step, iterations)):
        raise click.BadParameter("it is missing: the first size, like 8 or 1M", param_hint="-b")
    return plotting.plot(plotting.Request(pictures=picture_options(values), sizes=sizes, **values))

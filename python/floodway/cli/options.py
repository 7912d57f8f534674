"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = [
    "also_formats",
    "cluster",
    "font_size",
    "force",
    "force_file",
    "force_memory",
    "force_plan",
    "force_threads",
    "formats",
    "jobs",
    "json",
    "log",
    "no_note",
    "python",
    "quick",
    "quiet",
    "report",
    "run_again",
    "scenario_file",
    "scenario_out",
    "seeds",
    "sets",
    "shard_text",
    "slurm",
    "status",
    "strict",
    "title",
    "width",
]


def _load_files(_: click.Context, __: click.Parameter, files: tuple[Path, ...]) -> tuple[Path, ...]:
    """Run the files of `--python`, which defines their classes for scenarios."""
    if files:
        from floodway.scenarios.mechanisms import load_file

        for file in files:
            load_file(file)
    return files


scenario_file = click.argument(
    "scenario", type=click.Path(path_type=Path), metavar="SCENARIO", help="The scenario's TOML file."
)
sets = click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY.PATH=VALUE",
    help="Replace the value of a key of the scenario; may be repeated.",
)


python = click.option(
    "--python",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Load a Python file with rate controls and congestion points of your own; may be repeated.",
    callback=_load_files,
)
force = click.option("--force", is_flag=True, help="Replace existing results.")
force_plan = click.option("--force", is_flag=True, help="Replace an existing plan.")
quiet = click.option("--quiet", is_flag=True, help="No progress, no warnings, no summary.")
strict = click.option(
    "--strict", is_flag=True, help="Fail if a lossless class lost packets, by buffer overflow or by failures."
)
force_threads = click.option(
    "--force-threads", is_flag=True, help="Use all threads even if they mostly wait for one another."
)
force_memory = click.option(
    "--force-memory", is_flag=True, help="Start even if the estimate exceeds the available memory."
)
quick = click.option("--quick", is_flag=True, help="Reduced size, as defined by [quick] of the study.")
seeds = click.option(
    "--seeds", metavar="N|A,B,...", help="Number of seeds, or a list of seeds, instead of the study's own."
)
jobs = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of parallel runs.",
    show_default="one per core",
)
status = click.option(
    "--status",
    is_flag=True,
    help="Print the numbers of completed, failed and remaining runs, by study and variant; run nothing.",
)
shard_text = click.option(
    "--shard",
    metavar="I/N",
    help="Run one of N shares of the runs, with I from 0 to N-1, beside processes that run the others in "
    "the same folder. The last to end writes the report.",
)
cluster = click.option(
    "--cluster",
    metavar="ADDRESS|FILE",
    help="Run on workers of Dask: the address of a scheduler such as tcp://host:8786, or a YAML file of "
    "Dask's configuration with scheduler-address.",
)
report = click.option("--report", is_flag=True, help="Write the report of runs that are there; run nothing.")
slurm = click.option(
    "--slurm",
    is_flag=True,
    help="Print the script of a Slurm job array that does this in shards; run nothing.",
)
run_again = click.option("--force", is_flag=True, help="Run everything again.")
formats = click.option(
    "--format",
    "form",
    metavar="FORMAT[,...]",
    help="Format of pictures: png, pdf, svg, or several.",
    show_default="png",
)
also_formats = click.option(
    "--format",
    "form",
    metavar="FORMAT[,...]",
    help="Also write pictures as pdf, svg or both.",
    show_default="png only",
)
width = click.option(
    "--width", type=float, metavar="INCHES", help="Width of pictures.", show_default="7, or as needed"
)
font_size = click.option(
    "--font-size", type=float, metavar="POINTS", help="Font size of pictures.", show_default="10"
)
log = click.option(
    "--log",
    metavar="x|y|x,y|none",
    help="Logarithmic axes, where axes have numbers.",
    show_default="the picture's own",
)
title = click.option("--title", help="Title of pictures; '' for none.", show_default="the picture's own")
no_note = click.option(
    "--no-note", is_flag=True, help="Leave out the notes on widths, bars and marks below pictures."
)
full = click.option("--full", is_flag=True, help="Print all tables and sentences behind the answer.")
json = click.option("--json", is_flag=True, help="Write one JSON document to stdout.")
scenario_out = click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File of the scenario.",
    show_default="stdout",
)
force_file = click.option("--force", is_flag=True, help="Replace an existing file.")

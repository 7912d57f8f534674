"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AlsoFormats",
    "Cluster",
    "FontSize",
    "Force",
    "ForceMemory",
    "ForcePlan",
    "ForceThreads",
    "Formats",
    "Jobs",
    "Json",
    "Log",
    "NoNote",
    "Python",
    "Quick",
    "Quiet",
    "Report",
    "RunAgain",
    "ScenarioFile",
    "Seeds",
    "Sets",
    "ShardText",
    "Slurm",
    "Status",
    "Strict",
    "Title",
    "Width",
]


def _load_files(files: list[Path] | None) -> None:
    """Run the files of `--python`, so that scenarios know the classes in them."""
    if files:
        from floodway.mechanisms import load_file

        for file in files:
            load_file(Path(file))


ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="The scenario's TOML file.", show_default=False)
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Replace the value of a key of the scenario; may be repeated.",
        show_default=False,
    ),
]


Python = Annotated[
    list[Path] | None,
    typer.Option(
        "--python",
        metavar="FILE",
        help="Load a Python file with rate controls and congestion points of your own; may be repeated.",
        show_default=False,
        callback=_load_files,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing results.", show_default=False)]
ForcePlan = Annotated[bool, typer.Option("--force", help="Replace an existing plan.", show_default=False)]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="No progress, no warnings, no summary.", show_default=False)
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Fail if a lossless class lost packets, by buffer overflow or by failures.",
        show_default=False,
    ),
]
ForceThreads = Annotated[
    bool,
    typer.Option(
        "--force-threads",
        help="Use all threads even if they mostly wait for one another.",
        show_default=False,
    ),
]
ForceMemory = Annotated[
    bool,
    typer.Option(
        "--force-memory",
        help="Start even if the estimate exceeds the available memory.",
        show_default=False,
    ),
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="Reduced size, as defined by [quick] of the study.", show_default=False),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="N|A,B,...",
        help="Number of seeds, or a list of seeds, instead of the study's own.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Number of parallel runs.", show_default="one per core")
]
Status = Annotated[
    bool,
    typer.Option(
        "--status",
        help="Print the numbers of completed, failed and remaining runs, by study and variant; run nothing.",
        show_default=False,
    ),
]
ShardText = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Run one of N shares of the runs, with I from 0 to N-1, beside processes that run the others in "
        "the same folder. The last to end writes the report.",
        show_default=False,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="local|ADDRESS|FILE",
        help="Run on workers of Dask: local, the address of a scheduler such as tcp://host:8786, or a YAML "
        "file for dask-jobqueue.",
        show_default=False,
    ),
]
Report = Annotated[
    bool,
    typer.Option(
        "--report", help="Write the report of runs that are there; run nothing.", show_default=False
    ),
]
Slurm = Annotated[
    bool,
    typer.Option(
        "--slurm",
        help="Print the script of a Slurm job array that does this in shards; run nothing.",
        show_default=False,
    ),
]
RunAgain = Annotated[bool, typer.Option("--force", help="Run everything again.", show_default=False)]
Formats = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT[,...]",
        help="Format of pictures: png, pdf, svg, or several.",
        show_default="png",
    ),
]
AlsoFormats = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT[,...]",
        help="Also write pictures as pdf, svg or both.",
        show_default="png only",
    ),
]
Width = Annotated[
    float | None,
    typer.Option("--width", metavar="INCHES", help="Width of pictures.", show_default="7, or as needed"),
]
FontSize = Annotated[
    float | None,
    typer.Option(metavar="POINTS", help="Font size of pictures.", show_default="10"),
]
Log = Annotated[
    str | None,
    typer.Option(
        metavar="x|y|x,y|none",
        help="Logarithmic axes, where axes have numbers.",
        show_default="the picture's own",
    ),
]
Title = Annotated[
    str | None,
    typer.Option(help="Title of pictures; '' for none.", show_default="the picture's own"),
]
NoNote = Annotated[
    bool,
    typer.Option(
        "--no-note",
        help="Leave out the notes on widths, bars and marks below pictures.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON document to stdout.", show_default=False)]

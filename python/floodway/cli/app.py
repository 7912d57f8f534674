"""The verbs and their options; what goes wrong, as one line and an exit code.

What a verb does is in a module of its own, which is imported when the verb is called, with the libraries that
it needs: importing those of all verbs takes half a second.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import floodway
from floodway.cli.arguments import Verbs
from floodway.cli.exits import DONE, FAILED, INTERRUPTED, READER_GONE, TERMINATED, USAGE
from floodway.cli.output import tell
from floodway.cli.pictures import Kind, PictureOptions, axes_of, formats_of
from floodway.cli.streams import standard_streams
from floodway.errors import FloodwayError, LostResultsError, MechanismError, RunError
from floodway.limits import LARGEST_SEED, MOST_THREADS
from floodway.loading import loading
from floodway.names import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import NoReturn, TextIO

    from floodway.cli import study as studying
__all__ = ["app", "main"]

#: In this variable shells ask how words are completed, and for those that fit.
COMPLETION = "_FLOODWAY_COMPLETE"

app = typer.Typer(
    cls=Verbs,
    name="floodway",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

imports = typer.Typer(cls=Verbs, rich_markup_mode=None)
app.add_typer(imports, name="import", help="Make a scenario of another simulator's files.")

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="The scenario's TOML file.", show_default=False)
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Give a key of the scenario another value; may be repeated.",
        show_default=False,
    ),
]


def _load_files(files: list[Path] | None) -> None:
    """Run the files of `--python`, so that scenarios know the classes in them."""
    if files:
        from floodway.mechanisms import load_file

        for file in files:
            load_file(Path(file))


Python = Annotated[
    list[Path] | None,
    typer.Option(
        "--python",
        metavar="FILE",
        help="Run a file of Python, whose rate controls and congestion points scenarios may choose; may be "
        "repeated.",
        show_default=False,
        callback=_load_files,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace results that are there already.", show_default=False)
]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="No progress, no warnings, no summary.", show_default=False)
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Fail where a lossless class lost packets, for want of buffer or by failures.",
        show_default=False,
    ),
]
ForceThreads = Annotated[
    bool,
    typer.Option(
        "--force-threads",
        help="Use all threads also where they only wait for one another.",
        show_default=False,
    ),
]
ForceMemory = Annotated[
    bool,
    typer.Option(
        "--force-memory",
        help="Begin also where the estimate is more than the memory that is left.",
        show_default=False,
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="The quick form, for a first look.", show_default=False)]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="N|A,B,...", help="So many seeds, or these, instead of the study's own.", show_default=False
    ),
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Runs at a time.", show_default="one a core")]
Status = Annotated[
    bool,
    typer.Option(
        "--status",
        help="Count the runs that are done, failed and to do, by study and variant; run nothing.",
        show_default=False,
    ),
]
Anew = Annotated[bool, typer.Option("--force", help="Run everything anew.", show_default=False)]
Formats = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT[,...]", help="Of pictures: png, pdf, svg, or several.", show_default="png"
    ),
]
AlsoFormats = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT[,...]",
        help="Write pictures as pdf, svg or both as well.",
        show_default="png alone",
    ),
]
Width = Annotated[
    float | None,
    typer.Option("--width", metavar="INCHES", help="Width of pictures.", show_default="7, or as it needs"),
]
FontSize = Annotated[
    float | None,
    typer.Option(metavar="POINTS", help="Size of the letters of pictures.", show_default="10"),
]
Log = Annotated[
    str | None,
    typer.Option(
        metavar="x|y|x,y|none",
        help="Axes that are logarithmic, of pictures whose axes have numbers.",
        show_default="as the picture has it",
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
        help="Leave out what explains widths, bars and marks below pictures.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON document to stdout.", show_default=False)]


@app.callback(invoke_without_command=True)
def floodway_(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", show_default=False)
    ] = False,
) -> int:
    """Simulate lossless RDMA networks, packet by packet.

    \b
    Examples:
      floodway check scenarios/demo.toml
      floodway run scenarios/demo.toml
      floodway run scenarios/demo.toml --set long-haul.flow-control.pfc.xoff=30MB
      floodway compare scenarios/demo.toml --vary long-haul.flow-control=pfc,bifrost
      floodway plot fct out/compare/demo
      floodway why out/demo p99
      floodway list mechanisms
      floodway explain bifrost
    """
    if version:
        tell(f"floodway {floodway.__version__}")
        raise typer.Exit(0)
    if context.invoked_subcommand is None:
        tell(context.get_help(), err=True)
        raise typer.Exit(USAGE)
    return 0


@app.command(name="run")
def run_(  # noqa: PLR0913 (one argument an option)
    scenario: ScenarioFile,
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    sets: Sets = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=LARGEST_SEED,
            help="Seed of every random stream, instead of the scenario's.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the results.", show_default="out/SCENARIO")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    strict: Strict = False,
    on_deadlock: Annotated[
        Literal["stop", "continue"] | None,
        typer.Option(
            help="What to do when a deadlock is found, instead of what the scenario says.", show_default=False
        ),
    ] = None,
    export: Annotated[
        Literal["hpcc"] | None,
        typer.Option(
            help="Write the results in another simulator's formats too: fct.txt, pfc.txt, qlen.txt.",
            show_default=False,
        ),
    ] = None,
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="link=NAME[,NAME...]",
            help="Keep the packets of these links, by name, * and ? or tag=NAME, in capture.pcapng; may be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_THREADS,
            help="Threads; results do not depend on them.",
            show_default="one a core where that pays",
        ),
    ] = None,
    force_threads: ForceThreads = False,
    force_memory: ForceMemory = False,
) -> int:
    """Simulate a scenario, write its results and print what it came to.

    \b
    Examples:
      floodway run scenarios/demo.toml
      floodway run scenarios/demo.toml --seed 7 --out out/demo-7
      floodway run scenarios/demo.toml --set long-haul.flow-control.pfc.xoff=5MB --strict
      floodway run scenarios/demo.toml --json --force | jq .summary.total.fct
      floodway run scenarios/demo.toml --export hpcc
      floodway run scenarios/incast.toml --pcap 'link=h1-*'

    \b
    Exit codes:
      0    done
      1    the run failed: an invariant broke, a deadlock stopped it, memory is too little, --strict and
           packets were lost, or the results could not be written to their place
      2    bad usage or scenario
      130  interrupted; what was complete is written
      143  the same by SIGTERM
    """
    with loading():
        from floodway.cli import run as running
    return running.run(
        running.Request(
            scenario=scenario,
            sets=sets or [],
            seed=seed,
            out=out,
            force=force,
            quiet=quiet,
            json=json,
            strict=strict,
            on_deadlock=on_deadlock,
            export=export,
            pcap=pcap or [],
            threads=threads,
            force_threads=force_threads,
            force_memory=force_memory,
        )
    )


@app.command(name="compare")
def compare_(  # noqa: PLR0913 (one argument an option)
    scenarios: Annotated[
        list[Path],
        typer.Argument(
            metavar="SCENARIO",
            help="The scenario's TOML file, or several to compare with one another.",
            show_default=False,
        ),
    ],
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY.PATH=A,B[,...]",
            help="Compare the scenario with each of these values; repeated, every combination.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Runs of each variant, with the scenario's seed and those after it.")
    ] = 1,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Runs at a time.", show_default="one a core"),
    ] = None,
    threads: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_THREADS,
            help="Threads of each run, whatever its scenario says; results do not depend on them.",
        ),
    ] = 1,
    sets: Sets = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the results.", show_default="out/compare/SCENARIO"),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    strict: Strict = False,
    force_threads: ForceThreads = False,
    force_memory: ForceMemory = False,
) -> int:
    """Simulate variants side by side, and say how they differ.

    A comparison that was cut short goes on: runs that are there are not run again.

    \b
    Examples:
      floodway compare scenarios/demo.toml --vary long-haul.flow-control=pfc,bifrost
      floodway compare scenarios/demo.toml --vary long-haul.buffer.static.size=42MB,82MB --seeds 3
      floodway compare scenarios/demo.toml --vary 'defaults.flow-control.pfc.xoff={ alpha = 0.25 },1MB'
      floodway compare scenarios/incast.toml scenarios/demo.toml --out out/both

    \b
    Exit codes:
      0    done
      1    a run failed: an invariant broke, a deadlock stopped it, --strict and packets were lost, or the
           results could not be written to their place
      2    bad usage or scenario; nothing has run
      130  interrupted; the runs that had ended are written
      143  the same by SIGTERM
    """
    with loading():
        from floodway.cli import compare as comparing
    return comparing.compare(
        comparing.Request(
            scenarios=scenarios,
            vary=vary or [],
            seeds=seeds,
            jobs=jobs,
            threads=threads,
            sets=sets or [],
            out=out,
            force=force,
            quiet=quiet,
            json=json,
            strict=strict,
            force_threads=force_threads,
            force_memory=force_memory,
        )
    )


def _picture_options(  # noqa: PLR0913 (one argument an option)
    form: str | None,
    width: float | None,
    font_size: float | None,
    log: str | None,
    title: str | None,
    *,
    note: bool,
) -> PictureOptions:
    chosen = PictureOptions(
        formats=formats_of(form),
        width_in=width,
        font_pt=font_size,
        log=axes_of(log),
        title=title,
        note=note,
    )
    if chosen.is_chosen:
        # Whether pictures may look so is told before the first run.
        with chosen.look():
            pass
    return chosen


def _study_request(  # noqa: PLR0913 (one argument an option)
    *,
    out: Path | None,
    jobs: int | None,
    seeds: str | None,
    quick: bool,
    status: bool,
    force: bool,
    quiet: bool,
    json: bool,
    pictures: PictureOptions,
) -> studying.Request:
    """Return what `study` and `reproduce` are asked for beside what to run."""
    with loading():
        from floodway.cli import study as studying
    return studying.Request(
        pictures=pictures,
        out=out,
        jobs=jobs,
        seeds=studying.seeds_of(seeds),
        quick=quick,
        status=status,
        force=force,
        quiet=quiet,
        json=json,
    )


@app.command(name="study")
def study_(  # noqa: PLR0913 (one argument an option)
    studies: Annotated[
        list[Path],
        typer.Argument(metavar="STUDY", help="The study's TOML file, or several.", show_default=False),
    ],
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    quick: Quick = False,
    seeds: Seeds = None,
    jobs: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of runs and report.", show_default="out/study/STUDY"),
    ] = None,
    status: Status = False,
    form: AlsoFormats = None,
    width: Width = None,
    font_size: FontSize = None,
    log: Log = None,
    title: Title = None,
    no_note: NoNote = False,
    force: Anew = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Run a study: variants, axes and seeds, with published numbers beside ours.

    Runs that are there are not run again; what was cut short goes on.

    \b
    Examples:
      floodway study studies/example.toml
      floodway study studies/example.toml --quick
      floodway study studies/example.toml --status
      floodway study studies/example.toml --seeds 1,2,7 --out out/seven
      floodway study studies/example.toml --format pdf,svg --width 3.4 --font-size 8 --title ''

    \b
    Exit codes:
      0    done
      1    a run failed; the others and the report are there. Or results could not be written; what had ended
           is kept
      2    bad usage, study or scenario; nothing has run
      130  interrupted; the runs that had ended are kept
      143  the same by SIGTERM
    """
    with loading():
        from floodway.cli import study as studying
    return studying.study(
        studies,
        _study_request(
            out=out,
            jobs=jobs,
            seeds=seeds,
            quick=quick,
            status=status,
            force=force,
            quiet=quiet,
            json=json,
            pictures=_picture_options(form, width, font_size, log, title, note=not no_note),
        ),
    )


@app.command(name="reproduce")
def reproduce_(  # noqa: PLR0913 (one argument an option)
    papers: Annotated[
        list[str],
        typer.Argument(
            metavar="PAPER [FIGURE]...",
            help="A paper, and those of its figures that are wanted: all where none are named. Several "
            "papers follow one another.",
            show_default=False,
        ),
    ],
    *,
    quick: Quick = False,
    seeds: Seeds = None,
    jobs: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of runs and report.", show_default="out/reproduce/PAPER"),
    ] = None,
    status: Status = False,
    form: AlsoFormats = None,
    width: Width = None,
    font_size: FontSize = None,
    log: Log = None,
    title: Title = None,
    no_note: NoNote = False,
    force: Anew = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Reproduce the figures of papers, and compare with the numbers that they give.

    The papers' studies are in studies/; `floodway list studies` shows them.

    \b
    Examples:
      floodway reproduce swing bifrost --quick
      floodway reproduce swing 13a 14
      floodway reproduce bifrost --status

    \b
    Exit codes:
      0    done
      1    a run failed; the others and the report are there. Or results could not be written; what had ended
           is kept
      2    bad usage, study or scenario; nothing has run
      130  interrupted; the runs that had ended are kept
      143  the same by SIGTERM
    """
    with loading():
        from floodway.cli import study as studying
    return studying.reproduce(
        papers,
        _study_request(
            out=out,
            jobs=jobs,
            seeds=seeds,
            quick=quick,
            status=status,
            force=force,
            quiet=quiet,
            json=json,
            pictures=_picture_options(form, width, font_size, log, title, note=not no_note),
        ),
    )


@app.command(name="why")
def why_(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder that `run` wrote.", show_default=False)
    ],
    flow: Annotated[
        str,
        typer.Argument(
            metavar="[FLOW]",
            help="Its flow_id; or worst, or a percentile such as p99: the measured flow whose slowdown that "
            "is.",
        ),
    ] = "p99",
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.", show_default=False)] = False,
    json: Json = False,
) -> int:
    """Take the completion time of one flow apart: what each part of it went to, and where.

    The scenario runs again until the flow is complete, with the seed of the results. The parts add up to the
    completion time exactly.

    \b
    Examples:
      floodway why out/demo
      floodway why out/incast worst
      floodway why out/incast victim:h2:0 --json

    \b
    Exit codes:
      0    done
      1    the run is another one when it is done again
      2    bad usage, no such folder or flow, or a flow that was not complete
      130  interrupted
      143  the same by SIGTERM
    """
    with loading():
        from floodway.cli import why as asking
    return asking.why(asking.Request(folder=folder, flow=flow, quiet=quiet, json=json))


@app.command(name="verify")
def verify_(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            help="Folder that `run`, `compare`, `study` or `reproduce` wrote, or several.",
            show_default=False,
        ),
    ],
    *,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print faults alone.", show_default=False)] = False,
    json: Json = False,
) -> int:
    """Say whether the results of runs are as the runs wrote them.

    Every file of a run is compared byte for byte with its digest in run.json, and run.json with its own,
    which leaves out the timings. `plot` and `why` do so with what they read. Numbers, pictures and pages of
    a comparison or a study have no digests; a line names them.

    \b
    Examples:
      floodway verify out/demo
      floodway verify out/compare/demo --json

    \b
    Exit codes:
      0    every run is as it was written
      1    something is missing or has changed, or an earlier version wrote it, without digests
      2    bad usage, or no such folder
    """
    with loading():
        from floodway.cli import verify as verifying
    return verifying.verify(folders, quiet=quiet, json_=json)


@app.command(name="plot")
def plot_(  # noqa: PLR0913 (one argument an option)
    kind: Annotated[
        Kind,
        typer.Argument(
            metavar="KIND",
            help="Completion times; slowdown against flow size; a metric in time, or as colours; ports and "
            "senders in time; the congestion region in time; who has how much of a link.",
            show_default=False,
        ),
    ],
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            help="Folder that `run` or `compare` wrote, or several: each run and variant is overlaid.",
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
            help="Folder of the files, or the picture itself.",
            show_default="out/plot/DIR",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="Of series and heatmap: throughput, utilisation, paused, queue, queue-max, buffer, or a "
            "metric of the series.",
            show_default="throughput; utilisation of a heatmap",
        ),
    ] = None,
    objects: Annotated[
        list[str] | None,
        typer.Option(
            "--object",
            metavar="GLOB",
            help="Of series, heatmap, ports and shares: a link (x1-x2) or its direction (x1>x2); may be "
            "repeated.",
            show_default="the busiest; all in a heatmap; the ports with most to tell",
        ),
    ] = None,
    workloads: Annotated[
        list[str] | None,
        typer.Option(
            "--workload",
            metavar="NAME",
            help="Of fct and slowdown: only this one; may be repeated.",
            show_default=False,
        ),
    ] = None,
    flows: Annotated[
        list[str] | None,
        typer.Option(
            "--flow",
            metavar="GLOB",
            help="Of ports and shares: a flow (its flow_id) or a workload that is shown; may be repeated.",
            show_default="the first six; all, with a line for each of the eight with most bytes",
        ),
    ] = None,
    class_: Annotated[
        int | None,
        typer.Option(
            "--class",
            metavar="N",
            help="Of region: the class whose queues are meant.",
            show_default="all: a port is in the gravest role of any",
        ),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="Of ports, region and shares: where time begins.",
            show_default="0us",
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="TIME",
            help="Of ports, region and shares: where it ends.",
            show_default="the run's end",
        ),
    ] = None,
    bucket: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Of shares: put buckets together until they are so wide.",
            show_default="until there are 250",
        ),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Write the data only.", show_default=False)] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that are there already.", show_default=False)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="No warnings, no names of files.", show_default=False)
    ] = False,
) -> int:
    """Draw results, and write the data that each picture shows beside it as CSV.

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
            pictures=_picture_options(form, width, font_size, log, title, note=not no_note),
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


@app.command(name="validate")
def validate_(  # noqa: PLR0913 (one argument an option)
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="A case of the HPCC simulator, or a folder of cases: config_TAG.txt with the files that it "
            "names, and what that simulator made of it: fct_TAG.txt, pfc_TAG.txt, qlen_TAG.txt.",
            show_default=False,
        ),
    ],
    *,
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            help="Runs of a case that is held to bounds, if chance or ties decide it.",
        ),
    ] = 5,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Runs at a time.", show_default="one a core"),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Leave out cases of more than 1 GB of payload, and run once what only ties decide.",
            show_default=False,
        ),
    ] = False,
    other_build: Annotated[
        bool,
        typer.Option(
            "--other-build",
            help="The reference is of another build or fork of that simulator, whose ties, draws and paths "
            "may be others: bounds decide. Else all has to be equal, unless a hash chooses paths that are "
            "not listed and fewer than 200 flows end before the first difference.",
            show_default=False,
        ),
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CASE/TAG",
            help="Only these, in which * and ? stand for letters; may be repeated.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runs and their numbers.")] = Path(
        "out", "validate"
    ),
    plot: Annotated[
        bool,
        typer.Option(
            "--plot", help="Draw slowdown, completion times and queues of both.", show_default=False
        ),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write tables and pictures into a page in Markdown, between its marks.",
            show_default=False,
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Show every number of every configuration; else a line each, and what fails.",
            show_default=False,
        ),
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Run what the HPCC simulator ran, and compare flows, pauses and queues with what it found.

    \b
    Examples:
      floodway validate DIR
      floodway validate DIR --only "c7*" --plot --out out/c7
      floodway validate DIR --quick --json | jq .counts
      floodway validate DIR --only 'c1*/dcqcn' --other-build --seeds 10 --force

    \b
    Exit codes:
      0    each configuration equals the reference to the nanosecond, or, where equality is not expected,
           every number that has a bound keeps within it; what cannot run is named
      1    one does not, and its first difference is shown; or a run failed
      2    bad usage, or a file is missing or not of its form; nothing has run
      130  interrupted; the runs that had ended are kept
      143  the same by SIGTERM
    """
    with loading():
        from floodway.cli import validate as validating
    return validating.run(
        validating.Request(
            folder=folder,
            seeds=seeds,
            jobs=jobs,
            quick=quick,
            other_build=other_build,
            only=only or [],
            out=out,
            plot=plot,
            report=report,
            force=force,
            verbose=verbose,
            quiet=quiet,
            json=json,
        )
    )


@app.command(name="check")
def check_(
    scenario: ScenarioFile,
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    sets: Sets = None,
    resolved: Annotated[
        bool,
        typer.Option(
            "--resolved",
            help="Show what every object ended up with, and which line said so.",
            show_default=False,
        ),
    ] = False,
    json: Json = False,
) -> int:
    """Build a scenario without running it, and print what it comes to.

    \b
    Examples:
      floodway check scenarios/demo.toml
      floodway check scenarios/demo.toml --resolved
      floodway check scenarios/demo.toml --set mtu=4096B --json
    """
    with loading():
        from floodway.cli import check as checking
    return checking.check(scenario, sets=sets or [], resolved=resolved, json=json)


@imports.command(name="hpcc")
def import_hpcc_(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG",
            help="The simulator's configuration, which names topology and flows.",
            show_default=False,
        ),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The scenario's file.", show_default="stdout"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that is there already.", show_default=False)
    ] = False,
) -> int:
    """Write the scenario that a configuration of the HPCC simulator means.

    What is not as it was in that simulator, or has no effect, is told on stderr. `run`, `check` and
    `compare` take a configuration as it is.

    \b
    Examples:
      floodway import hpcc scenarios/hpcc/config.txt --out scenario.toml
      floodway run scenarios/hpcc/config.txt

    \b
    Exit codes:
      0    done
      2    bad usage, a file with a fault, or a key that cannot be simulated; nothing is written
    """
    with loading():
        from floodway.cli import import_ as importing
    return importing.import_hpcc(config, out=out, force=force)


@app.command(name="list")
def list_(
    what: Annotated[
        Literal["mechanisms", "topologies", "workloads", "scenarios", "studies"],
        typer.Argument(help="What to list.", show_default=False),
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]",
            help="Of scenarios and studies: where they are, by default in scenarios/ and studies/.",
            show_default=False,
        ),
    ] = None,
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    json: Json = False,
) -> int:
    """List what a scenario can name, a line each, or the scenarios and studies that are ready to run.

    \b
    Examples:
      floodway list mechanisms
      floodway list topologies --json
      floodway list scenarios
      floodway list studies
    """
    if folder is not None and what not in {"scenarios", "studies"}:
        raise typer.BadParameter(
            f"a folder is for scenarios and studies, not for {what}", param_hint="FOLDER"
        )
    with loading():
        from floodway.cli import find as finding
    return finding.list_(what, folder=folder, json_=json)


@app.command(name="explain")
def explain_(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A mechanism, topology, workload or distribution; SLOT.NAME where two share a name.",
            show_default=False,
        ),
    ],
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    json: Json = False,
) -> int:
    """Tell what something does: its parameters with units, defaults and sources, sizing, differences.

    \b
    Examples:
      floodway explain bifrost
      floodway explain notification.dcqcn
      floodway explain fat-tree
      floodway explain poisson
    """
    with loading():
        from floodway.cli import find as finding
    return finding.explain(name, json_=json)


@app.command(name="schema")
def schema_() -> int:
    """Print the grammar of scenarios as JSON Schema, for editors and other programs.

    \b
    Example:
      floodway schema > scenario.schema.json
    """
    with loading():
        from floodway.cli import find as finding
    return finding.schema()


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code.

    Parameters
    ----------
    arguments
        Those after the program's name; by default the process's own.
    """
    terminated: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        """Do as Ctrl-C does at this point."""
        terminated.append(number)
        as_ctrl_c = signal.getsignal(signal.SIGINT)
        if not callable(as_ctrl_c):
            raise KeyboardInterrupt
        as_ctrl_c(signal.SIGINT, frame)

    if COMPLETION in os.environ:
        # Without it typer knows no shell.
        from typer.completion import completion_init  # type: ignore[attr-defined]  # not listed

        completion_init()
    signal.signal(signal.SIGTERM, interrupt)
    warnings.showwarning = _warn
    with standard_streams() as stdout:
        code = _exit_code(arguments)
        code = TERMINATED if terminated and code == INTERRUPTED else code
        lost = stdout.lost()
        if lost is not None and code == DONE:
            code = READER_GONE if isinstance(lost, BrokenPipeError) else FAILED
        if lost is not None and not isinstance(lost, BrokenPipeError):
            _fail(f"stdout: cannot be written: {lost.strerror}", FAILED)
    sys.exit(code)


def _warn(  # noqa: PLR0913, PLR0917 (as Python calls it)
    message: Warning | str,
    category: type[Warning],
    filename: str,  # noqa: ARG001
    lineno: int,  # noqa: ARG001
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Show a warning as every other one: in a line, without the place in the program."""
    if issubclass(category, UserWarning):
        tell(f"warning: {message}", err=True)


def _exit_code(arguments: Sequence[str] | None) -> int:
    try:
        return int(app(arguments, prog_name="floodway", standalone_mode=False) or 0)
    except typer.TyperException as error:
        return _fail(_usage(error), USAGE)
    except FloodwayError as error:
        return _fail(_words(error), FAILED if isinstance(error, (LostResultsError, RunError)) else USAGE)
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        return _fail("memory ran out: less data or fewer runs at a time (--jobs) need less", FAILED)
    except Exception as error:  # noqa: BLE001 (a bug is told in one line as well)
        return _unexpected(error)


def _words(error: FloodwayError) -> str:
    """Say what went wrong; of a user's own code its traceback first."""
    cause = error.__cause__ if isinstance(error, MechanismError) else None
    return "".join([*([] if cause is None else traceback.format_exception(cause)), str(error)])


def _unexpected(error: Exception) -> int:
    """Say in a line what no part of the program expects."""
    if _is_interrupt(error):
        return INTERRUPTED
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    return _fail(f"a bug of floodway, please report it: {type(error).__name__}: {error} ({where})", FAILED)


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: libraries make one of it while they are being loaded."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _fail(message: str, code: int) -> int:
    for line in message.splitlines():
        tell(f"error: {line}", err=True)
    return code


def _usage(error: typer.TyperException) -> str:
    """Say a fault of usage in our words: one line, with the nearest name."""
    nearest = getattr(error, "possibilities", None)
    option = getattr(error, "option_name", None)
    if nearest:
        return f"no such option {option}; did you mean {nearest[0]}?"
    message = " ".join(error.format_message().split()).replace("Value error, ", "")
    hint = _hint(message)
    message = message.removesuffix(".") if hint else message
    return f"{message[:1].lower()}{message[1:]}{hint}"


def _hint(message: str) -> str:
    """Return the nearest of the choices that a fault names, where there is one."""
    found = re.search(r"'([^']*)' is not one of ('[^']*'(?:, '[^']*')*)", message)
    near = found and nearest(found[1], re.findall(r"'([^']*)'", found[2]))
    return f"; did you mean {near!r}?" if near else ""

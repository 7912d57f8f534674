"""Definition of `floodway lint`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.cli.completions import chips, mixes
from floodway.cli.options import Jobs, Json, Quiet
from floodway.loading import loading

__all__ = ["command"]


def command(  # noqa: PLR0913 (one argument an option)
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="SONiC's pg_profile_lookup.ini, a table of such rows with a line of names and tabs, or a "
            "CONFIG_DB as JSON, nested or as a dump of the database.",
            show_default=False,
        ),
    ],
    *,
    mtu: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Largest payload of a packet.",
            show_default="what the ports of a CONFIG_DB take, else 4096B",
        ),
    ] = None,
    mix: Annotated[
        str,
        typer.Option(
            metavar="SIZES",
            help="Sizes of frames: any, small, dnx, or a list such as 64B:3,1082B.",
            autocompletion=mixes,
        ),
    ] = "any",
    cell: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Cell of the switch's buffer.", show_default="the chip's, else 1B"),
    ] = None,
    asic: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The switch's chip, such as tomahawk-5 or TH5 (floodway list chips).",
            show_default="that of a CONFIG_DB's hwsku",
            autocompletion=chips,
        ),
    ] = None,
    latency: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Latency beside the cable, one way: FEC, gearbox, retimer, MACsec. Without it verdicts say "
            "that none is counted.",
            show_default=False,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Also fail if a row has a warning, or something that decides is not judged.",
            show_default=False,
        ),
    ] = False,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Find the least headroom that holds in the hardest run, for each rate and length.",
            show_default=False,
        ),
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Folder that keeps what was simulated: the same call goes on from there."
        ),
    ] = Path("out", "lint"),
    every: Annotated[
        bool,
        typer.Option("--all", help="Print every row, not only the worst.", show_default=False),
    ] = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Judge whether classes of a SONiC configuration are lossless, and their headroom, worst first.

    Of a CONFIG_DB each class of each port is followed from DSCP to queue: maps, pauses, priority group,
    pools, egress, marks, watchdog. `floodway plan lint` is the same command.

    \b
    Examples:
      floodway lint pg_profile_lookup.ini --asic tomahawk-5
      floodway lint config_db.json
      floodway lint config_db.json --asic spectrum-4 --mtu 9000B --mix dnx --latency 250ns
      floodway lint pg_profile_lookup.ini --asic jericho-2 --simulate --out out/lint
      floodway lint pg_profile_lookup.ini --json | jq .counts

    \b
    Exit codes:
      0    every row holds for what is asked, if the far end and the port's own interface take no longer than
           IEEE 802.3 allows, and as far as the file says: what decides and is not in it is named; also if
           there is no lossless class
      1    a class is not lossless, its headroom does not hold for what is asked, or it cannot be judged; with
           --strict also if there is a warning, or something is not judged
      2    bad usage, or the file has a mistake
      130  interrupted by Ctrl-C; what was simulated is kept
    """
    with loading():
        from floodway.cli import lint as linting
    wanted = linting.Wanted(
        mtu=mtu,
        mix=mix,
        cell=cell,
        asic=asic,
        latency=latency,
        strict=strict,
        simulate=simulate,
        out=out,
        every=every,
        jobs=jobs,
        quiet=quiet,
        json=json,
    )
    return linting.run(file, wanted)

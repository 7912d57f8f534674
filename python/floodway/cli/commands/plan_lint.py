"""Definition of `floodway plan lint`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.cli.options import Jobs, Json, Quiet
from floodway.loading import loading

__all__ = ["command"]


def command(  # noqa: PLR0913 (one argument an option)
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="SONiC's pg_profile_lookup.ini, a table of such rows with a line of names and tabs, or a "
            "CONFIG_DB as JSON.",
            show_default=False,
        ),
    ],
    *,
    mtu: Annotated[str, typer.Option(metavar="SIZE", help="Largest payload of a packet.")] = "4096B",
    mix: Annotated[
        str,
        typer.Option(
            metavar="SIZES", help="Sizes of frames: any, small, dnx, or a list such as 64B:3,1082B."
        ),
    ] = "any",
    cell: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Cell of the switch's buffer.", show_default="the chip's, else 1B"),
    ] = None,
    asic: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The switch's chip, such as tomahawk-5.", show_default=False),
    ] = None,
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
    """Judge the headroom of each row of a SONiC configuration, worst first.

    \b
    Examples:
      floodway plan lint pg_profile_lookup.ini --asic tomahawk-5
      floodway plan lint config_db.json --asic spectrum-4 --mtu 9000B --mix dnx
      floodway plan lint pg_profile_lookup.ini --asic jericho-2 --simulate --out out/lint
      floodway plan lint pg_profile_lookup.ini --json | jq .counts

    \b
    Exit codes:
      0    every row holds for what is asked, if the far end obeys a pause in the time that IEEE 802.3 allows;
           also if a CONFIG_DB has no lossless profile, which a note says
      1    a row does not
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
        simulate=simulate,
        out=out,
        every=every,
        jobs=jobs,
        quiet=quiet,
        json=json,
    )
    return linting.run(file, wanted)

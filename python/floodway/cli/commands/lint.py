"""Definition of `floodway lint`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodway.cli import options
from floodway.cli.options import chips, mixes
from floodway.common.loading import loading

__all__ = ["command"]


@click.command()
@options.path(
    "file",
    "FILE",
    "SONiC's pg_profile_lookup.ini, a table of such rows with a line of names and tabs, or a "
    "CONFIG_DB as JSON, nested or as a dump of the database.",
)
@options.value(
    "--mtu", "SIZE", "Largest payload of a packet.", "what the ports of a CONFIG_DB take, else 4096B"
)
@options.value(
    "--mix",
    "SIZES",
    "Sizes of frames: any, small, dnx, or a list such as 64B:3,1082B.",
    default="any",
    shell_complete=mixes,
)
@options.value("--cell", "SIZE", "Cell of the switch's buffer.", "the chip's, else 1B")
@options.value(
    "--asic",
    "NAME",
    "The switch's chip, such as tomahawk-5 or TH5 (floodway list chips).",
    "that of a CONFIG_DB's hwsku",
    shell_complete=chips,
)
@options.value(
    "--latency",
    "TIME",
    "Latency beside the cable, one way: FEC, gearbox, retimer, MACsec. Without it verdicts say "
    "that none is counted.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Also fail if a row has a warning, or something that decides is not judged.",
)
@click.option(
    "--simulate",
    is_flag=True,
    help="Find the least headroom that holds in the hardest run, for each rate and length.",
)
@options.out(
    "DIR",
    "Folder that keeps what was simulated: the same call goes on from there.",
    default=Path("out", "lint"),
)
@options.full
@options.jobs
@options.quiet
@options.json
def command(**values: Any) -> int:
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
    return linting.run(linting.Request(**values))

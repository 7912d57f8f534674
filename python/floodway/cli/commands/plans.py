"""Definitions of `floodway plan` and `floodway lint`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodway.cli import options
from floodway.common.loading import loading

__all__ = ["link", "lint"]


class _Link(options.GroupedCommand):
    """A command that needs no name: `floodway plan` is `floodway plan link`."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage without the name."""
        path = ctx.command_path.removesuffix(" link")
        formatter.write_usage(path, " ".join(self.collect_usage_pieces(ctx)))


@click.command(cls=_Link)
@options.path(
    "file",
    "[FILE]",
    "A plan.toml with the options from --rate to --survive as keys, or a scenario whose long "
    "links are planned.",
    required=False,
)
@options.value("--rate", "RATE", "Rate of the link, such as 400G.")
@options.value("--length", "LENGTH", "Length of the fibre, such as 40km.")
@options.value("--buffer", "SIZE", "Memory for all these links, such as 64MB.", "the chip's")
@options.value("--links", "N", "Such links at the switch.", "1", type=int)
@options.value("--classes", "N", "Lossless classes of each link.", "1", type=int)
@options.value("--mtu", "SIZE", "Largest payload of a packet.", "4096B")
@options.value(
    "--mix",
    "SIZES",
    "Sizes of frames: any, small, dnx, or a list such as 64B:3,1082B.",
    "any",
    shell_complete=options.mixes,
)
@options.value("--cell", "SIZE", "Cell of the switch's buffer.", "the chip's, else 1B")
@options.value(
    "--asic",
    "NAME",
    "The switch's chip, such as tomahawk-5 or TH5 (floodway list chips).",
    shell_complete=options.chips,
)
@options.value("--react", "TIME", "From a pause's arrival to its start.", "what 802.3 allows")
@options.value(
    "--interface-delay",
    "TIME",
    "Delay of the port's own interface, out and in, FEC included.",
    "what 802.3 allows",
)
@options.value(
    "--latency",
    "TIME",
    "Latency beside the fibre, one way: transponders, gearboxes, retimers, MACsec.",
    "0us",
)
@options.value(
    "--survive", "FAULT", "A fault to survive while the far end takes nothing, such as flap=500us."
)
@options.value(
    "--flow-control",
    "NAME",
    "Only this one: pfc, pfc-timer, bifrost, swing, cbfc; may be repeated.",
    name="flow_controls",
    multiple=True,
    shell_complete=options.planned_flow_controls,
)
@options.value(
    "--kinds",
    "KIND",
    "Of a scenario, only links of this kind; may be repeated.",
    "those of more than 10us",
    multiple=True,
)
@options.value(
    "--oversubscribe",
    "RATIO",
    "Headroom of all links over the shared pool of headroom.",
    name="oversubscribed",
    default=1.0,
    type=float,
)
@click.option(
    "--no-simulate", "simulate", flag_value=False, default=True, help="Formulas only, without runs."
)
@options.out(
    "DIR",
    "Folder for the page, its pictures, plan.json and every scenario that was run; it keeps finished "
    "runs: the same call goes on from there.",
)
@options.value(
    "--sonic",
    "DIR",
    "Folder for a configuration of SONiC, and text for switches of other makers.",
    type=click.Path(path_type=Path),
)
@options.value(
    "--ports",
    "NAME",
    "A port in that configuration; repeated for each link.",
    "Ethernet0, Ethernet8, ...",
    multiple=True,
)
@options.value(
    "--dscp",
    "CLASS=DSCP",
    "A DSCP of a lossless class in that configuration, such as 3=26; may be repeated.",
    "8 times the class: 24 for class 3",
    name="dscps",
    multiple=True,
)
@click.option("--force", is_flag=True, help="Replace an existing plan.")
@options.jobs
@options.quiet
@options.json
@options.full
def link(**values: Any) -> int:
    """Plan a long lossless link: buffer, thresholds, reach; buffers are tried by runs.

    \b
    Examples:
      floodway plan --rate 400G --length 40km --buffer 64MB --links 8
      floodway plan --rate 400G --length 120km --asic jericho-2 --mix dnx --out out/plan
      floodway plan --rate 400G --length 2km --buffer 64MB --links 8 --asic tomahawk-3 --sonic out/sonic
      floodway plan plan.toml
      floodway plan scenarios/demo.toml

    \b
    Exit codes:
      0    planned: what was asked of the buffer may still not be possible, which the answer says
      1    a planned size lost packets in a run
      2    bad usage
    """
    with loading():
        from floodway.cli import plan as planning
        from floodway.planning.question_files import KEYS
    keys = {key: values.pop(key.replace("-", "_")) for key in KEYS}
    return planning.plan(planning.Request(keys=keys, **values))


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
    shell_complete=options.mixes,
)
@options.value("--cell", "SIZE", "Cell of the switch's buffer.", "the chip's, else 1B")
@options.value(
    "--asic",
    "NAME",
    "The switch's chip, such as tomahawk-5 or TH5 (floodway list chips).",
    "that of a CONFIG_DB's hwsku",
    shell_complete=options.chips,
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
def lint(**values: Any) -> int:
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

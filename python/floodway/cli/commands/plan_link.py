"""Definition of `floodway plan`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodway.cli import options
from floodway.cli.options import chips, mixes, planned_flow_controls
from floodway.common.loading import loading

__all__ = ["command"]


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
    shell_complete=mixes,
)
@options.value("--cell", "SIZE", "Cell of the switch's buffer.", "the chip's, else 1B")
@options.value(
    "--asic",
    "NAME",
    "The switch's chip, such as tomahawk-5 or TH5 (floodway list chips).",
    shell_complete=chips,
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
    shell_complete=planned_flow_controls,
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
def command(**values: Any) -> int:
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

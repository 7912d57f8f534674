"""Definition of `floodway plan`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.cli import options
from floodway.cli.completions import chips, mixes, planned_flow_controls
from floodway.cli.option_groups import GroupedCommand
from floodway.common.loading import loading

__all__ = ["command"]


class _Link(GroupedCommand):
    """A command that needs no name: `floodway plan` is `floodway plan link`."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage without the name."""
        path = ctx.command_path.removesuffix(" link")
        formatter.write_usage(path, " ".join(self.collect_usage_pieces(ctx)))


@click.command(cls=_Link)
@click.argument(
    "file",
    required=False,
    type=click.Path(path_type=Path),
    metavar="[FILE]",
    help="A plan.toml with the options from --rate to --survive as keys, or a scenario whose long "
    "links are planned.",
)
@click.option("--rate", metavar="RATE", help="Rate of the link, such as 400G.")
@click.option("--length", metavar="LENGTH", help="Length of the fibre, such as 40km.")
@click.option(
    "--buffer", metavar="SIZE", help="Memory for all these links, such as 64MB.", show_default="the chip's"
)
@click.option("--links", type=int, metavar="N", help="Such links at the switch.", show_default="1")
@click.option("--classes", type=int, metavar="N", help="Lossless classes of each link.", show_default="1")
@click.option("--mtu", metavar="SIZE", help="Largest payload of a packet.", show_default="4096B")
@click.option(
    "--mix",
    metavar="SIZES",
    help="Sizes of frames: any, small, dnx, or a list such as 64B:3,1082B.",
    show_default="any",
    shell_complete=mixes,
)
@click.option(
    "--cell", metavar="SIZE", help="Cell of the switch's buffer.", show_default="the chip's, else 1B"
)
@click.option(
    "--asic",
    metavar="NAME",
    help="The switch's chip, such as tomahawk-5 or TH5 (floodway list chips).",
    shell_complete=chips,
)
@click.option(
    "--react", metavar="TIME", help="From a pause's arrival to its start.", show_default="what 802.3 allows"
)
@click.option(
    "--interface-delay",
    metavar="TIME",
    help="Delay of the port's own interface, out and in, FEC included.",
    show_default="what 802.3 allows",
)
@click.option(
    "--latency",
    metavar="TIME",
    help="Latency beside the fibre, one way: transponders, gearboxes, retimers, MACsec.",
    show_default="0us",
)
@click.option(
    "--survive",
    metavar="FAULT",
    help="A fault to survive while the far end takes nothing, such as flap=500us.",
)
@click.option(
    "--flow-control",
    multiple=True,
    metavar="NAME",
    help="Only this one: pfc, pfc-timer, bifrost, swing, cbfc; may be repeated.",
    shell_complete=planned_flow_controls,
)
@click.option(
    "--kinds",
    multiple=True,
    metavar="KIND",
    help="Of a scenario, only links of this kind; may be repeated.",
    show_default="those of more than 10us",
)
@click.option(
    "--oversubscribe",
    default=1.0,
    type=float,
    metavar="RATIO",
    help="Headroom of all links over the shared pool of headroom.",
)
@click.option("--no-simulate", is_flag=True, help="Formulas only, without runs.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for the page, its pictures, plan.json and every scenario that was run; it keeps finished "
    "runs: the same call goes on from there.",
)
@click.option(
    "--sonic",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for a configuration of SONiC, and text for switches of other makers.",
)
@click.option(
    "--ports",
    multiple=True,
    metavar="NAME",
    help="A port in that configuration; repeated for each link.",
    show_default="Ethernet0, Ethernet8, ...",
)
@click.option(
    "--dscp",
    multiple=True,
    metavar="CLASS=DSCP",
    help="A DSCP of a lossless class in that configuration, such as 3=26; may be repeated.",
    show_default="8 times the class: 24 for class 3",
)
@options.force_plan
@options.jobs
@options.quiet
@options.json
@options.full
def command(  # noqa: PLR0913 (one argument an option)
    *,
    file: Path | None,
    rate: str | None,
    length: str | None,
    buffer: str | None,
    links: int | None,
    classes: int | None,
    mtu: str | None,
    mix: str | None,
    cell: str | None,
    asic: str | None,
    react: str | None,
    interface_delay: str | None,
    latency: str | None,
    survive: str | None,
    flow_control: tuple[str, ...],
    kinds: tuple[str, ...],
    oversubscribe: float,
    no_simulate: bool,
    out: Path | None,
    sonic: Path | None,
    ports: tuple[str, ...],
    dscp: tuple[str, ...],
    force: bool,
    jobs: int | None,
    quiet: bool,
    json: bool,
    full: bool,
) -> int:
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
    keys = {
        "rate": rate,
        "length": length,
        "buffer": buffer,
        "links": links,
        "classes": classes,
        "mtu": mtu,
        "mix": mix,
        "cell": cell,
        "asic": asic,
        "react": react,
        "interface-delay": interface_delay,
        "latency": latency,
        "survive": survive,
    }
    request = planning.Request(
        keys=keys,
        flow_controls=tuple(flow_control or ()),
        kinds=tuple(kinds or ()),
        oversubscribed=oversubscribe,
        simulate=not no_simulate,
        out=out,
        sonic=sonic,
        ports=tuple(ports or ()),
        dscps=tuple(dscp or ()),
        force=force,
        jobs=jobs,
        quiet=quiet,
        json=json,
        full=full,
    )
    return planning.plan(file, request)

"""Definition of `floodway plan`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.cli.completions import chips, mixes, planned_flow_controls
from floodway.cli.options import ForcePlan, Jobs, Json, Quiet
from floodway.loading import loading

__all__ = ["command"]


def command(  # noqa: PLR0913 (one argument an option)
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A plan.toml with the options from --rate to --survive as keys, or a scenario whose long "
            "links are planned.",
            show_default=False,
        ),
    ] = None,
    *,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Rate of the link, such as 400G.", show_default=False)
    ] = None,
    length: Annotated[
        str | None,
        typer.Option(metavar="LENGTH", help="Length of the fibre, such as 40km.", show_default=False),
    ] = None,
    buffer: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Memory for all these links, such as 64MB.", show_default="the chip's"
        ),
    ] = None,
    links: Annotated[
        int | None, typer.Option(metavar="N", help="Such links at the switch.", show_default="1")
    ] = None,
    classes: Annotated[
        int | None, typer.Option(metavar="N", help="Lossless classes of each link.", show_default="1")
    ] = None,
    mtu: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Largest payload of a packet.", show_default="4096B")
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(
            metavar="SIZES",
            help="Sizes of frames: any, small, dnx, or a list such as 64B:3,1082B.",
            show_default="any",
            autocompletion=mixes,
        ),
    ] = None,
    cell: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Cell of the switch's buffer.", show_default="the chip's, else 1B"),
    ] = None,
    asic: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The switch's chip, such as tomahawk-5 or TH5 (floodway list chips).",
            show_default=False,
            autocompletion=chips,
        ),
    ] = None,
    react: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="From a pause's arrival to its start.", show_default="what 802.3 allows"
        ),
    ] = None,
    interface_delay: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Delay of the port's own interface, out and in, FEC included.",
            show_default="what 802.3 allows",
        ),
    ] = None,
    latency: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Latency beside the fibre, one way: transponders, gearboxes, retimers, MACsec.",
            show_default="0us",
        ),
    ] = None,
    survive: Annotated[
        str | None,
        typer.Option(
            metavar="FAULT",
            help="A fault to survive while the far end takes nothing, such as flap=500us.",
            show_default=False,
        ),
    ] = None,
    flow_control: Annotated[
        list[str] | None,
        typer.Option(
            "--flow-control",
            metavar="NAME",
            help="Only this one: pfc, pfc-timer, bifrost, swing, cbfc; may be repeated.",
            show_default=False,
            autocompletion=planned_flow_controls,
        ),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kinds",
            metavar="KIND",
            help="Of a scenario, only links of this kind; may be repeated.",
            show_default="those of more than 10us",
        ),
    ] = None,
    oversubscribe: Annotated[
        float,
        typer.Option(metavar="RATIO", help="Headroom of all links over the shared pool of headroom."),
    ] = 1.0,
    no_simulate: Annotated[
        bool, typer.Option("--no-simulate", help="Formulas only, without runs.", show_default=False)
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the page, its pictures, plan.json and every scenario that was run.",
            show_default=False,
        ),
    ] = None,
    sonic: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for a configuration of SONiC, and text for switches of other makers.",
            show_default=False,
        ),
    ] = None,
    ports: Annotated[
        list[str] | None,
        typer.Option(
            "--ports",
            metavar="NAME",
            help="A port in that configuration; repeated for each link.",
            show_default="Ethernet0, Ethernet8, ...",
        ),
    ] = None,
    dscp: Annotated[
        list[str] | None,
        typer.Option(
            "--dscp",
            metavar="CLASS=DSCP",
            help="A DSCP of a lossless class in that configuration, such as 3=26; may be repeated.",
            show_default="8 times the class: 24 for class 3",
        ),
    ] = None,
    force: ForcePlan = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
    json: Json = False,
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
    wanted = planning.Wanted(
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
    )
    return planning.plan(file, wanted)

"""`python -m floodway_lab.concepts FOLDER [SCENARIOS]`: the pictures of docs/concepts.md, as SVG files.

Each is the result of one or two runs of a scenario in `scenarios/concepts`, and of nothing else: the same
scenarios give the same bytes.
"""

from __future__ import annotations

import json
import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

from floodway import _floodway
from floodway.common.errors import FloodwayError
from floodway.plot.axes import SIZE, panels_of
from floodway.plot.curves import COLOURS, Source
from floodway.plot.ports import ports
from floodway.results.quantities import quantity_bytes
from floodway.scenarios.scenario import load
from floodway.simulation.run import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes

    from floodway.results import Result

__all__ = ["PICTURES", "draw", "svg_of"]

#: The folder of the scenarios, from the root of a clone.
SCENARIOS = Path("scenarios") / "concepts"
BLUE, RED, GREEN, PINK, SKY = COLOURS[:5]
GREY = "0.45"
#: A pause, behind what it does.
SHADE = "0.86"
#: Tiers of the tree, from the receiver outward: the ends of their links, as first letters, and their names.
TIERS = (
    ("at", "aggregation to the receiver's ToR", RED),
    ("ca", "core to aggregation", PINK),
    ("ac", "aggregation to core", GREEN),
    ("ta", "ToR to aggregation", SKY),
    ("ht", "host to ToR", BLUE),
)


def draw(folder: Path, scenarios: Path = SCENARIOS) -> Iterator[Path]:
    """Run the scenarios and write a picture of each; yield the files as they are written.

    Parameters
    ----------
    folder
        The folder to write, which is made if it does not exist.
    scenarios
        The folder of the scenarios.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        file = folder / f"{name}.svg"
        file.write_bytes(svg_of(picture(scenarios / f"{name}.toml"), name))
        yield file


def svg_of(figure: Figure, name: str) -> bytes:
    """Draw a figure as SVG: without date and program, and with ids that its name decides."""
    drawn = BytesIO()
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    lines = drawn.getvalue().splitlines()
    return b"\n".join(line.rstrip() for line in lines) + b"\n"


def _pfc(file: Path) -> Figure:
    result = _run(file)
    figure, (above, below) = _stacked("Priority flow control: a queue between XOFF and XON")
    for axes in (above, below):
        _shade(axes, result, "h1-s1: h1>s1", label="h1 is paused")
    queue = _direction(result, "s1-h2: s1>h2", "queue_mean_bytes")
    above.plot(queue["time_us"], queue["value"] / 1e3, color=BLUE, label="waiting at s1")
    xoff, offset = (_of_pfc(result, "h1>s1", key) for key in ("xoff", "resume-offset"))
    _level(above, xoff, "XOFF", up=True)
    _level(above, xoff - offset, "XON", up=False)
    above.set(ylabel="KB", ylim=(0, 620))
    above.legend(loc="upper left", ncols=2, fontsize="small")
    _rate(below, _direction(result, "h1-s1: h1>s1", "tx_bytes"), color=BLUE, label="h1 sends")
    _rate(below, _direction(result, "s1-h2: s1>h2", "tx_bytes"), color=RED, label="s1 sends to h2")
    below.set(ylabel="Gbit/s", ylim=(0, 155), xlabel="time in us", xlim=(0, 500))
    below.legend(loc="upper left", ncols=2, fontsize="small")
    return figure


def _headroom(file: Path) -> Figure:
    figure, (axes,) = _stacked("Headroom: what arrives after a PAUSE has been decided", panels=1)
    less = ("defaults.flow-control.pfc.headroom", "150KB")
    enough, short = _run(file), _run(file, less)
    _shade(axes, enough, "h1-s1: h1>s1", label="h1 is paused", until=300)
    for result, colour, line, label in (
        (short, RED, (0, (4, 2)), f"headroom of 150 KB: {_lost(short):,} packets lost"),
        (enough, BLUE, "-", "headroom by the formula: none lost"),
    ):
        queue = _direction(result, "s1-h2: s1>h2", "queue_max_bytes")
        axes.plot(queue["time_us"], queue["value"] / 1e3, color=colour, linestyle=line, label=label)
    _level(axes, _of_pfc(enough, "h1>s1", "xoff"), "XOFF", up=True)
    _level(axes, _largest_buffer(file, less), "XOFF + 150 KB", up=True)
    _level(axes, _largest_buffer(file), "XOFF + headroom by the formula", up=True)
    axes.set(ylabel="KB waiting at s1", xlabel="time in us", xlim=(40, 300), ylim=(0, 470))
    axes.legend(loc="upper left", ncols=2, fontsize="small")
    return figure


def _head_of_line(file: Path) -> Figure:
    figure, panels = panels_of(
        "time in us", "Gbit/s", title="Head-of-line blocking: what the victim gets of an idle port", panels=2
    )
    for axes, class_, title in zip(
        panels, ("3", "4"), ("in the class of the incast", "in a class of its own"), strict=True
    ):
        result = _run(file, ("victim.class", class_))
        for link, colour, label in (
            ("s1-s2: s1>s2", GREY, "trunk"),
            ("h6-s2: s2>h6", RED, "incast to h6"),
            ("h7-s2: s2>h7", BLUE, "victim to h7"),
        ):
            _rate(axes, _direction(result, link, "tx_bytes"), every_us=16, color=colour, label=label)
        gets = _mean_gbps(result, "h7-s2: s2>h7", since=300)
        axes.set_title(f"victim {title}: {gets:.0f} Gbit/s", loc="left", fontsize="small")
    panels[0].set(ylim=(0, 112), xlim=(0, 960))
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small"
    )
    return figure


def _congestion_tree(file: Path) -> Figure:
    result = _run(file)
    figure, (axes,) = _stacked("A congestion tree: links that are paused, tier by tier", panels=1)
    row, marks = 0, []
    for ends, name, colour in TIERS:
        paused = [link for link in _first_paused(result) if _ends(link) == ends]
        for link in paused:
            spans = [(begin, end - begin) for begin, end in _pauses(result, link)]
            axes.broken_barh(spans, (row + 0.1, 0.8), color=colour, linewidth=0)
            row += 1
        first = min(begin for link in paused for begin, _ in _pauses(result, link))
        marks.append((row - len(paused) / 2, f"{name}\n({len(paused)} links, from {first:.0f} us)"))
        row += 1
    axes.set_yticks([position for position, _ in marks], [text for _, text in marks], fontsize="small")
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set(xlabel="time in us", xlim=(0, 100), ylim=(row - 0.5, -0.5))
    return figure


def _long_link(file: Path) -> Figure:
    figure, panels = panels_of("time in ms", "MB waiting at the far end", title="A long link", panels=3)
    variants = (
        ("PFC, 11 MB", RED, ()),
        ("PFC, 21 MB", GREEN, (("trunk.buffer.static.size", "21MB"),)),
        ("Bifrost, 11 MB", BLUE, (("trunk.flow-control", "bifrost"),)),
    )
    for axes, (label, colour, sets) in zip(panels, variants, strict=True):
        result = _run(file, *sets)
        queue = _direction(result, "s2-h2: s2>h2", "queue_mean_bytes")
        axes.plot(queue["time_us"] / 1e3, queue["value"] / 1e6, color=colour)
        axes.set_title(
            f"{label}: the host of 50 Gbit/s gets {_mean_gbps(result, 's2-h2: s2>h2', since=5000):.1f}",
            loc="left",
            fontsize="small",
            color=colour,
        )
    panels[0].set(xlim=(0, 20), ylim=(0, None))
    return figure


#: The picture of each scenario.
def _victim(file: Path) -> Figure:
    mercury = (
        ("defaults.congestion-point", '{ mercury = { threshold = "40KB", base-rtt = "auto" } }'),
        (
            "defaults.rate-control",
            '[{ dcqcn = { preset = "paper", initial-alpha = 0.5 } }, { mercury = { base-rtt = "auto" } }]',
        ),
    )
    results = {"ECN and DCQCN": _run(file), "Mercury": _run(file, *mercury)}
    drawing = ports(
        [Source(label=label, results=(result,)) for label, result in results.items()],
        objects=("s3>h4", "s2>s3", "s1>s2"),
        flows=("f1", "f2"),
        window=(50, 900),
        title="A victim of pauses, blamed and not",
    )
    return drawing.figure


PICTURES: dict[str, Callable[[Path], Figure]] = {
    "pfc": _pfc,
    "headroom": _headroom,
    "head-of-line": _head_of_line,
    "congestion-tree": _congestion_tree,
    "victim": _victim,
    "long-link": _long_link,
}


def _stacked(title: str, *, panels: int = 2) -> tuple[Figure, Sequence[Axes]]:
    """Return panels with a common time axis, each with its own unit."""
    figure = Figure(figsize=SIZE, layout="constrained")
    stacked = figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0]
    for axes in stacked:
        axes.grid(visible=True, alpha=0.3)
        axes.set_axisbelow(True)
    figure.suptitle(title)
    return figure, list(stacked)


def _run(file: Path, *sets: tuple[str, str]) -> Result:
    return run(load(file, sets=sets))


def _direction(result: Result, link: str, metric: str) -> pl.DataFrame:
    """Return the series of one direction of a link."""
    rows = result.series.filter((pl.col("object") == link) & (pl.col("metric") == metric))
    return rows.select("time_us", "bucket_us", "value").sort("time_us")


def _of_pfc(result: Result, direction: str, key: str) -> int:
    """Return a parameter of PFC on one direction of a link, in bytes."""
    (group,) = (group for group in result.run.scenario["resolved"] if direction in group["objects"])
    (pfc,) = (at["value"]["pfc"] for at in group["settings"] if at["key"] == "flow-control")
    return quantity_bytes(pfc[key])


def _largest_buffer(file: Path, *sets: tuple[str, str]) -> int:
    """Return the size of the largest buffer of a port, in bytes."""
    ports = json.loads(_floodway.check(load(file, sets=sets).native).json)["ports"]
    return max(int(port["buffer_bytes"]) for port in ports)


def _pauses(result: Result, link: str) -> list[tuple[float, float]]:
    """Find the pauses of a link: buckets that are paused in part are its ends."""
    spans: list[tuple[float, float]] = []
    for begin, width, paused in _direction(result, link, "paused_us").iter_rows():
        if paused <= 0:
            continue
        if spans and spans[-1][1] == begin:
            spans[-1] = (spans[-1][0], begin + paused)
        else:
            spans.append((begin + width - paused, begin + width))
    return spans


def _shade(axes: Axes, result: Result, link: str, *, label: str, until: float = float("inf")) -> None:
    for begin, end in _pauses(result, link):
        if begin < until:
            axes.axvspan(begin, end, color=SHADE, linewidth=0, zorder=0, label=label)
            label = "_"


def _rate(axes: Axes, sent: pl.DataFrame, *, every_us: int = 4, color: str, label: str) -> None:
    """Draw what a link carries, from the bytes that it sends."""
    parts = sent.group_by((pl.col("time_us") // every_us) * every_us, maintain_order=True).agg(
        gbps=pl.col("value").sum() * 8e-3 / pl.col("bucket_us").sum()
    )
    axes.step(parts["time_us"], parts["gbps"], where="post", color=color, linewidth=1.2, label=label)


def _mean_gbps(result: Result, link: str, *, since: float) -> float:
    sent = _direction(result, link, "tx_bytes").filter(pl.col("time_us") >= since)
    return float(sent["value"].sum()) * 8e-3 / float(sent["bucket_us"].sum())


def _level(axes: Axes, at_bytes: int, name: str, *, up: bool) -> None:
    """Draw a level, in KB, with its name at the right end, above or below it."""
    at = at_bytes / 1e3
    axes.axhline(at, color=GREY, linewidth=0.9, linestyle=(0, (5, 2)))
    axes.annotate(
        name,
        (1, at),
        (-4, 2 if up else -2),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        va="bottom" if up else "top",
        fontsize="small",
        color=GREY,
    )


def _lost(result: Result) -> int:
    loss = result.outcome.lossless.loss
    return loss.packets if loss else 0


def _first_paused(result: Result) -> list[str]:
    """Name the directions of links that were paused, in the order in which that began."""
    paused = result.series.filter((pl.col("metric") == "paused_us") & (pl.col("value") > 0))
    begun = paused.group_by("object").agg(pl.col("time_us").min())
    return begun.sort("time_us", pl.col("object").cast(pl.String))["object"].cast(pl.String).to_list()


def _ends(link: str) -> str:
    sender, _, receiver = link.partition(": ")[2].partition(">")
    return sender[0] + receiver[0]


def _main(arguments: Sequence[str]) -> None:
    for file in draw(*(Path(argument) for argument in arguments)):
        sys.stdout.write(f"picture: {file}\n")


if __name__ == "__main__":
    try:
        _main(sys.argv[1:])
    except FloodwayError as error:
        sys.exit(f"error: {error}")

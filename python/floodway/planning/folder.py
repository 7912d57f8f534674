"""The folder of a plan: the page, the document, every scenario that was run, and the pictures.

The pictures are buffer by length, throughput by XOFF, and feasible numbers of links by length.
"""

from __future__ import annotations

import contextlib
import json
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

import floodway
from floodway import _floodway
from floodway.common.documents import Picture, as_json
from floodway.common.documents.html import PAGE_WIDTH_IN, page
from floodway.common.errors import PlanError, unwritable
from floodway.planning.answer import distance
from floodway.planning.asics import asics
from floodway.planning.document import document
from floodway.planning.flow_controls import flow_control
from floodway.planning.headroom import occupied
from floodway.plot.axes import axes_of, plain_style, plain_ticks, png_of
from floodway.plot.curves import colour_of
from floodway.plot.style import look
from floodway.results.files import new_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway.planning.planner import Plan, Planned
    from floodway.planning.question import Question

__all__ = ["write_plan"]

#: Captions of pictures, by their files.
CAPTIONS = {
    "buffer.png": (
        "Memory of one switch for all these links against their length. Solid: no loss and a busy link;"
        " points: PFC without loss only. SWING's is the memory of its relays at one end. Dotted lines: what"
        " chips have; those marked (?) have no firm source."
    ),
    "throughput.png": (
        "Share of its rate that the link carries under PFC against XOFF, if the far end drains at a share of"
        " the rate (SWING, Eq. 4). Marks: runs with the planned XOFF."
    ),
    "feasible.png": (
        "How many links the given memory suffices for, against their length: what lies below a curve is"
        " feasible, without loss and with busy links. SWING is left out: its memory is in relays."
    ),
}
#: Distances of curves, in metres: from a campus to a continent.
DISTANCES_M = tuple(int(metres) for metres in np.geomspace(1_000, 2_000_000, 100).round())
POINTS = 200
#: Height of a row of names as a share of the axes: lines that are no farther apart share one row.
ROW = 0.06
#: Letters of a row of names, and what is behind them, so that curves do not strike them through.
NAME_LETTERS = 48
BEHIND_NAMES = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.95}
#: Curves that lie on one another stay visible.
DASHES: tuple[Any, ...] = ("-", "-", (0, (6, 3)), (0, (2, 2)))
MB = 1e6
#: PFC's two forms need the same: one curve stands for both.
LEFT_OUT = ("pfc-timer",)


def write_plan(plan: Plan, folder: Path) -> None:
    """Write a plan.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    with look(width_in=PAGE_WIDTH_IN):
        drawn = pictures(plan)
    contents = document(plan)
    foot = f"planned with floodway {floodway.__version__}; propagation 5 us a km"
    scenarios = plan.scenarios()
    try:
        with new_folder(folder / "scenarios"):
            for name, text in scenarios.items():
                replace_file(folder / "scenarios" / f"{name}.toml", text.encode())
            for picture in drawn:
                replace_file(folder / picture.file, picture.png)
            text = json.dumps(as_json(contents), indent=2, ensure_ascii=False) + "\n"
            replace_file(folder / "plan.json", text.encode())
            replace_file(folder / "index.html", page(contents, drawn, foot=foot).encode())
    except OSError as error:
        raise unwritable(folder, error) from error


def pictures(plan: Plan) -> tuple[Picture, ...]:
    """Draw every picture that has something to show."""
    rows = [row for row in plan.rows if not row.refused and row.flow_control not in LEFT_OUT]
    pfc = next((row for row in rows if row.xoff is not None), None)
    drawings: dict[str, Callable[[], Figure]] = {}
    if rows:
        drawings["buffer.png"] = partial(_buffer, plan.question, rows)
    if pfc is not None:
        drawings["throughput.png"] = partial(_throughput, plan.question, pfc)
    if rows and plan.question.buffer_bytes is not None:
        drawings["feasible.png"] = partial(_feasible, plan.question, rows)
    with plain_style():
        return tuple(
            Picture(file=file, caption=CAPTIONS[file], png=png_of(draw())) for file, draw in drawings.items()
        )


def _curves(
    axes: Axes, question: Question, numbered: tuple[int, Planned], up: Callable[[float], float], *, busy: str
) -> None:
    """Draw what a flow control needs for a class of a link against length, of PFC also without loss alone."""
    number, row = numbered
    control, is_pfc = flow_control(row.flow_control), row.xoff is not None
    curves = [(control.busy, DASHES[number], ("PFC" if is_pfc else row.label) + busy)]
    curves += [(control.no_loss, ":", "PFC, no loss only")] if is_pfc else []
    for need, line, label in curves:
        across, sizes = _needed(question, need)
        axes.plot(across, [up(size) for size in sizes], color=colour_of(number), linestyle=line, label=label)


def _needed(question: Question, need: Callable[[Question], int]) -> tuple[list[float], list[float]]:
    """Return lengths in km and bytes for a class of a link, where the flow control is made for the length."""
    across, up = [], []
    for metres in DISTANCES_M:
        with contextlib.suppress(PlanError):
            up.append(float(need(question.at(metres))))
            across.append(metres / 1000)
    return across, up


def _buffer(question: Question, rows: Sequence[Planned]) -> Figure:
    figure, axes = axes_of("length of the link, km", "memory, MB", title="Memory for all links")
    count = question.links * question.classes
    axes.set(xscale="log", yscale="log")
    for number, row in enumerate(rows):
        _curves(axes, question, (number, row), lambda size: size * count / MB, busy="")
    _lines(axes)
    if question.buffer_bytes is not None:
        memory = question.buffer_bytes / MB
        axes.axhline(memory, color="black", linewidth=1.5, label=f"given: {memory:,.4g} MB")
    label = f"asked: {distance(question.length_m)}"
    axes.axvline(question.length_m / 1000, color="black", linewidth=0.8, label=label)
    plain_ticks(axes.xaxis)
    axes.legend(fontsize="small", loc="lower right")
    return figure


def _lines(axes: Axes) -> None:
    """Draw the memory of chips; chips with the same have one line."""
    low, high = axes.get_ylim()
    # Names of lines that lie close together would cover one another: they stand in one row.
    rows: list[tuple[float, list[str]]] = []
    chips = [(asic.buffer_bytes / MB, asic) for asic in asics().values() if asic.buffer_bytes is not None]
    apart = (high / low) ** ROW
    for place, chip in sorted(chips, key=lambda pair: pair[0]):
        if not low < place < high:
            continue
        axes.axhline(place, color="0.6", linestyle=":", linewidth=0.8)
        if not rows or place > rows[-1][0] * apart:
            rows.append((place, []))
        rows[-1][1].append(chip.label.split(" ", 1)[1] + ("" if chip.firm else " (?)"))
    for place, names in rows:
        # Above its line, but where that would be above the axes.
        side = "top" if place * apart > high else "bottom"
        text = "\n".join(wrap(", ".join(names), NAME_LETTERS))
        axes.text(
            DISTANCES_M[0] / 1000, place, text, fontsize="x-small", va=side, bbox=BEHIND_NAMES, zorder=3
        )


def _throughput(question: Question, row: Planned) -> Figure:
    title = f"PFC over {distance(question.length_m)}: throughput by XOFF"
    figure, axes = axes_of("XOFF, MB", "share of the rate, %", title=title)
    arriving = occupied(question, question.round_trip_bytes)
    across = np.linspace(0, 1.1 * arriving, POINTS)
    for number, (drain, share) in enumerate(row.carried.items()):
        used = partial(_floodway.pfc_utilisation, drain, round_trip_bytes=arriving)
        up = [100 * used(xoff_bytes=xoff) for xoff in across]
        axes.plot(across / MB, up, color=colour_of(number), label=f"drained at {100 * drain:.0f} %")
        shown = row.carried_run.get(drain, share)
        if row.carried_run and row.xoff is not None:
            axes.plot(row.xoff / MB, 100 * shown, "o", color=colour_of(number))
    axes.set_ylim(0, 100)
    axes.legend(fontsize="small")
    return figure


def _feasible(question: Question, rows: Sequence[Planned]) -> Figure:
    memory = question.buffer_bytes or 0
    title = f"Links for which {memory / MB:,.4g} MB suffice"
    figure, axes = axes_of("length of the links, km", "links", title=title)
    axes.set(xscale="log", yscale="log")
    for number, row in enumerate(rows):
        if row.place == "switch":
            _curves(
                axes, question, (number, row), lambda size: memory / (size * question.classes), busy=", busy"
            )
    axes.plot(question.length_m / 1000, question.links, "k*", markersize=10, label="asked")
    # Less than one link is none.
    axes.set_ylim(bottom=0.8)
    plain_ticks(axes.xaxis)
    plain_ticks(axes.yaxis)
    axes.legend(fontsize="small")
    return figure

"""All published differences of a paper in one picture: the published number, ours, and that without it."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.plot.axes import figure_for, plain_style, shown
from floodway.plot.curves import COLOURS, Drawing
from floodway.plot.style import heading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.study.numbers import Part
    from floodway_lab.study.claims.judgement import Judged, Verdict

__all__ = ["published_and_ours"]

#: Inches: of the picture, of a row, and of what is above and below the rows.
WIDE, ROW, AROUND = 7.0, 0.25, 1.0
#: Letters of a line of the statement beside a row, of which there are two at most.
LETTERS = 48
OURS: dict[Verdict, str] = {
    "agrees": COLOURS[2],
    "agrees in direction": COLOURS[0],
    "holds without the mechanism too": COLOURS[5],
    "not decided": "#888888",
    "differs": COLOURS[1],
}


def published_and_ours(statements: Sequence[tuple[Part, Judged]]) -> Drawing | None:
    """Draw a row for each statement that is a difference in percent; None without such statements.

    A diamond is the published number, a line from end to end a published range. A dot is ours with its
    confidence interval, in a colour for each verdict; a ring is the number without the mechanism.
    """
    rows = [
        (part, judged) for part, judged in statements if judged.claim.relative and judged.ours is not None
    ]
    if not rows:
        return None
    with plain_style():
        figure = figure_for(WIDE, AROUND + ROW * len(rows))
        axes = figure.add_subplot()
        for at, (_, judged) in enumerate(rows):
            _row(axes, at, judged)
        axes.axvline(0, color="black", linewidth=0.6)
        labels = [_label(part, judged) for part, judged in rows]
        axes.set_yticks(range(len(rows)), labels, fontsize="x-small")
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel("difference, %", fontsize="small")
        axes.grid(axis="x", alpha=0.4)
        seen = [verdict for verdict in OURS if any(judged.verdict == verdict for _, judged in rows)]
        for verdict in seen:
            axes.plot([], [], "o", color=OURS[verdict], markersize=4, label=f"ours: {verdict}")
        axes.plot([], [], "D", color="black", markerfacecolor="none", markersize=5, label="published")
        axes.plot(
            [], [], "o", color="black", markerfacecolor="none", markersize=4, label="without the mechanism"
        )
        figure.legend(loc="outside lower center", ncols=2, fontsize="x-small", frameon=False)
        axes.set_title(heading("Published and ours", usual=WIDE), fontsize="medium")
    note = (
        "Diamonds are published numbers, or a line between the ends of a published range; dots are ours with "
        "95 % confidence intervals, rings the same without the mechanism. Orders, and numbers that are no "
        "difference, are in the table alone."
    )
    return Drawing(figure=figure, data=pl.DataFrame([_data(*row) for row in rows]), note=note)


def _row(axes: Any, at: int, judged: Judged) -> None:  # noqa: ANN401 (of matplotlib)
    claim, ours = judged.claim, judged.ours
    if claim.between is not None:
        axes.plot(claim.between, [at, at], color="black", linewidth=4, alpha=0.25, solid_capstyle="butt")
    elif claim.value is not None:
        axes.plot([claim.value], [at], "D", color="black", markerfacecolor="none", markersize=6)
    for ablation in judged.ablations[:1]:
        if ablation.judged.ours is not None:
            axes.plot([ablation.judged.ours], [at], "o", color="black", markerfacecolor="none", markersize=4)
    colour = OURS.get(judged.verdict, "#888888")
    if judged.low is not None and judged.high is not None:
        axes.plot([judged.low, judged.high], [at, at], color=colour, linewidth=1.2)
    axes.plot([ours], [at], "o", color=colour, markersize=4)


def _label(part: Part, judged: Judged) -> str:
    says = shown(f"{judged.claim.figure or part.study.name}: {judged.claim.says}", longest=2 * LETTERS - 8)
    return "\n".join(wrap(says, LETTERS))


def _data(part: Part, judged: Judged) -> dict[str, Any]:
    low, high = judged.claim.between or (judged.claim.value, judged.claim.value)
    without = judged.ablations[0].judged.ours if judged.ablations else None
    return {
        "figure": judged.claim.figure or part.study.name,
        "statement": judged.claim.says,
        "published_low_percent": low,
        "published_high_percent": high,
        "ours_percent": judged.ours,
        "ours_low_percent": judged.low,
        "ours_high_percent": judged.high,
        "without_percent": without,
        "verdict": judged.words,
    }

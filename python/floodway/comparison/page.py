"""The page of a comparison: one self-contained file."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from floodway.common.pages import environment
from floodway.comparison.formatting import cell_text, notes
from floodway.results.files import REPORT_FILE
from floodway.results.simulated import Realised, common_facts, facts, realised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.comparison.comparison import Comparison
    from floodway.comparison.formatting import CellText
    from floodway.plot.compared import Picture

__all__ = ["body", "page"]


def page(comparison: Comparison, pictures: Sequence[Picture], *, report: bool = False) -> str:
    """Return the page, with the pictures inside; `report` adds a link to the page of the runs over time."""
    own = [
        facts(results[0]) + realised([Realised.of(each) for each in results])
        for results in comparison.results
    ]
    return (
        environment("floodway.comparison")
        .get_template("page.html.jinja")
        .render(
            comparison=comparison,
            rows=_rows(comparison),
            simulated=list(common_facts(comparison.labels, own)),
            notes=list(notes(comparison)),
            pictures=[(picture, b64encode(picture.png).decode()) for picture in pictures],
            seeds=_seeds(comparison),
            report=REPORT_FILE if report else None,
        )
    )


def body(comparison: Comparison) -> str:
    """Return what a notebook shows of it: numbers and findings, without pictures."""
    return (
        environment("floodway.comparison")
        .get_template("body.html.jinja")
        .render(comparison=comparison, rows=_rows(comparison), notes=list(notes(comparison)))
    )


def _rows(comparison: Comparison) -> list[tuple[str, list[CellText]]]:
    return [(row.label, [cell_text(row, cell) for cell in row.cells]) for row in comparison.rows]


def _seeds(comparison: Comparison) -> str:
    """Name the seeds, once if all variants have the same."""
    texts = [
        "seed " + str(own[0]) if len(own) == 1 else f"seeds {own[0]} to {own[-1]}" for own in comparison.seeds
    ]
    if len(set(texts)) == 1:
        return texts[0]
    return "; ".join(f"{label}: {text}" for label, text in zip(comparison.labels, texts, strict=True))

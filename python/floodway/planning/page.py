"""The page of a plan: one self-contained file, for those who decide."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

import floodway
from floodway.common.pages import environment
from floodway.planning.answer import answers, asked, notes, warnings
from floodway.planning.tables import WORDS, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.planning.planner import Plan
    from floodway.plot.compared import Picture

__all__ = ["body", "page"]

TRIED = (
    "For each flow control one class of one link, whose far end stops when the link has been full for a round"
    " trip: frames of the mix that fill cells worst, a full frame of the other direction just ahead of the"
    " pause, and interfaces that take as long to pause and to obey as they may; the least size that holds,"
    " and one a cell less;"
    " a far end that drains again; and one that drains at half and at 90 % of the rate. For the shared buffer"
    " all links and classes at once. That nothing was lost in these runs is no proof for other faults: links"
    " that fail, pauses that are lost, frames larger than the MTU."
)
UNTRIED = "Nothing: all numbers are by formula."


def page(plan: Plan, pictures: Sequence[Picture]) -> str:
    """Return the page, with the pictures inside."""
    return _rendered("plan.html.jinja", plan, pictures)


def body(plan: Plan) -> str:
    """Return what a notebook shows of it: the page's text and tables without pictures."""
    return _rendered("plan-body.html.jinja", plan, ())


def _rendered(template: str, plan: Plan, pictures: Sequence[Picture]) -> str:
    pages = environment("floodway.planning", "floodway.comparison")
    scenarios = sorted(plan.scenarios())
    return pages.get_template(template).render(
        question=asked(plan.question),
        answers=list(answers(plan)),
        warnings=list(warnings(plan)),
        notes=list(notes(plan)),
        tables=list(tables(plan)),
        words=WORDS,
        pictures=[(picture, b64encode(picture.png).decode()) for picture in pictures],
        scenarios=scenarios,
        simulated=TRIED if scenarios else UNTRIED,
        version=floodway.__version__,
    )

"""A paper at a glance: a row for each published statement about its mechanism, by its best reading."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from floodway_lab.study.claims.judgement import best_reading
from floodway_lab.study.report.claim_rows import shown
from floodway_lab.study.report.counts import is_of_mechanism, statements_of_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway.study.numbers import Conducted, Part
    from floodway_lab.study.claims.judgement import Judged

__all__ = ["COLUMNS", "at_a_glance", "statements_at_a_glance"]

COLUMNS = ("figure", "statement", "published", "ours", "without it", "verdict", "in a sentence")
#: The end of a sentence.
_END = re.compile(r"(?<=[.!?])\s")
#: The source behind a published number, which only the tables of figures have.
_SOURCE = re.compile(r" \([^()]*\)$")


def statements_at_a_glance(conducted: Conducted) -> tuple[tuple[Part, Judged], ...]:
    """Return the published statements about the mechanisms of several studies, each by its best reading."""
    part_of = {id(judged): part for part in conducted.parts for judged in part.judged}
    best = (best_reading(readings) for readings in statements_of_all(conducted))
    return tuple(
        (part_of[id(judged)], judged)
        for judged in best
        if judged.claim.origin == "printed" and is_of_mechanism(judged)
    )


def at_a_glance(conducted: Conducted) -> Iterator[tuple[str, ...]]:
    """Return the rows of these statements: published, with and without the mechanism, and remarks."""
    for part, judged in statements_at_a_glance(conducted):
        # The first ablation decides: those of a half follow.
        row = shown(part, replace(judged, ablations=judged.ablations[:1]))
        sentence = _END.split(row.remark, maxsplit=1)[0]
        yield (
            row.figure,
            row.claim,
            _SOURCE.sub("", row.published),
            row.ours,
            row.without,
            row.verdict,
            sentence,
        )

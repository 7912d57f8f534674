"""Verdicts on orders that are the same at several points, whichever order it is."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from floodway_lab.study.claims.judgement import Judged
from floodway_lab.study.claims.single import Ranking, all_of, undecided

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.study.format.model import Claim, Study
    from floodway_lab.study.claims.judgement import Verdict
    from floodway_lab.study.claims.rule import Answer

__all__ = ["verdict_on_unchanged_order"]

#: How two variants compare at a point: one of them is better, or neither is by the margin; or chance decides.
Relation = Literal["first", "second", "neither", "open"]

VERDICT: dict[Answer, Verdict] = {"yes": "agrees", "no": "differs", "open": "not decided"}


def verdict_on_unchanged_order(
    study: Study, claim: Claim, rankings: Sequence[Ranking], points: Sequence[Judged]
) -> Judged:
    """Judge whether each pair of variants compares in the same way at all points.

    Parameters
    ----------
    study
        The study of the claim.
    claim
        The claim, over several points.
    rankings
        The variants at each point that is run.
    points
        The same, each with what its runs lost.
    """
    pairs = list(itertools.combinations(claim.order, 2))
    answers = {pair: _is_unchanged([_relation(each, *pair) for each in rankings]) for pair in pairs}
    holds = all_of(answers.values())
    found = Judged(
        claim=claim,
        parts=tuple(points),
        unfinished=sum(each.unfinished for each in points),
        seeds=min(each.seeds for each in points),
        exact=all(each.exact for each in points),
        holds=holds,
        verdict=VERDICT[holds],
        notes=tuple(_notes(study, answers, min(each.seeds for each in points))),
    )
    return found if all(each.comparable for each in rankings) else replace(found, verdict="unfinished")


def _relation(ranking: Ranking, first: str, second: str) -> Relation:
    answers = ranking.better(first, second), ranking.better(second, first)
    if "yes" in answers:
        return "first" if answers[0] == "yes" else "second"
    return "open" if "open" in answers else "neither"


def _is_unchanged(relations: Sequence[Relation]) -> Answer:
    known = {each for each in relations if each != "open"}
    if len(known) > 1:
        return "no"
    return "open" if "open" in relations else "yes"


def _notes(study: Study, answers: dict[tuple[str, str], Answer], seeds: int) -> Iterator[str]:
    for answer, what in (("no", "The order changes for"), ("open", "Undecided for")):
        pairs = [pair for pair, own in answers.items() if own == answer]
        if pairs:
            labels = (" and ".join(study.variant(name).label for name in pair) for pair in pairs)
            yield f"{what} {', '.join(labels)}"
    if "open" in answers.values():
        yield undecided(seeds, "not all differences are beyond chance at all points")

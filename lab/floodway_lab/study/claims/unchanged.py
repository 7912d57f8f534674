"""Verdicts on orders that are the same at several points, whichever order it is."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from floodway_lab.study.claims.judgement import Judged
from floodway_lab.study.claims.single import Ranking, all_of, undecided

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.study.format.model import Study
    from floodway_lab.study.claims.judgement import Verdict
    from floodway_lab.study.claims.rule import Answer
    from floodway_lab.study.model import Claim

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
        The results at these points, with the losses of their runs.
    """
    pairs = list(itertools.combinations(claim.order, 2))
    answers = {pair: _is_unchanged([_relation(ranking, *pair) for ranking in rankings]) for pair in pairs}
    holds = all_of(answers.values())
    judged = Judged(
        claim=claim,
        parts=tuple(points),
        unfinished=sum(point.unfinished for point in points),
        seeds=min(point.seeds for point in points),
        exact=all(point.exact for point in points),
        holds=holds,
        verdict=VERDICT[holds],
        notes=tuple(_notes(study, answers, min(point.seeds for point in points))),
    )
    return (
        judged if all(ranking.comparable for ranking in rankings) else replace(judged, verdict="unfinished")
    )


def _relation(ranking: Ranking, first: str, second: str) -> Relation:
    answers = ranking.better(first, second), ranking.better(second, first)
    if "yes" in answers:
        return "first" if answers[0] == "yes" else "second"
    return "open" if "open" in answers else "neither"


def _is_unchanged(relations: Sequence[Relation]) -> Answer:
    decided = {relation for relation in relations if relation != "open"}
    if len(decided) > 1:
        return "no"
    return "open" if "open" in relations else "yes"


def _notes(study: Study, answers: dict[tuple[str, str], Answer], seeds: int) -> Iterator[str]:
    for answer, prefix in (("no", "The order changes for"), ("open", "Undecided for")):
        pairs = [pair for pair, pair_answer in answers.items() if pair_answer == answer]
        if pairs:
            labels = (" and ".join(study.variant(name).label for name in pair) for pair in pairs)
            yield f"{prefix} {', '.join(labels)}"
    if "open" in answers.values():
        yield undecided(seeds, "not all differences are beyond chance at all points")

"""Verdicts of studies that are decided together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from floodway_lab.study.claims.verdicts import decided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.study.numbers import Part
    from floodway_lab.study.claims.judgement import Judged

__all__ = ["decided_together", "statement_of"]


def statement_of(part: Part, judged: Judged) -> tuple[str, str, str]:
    """Return the statement that a claim is a reading or a part of, which may span the studies of a paper."""
    claim = judged.claim
    return (part.study.paper, "" if claim.spans else part.study.name, claim.statement)


def decided_together(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Decide claims that were judged alone by their ablations, over all studies that a statement spans."""
    judged = iter(decided([(statement_of(part, claim), claim) for part in parts for claim in part.judged]))
    return tuple(replace(part, judged=tuple(next(judged) for _ in part.judged)) for part in parts)

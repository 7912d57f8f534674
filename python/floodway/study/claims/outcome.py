"""The outcome of studies that were run: numbers, verdicts, failures and files."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from floodway.study.claims.verdicts import decided

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from floodway.study.claims.judgement import Judged
    from floodway.study.claims.numbers import Numbers
    from floodway.study.format.model import Study
    from floodway.study.report.known import Known
    from floodway.study.running.plan import Plan

__all__ = ["Conducted", "Part", "decided_together", "statement_of"]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A study with its numbers and verdicts, and what else is known of its runs, by their keys."""

    study: Study
    numbers: Numbers
    judged: tuple[Judged, ...]
    known: Mapping[str, Known] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Conducted:
    """Studies that have been run.

    Attributes
    ----------
    plan
        What was to be run.
    folder
        Where runs, pictures and the report are.
    parts
        What came out, a part for each study; empty after Ctrl-C, and where runs are missing.
    done, failures
        Keys of the runs that are there, and why the others failed.
    complete
        Whether every run that this process was to run has ended; false after Ctrl-C.
    missing
        How many runs neither are there nor have failed, where other processes have a share of them: the
        last to end writes the report.
    files
        What was written: the report first; none where runs are missing, or another process writes them.
    """

    plan: Plan
    folder: Path
    parts: tuple[Part, ...]
    done: frozenset[str]
    failures: Mapping[str, str]
    complete: bool
    missing: int = 0
    files: tuple[Path, ...] = ()


def statement_of(part: Part, judged: Judged) -> tuple[str, str, str]:
    """Return the statement that a claim is a reading or a part of, which may span the studies of a paper."""
    claim = judged.claim
    return (part.study.paper, "" if claim.spans else part.study.name, claim.statement)


def decided_together(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Decide claims that were judged alone by their ablations, over all studies that a statement spans."""
    judged = iter(decided([(statement_of(part, each), each) for part in parts for each in part.judged]))
    return tuple(replace(part, judged=tuple(next(judged) for _ in part.judged)) for part in parts)

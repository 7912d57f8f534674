"""Counts of verdicts: of published statements, and apart from them of formulas, logs and our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.study.claims.judgement import VERDICTS, best_reading
from floodway.study.report.claim_rows import statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.study.claims.judgement import Judged
    from floodway.study.claims.outcome import Conducted
    from floodway.study.format.model import Origin

__all__ = ["verdict_counts"]

#: What statements are by their origin: one, and several.
ORIGINS: Mapping[Origin, tuple[str, str]] = {
    "printed": ("published statement", "published statements"),
    "formula": ("number by a paper's formula", "numbers by a paper's formula"),
    "log": ("number from authors' logs or lists", "numbers from authors' logs or lists"),
    "ours": ("statement of our own", "statements of our own"),
}
#: Behind published statements: those that a mechanism decides, and those about baselines, traffic or costs.
TESTED = " about the mechanism, with an ablation"
UNTESTED = " about a baseline, traffic or a cost, or without an ablation"


def verdict_counts(conducted: Conducted) -> Iterator[str]:
    """Count the verdicts of the statements of each origin, each by its best reading.

    Published statements about baselines, and those without an ablation, are counted apart: agreement on them
    says nothing about the mechanism.
    """
    best = [best_reading(readings) for part in conducted.parts for readings in statements(part.judged)]
    for origin, names in ORIGINS.items():
        found = [judged for judged in best if judged.claim.origin == origin]
        tested = [judged for judged in found if _tests_mechanism(judged)]
        if origin == "printed" and 0 < len(tested) < len(found):
            yield _counted(tested, names, TESTED)
            yield _counted([judged for judged in found if not _tests_mechanism(judged)], names, UNTESTED)
        elif found:
            yield _counted(found, names)


def _tests_mechanism(judged: Judged) -> bool:
    return judged.claim.about == "mechanism" and bool(judged.claim.ablations)


def _counted(found: Sequence[Judged], names: tuple[str, str], which: str = "") -> str:
    verdicts = [judged.verdict for judged in found]
    by_verdict = ", ".join(
        f"{verdict} {verdicts.count(verdict)}" for verdict in VERDICTS if verdict in verdicts
    )
    return f"{len(found)} {names[len(found) != 1]}{which}: {by_verdict}."

"""Counts of verdicts: of published statements, and apart from them of formulas, logs and our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.study.claims.judgement import VERDICTS, best_reading
from floodway.study.report.claim_rows import statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


def verdict_counts(conducted: Conducted) -> Iterator[str]:
    """Count the verdicts of the statements of each origin, each by its best reading."""
    best = [best_reading(readings) for part in conducted.parts for readings in statements(part.judged)]
    for origin, (one, several) in ORIGINS.items():
        found = [judged.verdict for judged in best if judged.claim.origin == origin]
        if found:
            by_verdict = ", ".join(
                f"{verdict} {found.count(verdict)}" for verdict in VERDICTS if verdict in found
            )
            yield f"{len(found)} {one if len(found) == 1 else several}: {by_verdict}."

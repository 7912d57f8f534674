"""Counts of verdicts: of published statements, and apart from them of formulas, logs and our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from floodway.results.quantities import counted
from floodway_lab.study.claims.judgement import HOLDS, VERDICTS, best_reading
from floodway_lab.study.claims.outcome import statement_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.study.numbers import Conducted
    from floodway_lab.study.claims.judgement import Judged
    from floodway_lab.study.model import Origin

__all__ = ["is_of_mechanism", "statements_of_all", "verdict_counts", "verdict_sentence"]

#: Names of statements by their origin: singular and plural.
ORIGINS: Mapping[Origin, tuple[str, str]] = {
    "printed": ("published statement", "published statements"),
    "formula": ("number by a paper's formula", "numbers by a paper's formula"),
    "log": ("number from authors' logs or lists", "numbers from authors' logs or lists"),
    "ours": ("statement of our own", "statements of our own"),
}
#: Verdicts after a number of several statements.
_PLURAL: Mapping[str, str] = {
    "holds without the mechanism too": "hold without the mechanism too",
    "differs": "differ",
}
#: Suffixes for published statements that a mechanism decides, and for those on baselines, traffic or costs.
TESTED = " about the mechanism, with an ablation"
UNTESTED = " about a baseline, traffic or a cost, or without an ablation"


def verdict_counts(conducted: Conducted) -> Iterator[str]:
    """Count the verdicts of the statements of each origin, each by its best reading.

    Published statements about baselines, and those without an ablation, are counted apart: agreement on them
    says nothing about the mechanism. Where a paper leaves a setting open, those that the mechanism decides
    are counted once more for each setting, the same one in all figures.
    """
    groups = statements_of_all(conducted)
    best = [best_reading(readings) for readings in groups]
    for origin, names in ORIGINS.items():
        of_origin = [judged for judged in best if judged.claim.origin == origin]
        tested = [judged for judged in of_origin if is_of_mechanism(judged)]
        if origin == "printed" and 0 < len(tested) < len(of_origin):
            yield _counted(tested, names, TESTED)
            yield from _by_setting(groups)
            yield _counted([judged for judged in of_origin if not is_of_mechanism(judged)], names, UNTESTED)
        elif of_origin:
            yield _counted(of_origin, names)


def verdict_sentence(conducted: Conducted) -> tuple[str, Literal["", "good", "bad"]]:
    """Return how many statements agree, each by its best reading, as a sentence; and its tone."""
    verdicts = [best_reading(readings).verdict for readings in statements_of_all(conducted)]
    if not verdicts:
        return f"{counted(len(conducted.done), 'run')} ended; no statement is judged.", ""
    agreeing = [verdict for verdict in verdicts if verdict in HOLDS]
    in_direction = agreeing.count("agrees in direction")
    parts = f", {in_direction} of them in direction" if 0 < in_direction < len(agreeing) else ""
    if agreeing and in_direction == len(agreeing):
        parts = " in direction"
    if len(agreeing) == len(verdicts):
        subject = {1: "The one statement agrees", 2: "Both statements agree"}.get(len(verdicts))
        return f"{subject or f'All {len(verdicts)} statements agree'}{parts}.", "good"
    left = [verdict for verdict in verdicts if verdict not in HOLDS]
    counts = {verdict: left.count(verdict) for verdict in VERDICTS if verdict in left}
    others = ", ".join(
        f"{count} {verdict if count == 1 else _PLURAL.get(verdict, verdict)}"
        for verdict, count in counts.items()
    )
    noun, verb = (
        "statement" if len(verdicts) == 1 else "statements",
        "agrees" if len(agreeing) == 1 else "agree",
    )
    return (
        f"{len(agreeing)} of {len(verdicts)} {noun} {verb}{parts}; {others}.",
        "bad" if "differs" in left else "",
    )


def statements_of_all(conducted: Conducted) -> tuple[tuple[Judged, ...], ...]:
    """Return claims by the published statement that they are readings or parts of, which may span studies."""
    groups: dict[tuple[str, str, str], list[Judged]] = {}
    for part in conducted.parts:
        for judged in part.judged:
            groups.setdefault(statement_of(part, judged), []).append(judged)
    return tuple(map(tuple, groups.values()))


def _by_setting(groups: Sequence[Sequence[Judged]]) -> Iterator[str]:
    """Count the published statements about the mechanism for each setting, the same one in all figures."""
    published = [
        [judged for judged in group if judged.claim.origin == "printed" and is_of_mechanism(judged)]
        for group in groups
    ]
    for setting in dict.fromkeys(judged.claim.setting for group in published for judged in group):
        readings = [
            [judged for judged in group if judged.claim.setting in ("", setting)] for group in published
        ]
        best = [best_reading(group) for group in readings if group]
        if setting:
            yield _counted(best, ORIGINS["printed"], f" of these with one setting in all figures, {setting}")


def is_of_mechanism(judged: Judged) -> bool:
    """Whether a claim is about the mechanism of its study, and has an ablation that can refute that."""
    return judged.claim.about == "mechanism" and bool(judged.claim.ablations)


def _counted(claims: Sequence[Judged], names: tuple[str, str], suffix: str = "") -> str:
    verdicts = [judged.verdict for judged in claims]
    by_verdict = ", ".join(
        f"{verdict} {verdicts.count(verdict)}" for verdict in VERDICTS if verdict in verdicts
    )
    return f"{len(claims)} {names[len(claims) != 1]}{suffix}: {by_verdict}."

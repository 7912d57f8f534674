"""What a claim is a reading of, where it comes from, its ablations, and what may lose packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from floodway.study.format.model import Origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.study.format.model import Claim, Variant
    from floodway.study.format.toml_table import Table

__all__ = [
    "Ablations",
    "ablations_of",
    "may_lose_of",
    "origin_of",
    "refuse_equal_readings",
    "refuse_wrong_ablations",
]

ORIGINS = get_args(Origin)


def origin_of(table: Table, *, of_paper: bool) -> Origin:
    """Read where a claim comes from; one without paper, source and figure is of the study's author."""
    named = of_paper or table.text("source") or table.text("figure")
    given = table.text("origin", "printed" if named else "ours")
    return table.choice("origin", given, what="an origin", allowed=ORIGINS)  # type: ignore[return-value]


@dataclass(frozen=True, kw_only=True)
class Ablations:
    """What `without` says: variants without the mechanism or a half of it, and what they stand for."""

    variants: tuple[str, ...] = ()
    halves: tuple[str, ...] = ()
    replaces: str = ""
    none: str = ""


def ablations_of(table: Table, names: Sequence[str]) -> Ablations:
    """Read `without`: variants, or a table with `variant`, `halves` and `replaces`, or with `none`."""
    _refuse_keys_of_without(table)
    given = table.value("without")
    if not isinstance(given, dict):
        found = table.texts("without")
        for name in found:
            table.choice("without", name, what="a variant of this study", allowed=names)
        return Ablations(variants=found)
    inner = table.table("without")
    none = inner.text("none")
    if none:
        for key in ("variant", "halves", "replaces"):
            if key in inner:
                raise inner.fault(key, "cannot be given with a reason for which there is none")
        inner.finish()
        return Ablations(none=none)
    variants = inner.texts("variant")
    if not variants:
        raise inner.fault("variant", "is missing; expected a variant, or `none` with a reason")
    halves = inner.texts("halves")
    for key, given_names in (("variant", variants), ("halves", halves)):
        for name in given_names:
            inner.choice(key, name, what="a variant of this study", allowed=names)
    replaces = inner.text("replaces")
    if replaces:
        inner.choice("replaces", replaces, what="a variant of this study", allowed=names)
    inner.value("none")
    inner.finish()
    return Ablations(variants=variants, halves=halves, replaces=replaces)


def _refuse_keys_of_without(table: Table) -> None:
    for key in ("halves", "replaces"):
        if key in table:
            text = f'is a key inside `without`: without = {{ variant = "...", {key} = ... }}'
            raise table.fault(key, text)


def may_lose_of(table: Table, variants: Sequence[Variant]) -> frozenset[str]:
    """Return the variants that may drop packets: always, and in this claim."""
    given = table.texts("may-lose")
    for name in given:
        table.choice(
            "may-lose", name, what="a variant of this study", allowed=[each.name for each in variants]
        )
    return frozenset((*given, *(variant.name for variant in variants if variant.may_lose)))


def refuse_equal_readings(table: Table, claim: Claim, earlier: Sequence[Claim]) -> None:
    """Refuse readings of a statement that nothing tells apart, or of more than one origin or subject."""
    others = [each for each in earlier if each.statement == claim.statement]
    for other in others:
        if claim.reading == other.reading and bool(claim.part) != bool(other.part):
            text = (
                f"of one reading of the statement {claim.statement!r} either all claims are parts or none is"
            )
            raise table.fault("part", text, given=claim.part)
        if claim.reading == other.reading and claim.part and claim.part == other.part:
            text = (
                f"two parts of the statement {claim.statement!r} have {claim.part!r}; each needs its own name"
            )
            raise table.fault("part", text, given=claim.part)
        if claim.reading == other.reading and not claim.part:
            given = repr(claim.reading) if claim.reading else "no name"
            text = f"two readings of the statement {claim.statement!r} have {given}; each needs its own name"
            raise table.fault("reading", text, given=claim.reading)
        if claim.origin != other.origin:
            text = (
                f"{claim.origin!r}, but an earlier reading of the statement {claim.statement!r} is "
                f"{other.origin!r}; a statement has one origin"
            )
            raise table.fault("origin", text, given=claim.origin)
        if claim.about != other.about:
            text = (
                f"{claim.about!r}, but an earlier reading of the statement {claim.statement!r} is about the "
                f"{other.about}; a statement is about one of the two"
            )
            raise table.fault("about", text, given=claim.about)


def refuse_wrong_ablations(table: Table, claim: Claim) -> None:
    """Refuse an ablation that stands for nothing in the claim, or is what the claim is about."""
    involved = tuple(dict.fromkeys((*claim.variants, *claim.rivals)))
    if claim.ablated and claim.ablated not in involved:
        text = f"{claim.ablated!r} is not in this claim; allowed: {', '.join(involved)}"
        raise table.fault("without.replaces", text, given=claim.ablated, allowed=involved)
    subject = claim.ablated or claim.variants[0]
    if subject in (*claim.ablations, *claim.halves):
        raise table.fault("without", f"{subject!r} is what the claim is about", given=subject)

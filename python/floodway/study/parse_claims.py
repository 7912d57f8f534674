"""Published numbers and orders of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.study.model import Claim
from floodway.study.parse_axes import place_of
from floodway.study.parse_metrics import metric_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from floodway.study.model import Axis, Metric, Place, Variant
    from floodway.study.reading import Table

__all__ = ["claims_of", "whole_place"]

#: Where nothing is said, so much in points of a percentage, or in percent of another number.
TOLERANCE = 5.0
BOUNDS = ("about", "at-least", "at-most")


def claims_of(
    top: Table, variants: Sequence[Variant], axes: Sequence[Axis], metrics: Mapping[str, Metric]
) -> tuple[Claim, ...]:
    """Read the claims.

    Raises
    ------
    StudyError
        If one names a metric, variant, axis or point that is not there, or is over nothing.
    """
    claims: list[Claim] = []
    for number, table in enumerate(top.tables("claim"), start=1):
        claim = _claim(table, f"claim-{number}", variants, axes, metrics)
        if any(claim.name == other.name for other in claims):
            raise table.fault("name", f"{claim.name!r}: two claims have this name", given=claim.name)
        claims.append(claim)
    return tuple(claims)


def whole_place(table: Table, key: str, axes: Sequence[Axis], *, free: Sequence[str] = ()) -> Place:
    """Read a point for every axis; where one has a single point, it need not be said.

    Raises
    ------
    StudyError
        If an axis is missing that is not free.
    """
    inner = table.table(key)
    given = {name: inner.value(name) for name in inner.names()}
    said = dict(place_of(inner, given, axes))
    for axis in axes:
        if axis.name in said and axis.name in free:
            raise table.fault(
                key, f"{axis.name}: the picture goes along this axis; it has no point", given=axis.name
            )
        if axis.name not in said and axis.name not in free:
            if len(axis.points) > 1:
                text = f"says no point of the axis {axis.name}; allowed: {', '.join(axis.names)}"
                raise table.fault(key, text, allowed=axis.names)
            said[axis.name] = axis.names[0]
    return tuple((axis.name, said[axis.name]) for axis in axes if axis.name in said)


def _claim(
    table: Table, name: str, variants: Sequence[Variant], axes: Sequence[Axis], metrics: Mapping[str, Metric]
) -> Claim:
    names = [variant.name for variant in variants]
    order = table.texts("order")
    metric = metric_named(table, "metric", table.text("metric", due=True), metrics)
    at = whole_place(table, "at", axes)
    cause = table.table("cause")
    claim = Claim(
        name=table.text("name", name),
        figure=table.text("figure"),
        says=table.text("says", due=True),
        source=table.text("source"),
        remark=table.text("remark"),
        metric=metric,
        variant="" if order else _variant(table, "variant", names, variants),
        at=at,
        against=_against(table, names),
        against_at=_other_place(table, axes, at),
        value=table.number("value"),
        unit=_unit(table, "%" if "against" in table or "against-at" in table else metric.kind.unit),
        tolerance=_tolerance(table),
        bound=table.choice("is", table.text("is", "about"), what="a bound", allowed=BOUNDS),  # type: ignore[arg-type]
        order=order,
        best=table.choice(
            "best", table.text("best", metric.kind.best), what="an end", allowed=("lowest", "highest")
        ),
        cause=_variant(cause, "variant", names, variants) if "cause" in table else "",
        cause_against=_cause_against(cause, table.text("against"), names),
        cause_says=cause.text("says"),
    )
    _hold_together(table, claim, names)
    cause.finish()
    table.finish()
    _refuse_nothing(table, claim, variants)
    return claim


def _unit(table: Table, own: str) -> str:
    """Read the unit of the published number, which is that of ours: nothing is converted."""
    given = table.text("unit", own)
    if given != own:
        allowed = repr(own) if own else "none: it is a plain number"
        raise table.fault("unit", f"{given!r} is not the unit of the number; allowed: {allowed}", given=given)
    return given


def _variant(table: Table, key: str, names: Sequence[str], variants: Sequence[Variant]) -> str:
    """Read the name of a variant; where there is one only, it need not be said."""
    given = table.text(key, names[0] if len(variants) == 1 else "", due=True)
    return table.choice(key, given, what="a variant of this study", allowed=names)


def _against(table: Table, names: Sequence[str]) -> str:
    given = table.text("against")
    if given:
        return table.choice("against", given, what="a variant of this study", allowed=names)
    return table.text("variant", names[0]) if "against-at" in table else ""


def _cause_against(cause: Table, usual: str, names: Sequence[str]) -> str:
    given = cause.text("against", usual)
    return cause.choice("against", given, what="a variant of this study", allowed=names) if given else ""


def _other_place(table: Table, axes: Sequence[Axis], at: Place) -> Place:
    """Read the points that differ in what is measured against."""
    inner = table.table("against-at")
    said = dict(place_of(inner, {name: inner.value(name) for name in inner.names()}, axes))
    return tuple((axis, said.get(axis, point)) for axis, point in at)


def _tolerance(table: Table) -> float:
    found = table.number("tolerance")
    if found is not None and found < 0:
        raise table.fault("tolerance", f"{found:g} is below 0", given=found)
    return TOLERANCE if found is None else found


def _hold_together(table: Table, claim: Claim, names: Sequence[str]) -> None:
    for name in claim.order:
        table.choice("order", name, what="a variant of this study", allowed=names)
    if claim.order:
        if len(set(claim.order)) < max(2, len(claim.order)):
            raise table.fault(
                "order", "takes at least two variants, each once, best first", given=claim.order
            )
        for key in ("value", "against", "variant", "tolerance", "is"):
            if key in table:
                raise table.fault(key, "is of a number, and this claim is an order; it can be one of the two")
    elif claim.value is None:
        raise table.fault("value", "is missing; a claim has a published value, or an order of variants")
    if claim.against == claim.variant and claim.against_at == claim.at and claim.against:
        raise table.fault("against", f"{claim.against!r} is measured against itself", given=claim.against)


def _refuse_nothing(table: Table, claim: Claim, variants: Sequence[Variant]) -> None:
    """Refuse a claim over runs that the study does not have."""
    needed = [(name, claim.at) for name in claim.variants]
    needed += [(claim.against, claim.against_at)] if claim.against else []
    needed += [(claim.cause, claim.at)] if claim.cause else []
    needed += [(claim.cause_against, claim.at)] if claim.cause and claim.cause_against else []
    for name, place in needed:
        variant = next(each for each in variants if each.name == name)
        if not variant.runs_at(place):
            where = ", ".join(f"{axis} = {point}" for axis, point in place)
            raise table.fault("at", f"{name!r} is not run at {where}", given=where)

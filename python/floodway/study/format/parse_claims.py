"""Published numbers and orders of a study."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from floodway.study.format.model import About, Claim
from floodway.study.format.parse_axes import coordinates_of
from floodway.study.format.parse_metrics import metric_named
from floodway.study.format.parse_statements import (
    ablations_of,
    may_lose_of,
    origin_of,
    refuse_equal_readings,
    refuse_wrong_ablations,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from floodway.study.format.model import Axis, Coordinates, Metric, Variant
    from floodway.study.format.toml_table import Table

__all__ = ["claims_of", "full_coordinates"]

#: By default, in percent of a number, and in points of a percentage; a bound and a range have none.
TOLERANCE, POINTS = 5.0, 3.0
BOUNDS = ("about", "at-least", "at-most")
ABOUT = get_args(About)
TAKES = ("each", "lowest", "highest")
#: All points of an axis.
EVERY = "*"
#: By default, in percent: a smaller difference is no order.
MARGIN = 1.0
#: Keys that an order has no use for.
OF_NUMBERS = ("value", "between", "against", "variant", "tolerance", "is", "take", "draws")


def claims_of(
    top: Table, variants: Sequence[Variant], axes: Sequence[Axis], metrics: Mapping[str, Metric]
) -> tuple[Claim, ...]:
    """Read the claims; those of one statement are its readings, or parts of them.

    Raises
    ------
    StudyError
        If one names a metric, variant, axis or point that is not there, or is over nothing.
    """
    claims: list[Claim] = []
    of_paper = bool(top.text("paper") or top.text("source"))
    draws = _draws(top, 0)
    for number, table in enumerate(top.tables("claim"), start=1):
        claim = _claim(table, f"claim-{number}", variants, axes, metrics, of_paper=of_paper, draws=draws)
        if any(claim.name == other.name for other in claims):
            raise table.fault("name", f"{claim.name!r}: two claims have this name", given=claim.name)
        refuse_equal_readings(table, claim, claims)
        claims.append(claim)
    readings = Counter(statement for statement, _ in {(claim.statement, claim.reading) for claim in claims})
    return tuple(replace(claim, looks=readings[claim.statement]) for claim in claims)


def full_coordinates(
    table: Table, key: str, axes: Sequence[Axis], *, free: Sequence[str] = ()
) -> Coordinates:
    """Read a point for every axis; an axis with a single point may be left out.

    Raises
    ------
    StudyError
        If an axis is missing that is not free.
    """
    inner = table.table(key)
    given = {name: inner.value(name) for name in inner.names()}
    points_by_axis = dict(coordinates_of(inner, given, axes))
    for axis in axes:
        if axis.name in points_by_axis and axis.name in free:
            raise table.fault(
                key, f"{axis.name}: the picture goes along this axis; it has no point", given=axis.name
            )
        if axis.name not in points_by_axis and axis.name not in free:
            if len(axis.points) > 1:
                text = f"names no point of the axis {axis.name}; allowed: {', '.join(axis.names)}"
                raise table.fault(key, text, allowed=axis.names)
            points_by_axis[axis.name] = axis.names[0]
    return tuple((axis.name, points_by_axis[axis.name]) for axis in axes if axis.name in points_by_axis)


def _claim(  # noqa: PLR0913 (what a claim may name)
    table: Table,
    name: str,
    variants: Sequence[Variant],
    axes: Sequence[Axis],
    metrics: Mapping[str, Metric],
    *,
    of_paper: bool,
    draws: int,
) -> Claim:
    names = [variant.name for variant in variants]
    order, only_first, unchanged = _order(table, variants)
    metric = metric_named(table, "metric", table.text("metric", due=True), metrics)
    coordinates = _claim_coordinates(table, axes)
    at = coordinates[0]
    rivals = _rivals(table, names)
    unit = _unit(table, "%" if "against" in table or "against-at" in table else metric.kind.unit)
    bound = table.choice("is", table.text("is", "about"), what="a bound", allowed=BOUNDS)
    between = _between(table)
    cause = table.table("cause")
    ablation = ablations_of(table, names)
    claim = Claim(
        name=table.text("name", name),
        statement=table.text("statement") or table.text("name", name),
        reading=table.text("reading"),
        part=table.text("part"),
        spans=table.flag("spans"),
        setting=table.text("setting"),
        origin=origin_of(table, of_paper=of_paper),
        about=table.choice(
            "about", table.text("about", "mechanism"), what="what a claim is about", allowed=ABOUT
        ),  # type: ignore[arg-type]
        figure=table.text("figure"),
        says=table.text("says", due=True),
        source=table.text("source"),
        remark=table.text("remark"),
        metric=metric,
        variant="" if order else _variant(table, "variant", names, variants),
        at=at,
        against=rivals[0] if rivals else "",
        against_points=_points(table, "against-at", axes),
        less_points=_points(table, "less-at", axes),
        coordinates=coordinates,
        rivals=rivals,
        take=table.choice("take", table.text("take", "each"), what="a choice", allowed=TAKES),  # type: ignore[arg-type]
        value=table.number("value"),
        between=between,
        unit=unit,
        tolerance=_not_negative(table, "tolerance", _usual_tolerance(bound, unit, between)),
        bound=bound,  # type: ignore[arg-type]
        draws=_draws(table, draws if bound == "about" and not order else 0),
        order=order,
        best=table.choice(
            "best", table.text("best", metric.kind.best), what="an end", allowed=("lowest", "highest")
        ),
        only_first=only_first,
        unchanged=unchanged,
        margin=_not_negative(table, "margin", MARGIN),
        ablations=ablation.variants,
        halves=ablation.halves,
        ablated=ablation.replaces,
        no_ablation=ablation.none,
        may_lose=may_lose_of(table, variants),
        looks=1,
        cause=_variant(cause, "variant", names, variants) if "cause" in table else "",
        cause_against=_cause_against(cause, rivals[0] if rivals else "", names),
        cause_says=cause.text("says"),
    )
    _hold_together(table, claim, names)
    cause.finish()
    table.finish()
    _refuse_nothing(table, claim, variants)
    return claim


def _usual_tolerance(bound: str, unit: str, between: tuple[float, float] | None) -> float:
    if bound != "about" or between is not None:
        return 0.0
    return POINTS if unit == "%" else TOLERANCE


def _draws(table: Table, usual: int) -> int:
    """Read of how many runs of a simulation the published number is the mean; 0 where that is not said."""
    found = table.number("draws")
    if found is None:
        return usual
    if found < 1 or found != int(found):
        raise table.fault(
            "draws", f"{found:g} is not allowed; expected a whole number from 1 on", given=found
        )
    return int(found)


def _unit(table: Table, own: str) -> str:
    """Read the unit of the published number, which is that of ours: nothing is converted."""
    given = table.text("unit", own)
    if given != own:
        allowed = repr(own) if own else "none: it is a plain number"
        raise table.fault("unit", f"{given!r} is not the unit of the number; allowed: {allowed}", given=given)
    return given


def _variant(table: Table, key: str, names: Sequence[str], variants: Sequence[Variant]) -> str:
    """Read the name of a variant; a single variant may be left out."""
    given = table.text(key, names[0] if len(variants) == 1 else "", due=True)
    return table.choice(key, given, what="a variant of this study", allowed=names)


def _order(table: Table, variants: Sequence[Variant]) -> tuple[tuple[str, ...], bool, bool]:
    """Read an order, its first variant, or variants of one order: the variants, and the two latter."""
    first = table.text("first")
    given = [key for key in ("order", "first", "unchanged-order") if key in table]
    if len(given) > 1:
        raise table.fault(given[1], f"cannot be given with {given[0]!r}; choose one of the two")
    if not first:
        return table.texts("unchanged-order") or table.texts("order"), False, "unchanged-order" in table
    names = [variant.name for variant in variants]
    table.choice("first", first, what="a variant of this study", allowed=names)
    among = table.texts("among") or tuple(names)
    for name in among:
        table.choice("among", name, what="a variant of this study", allowed=names)
    return (first, *(name for name in among if name != first)), True, False


def _claim_coordinates(table: Table, axes: Sequence[Axis]) -> tuple[Coordinates, ...]:
    """Read where a claim is: of an axis a point, a list of points, or all of them."""
    inner = table.table("at")
    given = {name: inner.value(name) for name in inner.names()}
    points = {axis.name: axis.names for axis in axes if given.get(axis.name) == EVERY}
    points |= {
        name: tuple(dict(coordinates_of(inner, {name: point}, axes))[name] for point in value)
        for name, value in given.items()
        if isinstance(value, list) and value
    }
    if not points:
        return (full_coordinates(table, "at", axes),)
    points_by_axis = dict(
        coordinates_of(inner, {name: value for name, value in given.items() if name not in points}, axes)
    )
    for axis in axes:
        if axis.name in points_by_axis or axis.name in points:
            continue
        if len(axis.points) > 1:
            text = f"names no point of the axis {axis.name}; allowed: {', '.join(axis.names)}, {EVERY}"
            raise table.fault("at", text, allowed=(*axis.names, EVERY))
        points_by_axis[axis.name] = axis.names[0]
    names = [axis.name for axis in axes]
    choices = [points.get(name, (points_by_axis.get(name, ""),)) for name in names]
    return tuple(tuple(zip(names, choice, strict=True)) for choice in itertools.product(*choices))


def _rivals(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    """Read what it is measured against: a variant, or several."""
    given = table.texts("against")
    for name in given:
        table.choice("against", name, what="a variant of this study", allowed=names)
    if given or "against-at" not in table:
        return given
    return (table.text("variant", names[0]),)


def _between(table: Table) -> tuple[float, float] | None:
    """Read a published range."""
    found = table.numbers("between")
    if "between" not in table:
        return None
    if len(found) != len(("low", "high")) or found[0] > found[1]:
        raise table.fault(
            "between", f"{list(found)} is not a range: expected two numbers, the smaller first", given=found
        )
    return found[0], found[1]


def _cause_against(cause: Table, usual: str, names: Sequence[str]) -> str:
    given = cause.text("against", usual)
    return cause.choice("against", given, what="a variant of this study", allowed=names) if given else ""


def _points(table: Table, key: str, axes: Sequence[Axis]) -> Coordinates:
    """Read the points that differ in what something is measured against."""
    inner = table.table(key)
    return coordinates_of(inner, {name: inner.value(name) for name in inner.names()}, axes)


def _not_negative(table: Table, key: str, usual: float) -> float:
    found = table.number(key)
    if found is not None and found < 0:
        raise table.fault(key, f"{found:g} is not allowed; the minimum is 0", given=found)
    return usual if found is None else found


def _hold_together(table: Table, claim: Claim, names: Sequence[str]) -> None:
    key = "unchanged-order" if claim.unchanged else "among" if claim.only_first else "order"
    for name in claim.order:
        table.choice(key, name, what="a variant of this study", allowed=names)
    if claim.unchanged and not claim.several:
        raise table.fault(key, "compares the orders at several points, and `at` has only one")
    if claim.order or claim.unchanged:
        if len(set(claim.order)) < max(2, len(claim.order)):
            best = "" if claim.unchanged else ", best first"
            raise table.fault(key, f"takes at least two variants, each once{best}", given=claim.order)
        for key in OF_NUMBERS:
            if key in table:
                raise table.fault(
                    key, "applies to a number, and this claim is an order; choose one of the two"
                )
    elif claim.value is None and claim.between is None:
        raise table.fault("value", "is missing; a claim has a published value, or an order of variants")
    if not claim.order and "margin" in table:
        raise table.fault("margin", "applies to an order, and this claim is a number; it has a tolerance")
    _refuse_no_difference(table, claim)
    _hold_several_together(table, claim)
    refuse_wrong_ablations(table, claim)


def _refuse_no_difference(table: Table, claim: Claim) -> None:
    """Refuse a difference that is zero by definition, or that is of nothing."""
    for part in claim.parts:
        if claim.relative and part.variant == part.against and part.against_at == part.at:
            raise table.fault("against", f"{claim.variant!r} is measured against itself", given=claim.variant)
        if part.less_points and part.less_at[0] == part.at:
            raise table.fault("less-at", "is where the claim is; the difference would be 0")
    if claim.less_points and not claim.relative:
        raise table.fault("less-at", "applies to a difference; this claim has no `against`")


def _hold_several_together(table: Table, claim: Claim) -> None:
    if claim.value is not None and claim.between is not None:
        raise table.fault("between", "is given with a value; choose one of the two")
    if claim.between is not None and claim.bound != "about":
        raise table.fault("is", "applies to a value, and this claim has a range, which has two bounds")
    if "draws" in table and claim.bound != "about":
        raise table.fault("draws", "applies to a number, and this claim is a bound")
    if "cause" in table and claim.several and claim.take == "each":
        raise table.fault("cause", "applies to one number, and this claim covers several")
    if "cause" in table and claim.less_points:
        raise table.fault("cause", "applies to a plain difference, and this claim subtracts another")
    if not claim.several and "take" in table:
        raise table.fault("take", "selects one of several numbers, and this claim has only one")


def _refuse_nothing(table: Table, claim: Claim, variants: Sequence[Variant]) -> None:
    """Refuse a claim over runs that the study does not have."""
    needed = [cell for part in claim.parts for cell in part.cells]
    if claim.cause:
        isolating = [name for name in (claim.cause, claim.cause_against) if name]
        needed += [(name, at) for name in isolating for at in claim.coordinates]
    subject = claim.ablated or claim.variants[0]
    needed += [
        (each, at) for each in (*claim.ablations, *claim.halves) for name, at in needed if name == subject
    ]
    for name, at in needed:
        variant = next(each for each in variants if each.name == name)
        if not variant.runs_at(at):
            where = ", ".join(f"{axis} = {point}" for axis, point in at)
            raise table.fault("at", f"{name!r} is not run at {where}", given=where)

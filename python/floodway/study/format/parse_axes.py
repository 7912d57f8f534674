"""Axes of a study, and coordinates along them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from floodway.results.quantities import quantity_bytes, quantity_gbps, quantity_us
from floodway.study.format.model import Axis, AxisPoint
from floodway.study.format.parse_seeds import most_seeds_of
from floodway.study.format.values import plain, toml_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from floodway.study.format.model import Coordinates, Sets
    from floodway.study.format.toml_table import Table

__all__ = ["axes_of", "coordinates_of", "number_of", "sets_of"]

_KM = "km"


def axes_of(top: Table) -> tuple[Axis, ...]:
    """Read the axes.

    Raises
    ------
    StudyError
        If one is not of its form, or two have a name or a key in common.
    """
    axes: list[Axis] = []
    keys: dict[str, str] = {}
    for table in top.tables("axis"):
        axis = _axis(table)
        if any(axis.name == other.name for other in axes) or axis.name == "variant":
            raise table.fault("name", f"{axis.name!r}: is taken; choose another name", given=axis.name)
        for key in dict.fromkeys(key for point in axis.points for key, _ in point.sets):
            if key in keys:
                raise table.fault("", f"{key}: the axis {keys[key]} sets it as well", given=key)
            keys[key] = axis.name
        axes.append(axis)
    return tuple(axes)


def coordinates_of(table: Table, given: Mapping[str, Any], axes: Sequence[Axis]) -> Coordinates:
    """Return the points that a table of axes names, in the order of the axes.

    Raises
    ------
    StudyError
        If there is no such axis or point.
    """
    for name in given:
        table.choice(name, name, what="an axis of this study", allowed=[axis.name for axis in axes])
    return tuple(
        (axis.name, _point_named(table, axis, given[axis.name])) for axis in axes if axis.name in given
    )


def sets_of(table: Table, key: str) -> Sets:
    """Read key paths with their values.

    Raises
    ------
    StudyError
        If a path is not quoted, so that TOML has made tables of it.
    """
    found = table.mapping(key)
    for path, value in found.items():
        if isinstance(value, dict) and "." not in path and value:
            inner = next(iter(value))
            raise table.fault(
                f"{key}.{path}", f'is a table; quote the whole path, as in "{path}.{inner}" = ...', given=path
            )
    try:
        return tuple((path, toml_text(value)) for path, value in found.items())
    except TypeError as error:
        raise table.fault(key, str(error)) from error


def number_of(value: object) -> float | None:
    """Return the number that a value is, or a quantity in us, Gbit/s, bytes or km; none for anything else.

    Examples
    --------
    >>> number_of("80km"), number_of("3ms"), number_of("400G"), number_of("1MB"), number_of("pfc")
    (80.0, 3000.0, 400.0, 1000000.0, None)
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return None
    if value.endswith(_KM):
        with contextlib.suppress(ValueError):
            return float(value.removesuffix(_KM))
    for read in (float, quantity_us, quantity_gbps, quantity_bytes):
        with contextlib.suppress(ValueError):
            return float(read(value))
    return None


def _axis(table: Table) -> Axis:
    name = table.text("name", due=True)
    label = table.text("label", name)
    points = _named_points(table) if "point" in table else _listed_points(table)
    if not points:
        raise table.fault("values", "is missing; an axis needs at least one value")
    twice = next((point.name for point in points if [own.name for own in points].count(point.name) > 1), None)
    if twice is not None:
        raise table.fault(
            "labels" if "labels" in table else "values", f"{twice!r}: two points have this name", given=twice
        )
    axis = Axis(name=name, label=label, points=points, quick=tuple(point.name for point in points))
    quick = table.items("quick")
    table.finish()
    named = tuple(_point_named(table, axis, each, key="quick") for each in quick) or axis.quick
    return Axis(name=name, label=label, points=points, quick=named)


def _named_points(table: Table) -> tuple[AxisPoint, ...]:
    """Read `[[axis.point]]`: each with a name and what it sets."""
    points = []
    for point in table.tables("point"):
        name = point.text("name", due=True)
        number = point.number("number")
        sets, seeds = sets_of(point, "set"), most_seeds_of(point, "a point")
        point.finish()
        number = number_of(name) if number is None else number
        points.append(AxisPoint(name=name, number=number, sets=sets, seeds=seeds))
    return tuple(points)


def _listed_points(table: Table) -> tuple[AxisPoint, ...]:
    """Read `values`: of one key, or, of several, a list each."""
    keys = table.texts("keys") if "keys" in table else table.texts("key")
    if not keys:
        raise table.fault("key", "is missing; expected the key path that the axis sets")
    values = table.items("values")
    labels, numbers = table.texts("labels"), table.numbers("numbers")
    for key, many in (("labels", labels), ("numbers", numbers)):
        if many and len(many) != len(values):
            raise table.fault(key, f"{len(many)} entries for {len(values)} values")
    points = []
    for index, value in enumerate(values):
        own = value if len(keys) > 1 else [value]
        if not isinstance(own, list) or len(own) != len(keys):
            raise table.fault(
                "values",
                f"expected a list of {len(keys)} values, one for each key, got {plain(value)}",
                given=value,
            )
        name = labels[index] if labels else plain(own[0])
        number = numbers[index] if numbers else number_of(own[0])
        sets = tuple((key, toml_text(each)) for key, each in zip(keys, own, strict=True))
        points.append(AxisPoint(name=name, number=number, sets=sets))
    return tuple(points)


def _point_named(table: Table, axis: Axis, given: object, *, key: str = "") -> str:
    """Find a point by its name, or by the value that it has."""
    wanted = plain(given)
    if wanted not in axis.names and not isinstance(given, str):
        wanted = next((point.name for point in axis.points if point.number == given), wanted)
    return table.choice(key or axis.name, wanted, what=f"a point of the axis {axis.name}", allowed=axis.names)

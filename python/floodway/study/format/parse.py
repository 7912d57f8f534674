"""The parser of a study's file; every error names the file and the key path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway.study.format.model import Base, Quick, Study, Variant
from floodway.study.format.parse_axes import axes_of, coordinates_of, sets_of
from floodway.study.format.parse_claims import claims_of
from floodway.study.format.parse_metrics import metrics_of
from floodway.study.format.parse_plots import plots_of
from floodway.study.format.parse_seeds import most_seeds_of, seeds_of
from floodway.study.format.toml_table import Table, read_toml

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from floodway.study.format.model import Axis

__all__ = ["load_study", "study_of"]


def load_study(path: str | os.PathLike[str]) -> Study:
    """Read a study's file.

    Raises
    ------
    StudyError
        If it cannot be read, or says something that it cannot mean. Its scenarios are not read yet.
    """
    file = Path(path)
    return study_of(file, read_toml(file))


def study_of(file: Path, content: Mapping[str, Any]) -> Study:
    """Make a study of what its file holds; files that it names lie relative to its folder.

    Raises
    ------
    StudyError
        As in `load_study`.
    """
    top = Table(str(file), "", content)
    axes = axes_of(top)
    base = _base(top, file)
    variants = _variants(top, base, axes, file)
    metrics = metrics_of(top)
    names = tuple(variant.name for variant in variants)
    study = Study(
        file=file,
        name=file.stem,
        title=top.text("title", due=True),
        paper=top.text("paper"),
        shows=top.text("shows"),
        notes=top.text("notes"),
        source=top.text("source"),
        minutes=top.number("minutes"),
        sets=sets_of(top, "set"),
        axes=axes,
        variants=variants,
        seeds=seeds_of(top, 1),
        metrics=metrics,
        claims=claims_of(top, variants, axes, metrics),
        plots=plots_of(top, variants, axes, metrics),
        quick=_quick(top.table("quick"), names),
    )
    top.finish()
    return study


def _base(table: Table, file: Path) -> Base | None:
    """Read `scenario`: a file, or the scenario itself."""
    if "scenario" not in table:
        table.value("scenario")
        return None
    found = table.value("scenario")
    if isinstance(found, dict):
        return Base(keys=found)
    if not isinstance(found, str):
        raise table.fault("scenario", "must be a scenario's file, or its keys as a table", given=found)
    path = file.parent / found
    if not path.is_file():
        raise table.fault(
            "scenario", f"{found!r} is not a file; paths are relative to the study's folder", given=found
        )
    return Base(file=path)


def _variants(top: Table, base: Base | None, axes: Sequence[Axis], file: Path) -> tuple[Variant, ...]:
    tables = top.tables("variant")
    made: list[Variant] = []
    for table in tables:
        name = table.text("name", due=True)
        if any(variant.name == name for variant in made):
            raise table.fault("name", f"{name!r}: two variants have this name", given=name)
        made.append(_variant(table, name, _base(table, file) or base, made, axes))
    if made:
        return tuple(made)
    if base is None:
        raise top.fault("scenario", "is missing; give a scenario's file, or its keys as a table")
    return (Variant(name="base", label=top.text("title"), base=base),)


def _variant(
    table: Table, name: str, base: Base | None, made: Sequence[Variant], axes: Sequence[Axis]
) -> Variant:
    like = table.text("like")
    parent = None
    if like:
        table.choice("like", like, what="a variant above this one", allowed=[each.name for each in made])
        parent = next(each for each in made if each.name == like)
        base = base if "scenario" in table else parent.base
    if base is None:
        raise table.fault(
            "scenario",
            "is missing, here and at the top level; give a scenario's file, or its keys as a table",
        )
    variant = Variant(
        name=name,
        label=table.text("label", name),
        base=base,
        sets=(*(parent.sets if parent else ()), *sets_of(table, "set")),
        only=_points(table, "only", axes) if "only" in table or parent is None else parent.only,
        left_out=_points(table, "except", axes) if "except" in table or parent is None else parent.left_out,
        seeds=most_seeds_of(table, "a variant") if "seeds" in table or parent is None else parent.seeds,
        may_lose=table.flag("may-lose") if "may-lose" in table or parent is None else parent.may_lose,
    )
    for key in ("only", "except", "seeds", "may-lose"):
        table.value(key)
    table.finish()
    return variant


def _points(table: Table, key: str, axes: Sequence[Axis]) -> dict[str, tuple[str, ...]]:
    """Read points by axis; a single one needs no list."""
    inner = table.table(key)
    found = {}
    for axis_name in inner.names():
        inner.choice(axis_name, axis_name, what="an axis of this study", allowed=[axis.name for axis in axes])
        given = inner.value(axis_name)
        many = given if isinstance(given, list) else [given]
        found[axis_name] = tuple(
            point for each in many for _, point in coordinates_of(inner, {axis_name: each}, axes)
        )
    return found


def _quick(table: Table, names: Sequence[str]) -> Quick:
    variants = table.texts("variants")
    for name in variants:
        table.choice("variants", name, what="a variant of this study", allowed=names)
    quick = Quick(
        minutes=table.number("minutes"),
        skip=table.flag("skip"),
        seeds=seeds_of(table, None),
        sets=sets_of(table, "set"),
        variants=variants,
    )
    table.finish()
    return quick

"""The reader of studies: Rust parses the file, and a `Study` is built from its JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway import _floodway
from floodway.common.errors import ScenarioError, StudyError
from floodway.common.files import read_text
from floodway.study.format.model import (
    Axis,
    AxisPoint,
    Base,
    Claim,
    Mark,
    Metric,
    Plot,
    Quick,
    Reading,
    Study,
    Theory,
    Variant,
)
from floodway.study.metrics.kinds import KINDS
from floodway.study.metrics.selection import Options

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from floodway.study.format.model import Sets

__all__ = ["load_study", "pairs_of", "read_study_json", "ready_metric"]

#: Keys of a claim and a picture whose values are coordinates, or lists of names.
COORDINATES = ("at", "against_points", "less_points")
NAMES = ("rivals", "order", "ablations", "halves")


def load_study(path: str | os.PathLike[str]) -> Study:
    """Read a study's file; its scenarios are not read yet.

    Parameters
    ----------
    path
        The study's file, as TOML.

    Returns
    -------
    Study
        Its axes, variants, metrics, published numbers and pictures.

    Raises
    ------
    StudyError
        If the file cannot be read, or has an invalid key or value; the error names file and key.
    """
    file = Path(path)
    document = read_study_json(file, lambda name, text: _floodway.parse_study(name, text, folder=file.parent))
    metrics = {table["name"]: _metric(table) for table in document["metrics"]}
    return Study(
        file=file,
        name=file.stem,
        title=document["title"],
        paper=document["paper"],
        shows=document["shows"],
        notes=document["notes"],
        source=document["source"],
        minutes=document["minutes"],
        sets=pairs_of(document["sets"]),
        axes=tuple(_axis(table) for table in document["axes"]),
        variants=tuple(_variant(table, file.parent) for table in document["variants"]),
        readings=tuple(Reading(**table) for table in document["readings"]),
        seeds=_seeds(document["seeds"]),
        metrics=metrics,
        claims=tuple(_claim(table, metrics) for table in document["claims"]),
        plots=tuple(_plot(table, metrics) for table in document["plots"]),
        quick=_quick(document["quick"]),
    )


def ready_metric(name: str) -> Metric:
    """Return the metric of a kind, under the kind's name and without options."""
    kind = KINDS[name]
    return Metric(name=name, label=kind.label, kind_name=name, kind=kind, options=Options())


def read_study_json(file: Path, parse: Callable[[str, str], str]) -> Any:  # noqa: ANN401 (any JSON value)
    """Read a file of studies, or of their mutants, with its parser.

    Raises
    ------
    StudyError
        If it cannot be read, or the parser refuses it.
    """
    shown = str(file)
    try:
        return json.loads(parse(shown, read_text(file)))
    except OSError as error:
        raise StudyError(f"{shown}: cannot be read: {error.strerror or error}", place=shown) from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{shown}: is not text in UTF-8", place=shown) from error
    except ScenarioError as error:
        raise StudyError(
            str(error),
            place=shown,
            key=error.key or "",
            given=error.given,
            allowed=error.allowed,
            nearest=error.nearest,
        ) from error


def pairs_of(pairs: Sequence[Sequence[str]]) -> Sets:
    """Return key paths with their values, or axes with their points."""
    return tuple((path, value) for path, value in pairs)


def _axis(table: Mapping[str, Any]) -> Axis:
    points = tuple(AxisPoint(**{**point, "sets": pairs_of(point["sets"])}) for point in table["points"])
    return Axis(name=table["name"], label=table["label"], points=points, quick=tuple(table["quick"]))


def _variant(table: Mapping[str, Any], folder: Path) -> Variant:
    base = table["base"]
    return Variant(
        **{
            **table,
            "base": Base(file=folder / base["file"]) if "file" in base else Base(keys=base["keys"]),
            "sets": pairs_of(table["sets"]),
            "only": {axis: tuple(points) for axis, points in table["only"]},
            "left_out": {axis: tuple(points) for axis, points in table["left_out"]},
        }
    )


def _seeds(seeds: int | list[int] | None) -> Any:  # noqa: ANN401 (a number or a tuple of them)
    return tuple(seeds) if isinstance(seeds, list) else seeds


def _metric(table: Mapping[str, Any]) -> Metric:
    options: dict[str, Any] = {
        key: tuple(option) if isinstance(option, list) else option for key, option in table["options"].items()
    }
    return Metric(
        name=table["name"],
        label=table["label"],
        kind_name=table["kind"],
        kind=KINDS[table["kind"]],
        options=Options(**options),
    )


def _claim(table: Mapping[str, Any], metrics: Mapping[str, Metric]) -> Claim:
    return Claim(
        **{
            **table,
            **{key: pairs_of(table[key]) for key in COORDINATES},
            **{key: tuple(table[key]) for key in NAMES},
            "metric": metrics.get(table["metric"]) or ready_metric(table["metric"]),
            "coordinates": tuple(pairs_of(pairs) for pairs in table["coordinates"]),
            "between": None if table["between"] is None else tuple(table["between"]),
            "may_lose": frozenset(table["may_lose"]),
            "removes": dict(table["removes"]),
        }
    )


def _plot(table: Mapping[str, Any], metrics: Mapping[str, Metric]) -> Plot:
    return Plot(
        **{
            **table,
            "metrics": tuple(metrics.get(name) or ready_metric(name) for name in table["metrics"]),
            "at": pairs_of(table["at"]),
            "variants": tuple(table["variants"]),
            "log": tuple(table["log"]),
            "theory": tuple(_theory(theory) for theory in table["theory"]),
            "marks": tuple(Mark(**mark) for mark in table["marks"]),
            "ports": tuple(table["ports"]),
            "flows": tuple(table["flows"]),
            "window": tuple(table["window"] or (None, None)),
        }
    )


def _theory(table: Mapping[str, Any]) -> Theory:
    arguments = {name.replace("-", "_"): value for name, value in table["arguments"]}
    return Theory(**{**table, "arguments": arguments})


def _quick(table: Mapping[str, Any]) -> Quick:
    return Quick(
        minutes=table["minutes"],
        skip=table["skip"],
        seeds=_seeds(table["seeds"]),
        sets=pairs_of(table["sets"]),
        variants=tuple(table["variants"]),
    )

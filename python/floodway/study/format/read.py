"""The reader of studies: the grammar is Rust's, and a study is made of what it returns."""

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
    """Read a study's file.

    Raises
    ------
    StudyError
        If it cannot be read, or says something that it cannot mean. Its scenarios are not read yet.
    """
    file = Path(path)
    given = read_study_json(file, lambda name, text: _floodway.parse_study(name, text, folder=file.parent))
    metrics = {each["name"]: _metric(each) for each in given["metrics"]}
    return Study(
        file=file,
        name=file.stem,
        title=given["title"],
        paper=given["paper"],
        shows=given["shows"],
        notes=given["notes"],
        source=given["source"],
        minutes=given["minutes"],
        sets=pairs_of(given["sets"]),
        axes=tuple(_axis(each) for each in given["axes"]),
        variants=tuple(_variant(each, file.parent) for each in given["variants"]),
        readings=tuple(Reading(**each) for each in given["readings"]),
        seeds=_seeds(given["seeds"]),
        metrics=metrics,
        claims=tuple(_claim(each, metrics) for each in given["claims"]),
        plots=tuple(_plot(each, metrics) for each in given["plots"]),
        quick=_quick(given["quick"]),
    )


def ready_metric(name: str) -> Metric:
    """Return a metric that goes by the name of its kind, without options."""
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


def pairs_of(given: Sequence[Sequence[str]]) -> Sets:
    """Return key paths with their values, or axes with their points."""
    return tuple((path, value) for path, value in given)


def _axis(given: Mapping[str, Any]) -> Axis:
    points = tuple(AxisPoint(**{**point, "sets": pairs_of(point["sets"])}) for point in given["points"])
    return Axis(name=given["name"], label=given["label"], points=points, quick=tuple(given["quick"]))


def _variant(given: Mapping[str, Any], folder: Path) -> Variant:
    base = given["base"]
    return Variant(
        **{
            **given,
            "base": Base(file=folder / base["file"]) if "file" in base else Base(keys=base["keys"]),
            "sets": pairs_of(given["sets"]),
            "only": {axis: tuple(points) for axis, points in given["only"]},
            "left_out": {axis: tuple(points) for axis, points in given["left_out"]},
        }
    )


def _seeds(given: int | list[int] | None) -> Any:  # noqa: ANN401 (a number or a tuple of them)
    return tuple(given) if isinstance(given, list) else given


def _metric(given: Mapping[str, Any]) -> Metric:
    options: dict[str, Any] = {
        key: tuple(each) if isinstance(each, list) else each for key, each in given["options"].items()
    }
    return Metric(
        name=given["name"],
        label=given["label"],
        kind_name=given["kind"],
        kind=KINDS[given["kind"]],
        options=Options(**options),
    )


def _claim(given: Mapping[str, Any], metrics: Mapping[str, Metric]) -> Claim:
    return Claim(
        **{
            **given,
            **{key: pairs_of(given[key]) for key in COORDINATES},
            **{key: tuple(given[key]) for key in NAMES},
            "metric": metrics.get(given["metric"]) or ready_metric(given["metric"]),
            "coordinates": tuple(pairs_of(each) for each in given["coordinates"]),
            "between": None if given["between"] is None else tuple(given["between"]),
            "may_lose": frozenset(given["may_lose"]),
            "removes": dict(given["removes"]),
        }
    )


def _plot(given: Mapping[str, Any], metrics: Mapping[str, Metric]) -> Plot:
    return Plot(
        **{
            **given,
            "metrics": tuple(metrics.get(name) or ready_metric(name) for name in given["metrics"]),
            "at": pairs_of(given["at"]),
            "variants": tuple(given["variants"]),
            "log": tuple(given["log"]),
            "theory": tuple(_theory(each) for each in given["theory"]),
            "marks": tuple(Mark(**each) for each in given["marks"]),
            "ports": tuple(given["ports"]),
            "flows": tuple(given["flows"]),
            "window": tuple(given["window"] or (None, None)),
        }
    )


def _theory(given: Mapping[str, Any]) -> Theory:
    arguments = {name.replace("-", "_"): value for name, value in given["arguments"]}
    return Theory(**{**given, "arguments": arguments})


def _quick(given: Mapping[str, Any]) -> Quick:
    return Quick(
        minutes=given["minutes"],
        skip=given["skip"],
        seeds=_seeds(given["seeds"]),
        sets=pairs_of(given["sets"]),
        variants=tuple(given["variants"]),
    )

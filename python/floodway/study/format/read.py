"""The reader of studies and papers: Rust parses a file, and a `Study` is built from its JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway import _floodway
from floodway.common.errors import ScenarioError, StudyError
from floodway.common.files import read_text
from floodway.common.ready import root_of
from floodway.results.metrics import natural
from floodway.study.format.model import Axis, AxisPoint, Base, Metric, Quick, Study, Variant
from floodway.study.metrics.kinds import KINDS
from floodway.study.metrics.selection import Options

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

__all__ = ["Paper", "load_study", "metric_of", "papers", "read_study_json", "ready_metric", "ready_studies"]


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
    return Study(
        **{
            **document,
            "file": file,
            "name": file.stem,
            "axes": tuple(
                Axis(**{**table, "points": tuple(AxisPoint(**point) for point in table["points"])})
                for table in document["axes"]
            ),
            "variants": tuple(_variant(table, file.parent) for table in document["variants"]),
            "metrics": {table["name"]: _metric(table) for table in document["metrics"]},
            "quick": Quick(**document["quick"]),
        }
    )


def metric_of(study: Study, name: str) -> Metric:
    """Return a metric of a study by its name: one that it defines, or one of the kinds without options."""
    return study.metrics.get(name) or ready_metric(name)


def ready_metric(name: str) -> Metric:
    """Return the metric of a kind, under the kind's name and without options."""
    kind = KINDS[name]
    return Metric(name=name, label=kind.label, kind_name=name, kind=kind, options=Options())


def read_study_json(file: Path, parse: Callable[[str, str], str]) -> Any:  # noqa: ANN401 (any JSON value)
    """Read a file of studies, or of their mutants, with its parser; lists become tuples.

    Raises
    ------
    StudyError
        If it cannot be read, or the parser refuses it.
    """
    shown = str(file)
    try:
        return _frozen(json.loads(parse(shown, read_text(file))))
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


def _frozen(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """Return a value with tuples in place of lists."""
    match value:
        case list():
            return tuple(map(_frozen, value))
        case dict():
            return {key: _frozen(inner) for key, inner in value.items()}
        case _:
            return value


def _variant(table: Mapping[str, Any], folder: Path) -> Variant:
    base = table["base"]
    return Variant(
        **{
            **table,
            "base": Base(file=folder / base["file"]) if "file" in base else Base(keys=base["keys"]),
            "only": dict(table["only"]),
            "left_out": dict(table["left_out"]),
        }
    )


def _metric(table: Mapping[str, Any]) -> Metric:
    name, kind = table["name"], table["kind"]
    options = Options(**table["options"])
    return Metric(name=name, label=table["label"], kind_name=kind, kind=KINDS[kind], options=options)


#: Files of a paper's folder that begin so are no figures.
HIDDEN_PREFIX = "_"


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper with studies of its figures.

    Attributes
    ----------
    name
        Name of its folder.
    files
        The files of its studies, in the order of the figures.
    """

    name: str
    files: tuple[Path, ...]


def papers(folder: Path | None = None) -> tuple[Paper, ...]:
    """Return the papers of a folder.

    Parameters
    ----------
    folder
        A folder with a folder for each paper; by default `studies/` here, else the package's own.

    Returns
    -------
    tuple of Paper
        The papers that have studies, by name.

    Raises
    ------
    UnknownNameError
        If there is no such folder.
    """
    root = root_of("studies", folder)
    inner = sorted(entry for entry in root.iterdir() if entry.is_dir())
    all_papers = (Paper(name=entry.name, files=_files(entry)) for entry in inner)
    return tuple(paper for paper in all_papers if paper.files)


def ready_studies(folder: Path | None = None) -> tuple[tuple[Path, str, str], ...]:
    """Return the studies of a folder and of its papers.

    Parameters
    ----------
    folder
        A folder with studies and folders of papers; by default `studies/` here, else the package's own.

    Returns
    -------
    tuple of tuple
        File, title and summary of each study; for a file that cannot be read, the error as summary.

    Raises
    ------
    UnknownNameError
        If there is no such folder.
    """
    root = root_of("studies", folder)
    studies = []
    for file in (*_files(root), *(file for paper in papers(root) for file in paper.files)):
        try:
            study = load_study(file)
            studies.append((file, study.title, " ".join(study.shows.split())))
        except StudyError as error:
            studies.append((file, "cannot be read", str(error)))
    return tuple(studies)


def _files(folder: Path) -> tuple[Path, ...]:
    files = (file for file in folder.glob("*.toml") if not file.name.startswith(HIDDEN_PREFIX))
    return tuple(sorted(files, key=lambda file: natural(file.stem)))

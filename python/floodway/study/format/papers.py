"""Papers with studies of their figures: one folder per paper, one file per figure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.common.errors import StudyError, UnknownNameError
from floodway.common.names import not_a_choice
from floodway.common.ready import FOLDER
from floodway.results.metrics import natural
from floodway.study.format.read import load_study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.study.format.model import Study

__all__ = ["Paper", "asked_for", "papers", "ready_studies"]

#: Files of a paper's folder that begin so are no figures.
ASIDE = "_"


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: its name, and the files of its studies in the order of the figures."""

    name: str
    files: tuple[Path, ...]


def papers(folder: Path | None = None) -> tuple[Paper, ...]:
    """Return the papers of a folder.

    The default is `studies/` here, else the package's own.

    Raises
    ------
    UnknownNameError
        If there is no such folder.
    """
    root = _root(folder)
    inner = sorted(entry for entry in root.iterdir() if entry.is_dir())
    made = (Paper(name=entry.name, files=_files(entry)) for entry in inner)
    return tuple(paper for paper in made if paper.files)


def ready_studies(folder: Path | None = None) -> tuple[tuple[Path, str, str], ...]:
    """Return every study there is: its file, its title, and what it shows, or why it cannot be read.

    Raises
    ------
    UnknownNameError
        If there is no such folder.
    """
    root = _root(folder)
    found = []
    for file in (*_files(root), *(file for paper in papers(root) for file in paper.files)):
        try:
            study = load_study(file)
            found.append((file, study.title, " ".join(study.shows.split())))
        except StudyError as error:
            found.append((file, "cannot be read", str(error)))
    return tuple(found)


def asked_for(names: Sequence[str], folder: Path | None = None) -> tuple[tuple[str, tuple[Study, ...]], ...]:
    """Read the studies of papers, each followed by its figures; all figures by default.

    Raises
    ------
    UnknownNameError
        If a name is neither a paper nor a figure of the paper before it.
    StudyError
        If a study cannot be read.
    """
    known = {paper.name: paper for paper in papers(folder)}
    chosen: dict[str, list[str]] = {}
    current = ""
    for name in names:
        if name in known:
            current = name
            chosen.setdefault(name, [])
        elif not current:
            text, near = not_a_choice(name, what="a paper", allowed=known)
            raise UnknownNameError(text, key="paper", given=name, allowed=tuple(known), nearest=near)
        else:
            chosen[current].append(name)
    return tuple((name, _figures(known[name], figures)) for name, figures in chosen.items())


def _figures(paper: Paper, wanted: Sequence[str]) -> tuple[Study, ...]:
    studies = {file.stem: load_study(file) for file in paper.files}
    if not wanted:
        return tuple(studies.values())
    # A file's own name takes precedence over a picture's in another file.
    names = {stem: stem for stem in studies}
    for stem, study in studies.items():
        for name in _names(study):
            names.setdefault(name, stem)
    found = []
    for figure in wanted:
        if figure not in names:
            ordered = sorted(names, key=natural)
            text, near = not_a_choice(figure, what=f"a figure of {paper.name}", allowed=ordered)
            raise UnknownNameError(text, key="figure", given=figure, allowed=tuple(ordered), nearest=near)
        found.append(names[figure])
    return tuple(study for stem, study in studies.items() if stem in found)


def _names(study: Study) -> tuple[str, ...]:
    """Return what a study can be asked for by, beside its file: its pictures, the figures of its claims."""
    figures = (claim.figure for claim in study.claims if claim.figure)
    return (*(plot.name for plot in study.plots), *figures)


def _files(folder: Path) -> tuple[Path, ...]:
    found = (file for file in folder.glob("*.toml") if not file.name.startswith(ASIDE))
    return tuple(sorted(found, key=lambda file: natural(file.stem)))


def _root(folder: Path | None) -> Path:
    candidates = [folder] if folder is not None else [Path("studies"), FOLDER / "studies"]
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    shown = " or ".join(f"{str(candidate)!r}" for candidate in candidates)
    raise UnknownNameError(f"{shown} is not a folder of studies", given=shown)

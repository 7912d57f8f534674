"""Papers with studies of their figures: one folder per paper, one file per figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.common.errors import StudyError
from floodway.common.ready import root_of
from floodway.results.metrics import natural
from floodway.study.format.read import load_study

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Paper", "papers", "ready_studies"]

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

"""Studies of papers by the names of papers and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.errors import UnknownNameError
from floodway.results.metrics import natural
from floodway.study import load_study, papers
from floodway_lab.study.model import claims_of, plots_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from floodway.study import Paper, Study

__all__ = ["studies_of"]


def studies_of(names: Sequence[str], folder: Path | None = None) -> tuple[tuple[str, tuple[Study, ...]], ...]:
    """Read the studies of papers, each followed by its figures; all figures by default.

    Raises
    ------
    UnknownNameError
        If a name is neither a paper nor a figure of the paper before it.
    StudyError
        If a study cannot be read.
    """
    papers_by_name = {paper.name: paper for paper in papers(folder)}
    chosen: dict[str, list[str]] = {}
    current = ""
    for name in names:
        if name in papers_by_name:
            current = name
            chosen.setdefault(name, [])
        elif not current:
            raise UnknownNameError.of_choice(name, noun="a paper", allowed=papers_by_name, key="paper")
        else:
            chosen[current].append(name)
    return tuple((name, _figures(papers_by_name[name], figures)) for name, figures in chosen.items())


def _figures(paper: Paper, figures: Sequence[str]) -> tuple[Study, ...]:
    studies = {file.stem: load_study(file) for file in paper.files}
    if not figures:
        return tuple(studies.values())
    # A file's own name takes precedence over a picture's in another file.
    names = {stem: stem for stem in studies}
    for stem, study in studies.items():
        for name in _names(study):
            names.setdefault(name, stem)
    stems = []
    for figure in figures:
        if figure not in names:
            ordered = sorted(names, key=natural)
            raise UnknownNameError.of_choice(
                figure, noun=f"a figure of {paper.name}", allowed=ordered, key="figure"
            )
        stems.append(names[figure])
    return tuple(study for stem, study in studies.items() if stem in stems)


def _names(study: Study) -> tuple[str, ...]:
    """Return the names by which a study can be selected beside its file's: its pictures and figures."""
    figures = (claim.figure for claim in claims_of(study) if claim.figure)
    return (*(plot.name for plot in plots_of(study)), *figures)

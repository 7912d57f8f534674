"""Entries of what commands can name: switch chips, papers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from floodway.cli.catalog.model import Entry, sections_of
from floodway.common.errors import UnknownNameError
from floodway.planning.asics import asics
from floodway.results.quantities import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from floodway.planning.asics import Asic
    from floodway.study.format.model import Study
    from floodway.study.format.papers import Paper

__all__ = ["chips", "paper_entries", "paper_names"]


@cache
def chips() -> tuple[Entry, ...]:
    """Return the switch chips that plans can name."""
    return tuple(map(_chip, asics().values()))


def paper_entries() -> tuple[Entry, ...]:
    """Return the papers whose figures can be reproduced; empty if there are no studies."""
    return tuple(map(_paper, _papers()))


def paper_names() -> tuple[str, ...]:
    """Return the names of these papers, without reading their studies."""
    return tuple(paper.name for paper in _papers())


def _chip(chip: Asic) -> Entry:
    memory = "memory unknown" if chip.buffer_bytes is None else f"{bytes_text(chip.buffer_bytes)} of buffer"
    cells = "counts bytes" if chip.cell_bytes == 1 else f"cells of {chip.cell_bytes} B"
    firm = "" if chip.firm else " (quoted; it may count other memory, too)"
    sections = {
        "Use": f"`floodway plan --asic {chip.name}`, and of `floodway plan lint`.",
        "Other names": ", ".join(chip.aliases),
        "Source": f"Of the memory: {chip.source}{firm}." if chip.source else "",
    }
    return Entry(
        kind="chip",
        name=chip.name,
        slot="chip",
        summary=f"{chip.label}: {cells}, {memory}.",
        sections=sections_of(sections),
        other_names=chip.aliases,
    )


def _papers() -> tuple[Paper, ...]:
    # Imported here: studies take longer to import than the rest of the catalog.
    from floodway.study.format.papers import papers  # noqa: PLC0415

    try:
        return papers()
    except UnknownNameError:
        return ()


def _titles(studies: Iterable[Study]) -> str:
    """Return the titles of studies as a text: the first, and how many more there are."""
    first, *others = (study.title for study in studies)
    return f"{first}, and {len(others)} more" if others else first


def _paper(paper: Paper) -> Entry:
    from floodway.study.format.read import load_study  # noqa: PLC0415 (as above)

    studies = {file.stem: load_study(file) for file in paper.files}
    figures = "\n".join(f"- `{name}`: {study.title}" for name, study in studies.items())
    sources = dict.fromkeys(study.paper for study in studies.values() if study.paper)
    return Entry(
        kind="paper",
        name=paper.name,
        slot="paper",
        summary=f"{'; '.join(sources) or _titles(studies.values())}.",
        sections=sections_of(
            {"Use": f"`floodway reproduce {paper.name}`, or a figure of it.", "Figures": figures}
        ),
    )

"""The pictures of studies as files, with their texts in a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.errors import PlotError
from floodway.common.markdown import plain
from floodway.plot.axes import FORMATS
from floodway.plot.files import save
from floodway_lab.markdown import target
from floodway_lab.study.pictures.bars import NothingRanError
from floodway_lab.study.pictures.distributions import (
    cdf,
    ports_in_time,
    region_in_time,
    series,
    shares_in_time,
)
from floodway_lab.study.pictures.drawing import bars, lines
from floodway_lab.study.pictures.grid import grid
from floodway_lab.study.pictures.statements import published_and_ours
from floodway_lab.study.report.glance import statements_at_a_glance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from floodway.plot.axes import Format
    from floodway.plot.curves import Drawing
    from floodway.study.format.model import Study
    from floodway.study.numbers import Conducted, Numbers, Part
    from floodway.study.running.storage import Runs
    from floodway_lab.study.model import Plot

__all__ = ["Gallery", "file_name", "overview"]

#: The function that draws each kind of picture: from numbers of all runs, or from records of single runs.
OF_NUMBERS: Mapping[str, Callable[[Study, Plot, Numbers], Drawing]] = {
    "bars": bars,
    "lines": lines,
    "grid": grid,
}
OF_RUNS: Mapping[str, Callable[[Study, Plot, Numbers, Runs], Drawing]] = {
    "series": series,
    "cdf": cdf,
    "ports": ports_in_time,
    "region": region_in_time,
    "shares": shares_in_time,
}
#: The picture of all statements of a paper.
OVERVIEW = "published-and-ours"
OVERVIEW_TITLE = "Published and ours, all figures"


class Gallery:
    """The pictures of a study: drawn, written, and named in the report.

    Parameters
    ----------
    part
        The study with its numbers.
    folder
        The folder to write.
    store
        The store of the runs, for pictures of single runs.
    formats
        The formats to write.
    several
        Whether other studies share the folder.
    """

    def __init__(
        self, part: Part, folder: Path, store: Runs, formats: Sequence[Format], *, several: bool
    ) -> None:
        self._part, self._folder, self._store, self._formats = part, folder, store, formats
        self._several = several
        self.files: list[Path] = []
        #: By name of a picture that is drawn: its file, title and caption.
        self.shown: dict[str, dict[str, str]] = {}

    def picture(self, plot: Plot, on_message: Callable[[str], None]) -> str:
        """Write a picture and its data; return its text in the report."""
        part = self._part
        try:
            drawing = self._drawn(plot)
        except PlotError as error:
            if not isinstance(error, NothingRanError):
                on_message(f"not drawn: {part.study.name}: plot[{plot.name}]: {error}")
            return f"{plain(plot.title)}: not drawn, {plain(str(error))}."
        name = file_name(part.study, plot.name, several=self._several)
        endings = [*self._formats, "csv"]
        files = [self._folder / f"{name}.{ending}" for ending in endings]
        save(drawing, files, force=True)
        self.files += files
        # A picture in another format beside these could be mistaken for the same picture.
        for ending in FORMATS:
            if ending not in self._formats:
                (self._folder / f"{name}.{ending}").unlink(missing_ok=True)
        links = ", ".join(
            f"[{'data' if ending == 'csv' else ending}]({target(f'{name}.{ending}')})"
            for ending in endings[1:]
        )
        title = " ".join(plot.title.split())
        caption = f"{title.removesuffix('.')}. {drawing.note}".strip() if drawing.note else title
        self.shown[plot.name] = {"file": f"{name}.png", "title": title, "caption": caption}
        return f"![{plain(title)}]({target(f'{name}.png')})\n\n{plain(caption)} ({links})"

    def _drawn(self, plot: Plot) -> Drawing:
        if plot.kind in OF_NUMBERS:
            return OF_NUMBERS[plot.kind](self._part.study, plot, self._part.numbers)
        return OF_RUNS[plot.kind](self._part.study, plot, self._part.numbers, self._store)


def file_name(study: Study, name: str, *, several: bool) -> str:
    """Return the name of a study's file: where studies share a folder, it begins with the study's name."""
    return f"{study.name}-{name}" if several and not name.startswith(study.name) else name


def overview(conducted: Conducted, written: list[Path]) -> dict[str, str] | None:
    """Write the picture of all published statements of a paper; return its file, title and caption.

    Its files are added to those that are `written`.
    """
    drawing = published_and_ours(statements_at_a_glance(conducted)) if len(conducted.parts) > 1 else None
    if drawing is None:
        return None
    files = [conducted.folder / f"{OVERVIEW}.{ending}" for ending in ("png", "csv")]
    save(drawing, files, force=True)
    written += files
    return {"file": files[0].name, "title": OVERVIEW_TITLE, "caption": drawing.note or OVERVIEW_TITLE}

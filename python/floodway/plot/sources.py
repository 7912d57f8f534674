"""Sources of pictures: results of runs, and variants of comparisons with all their seeds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.common.errors import OutputError
from floodway.plot.curves import Source
from floodway.results.folders import COMPARISON_FILE, refuse_others, runs_of
from floodway.results.store import read

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from floodway.results import Result

__all__ = ["folder_labels", "sources_of"]


def sources_of(folders: Sequence[str | os.PathLike[str]]) -> tuple[Source, ...]:
    """Return the sources in folders that `run` or `compare` wrote.

    Parameters
    ----------
    folders
        Paths of the folders. A run is a source with the folder's name as its label. A comparison has a
        source for each variant, with the folder's name before its label if there are several folders.

    Returns
    -------
    tuple of Source
        The sources, in the order of the folders.

    Raises
    ------
    OutputError
        If a folder does not exist, or has no results.
    """
    labels = folder_labels(folders)
    read_so_far: dict[str, list[tuple[Result, Path]]] = {}
    for folder, label in zip(folders, labels, strict=True):
        for variant, result, where in _results(Path(folder)):
            source_label = (
                label if variant is None else variant if len(folders) == 1 else f"{label}: {variant}"
            )
            read_so_far.setdefault(source_label, []).append((result, where))
    return tuple(
        Source(label=label, results=tuple(r for r, _ in runs), folders=tuple(where for _, where in runs))
        for label, runs in read_so_far.items()
    )


def folder_labels(folders: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return labels of folders: their names, with the folders around them if names are equal.

    Parameters
    ----------
    folders
        Paths of different folders.

    Returns
    -------
    list of str
        Unique labels, in the order of the folders.

    Raises
    ------
    OutputError
        If a folder is given twice.

    Examples
    --------
    >>> folder_labels(["out/a/pfc", "out/b/pfc"])
    ['a/pfc', 'b/pfc']
    """
    whole = [Path(folder).resolve() for folder in folders]
    twice = next((place for place, count in Counter(whole).items() if count > 1), None)
    if twice is not None:
        raise OutputError(str(twice), "is given twice")
    depth = 1
    while len({parts[-depth:] for parts in (path.parts for path in whole)}) < len(whole):
        depth += 1
    return ["/".join(path.parts[-depth:]) for path in whole]


def _results(folder: Path) -> Iterator[tuple[str | None, Result, Path]]:
    """Yield a run, or the runs of a comparison with the labels of their variants, and their folders."""
    refuse_others(folder)
    if not (folder / COMPARISON_FILE).is_file():
        yield None, read(folder), folder
        return
    for run in runs_of(folder):
        yield run.variant, read(folder / run.folder, key=run.key), folder / run.folder

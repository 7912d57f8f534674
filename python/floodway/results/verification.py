"""Results compared in full with the digests that their runs wrote."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodway.common.errors import OutputError
from floodway.results.digests import RUN_FILE, document_of, faults_of
from floodway.results.files import EXPORTED
from floodway.results.folders import COMPARISON_FILE, STUDY_FILE, refuse_others, runs_of
from floodway.results.store import ANOTHER_RUN, FILES, READ_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Verified", "not_covered", "verified", "verified_all"]

#: Files that a comparison or a study writes beside its runs.
_DOCUMENTS = (COMPARISON_FILE, STUDY_FILE, "report.md", "index.html")
#: Further files there by their ending, with the noun in singular and plural.
_OTHER_FILES = (
    ((".csv", ".parquet", ".md", ".tex"), "table", "tables"),
    ((".png", ".pdf", ".svg"), "picture", "pictures"),
)


@dataclass(frozen=True, kw_only=True)
class Verified:
    """The state of a run's results, compared with the digests that the run wrote.

    Attributes
    ----------
    folder
        The results.
    faults
        The faults, one per line; empty if no byte has changed.
    files, bytes
        How many files it has beside `run.json`, and how large they are together.
    key
        The hash of what decides the result, where it has one.
    has_digests
        Whether there is anything to compare with: an earlier version wrote none.
    """

    folder: Path
    faults: tuple[str, ...]
    files: int = 0
    bytes: int = 0
    key: str | None = None
    has_digests: bool = True


def verified(folder: Path) -> Verified:
    """Compare every file of a run with its digest."""
    try:
        document = document_of(folder, shown=os.fspath(folder))
    except OutputError as error:
        return Verified(folder=folder, faults=(error.reason,))
    if "files" not in document:
        return Verified(folder=folder, faults=(), has_digests=False)
    files = document["files"]
    names = (*READ_FILES, *(name for name in EXPORTED if isinstance(files, dict) and name in files))
    faults = tuple(faults_of(folder, document, names=names))
    if faults:
        return Verified(folder=folder, faults=faults)
    return Verified(
        folder=folder,
        faults=(),
        files=len(files),
        bytes=sum(record["bytes"] for record in files.values()),
        key=document.get("key"),
    )


def verified_all(folder: Path) -> Iterator[Verified]:
    """Compare every run in a folder with its digests: that of a run, a comparison, or a study.

    Raises
    ------
    OutputError
        If it is something else.
    """
    if (folder / STUDY_FILE).is_file() and (folder / "runs").is_dir():
        for run in sorted((folder / "runs").iterdir()):
            if (run / RUN_FILE).is_file():
                yield _of_key(verified(run), run.name)
        return
    refuse_others(folder)
    if (folder / COMPARISON_FILE).is_file():
        for listed in runs_of(folder):
            yield _of_key(verified(folder / listed.folder), listed.key)
        return
    yield verified(folder)


def not_covered(folder: Path) -> str:
    """Name what a comparison or a study has written beside its runs, and which has no digests.

    Returns
    -------
    str
        Empty for the folder of a run.
    """
    if not any((folder / name).is_file() for name in (COMPARISON_FILE, STUDY_FILE)):
        return ""
    files = [entry for entry in folder.iterdir() if entry.is_file() and not entry.name.startswith(".")]
    # A run that a comparison has replaced may have left tables: `read` knows them, and they are a run's.
    files = [file for file in files if file.name not in FILES]
    present = {file.name for file in files}
    parts = [name for name in _DOCUMENTS if name in present]
    for endings, one, several in _OTHER_FILES:
        count = sum(file.suffix in endings and file.name not in _DOCUMENTS for file in files)
        parts += [f"{count} {one if count == 1 else several}"] if count else []
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _of_key(verification: Verified, key: str | None) -> Verified:
    """Add a fault where another run lies in the place of one."""
    if verification.faults or not verification.has_digests or key is None or verification.key == key:
        return verification
    return replace(verification, faults=(ANOTHER_RUN,))

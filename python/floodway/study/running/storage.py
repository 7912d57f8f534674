"""Runs in a folder, each under its key: complete ones, and notes of those that failed.

A run is written beside its place and takes its place by renaming, so that a killed process leaves nothing
that could be taken for a run. Its `run.json` has its key, and digests of all its files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import uuid
from typing import TYPE_CHECKING, Self

from floodway.common.errors import OutputError, output_errors
from floodway.common.files import read_json
from floodway.results.digests import RUN_FILE
from floodway.results.files import NEW_SUFFIX, missing_folders, remove_empty, replace_file
from floodway.results.folders import STUDY_FILE
from floodway.results.locks import Lock, SharedLock, is_ours, refuse_in_use
from floodway.results.store import finish_left_behind, read, remove_left_behind
from floodway.results.verification import verified
from floodway.scenarios.keys import engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from floodway.results import Result
    from floodway.study.running.runs import Run

__all__ = ["Runs", "StudyFolder"]


class StudyFolder:
    """The folder of a study, locked for as long as it is entered: two studies at once on one are refused.

    Parameters
    ----------
    folder
        Where; made if it does not exist.
    shared
        Whether other processes may enter it as well, if they share it, too.

    Raises
    ------
    OutputError
        If it holds something else, is in use, or cannot be written.
    """

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        self.folder = folder
        self.runs = Runs(folder / "runs")
        self._shared = shared
        self._lock: Lock | SharedLock | None = None
        self._made: list[Path] = []
        try:
            with output_errors(folder):
                try:
                    self._refuse_foreign()
                except OutputError:
                    # If a process is writing there, the error names it.
                    refuse_in_use(folder.resolve(), shown=os.fspath(folder))
                    raise
                self._made = missing_folders(self.runs.folder)
                folder.mkdir(parents=True, exist_ok=True)
                kind = SharedLock if shared else Lock
                self._lock = kind(folder.resolve(), shown=os.fspath(folder), inside=True)
                self._begin()
        except OutputError:
            self._leave()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._leave()

    def _refuse_foreign(self) -> None:
        shown = os.fspath(self.folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise OutputError(shown, "is not a folder")
        # Leftovers of a study that was killed at its begin are accepted.
        if not self.folder.is_dir() or all(is_ours(entry.name) for entry in self.folder.iterdir()):
            return
        if not (self.folder / STUDY_FILE).is_file():
            raise OutputError(shown, "holds something other than a study; choose another folder")
        if not _is_ours(self.folder / STUDY_FILE):
            raise OutputError(
                shown, f"holds a {STUDY_FILE} that floodway did not write; choose another folder"
            )

    def _begin(self) -> None:
        mark = self.folder / STUDY_FILE
        if not mark.exists():
            # An interrupted study is a study, too.
            replace_file(mark, (json.dumps({"complete": False, "engine": engine()}) + "\n").encode())
        self.runs.folder.mkdir(exist_ok=True)
        if not self._shared:
            remove_left_behind(self.folder)

    def tidy(self, runs: Iterable[Run]) -> None:
        """Remove what processes that were killed have left of some runs.

        Where others share the folder, what else is in the making may be theirs.
        """
        if self._shared:
            finish_left_behind(self.runs.folder, {run.key for run in runs})
        else:
            remove_left_behind(self.runs.folder)

    @contextlib.contextmanager
    def mark(self) -> Iterator[Path]:
        """Create a file by which a process on any machine recognises whether it sees this folder."""
        # Named as files in the making are: what a killed command leaves is removed with them.
        mark = self.folder / f".{uuid.uuid4().hex}{NEW_SUFFIX}"
        mark.touch()
        try:
            yield mark
        finally:
            mark.unlink(missing_ok=True)

    def _leave(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        remove_empty(self._made)


class Runs:
    """The runs of a study's folder.

    Parameters
    ----------
    folder
        Where they are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def folder_of(self, key: str) -> Path:
        """Return the folder of a run."""
        return self.folder / key

    def fault(self, key: str) -> str | None:
        """Say what is wrong with the folder of a run; none where all its bytes are as they were written.

        A run that is not there has no fault.
        """
        if not self.folder_of(key).exists():
            return None
        verification = verified(self.folder_of(key))
        if verification.faults:
            return verification.faults[0]
        if verification.key is None:
            return f"{RUN_FILE} has no key"
        return (
            None if verification.key == key else f"{RUN_FILE} belongs to another run, {verification.key[:12]}"
        )

    def has(self, key: str) -> bool:
        """Whether a run is there, and whole."""
        return self.folder_of(key).exists() and self.fault(key) is None

    def result(self, key: str) -> Result:
        """Read a run's results."""
        return read(self.folder_of(key))

    def digest(self, key: str) -> str:
        """Return one digest of all tables of a run: equal tables have equal ones."""
        files = read_json(self.folder_of(key) / RUN_FILE)["files"]
        listed = json.dumps({name: files[name]["sha256"] for name in sorted(files)})
        return hashlib.sha256(listed.encode()).hexdigest()

    def wall_s(self, key: str) -> float:
        """Return what a run took, in seconds."""
        document = read_json(self.folder_of(key) / RUN_FILE)
        return float(document["timings"]["wall_s"])

    def drop(self, key: str) -> None:
        """Remove the folder of a run that is not whole.

        Raises
        ------
        OutputError
            If it is not a run of floodway at all.
        """
        folder = self.folder_of(key)
        if not (folder / RUN_FILE).is_file():
            raise OutputError(
                os.fspath(folder), "is the folder of a run but holds something else; move it away"
            )
        shutil.rmtree(folder)

    def failure(self, key: str) -> str | None:
        """Return why a run failed the last time; none where it did not."""
        try:
            return str(read_json(self._note(key))["error"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def note_failure(self, key: str, error: str | None) -> None:
        """Record why a run failed; None removes the record."""
        note = self._note(key)
        if error is None:
            note.unlink(missing_ok=True)
            return
        replace_file(note, (json.dumps({"error": error}, ensure_ascii=False) + "\n").encode())

    def forget(self, key: str) -> None:
        """Remove a run, and the note of its failure.

        Raises
        ------
        OutputError
            As `drop`.
        """
        self.note_failure(key, None)
        if self.folder_of(key).exists():
            self.drop(key)

    def _note(self, key: str) -> Path:
        return self.folder / f"{key}.failed"


def _is_ours(file: Path) -> bool:
    """Whether a file is the record of a study's folder: it has the keys that all of ours have."""
    try:
        document = read_json(file)
    except ValueError:
        return False
    return (
        isinstance(document, dict)
        and isinstance(document.get("complete"), bool)
        and isinstance(document.get("engine"), str)
    )

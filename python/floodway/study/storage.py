"""Runs in a folder, each under its key: complete ones, and notes of those that failed.

A run is written beside its place with checksums of its files and takes its place by renaming, so that a
killed process leaves nothing that could be taken for a run.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Self

from floodway.errors import OutputError
from floodway.results.store import RUN_FILE, Reservation, read, remove_left_behind
from floodway.study.runs import engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from floodway.results import Result

__all__ = ["MARK_FILE", "Runs", "StudyFolder", "publish", "told"]

#: Written last into the folder of a run; it has the run's key, and the checksum of every other file.
MARK_FILE = "complete.json"
#: What tells the folder of a study from any other.
STUDY_FILE = "study.json"
_NEW_STUDY_FILE = f".{STUDY_FILE}.new"
_KEY = re.compile(r"[0-9a-f]{64}")


class StudyFolder:
    """The folder of a study, locked for as long as it is entered: two studies at once on one are refused.

    Parameters
    ----------
    folder
        Where; made if it does not exist.

    Raises
    ------
    OutputError
        If it holds something else, is in use, or cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = Runs(folder / "runs")
        self._lock: int | None = None
        try:
            with told(folder):
                self._refuse_foreign()
                folder.mkdir(parents=True, exist_ok=True)
                self._hold()
                self._begin()
        except OutputError:
            self._leave()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _refuse_foreign(self) -> None:
        shown = os.fspath(self.folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise OutputError(shown, "is not a folder")
        # What a study that was killed as it began has left is no reason to refuse.
        if not self.folder.is_dir() or all(each.name == _NEW_STUDY_FILE for each in self.folder.iterdir()):
            return
        if not (self.folder / STUDY_FILE).is_file():
            raise OutputError(shown, "holds something other than a study; choose another folder")
        if not _is_ours(self.folder / STUDY_FILE):
            raise OutputError(
                shown, f"holds a {STUDY_FILE} that floodway did not write; choose another folder"
            )

    def _hold(self) -> None:
        self._lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(
                os.fspath(self.folder),
                "another study is at work there; wait for its end, or choose another folder",
            ) from None
        except OSError:
            # Some network file systems have no locks.
            pass

    def _begin(self) -> None:
        mark = self.folder / STUDY_FILE
        if not mark.exists():
            # What is cut short is a study, too.
            new = self.folder / _NEW_STUDY_FILE
            new.write_text(json.dumps({"complete": False, "engine": engine()}) + "\n", encoding="utf-8")
            _to_disk([new])
            new.replace(mark)
        self.runs.folder.mkdir(exist_ok=True)
        self.runs.remove_left_behind()

    def _leave(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class Runs:
    """The runs of a study's folder.

    Parameters
    ----------
    folder
        Where they are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, key: str) -> Path:
        """Return the folder of a run."""
        return self.folder / key

    def fault(self, key: str) -> str | None:
        """Say what is wrong with the folder of a run; none where all its bytes are as they were written.

        A run that is not there has no fault.
        """
        place = self.place(key)
        if not place.exists():
            return None
        try:
            document = json.loads((place / MARK_FILE).read_text(encoding="utf-8"))
            own, sums = document.get("key"), document["sha256"]
            wrong = [name for name, digest in sums.items() if _digest(place / name) != digest]
        except FileNotFoundError as error:
            return f"{Path(error.filename).name} is missing"
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return f"{MARK_FILE} cannot be read"
        if own != key:
            return f"{MARK_FILE} " + ("has no key" if own is None else f"is of another run, {str(own)[:12]}")
        return f"{wrong[0]} is not as it was written" if wrong else None

    def has(self, key: str) -> bool:
        """Whether a run is there, and whole."""
        return (self.place(key) / MARK_FILE).is_file() and self.fault(key) is None

    def result(self, key: str) -> Result:
        """Read a run's results."""
        return read(self.place(key))

    def wall_s(self, key: str) -> float:
        """Return what a run took, in seconds."""
        document = json.loads((self.place(key) / RUN_FILE).read_text(encoding="utf-8"))
        return float(document["timings"]["wall_s"])

    def drop(self, key: str) -> None:
        """Remove the folder of a run that is not whole.

        Raises
        ------
        OutputError
            If it is not a run of floodway at all.
        """
        place = self.place(key)
        ours = place.is_dir() and ((place / RUN_FILE).is_file() or (place / MARK_FILE).is_file())
        if not ours:
            raise OutputError(
                os.fspath(place), "is in the place of a run and holds something else; move it away"
            )
        shutil.rmtree(place)

    def failure(self, key: str) -> str | None:
        """Return why a run failed the last time; none where it did not."""
        try:
            return str(json.loads(self._note(key).read_text(encoding="utf-8"))["error"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def note_failure(self, key: str, error: str | None) -> None:
        """Write down why a run failed; none to forget it."""
        note = self._note(key)
        if error is None:
            note.unlink(missing_ok=True)
            return
        new = note.with_suffix(".new")
        new.write_text(json.dumps({"error": error}, ensure_ascii=False) + "\n", encoding="utf-8")
        new.replace(note)

    def forget(self, key: str) -> None:
        """Remove a run, and the note of its failure.

        Raises
        ------
        OutputError
            As `drop`.
        """
        self.note_failure(key, None)
        if self.place(key).exists():
            self.drop(key)

    def remove_left_behind(self) -> None:
        """Remove what killed processes left beside the places of runs."""
        names = {entry.name[1:65] for entry in self.folder.iterdir() if entry.name.startswith(".")}
        for name in sorted(name for name in names if _KEY.fullmatch(name)):
            remove_left_behind(self.folder / name)

    def _note(self, key: str) -> Path:
        return self.folder / f"{key}.failed"


@contextlib.contextmanager
def told(folder: Path) -> Iterator[None]:
    """Say of what the system refuses which folder it concerns.

    Raises
    ------
    OutputError
        In the place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise OutputError(os.fspath(folder), f"cannot be written: {error.strerror or error}") from error


def publish(result: Result, place: Path) -> None:
    """Write a run under its key: whole and on the disk, or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """

    def mark(folder: Path) -> None:
        files = sorted(folder.iterdir())
        sums = {file.name: _digest(file) for file in files}
        text = json.dumps({"key": place.name, "sha256": sums}, indent=2)
        (folder / MARK_FILE).write_text(text + "\n", encoding="utf-8")
        _to_disk([*files, folder / MARK_FILE, folder])

    if place.exists():
        Runs(place.parent).drop(place.name)
    with Reservation(place, force=True) as reservation:
        reservation.publish(result, also=mark)
    with contextlib.suppress(OSError):
        _to_disk([place.parent])


def _is_ours(file: Path) -> bool:
    """Whether a file is the one that tells the folder of a study: it has what every one of ours has."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return (
        isinstance(document, dict)
        and isinstance(document.get("complete"), bool)
        and isinstance(document.get("engine"), str)
    )


def _to_disk(paths: Iterable[Path]) -> None:
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

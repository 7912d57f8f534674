"""Results in a folder: `run.json`, a Parquet file a table and perhaps a capture, all of them or none.

Everything is written to a folder beside the final one, which then takes its place by renaming; so
whoever reads never meets half a result, and a place that cannot be written is found before the run.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Self

import polars as pl

from floodway.errors import OutputError
from floodway.results.hpcc import EXPORTED
from floodway.results.result import AskedLoad, Result, RunInfo, Timings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

__all__ = ["CAPTURE_FILE", "FILES", "RUN_FILE", "TABLES", "Reservation", "read", "remove_left_behind"]

#: The tables of a result, each in a file of its name.
TABLES = ("flows", "latency", "series", "counters")
#: Tables that are there where the scenario asks for them.
OPTIONAL_TABLES = ("pauses", "signals", "allowances", "shares", "queue_histogram")
#: What tells a folder of results from any other.
RUN_FILE = "run.json"
#: Captured frames, where there are any.
CAPTURE_FILE = "capture.pcapng"
#: Whatever a run may write; other files in its folder are somebody else's.
FILES = (
    RUN_FILE,
    CAPTURE_FILE,
    *(f"{table}.parquet" for table in (*TABLES, *OPTIONAL_TABLES)),
    *EXPORTED,
)


class Reservation:
    """A place for results, known to be writable; leaving it without `publish` leaves no trace.

    Parameters
    ----------
    folder
        Where the results shall be.
    force
        Whether results that are there already may be replaced; other files beside them are kept. A
        folder that is not empty and holds no results is never replaced.

    Raises
    ------
    OutputError
        If the folder is taken, or cannot be made.
    """

    def __init__(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        self._folder = Path(folder).resolve()
        self._shown = os.fspath(folder)
        try:
            self._shown.encode()
            self._refuse_taken(force=force)
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            remove_left_behind(self._folder)
            self._beside, self._lock = _made_beside(self._folder)
        except UnicodeEncodeError as error:
            raise OutputError(ascii(self._shown), "is not text in UTF-8; choose another folder") from error
        except OSError as error:
            raise self._unwritable(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._beside, ignore_errors=True)
        os.close(self._lock)

    def publish(self, result: Result, *, also: Callable[[Path], object] | None = None) -> None:
        """Write a result and put it in its place.

        Parameters
        ----------
        result
            What a run keeps.
        also
            Writes more into the folder that it is given before that takes its place.

        Raises
        ------
        OutputError
            If it cannot be written; what was there before is then still there.
        """
        new, old = self._beside / "new", self._beside / "old"
        try:
            new.mkdir()
            _write(result, new)
            if also is not None:
                also(new)
            if self._folder.exists():
                self._folder.rename(old)
            new.rename(self._folder)
            if old.exists():
                _keep_others(old, self._folder)
        except OSError as error:
            if old.exists() and not self._folder.exists():
                old.rename(self._folder)
            raise self._unwritable(error) from error

    def _refuse_taken(self, *, force: bool) -> None:
        if not self._folder.exists() and not self._folder.is_symlink():
            return
        if not self._folder.is_dir():
            raise OutputError(self._shown, "is not a folder")
        if not any(self._folder.iterdir()):
            return
        if not (self._folder / RUN_FILE).is_file():
            raise OutputError(self._shown, "holds something other than results; choose another folder")
        if not force:
            raise OutputError(self._shown, "holds results already; --force replaces them")

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(self._shown, f"cannot be written: {error.strerror or error}")


def read(folder: str | os.PathLike[str]) -> Result:
    """Read the results that a run left in a folder.

    Raises
    ------
    OutputError
        If they are not there, or are not results of floodway.
    """
    path = Path(folder)
    lacking = [f"{table}.parquet" for table in TABLES if not (path / f"{table}.parquet").is_file()]
    if lacking and (path / RUN_FILE).is_file():
        raise OutputError(
            os.fspath(folder), f"holds no results that this version can read: it lacks {', '.join(lacking)}"
        )
    try:
        document = json.loads((path / RUN_FILE).read_text(encoding="utf-8"))
        document["timings"] = Timings(**document["timings"])
        document["loads"] = tuple(AskedLoad(**load) for load in document["loads"])
        kept = (*TABLES, *(table for table in OPTIONAL_TABLES if (path / f"{table}.parquet").is_file()))
        tables = {table: pl.read_parquet(path / f"{table}.parquet") for table in kept}
        capture = path / CAPTURE_FILE
        captured = capture.read_bytes() if capture.is_file() else None
        return Result(run=RunInfo(**document), capture=captured, **tables)
    except OSError as error:
        raise OutputError(os.fspath(folder), f"cannot be read: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise OutputError(os.fspath(folder), "holds no results that this version can read") from error


def remove_left_behind(folder: Path) -> None:
    """Remove what runs to a place left beside it when they were killed.

    Nobody holds its lock any more. One that has replaced results in it is kept: they may be the only ones.

    Parameters
    ----------
    folder
        The place.

    Raises
    ------
    OSError
        If the folder around it cannot be read.
    """
    name = re.compile(rf"\.{re.escape(folder.name)}\.[a-z0-9_]{{8}}")
    for beside in filter(lambda entry: name.fullmatch(entry.name), folder.parent.iterdir()):
        with contextlib.suppress(OSError), _locked(beside):
            if {entry.name for entry in beside.iterdir()} <= {"new"}:
                shutil.rmtree(beside)


def _made_beside(folder: Path) -> tuple[Path, int]:
    """Make a folder beside another one, locked for as long as the descriptor that comes with it is open."""
    while True:
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        lock = os.open(beside, os.O_RDONLY)
        # Without locks, as on some network file systems, nobody takes it for left behind either.
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        if beside.exists():
            return beside, lock
        # Somebody took it for left behind before it was locked.
        os.close(lock)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; an OSError where somebody else does."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)


def _keep_others(old: Path, folder: Path) -> None:
    """Move what is not ours from replaced results to the new ones."""
    for entry in old.iterdir():
        if entry.name not in FILES:
            entry.rename(folder / entry.name)


def _write(result: Result, folder: Path) -> None:
    for table in (*TABLES, *OPTIONAL_TABLES):
        frame: pl.DataFrame | None = getattr(result, table)
        if frame is not None:
            frame.write_parquet(folder / f"{table}.parquet")
    if result.capture is not None:
        (folder / CAPTURE_FILE).write_bytes(result.capture)
    text = json.dumps(asdict(result.run), indent=2, ensure_ascii=False)
    (folder / RUN_FILE).write_text(text + "\n", encoding="utf-8")

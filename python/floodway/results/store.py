"""Results in a folder: `run.json`, one Parquet file per table and perhaps a capture, all or none.

Everything is written to a hidden folder beside the final one, and is on the disk before it takes its place
by renaming. So a reader never finds half a result, a process that is killed or a machine that stops
leaves the old results or the new ones, and a place that cannot be written is found before the run. The
place is locked from its reservation on.

Results of earlier versions have no digests, and must have the parts that make them usable. Results that
cannot be written to their place are written to another folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import polars as pl

from floodway.common.errors import LostResultsError, OutputError, UnverifiedWarning, unwritable
from floodway.results.digests import (
    RUN_FILE,
    UNREADABLE,
    DigestedFile,
    document_of,
    faults_of,
    file_record,
    sealed,
)
from floodway.results.files import (
    EXPORTED,
    NEW_SUFFIX,
    REPORT_FILE,
    TRACE_FILE,
    missing_folders,
    remove_empty,
    to_disk,
)
from floodway.results.folders import refuse_collections
from floodway.results.locks import Lock, left_behind, refuse_in_use
from floodway.results.result import AskedLoad, Result, RunInfo, Timings

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping
    from types import TracebackType


__all__ = ["ANOTHER_RUN", "FILES", "READ_FILES", "RECORDED", "Reservation", "finish_left_behind", "read"]
__all__ += ["read_as", "remove_left_behind", "rescued"]

#: A class of results.
Kind = TypeVar("Kind", bound=Result)

#: The tables of a result, each in a file of its name.
TABLES = ("flows", "latency", "series", "counters")
#: Tables of what the scenario asks a run to record, and with those of jobs all that may be missing.
RECORDED = ("pauses", "signals", "allowances", "shares", "queue_histogram")
OPTIONAL_TABLES = (*RECORDED, "operations", "collectives")
#: Captured frames, where there are any.
CAPTURE_FILE = "capture.pcapng"
#: Files that are read of a result beside `run.json`.
READ_FILES = (*(f"{table}.parquet" for table in (*TABLES, *OPTIONAL_TABLES)), CAPTURE_FILE)
#: All files that a run may write; other files in its folder are not floodway's.
FILES = (RUN_FILE, *READ_FILES, *EXPORTED, TRACE_FILE, REPORT_FILE)
#: The error where folders of runs were exchanged.
ANOTHER_RUN = f"{RUN_FILE} belongs to another run"
#: Fewer free bytes than this do not hold the smallest results.
LEAST_FREE_BYTES = 64 * 1024
#: Errors of reading other files as results; damaged tables may make the tables' library panic.
_UNREADABLE = (
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)
#: Parts of `run.json` that are of its files, not of the run.
_OF_FILES = ("files", "key", "sha256")
#: The columns that every version has written and every summary needs, by what they hold.
_NEEDED: dict[str, dict[str, tuple[str, ...]]] = {
    "flows": {
        "text": ("flow_id", "workload"),
        "numbers": ("size_bytes", "delivered_bytes", "start_us", "fct_us", "slowdown"),
        "flags": ("measured", "finished"),
    },
    "latency": {"text": ("workload", "component"), "numbers": ("packets",)},
    "series": {"text": ("object", "kind", "metric"), "numbers": ("time_us", "bucket_us", "value")},
    "counters": {
        "text": ("node", "link"),
        "numbers": ("class", "peak_bytes", "headroom_peak_bytes", "paused_us", "pfc_rx", "pfc_tx"),
    },
}


class Reservation:
    """A place for results, locked and known to be writable; leaving it without `publish` leaves no trace.

    Parameters
    ----------
    folder
        The folder of the results.
    force
        Whether results that are there already may be replaced; other files beside them are kept. A
        folder that is not empty and holds no results is never replaced.

    Raises
    ------
    OutputError
        If the folder is taken or in use, or cannot be made.
    """

    def __init__(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        self._folder = Path(folder).resolve()
        self._shown = os.fspath(folder)
        self._made: list[Path] = []
        try:
            self._shown.encode()
            self._refuse_begun(force=force)
            self._made = missing_folders(self._folder.parent)
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            self._refuse_full()
            self._lock = Lock(self._folder, shown=self._shown)
        except UnicodeEncodeError as error:
            raise OutputError(ascii(self._shown), "is not text in UTF-8; choose another folder") from error
        except OSError as error:
            remove_empty(self._made)
            raise unwritable(self._shown, error) from error
        except OutputError:
            remove_empty(self._made)
            raise
        try:
            _finish_interrupted(self._folder, self._lock.work)
            # Results that a killed run had almost published are there now.
            self._refuse_taken(force=force)
            self._reserved = _identity(self._folder)
        except BaseException as error:
            self._lock.release()
            remove_empty(self._made)
            if isinstance(error, OSError):
                raise unwritable(self._shown, error) from error
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            _finish_interrupted(self._folder, self._lock.work)
        self._lock.release()
        remove_empty(self._made)

    def publish(
        self, result: Result, *, also: Callable[[Path], object] | None = None, key: str | None = None
    ) -> None:
        """Write a result and put it in its place.

        Parameters
        ----------
        result
            What a run keeps.
        also
            Writes more into the folder that it is given before that takes its place.
        key
            The hash of what decides the result, where runs are looked up by it.

        Raises
        ------
        OutputError
            If it cannot be written, or the place is not as it was reserved; what was there before is then
            still there.
        """
        self._put(lambda folder: _write(result, folder, also=also, key=key))

    def receive(self, files: Mapping[str, bytes], *, key: str) -> None:
        """Put the files of a run that was stored elsewhere in its place.

        Parameters
        ----------
        files
            By their names.
        key
            The hash under which the run is looked up.

        Raises
        ------
        OutputError
            If they are not those of this run, byte for byte as it was stored, or as `publish`.
        """
        self._put(lambda folder: self._copy(files, folder, key=key))

    def _copy(self, files: Mapping[str, bytes], folder: Path, *, key: str) -> None:
        for name, content in files.items():
            if name not in FILES:
                raise OutputError(self._shown, f"cannot take {name!r}, which is no file of a run")
            (folder / name).write_bytes(content)
            _flushed(folder / name)
        document = document_of(folder, shown=self._shown)
        _refuse_changed(folder, document, shown=self._shown)
        if document.get("key") != key:
            raise OutputError(self._shown, ANOTHER_RUN)
        to_disk(folder)

    def _put(self, write: Callable[[Path], object]) -> None:
        new, old = self._lock.work / "new", self._lock.work / "old"
        try:
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
            write(new)
            identity = _identity(self._folder)
            if identity not in {None, self._reserved}:
                raise OutputError(self._shown, "holds something that was not there when the run began")
            if identity is not None:
                self._folder.rename(old)
            # Over an empty folder at most: the system refuses any other.
            new.rename(self._folder)
            _finish_interrupted(self._folder, self._lock.work)
            to_disk(self._folder.parent)
        except OSError as error:
            if old.exists() and not self._folder.exists():
                old.rename(self._folder)
            raise unwritable(self._shown, error) from error
        self._reserved = _identity(self._folder)

    def _refuse_begun(self, *, force: bool) -> None:
        """Refuse a folder that is taken; if a process is writing there, name it."""
        try:
            self._refuse_taken(force=force)
        except OutputError:
            refuse_in_use(self._folder, shown=self._shown)
            raise

    def _refuse_taken(self, *, force: bool) -> None:
        if not self._folder.exists() and not self._folder.is_symlink():
            return
        if not self._folder.is_dir():
            raise OutputError(self._shown, "is not a folder")
        if self._folder.is_mount():
            raise OutputError(self._shown, "is a mount point and cannot be replaced; choose a folder in it")
        if not any(self._folder.iterdir()):
            return
        if not (self._folder / RUN_FILE).is_file():
            raise OutputError(self._shown, "holds something other than results; choose another folder")
        if not force:
            reason = "holds results already; --force, in Python force=True, replaces them"
            raise OutputError(self._shown, reason)

    def _refuse_full(self) -> None:
        disk = shutil.disk_usage(self._folder.parent)
        # Some network file systems do not report it.
        if disk.total and disk.free < LEAST_FREE_BYTES:
            full = f"its disk is full, {disk.free:,} bytes are free"
            raise LostResultsError(self._shown, f"cannot be written: {full}; choose another folder")


def read(folder: str | os.PathLike[str], *, key: str | None = None) -> Result:
    """Read the results of a run from its folder, and check that they are as it wrote them.

    Results of earlier versions have no digests; they are read with an `UnverifiedWarning`.

    Parameters
    ----------
    folder
        The folder of the run.
    key
        The hash of everything that decides the result, to require the results of one run.

    Returns
    -------
    Result
        The tables and facts of the run.

    Raises
    ------
    OutputError
        If the folder has no results of floodway, or they have changed since the run wrote them.
    """
    return read_as(Result, folder, key=key)


def read_as(kind: type[Kind], folder: str | os.PathLike[str], *, key: str | None) -> Kind:
    """Read results as `read` does, as an object of this class; for a function that is called `read`."""
    path, shown = Path(folder), os.fspath(folder)
    lacking = [f"{table}.parquet" for table in TABLES if not (path / f"{table}.parquet").is_file()]
    if lacking and (path / RUN_FILE).is_file():
        raise OutputError(shown, f"{UNREADABLE}: it lacks {', '.join(lacking)}")
    if not (path / RUN_FILE).exists():
        refuse_collections(path)
    document = document_of(path, shown=shown)
    _refuse_changed(path, document, shown=shown)
    if key is not None and document.get("key", key) != key:
        raise OutputError(shown, ANOTHER_RUN)
    try:
        result = _read(kind, path, document)
        _refuse_other_rows(result, document, shown=shown)
        if "files" not in document:
            refuse_unusable(result, shown=shown)
    except OSError as error:
        raise OutputError(shown, f"cannot be read: {error.strerror or error}") from error
    except _UNREADABLE as error:
        raise OutputError(shown, UNREADABLE) from error
    if "files" not in document:
        warnings.warn(
            f"{shown}: cannot be verified: an earlier version wrote it without digests",
            UnverifiedWarning,
            stacklevel=3,
        )
    return result


def remove_left_behind(folder: Path) -> None:
    """Finish or remove what processes left in a folder when they were killed: files, and places of runs.

    Folders that a process is writing are left alone.

    Raises
    ------
    OSError
        If the folder cannot be read.
    """
    for file in folder.glob(f".*{NEW_SUFFIX}"):
        file.unlink(missing_ok=True)
    finish_left_behind(folder)


def finish_left_behind(folder: Path, names: Container[str] | None = None) -> None:
    """Finish or remove places of runs, all or those of these names, whose processes were killed.

    Folders that a process is writing are left alone.

    Raises
    ------
    OSError
        If the folder cannot be read.
    """
    for place in left_behind(folder):
        if names is None or place.name in names:
            with contextlib.suppress(OutputError, OSError), Lock(place, shown="") as lock:
                _finish_interrupted(place, lock.work)


def _finish_interrupted(folder: Path, work: Path) -> None:
    """Finish what a process had as good as published when it ended, and remove the rest; its lock is held."""
    new, old = work / "new", work / "old"
    if old.is_dir():
        if not folder.exists():
            # New results were whole and on the disk before the old ones gave way.
            (new if new.is_dir() else old).rename(folder)
        if old.is_dir():
            for entry in old.iterdir():
                # What is not ours stays in its folder.
                if entry.name not in FILES:
                    entry.rename(folder / entry.name)
            shutil.rmtree(old)
    if new.exists():
        shutil.rmtree(new)


def _identity(folder: Path) -> tuple[int, ...] | None:
    """Return the identity of results in a folder; None if there are no results."""
    if not folder.exists() or not any(folder.iterdir()):
        return None
    try:
        status = (folder / RUN_FILE).stat()
    except FileNotFoundError:
        return (folder.stat().st_ino,)
    return folder.stat().st_ino, status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def _write(result: Result, folder: Path, *, also: Callable[[Path], object] | None, key: str | None) -> None:
    """Write all files of a result, `run.json` last, and synchronise them to the disk."""
    files: dict[str, Any] = {}
    for table in (*TABLES, *OPTIONAL_TABLES):
        frame: pl.DataFrame | None = getattr(result, table)
        if frame is not None:
            with DigestedFile(folder / f"{table}.parquet") as file:
                frame.write_parquet(file)  # type: ignore[arg-type]  # it needs `write` alone
            files[f"{table}.parquet"] = {"rows": frame.height, **file.record}
    if result.capture is not None:
        with DigestedFile(folder / CAPTURE_FILE) as file:
            file.write(result.capture)
        files[CAPTURE_FILE] = file.record
    if also is not None:
        also(folder)
        files |= {path.name: _flushed(path) for path in sorted(folder.iterdir()) if path.name not in files}
    run_info = {name: value for name, value in asdict(result.run).items() if name != "code" or value}
    document = sealed({**run_info, **({} if key is None else {"key": key}), "files": files})
    with DigestedFile(folder / RUN_FILE) as file:
        file.write((json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())
    to_disk(folder)


def _flushed(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return file_record(path)


def _refuse_changed(path: Path, document: Mapping[str, Any], *, shown: str) -> None:
    """Refuse results of which a file is missing, has changed, or belongs to another run.

    Raises
    ------
    OutputError
        With the first of these.
    """
    if "files" not in document:
        return
    # Rows are counted when the tables have been read.
    fault = next(faults_of(path, document, names=READ_FILES, rows=False), None)
    if fault is not None:
        raise OutputError(shown, f"{fault}; run it again")


def _refuse_other_rows(result: Result, document: Mapping[str, Any], *, shown: str) -> None:
    """Refuse tables that have other numbers of rows than their record says."""
    for table in (*TABLES, *OPTIONAL_TABLES):
        frame: pl.DataFrame | None = getattr(result, table)
        record = document.get("files", {}).get(f"{table}.parquet", {})
        if frame is not None and record.get("rows") not in (None, frame.height):
            raise OutputError(shown, f"{table}.parquet has changed; run it again")


def _read(kind: type[Kind], path: Path, document: Mapping[str, Any]) -> Kind:
    fields = {key: value for key, value in document.items() if key not in _OF_FILES}
    fields["timings"] = Timings(**document["timings"])
    fields["loads"] = tuple(AskedLoad(**load) for load in document["loads"])
    optional = [table for table in OPTIONAL_TABLES if (path / f"{table}.parquet").is_file()]
    tables = {table: pl.read_parquet(path / f"{table}.parquet") for table in (*TABLES, *optional)}
    capture = path / CAPTURE_FILE
    captured = capture.read_bytes() if capture.is_file() else None
    return kind(run=RunInfo(**fields), capture=captured, **tables)


def refuse_unusable(result: Result, *, shown: str) -> None:
    """Check that a summary can be made of a result.

    Raises
    ------
    OutputError
        If a column is missing or holds something else.
    KeyError, TypeError, ValueError, AttributeError
        If what is known about the run lacks something, or holds something else.
    """
    for table, kinds in _NEEDED.items():
        schema: pl.Schema = getattr(result, table).schema
        for kind, names in kinds.items():
            missing = next((name for name in names if _kind(schema.get(name)) != kind), None)
            if missing is not None:
                lacks = f"{table}.parquet has no column {missing} that holds {kind}"
                raise OutputError(shown, f"{UNREADABLE}: {lacks}")
    run = result.run
    if not (isinstance(run.name, str) and isinstance(run.seed, int) and isinstance(run.scenario, dict)):
        raise TypeError("its name, seed or scenario is invalid")
    result.summary()


def _kind(dtype: pl.DataType | None) -> str | None:
    if dtype is None:
        return None
    if dtype.is_numeric():
        return "numbers"
    if dtype == pl.Boolean:
        return "flags"
    return "text" if dtype in (pl.String, pl.Categorical, pl.Enum) else None


def rescued(write: Callable[[Path], None], *, name: str, error: OutputError) -> Path:
    """Write results into a new folder: among temporary files, or else in the user's own folder.

    Parameters
    ----------
    write
        Writes them into the empty folder that it is given.
    name
        What the new folder is called after.
    error
        Why they cannot be written to their place.

    Returns
    -------
    Path
        The new folder.

    Raises
    ------
    LostResultsError
        If they cannot be written there either.
    """
    tried = []
    for base in _bases():
        try:
            folder = Path(tempfile.mkdtemp(prefix=f"floodway-{name}-", dir=base))
        except OSError:
            tried.append(str(base))
            continue
        try:
            write(folder)
        except (OSError, OutputError):
            tried.append(str(base))
            shutil.rmtree(folder, ignore_errors=True)
        else:
            return folder
    neither = f"neither can {' and '.join(tried)}, and " if tried else ""
    raise LostResultsError(error.path, f"{error.reason}; {neither}the results are lost") from error


def _bases() -> Iterator[Path]:
    # Looking for a folder for temporary files writes to it, and finds none where all are full.
    with contextlib.suppress(OSError):
        yield Path(tempfile.gettempdir())
    with contextlib.suppress(OSError, RuntimeError):
        yield Path.home()

"""Digests of results: `run.json` has size, rows and digest of each file.

`run.json` has a digest of its own content as well, without the timings: two runs of one scenario and seed
have the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from floodway.common.errors import OutputError
from floodway.common.files import read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

__all__ = ["RUN_FILE", "UNREADABLE", "DigestedFile", "document_of", "faults_of", "file_record", "sealed"]

#: The file that identifies folders of results, with digests of the other files.
RUN_FILE = "run.json"
#: What a folder is called that has no results, or those of other versions.
UNREADABLE = "holds no results that this version can read"
#: Parts of `run.json` that its own digest leaves out: itself, and what differs between two runs of a seed.
_LEFT_OUT = ("sha256", "timings")


class DigestedFile:
    """A new file that counts and digests what is written to it, and is on the disk when it is left.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    OSError
        If it cannot be written; also where a library has made an error of its own of that.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb")
        self._sha256 = hashlib.sha256()
        self._bytes = 0
        self._error: OSError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._file.flush()
                os.fsync(self._file.fileno())
            elif self._error is not None:
                raise self._error
        finally:
            self._file.close()

    def write(self, content: bytes) -> int:
        """Write some bytes."""
        try:
            self._file.write(content)
        except OSError as error:
            self._error = error
            raise
        self._sha256.update(content)
        self._bytes += len(content)
        return len(content)

    def flush(self) -> None:
        """Hand over to the system what is written so far."""
        self._file.flush()

    @property
    def record(self) -> dict[str, Any]:
        """The record of the file in `run.json`: its size and its digest."""
        return {"bytes": self._bytes, "sha256": self._sha256.hexdigest()}


def file_record(path: Path) -> dict[str, Any]:
    """Return the record of an existing file in `run.json`: its size and its digest."""
    return {"bytes": path.stat().st_size, "sha256": _digest(path)}


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Add a document's own digest to it."""
    return {**document, "sha256": _own_digest(document)}


def document_of(folder: Path, *, shown: str) -> dict[str, Any]:
    """Read `run.json`, and check that it has not changed.

    One without a digest, of an earlier version, is taken as it is.

    Raises
    ------
    OutputError
        If it cannot be read, is no JSON object, or has changed.
    """
    try:
        if not stat.S_ISREG((folder / RUN_FILE).stat().st_mode):
            raise OutputError(shown, f"{UNREADABLE}: {RUN_FILE} is not a file")
        document = read_json(folder / RUN_FILE)
        sealed_once = "sha256" in document or "files" in document
        changed = sealed_once and _own_digest(document) != document.get("sha256")
    except OSError as error:
        raise OutputError(shown, f"cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise OutputError(shown, f"{UNREADABLE}: {RUN_FILE} is not one of a run")
    if changed:
        raise OutputError(shown, f"{RUN_FILE} has changed")
    return document


def faults_of(
    folder: Path, document: Mapping[str, Any], *, names: Iterable[str], rows: bool = True
) -> Iterator[str]:
    """Say what is wrong with files of a run: those missing, cut, changed, or of another run.

    Parameters
    ----------
    folder
        The results.
    document
        Their `run.json`, as `document_of` returned it; one without digests has no faults.
    names
        The files that are looked at.
    rows
        Whether the rows of tables are counted, for which each is opened.
    """
    files = document.get("files")
    if files is None:
        return
    if not isinstance(files, dict):
        yield f"{RUN_FILE} is damaged: its list of files and digests is missing"
        return
    for name in names:
        if name in files:
            try:
                fault = _fault_of(folder / name, files[name], rows=rows)
            except (KeyError, TypeError):
                fault = f"has no size and digest: {RUN_FILE} is damaged"
            if fault:
                yield f"{name} {fault}"
        elif (folder / name).exists():
            yield f"{name} does not belong to this run; remove it"


def _fault_of(path: Path, record: Any, *, rows: bool) -> str | None:  # noqa: ANN401 (any JSON value)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return "is not a file"
        if status.st_size != record["bytes"]:
            return f"has changed: {status.st_size:,} instead of {record['bytes']:,} bytes"
        changed = _digest(path) != record["sha256"]
        changed = changed or (rows and record.get("rows") not in (None, _rows(path)))
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    return "has changed" if changed else None


def _rows(path: Path) -> int | None:
    """Return how many rows a table has; none for files that are no tables."""
    if path.suffix != ".parquet":
        return None
    return int(pl.scan_parquet(path).select(pl.len()).collect().item())


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _own_digest(document: Mapping[str, Any]) -> str:
    content = {key: value for key, value in document.items() if key not in _LEFT_OUT}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

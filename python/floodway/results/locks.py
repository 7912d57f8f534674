"""Locks on folders of results, held by the writing process until it ends.

A lock is a file in a hidden folder beside the place, locked with `flock`. The system gives it back when
its process ends, killed or not; so nothing has to be tidied up before the next one. Files that are being
written lie in the same folder, and a process that gets the lock knows that files there are of a process
that is gone.

On file systems without locks the file itself is the lock, with the process that made it written in it. The
file of a process of this machine that is gone counts for nothing; of other machines nobody here can know,
and the message says which file stands in the way.

Processes that divide the work of a place have shared locks, each a file of its own in the hidden folder. Who
wants the place alone and who shares it both take their own file first and look for the others' then: so at
least one of two that begin at once sees the other.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import socket
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from floodway.common.errors import InUseError
from floodway.results.files import NEW_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

__all__ = ["Lock", "SharedLock", "is_ours", "left_behind", "refuse_in_use", "report_lock"]

_LOCK_FILE = "lock"
#: Begin of the names of shared locks' files.
_SHARED = "shared."
_SUFFIX = ".floodway"
#: Errors of `flock` on file systems that have no locks.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
#: Attempts to open the file when a process that is just leaving removes it.
_TRIES = 100
#: Between attempts at a shared lock: who wants the place alone has it for a moment before it is refused.
_WAIT_S = 0.01
#: More of a record than this is not ours.
_LONGEST_RECORD = 1000
#: The error for a folder that another process uses, with what is known of that process.
_IN_USE = "is in use: {}; wait for its end, or choose another folder"


@dataclass(frozen=True, kw_only=True)
class _Holder:
    """The holder of a lock: its process, its machine, and the time since when (ISO 8601, UTC)."""

    pid: int
    host: str
    since: str

    def is_gone(self) -> bool:
        """Whether it is a process of this machine that has ended."""
        if self.host != socket.gethostname():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            return False
        return False

    def __str__(self) -> str:
        where = "" if self.host == socket.gethostname() else f" on {ascii(self.host)[1:-1]}"
        return f"process {self.pid}{where} has been writing there since {ascii(self.since)[1:-1]}"


class _Held:
    """The file of a lock in the hidden folder of a place, from when it is taken to its release."""

    #: The hidden folder, for files that are being written.
    work: Path
    _file: Path
    _descriptor: int

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """Give the lock back, and remove the hidden folder unless something is left in it."""
        # While it is held: a process that has opened the file in between finds that it is gone, and retries.
        with contextlib.suppress(OSError):
            self._file.unlink()
        os.close(self._descriptor)
        with contextlib.suppress(OSError):
            # Shared locks of processes that were killed are removed as one looks for others.
            if next(_sharers(self.work), None) is None:
                self.work.rmdir()


class Lock(_Held):
    """A lock on a folder: one process at a time may write there.

    Parameters
    ----------
    folder
        The place; the folder around it is there already.
    shown
        What messages call it.
    inside
        Whether the hidden folder may lie in the place, where nothing can be made beside it: not so where the
        place itself is going to be replaced.

    Raises
    ------
    InUseError
        If another process has the lock, or shares it; the text names it.
    OSError
        If the hidden folder cannot be made.
    """

    def __init__(self, folder: Path, *, shown: str, inside: bool = False) -> None:
        self.work = _work_folder(folder, inside=inside)
        self._shown = shown
        self._file = self.work / _LOCK_FILE
        for _ in range(_TRIES):
            descriptor = self._taken()
            if descriptor is not None:
                self._descriptor = descriptor
                sharer = next(_sharers(self.work), None)
                if sharer is not None:
                    self.release()
                    raise _in_use(self._shown, sharer)
                return
        raise _in_use(self._shown, self._file)

    def _taken(self) -> int | None:
        """Take the lock, or return None if its file was removed in between."""
        self.work.mkdir(exist_ok=True)
        try:
            descriptor, is_new = _opened(self._file)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if not (error.errno in _NO_LOCKS and (is_new or self._is_left_alone())):
                os.close(descriptor)
                if error.errno in (*_NO_LOCKS, errno.EWOULDBLOCK, errno.EACCES):
                    raise _in_use(self._shown, self._file) from None
                raise
        if not _is_the_same(descriptor, self._file):
            os.close(descriptor)
            return None
        _sign(descriptor)
        return descriptor

    def _is_left_alone(self) -> bool:
        """Whether a file that is the lock itself is of a process that is gone; it is then out of the way."""
        holder = _holder(self._file)
        if holder is None or not holder.is_gone():
            return False
        aside = self.work / f"lock.{os.getpid()}"
        self._file.rename(aside)
        if _holder(aside) != holder:
            # Another process was sooner, and this is its lock.
            aside.rename(self._file)
            return False
        aside.unlink()
        return True


class SharedLock(_Held):
    """A lock on a folder that several processes have at once, against those that want it alone.

    Parameters
    ----------
    folder, shown, inside
        As `Lock`'s.

    Raises
    ------
    InUseError
        If a process has the folder alone; the text names it.
    OSError
        If the hidden folder cannot be made.
    """

    def __init__(self, folder: Path, *, shown: str, inside: bool = False) -> None:
        self.work = _work_folder(folder, inside=inside)
        self._file = self.work / f"{_SHARED}{uuid.uuid4().hex}"
        self._descriptor = -1
        for _ in range(_TRIES):
            if self._is_taken():
                return
            time.sleep(_WAIT_S)
        raise _in_use(shown, self.work / _LOCK_FILE)

    def _is_taken(self) -> bool:
        """Take the lock; false where a process has, or had in this moment, the folder alone."""
        self.work.mkdir(exist_ok=True)
        try:
            self._descriptor, _ = _opened(self._file)
        except FileNotFoundError:
            return False
        _sign(self._descriptor)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                self.release()
                if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
                    # Another process looks whether anybody has it, and is about to remove it.
                    return False
                raise
        if _is_the_same(self._descriptor, self._file) and not _is_held(self.work / _LOCK_FILE):
            return True
        self.release()
        return False


def report_lock(folder: Path, *, shown: str) -> Lock:
    """Return a lock for the process that writes a report in a folder, where others share the folder.

    Raises
    ------
    InUseError
        If another process is writing it.
    """
    return Lock(folder.resolve() / "report", shown=shown)


def left_behind(folder: Path) -> Iterator[Path]:
    """Return the paths in a folder that a process writes, or wrote when it was killed."""
    name = re.compile(rf"\.(.+){re.escape(_SUFFIX)}")
    for entry in sorted(folder.iterdir()):
        match = name.fullmatch(entry.name)
        if match and entry.is_dir() and not entry.is_symlink():
            yield folder / match[1]


def refuse_in_use(folder: Path, *, shown: str) -> None:
    """Raise an error if another process writes there; nothing is changed.

    A place that is taken may hold what another process has only begun: who that is says more than what it
    has written so far.

    Raises
    ------
    InUseError
        If a process has the lock, or shares it; the text names it.
    """
    for work in (_work_folder(folder, inside=False), folder / _SUFFIX):
        for file in (work / _LOCK_FILE, *_sharers(work)):
            if _holder(file) is not None and _is_held(file):
                raise _in_use(shown, file)


def _sharers(work: Path) -> Iterator[Path]:
    """Yield the files of shared locks that processes have; those of processes that are gone are removed."""
    for file in sorted(work.glob(f"{_SHARED}*")):
        if _is_held(file):
            yield file
        else:
            file.unlink(missing_ok=True)


def _refusal(file: Path) -> int | None:
    """Return the number of the error that refuses a lock on a file; none where it can be had.

    Raises
    ------
    OSError
        If the file cannot be opened.
    """
    descriptor = os.open(file, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno
    finally:
        os.close(descriptor)
    return None


def _is_held(file: Path) -> bool:
    """Whether a process has the lock of this file."""
    try:
        refusal = _refusal(file)
    except OSError:
        return False
    if refusal not in _NO_LOCKS:
        return refusal is not None
    holder = _holder(file)
    return holder is None or not holder.is_gone()


def _in_use(shown: str, file: Path) -> InUseError:
    """Return the error for a folder whose lock is this file."""
    holder = _holder(file)
    who = str(holder) if holder else "another process is writing there"
    if _has_locks(file):
        return InUseError(shown, _IN_USE.format(who))
    return InUseError(
        shown, f"is in use: {who}; its file system has no locks: if that process has ended, remove {file}"
    )


def _has_locks(file: Path) -> bool:
    """Whether the file system of a file has locks."""
    try:
        return _refusal(file) not in _NO_LOCKS
    except OSError:
        return True


def is_ours(name: str) -> bool:
    """Whether an entry of a folder is a lock's, or a file that is being written."""
    return name.startswith(".") and name.endswith((_SUFFIX, NEW_SUFFIX))


def _work_folder(folder: Path, *, inside: bool) -> Path:
    """Return the hidden folder of a place."""
    if inside and folder.is_dir() and not os.access(folder.parent, os.W_OK):
        return folder / _SUFFIX
    return folder.parent / f".{folder.name}{_SUFFIX}"


def _opened(file: Path) -> tuple[int, bool]:
    """Open a file for reading and writing, and return whether it was made."""
    # Network file systems lock only what is open for writing.
    try:
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644), True
    except FileExistsError:
        return os.open(file, os.O_RDWR), False


def _is_the_same(descriptor: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except FileNotFoundError:
        return False


def _sign(descriptor: int) -> None:
    """Record who holds a lock; a full disk is no obstacle."""
    record = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, (json.dumps(record) + "\n").encode(), 0)


def _holder(file: Path) -> _Holder | None:
    """Read who holds a lock; none where the file does not say."""
    try:
        if not file.is_file():
            return None
        with file.open("rb") as opened:
            record = json.loads(opened.read(_LONGEST_RECORD))
        return _Holder(pid=int(record["pid"]), host=str(record["host"]), since=str(record["since"])[:32])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None

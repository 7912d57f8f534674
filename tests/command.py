"""The command line as a process of its own."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["Command", "Done", "environment", "limited_files", "until"]


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Command:
    """Calls the command line in a folder; whatever it is given, it shows no trace of its inside."""

    folder: Path

    def __call__(self, *arguments: str | Path) -> Done:
        done = subprocess.run(
            self.line(*arguments),
            cwd=self.folder,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert "panicked" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def line(self, *arguments: str | Path) -> list[str]:
        """Return the words of a call."""
        return [sys.executable, "-m", "floodway", *map(str, arguments)]


def environment() -> dict[str, str]:
    """Return an environment in which output does not depend on the terminal."""
    return {**os.environ, "NO_COLOR": "1", "COLUMNS": "120"}


@contextlib.contextmanager
def limited_files(most_bytes: int) -> Iterator[None]:
    """Let this process, and those that it starts, write no file beyond a size: as a full disk, for a test."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def until(there: Callable[[], bool], what: str, *, of: subprocess.Popen[bytes] | None = None) -> None:
    """Wait for what happens soon; a command that is to do it must not end before."""
    end = time.monotonic() + 100
    while not there():
        assert time.monotonic() < end, what
        assert of is None or of.poll() is None, what
        time.sleep(0.01)

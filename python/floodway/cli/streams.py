"""Standard streams that continue when their reader has ended or their disk is full."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

__all__ = ["Stdout", "standard_streams"]


class _Raw(io.FileIO):
    """A stream that stores its first error, and drops what cannot be written."""

    fault: OSError | None = None

    def write(self, content: Buffer, /) -> int:
        try:
            return super().write(content)
        except OSError as error:
            self.fault = self.fault or error
            return memoryview(content).nbytes


class Stdout:
    """The state of stdout: whether its text was written."""

    def __init__(self, raw: _Raw | None) -> None:
        self._raw = raw

    def lost(self) -> OSError | None:
        """Return the error by which text was lost; None if all was written."""
        with contextlib.suppress(AttributeError):
            sys.stdout.flush()
        return None if self._raw is None else self._raw.fault


@contextlib.contextmanager
def standard_streams() -> Iterator[Stdout]:
    """Keep the program running if stdout or stderr cannot be written."""
    before = sys.stdout, sys.stderr
    sys.stdout, raw = _tolerant(sys.stdout)
    sys.stderr, _ = _tolerant(sys.stderr)
    try:
        yield Stdout(raw)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError):
                stream.flush()
        sys.stdout, sys.stderr = before


def _tolerant(stream: object) -> tuple[io.TextIOWrapper, _Raw | None]:
    """Return a stream for the same file that ignores errors; the stream itself if it has no file."""
    try:
        number = stream.fileno()  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        # The stream is a test's, or closed.
        return stream, None  # type: ignore[return-value]
    assert isinstance(stream, io.TextIOWrapper)  # noqa: S101 (has a file)
    stream.flush()
    raw = _Raw(number, "wb", closefd=False)
    text = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
    )
    return text, raw

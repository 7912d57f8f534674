"""The program: signals, warnings, and errors as one line and an exit code."""

from __future__ import annotations

import contextlib
import io
import re
import signal
import sys
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from floodway.cli.app import app
from floodway.cli.output import DONE, FAILED, INTERRUPTED, READER_GONE, TERMINATED, USAGE, errors
from floodway.cli.output import warnings as print_warnings
from floodway.common.errors import FloodwayError, LostResultsError, MechanismError, RunError
from floodway.common.names import nearest
from floodway.simulation.ranks import is_first, processes, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType
    from typing import NoReturn, TextIO

    from typing_extensions import Buffer

__all__ = ["Stdout", "main", "standard_streams"]

#: Messages of click on errors of usage, and ours.
PLAIN = {
    r"^Invalid value for '([^']*)'": r"Invalid value for \1",
    r"^Missing (?:argument|parameter|option) '(.*?)'\.": r"Missing \1.",
    r"\. Choose from: ": "; allowed: ",
    r" is not a valid integer(?: range)?\.": ": expected a whole number.",
    r" is not a valid float(?: range)?\.": ": expected a number.",
    r" is not in the range (\S+)<=x<=(\S+)\.": r": expected \1 to \2.",
    r" is not in the range x>=(\S+)\.": r": expected \1 or more.",
}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code.

    Parameters
    ----------
    arguments
        Arguments after the program's name. Default: those of the process.
    """
    terminated: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        """Call the current handler of Ctrl-C."""
        terminated.append(number)
        as_ctrl_c = signal.getsignal(signal.SIGINT)
        if not callable(as_ctrl_c):
            raise KeyboardInterrupt
        as_ctrl_c(signal.SIGINT, frame)

    signal.signal(signal.SIGTERM, interrupt)
    if processes() > 1:
        # mpirun forwards this signal, and unlike after others, it does not kill the processes a second later.
        signal.signal(signal.SIGUSR1, interrupt)
    warnings.showwarning = _warn
    with standard_streams() as stdout:
        code = _exit_code(arguments)
        code = TERMINATED if terminated and code == INTERRUPTED else code
        lost = stdout.lost()
        if lost is not None and code == DONE:
            code = READER_GONE if isinstance(lost, BrokenPipeError) else FAILED
        if lost is not None and not isinstance(lost, BrokenPipeError):
            _fail(f"stdout: cannot be written: {lost.strerror}", FAILED)
    sys.exit(code)


def _warn(  # noqa: PLR0913, PLR0917 (as Python calls it)
    message: Warning | str,
    category: type[Warning],
    filename: str,  # noqa: ARG001
    lineno: int,  # noqa: ARG001
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Print a warning in one line, without its place in the code."""
    if issubclass(category, UserWarning):
        print_warnings([str(message)])


def _call(arguments: Sequence[str] | None) -> int:
    """Run a command, unless several processes were started that cannot run it together."""
    refused = refusal(sys.argv[1:] if arguments is None else arguments)
    if refused is not None:
        # A process that fails ends all others, which may not have said why.
        return _fail(refused, USAGE) if is_first() else DONE
    return int(app(arguments, prog_name="floodway", standalone_mode=False) or 0)


def _exit_code(arguments: Sequence[str] | None) -> int:
    try:
        return _call(arguments)
    except click.ClickException as error:
        return _fail(_usage(error), USAGE)
    except FloodwayError as error:
        return _fail(_error_text(error), FAILED if isinstance(error, (LostResultsError, RunError)) else USAGE)
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        return _fail("memory ran out: less data or fewer runs at a time (--jobs) need less", FAILED)
    except Exception as error:  # noqa: BLE001 (bugs are reported in one line as well)
        return _unexpected(error)


def _error_text(error: FloodwayError) -> str:
    """Return the text of an error, after the traceback if a user's own code raised it."""
    cause = error.__cause__ if isinstance(error, MechanismError) else None
    return "".join([*([] if cause is None else traceback.format_exception(cause)), str(error)])


def _unexpected(error: Exception) -> int:
    """Report an unexpected exception in one line, as a bug, and return the exit code."""
    if _is_interrupt(error):
        return INTERRUPTED
    frame_summary = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame_summary.filename).name}:{frame_summary.lineno}"
    return _fail(f"a bug in floodway, please report it: {type(error).__name__}: {error} ({where})", FAILED)


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused an error: libraries convert it while they are imported."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _fail(message: str, code: int) -> int:
    errors(*message.splitlines())
    return code


def _usage(error: click.ClickException) -> str:
    """Return a usage error as one line, with the nearest name."""
    if isinstance(error, click.NoSuchOption):
        return _unknown("option", error.option_name, error.possibilities)
    if isinstance(error, click.exceptions.NoSuchCommand):
        return _unknown("command", error.command_name, error.possibilities)
    message = " ".join(error.format_message().split())
    for pattern, plain in PLAIN.items():
        message = re.sub(pattern, plain, message)
    hint = _hint(message)
    message = message.removesuffix(".")
    return f"{message[:1].lower()}{message[1:]}{hint}"


def _unknown(kind: str, name: str, possible: Sequence[str] | None) -> str:
    hint = f"; did you mean {possible[0]}?" if possible else ""
    return f"no such {kind} {name}{hint}"


def _hint(message: str) -> str:
    """Return a hint at the nearest of the choices in a message; empty if none is near."""
    match = re.search(r"'([^']*)' is not one of ('[^']*'(?:, '[^']*')*)", message)
    near = match and nearest(match[1], re.findall(r"'([^']*)'", match[2]))
    return f"; did you mean {near!r}?" if near else ""


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

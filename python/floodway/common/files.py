"""Regular files of limited size, read as a whole."""

from __future__ import annotations

import errno
import json
import stat
import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["TooDeepError", "is_pipe", "parse_toml", "read_json", "read_pipe", "read_text"]

#: Maximum size of a text, in bytes: 1 GiB, as the native module has it for lists of flows.
MOST_BYTES = 1 << 30
#: Maximum size of a scenario, in bytes: 64 MiB, as in the native module.
MOST_SCENARIO_BYTES = 64 << 20
#: Maximum depth of tables and lists, as in the native module.
DEEPEST = 64


class TooDeepError(ValueError):
    """TOML whose tables and lists nest too deep."""

    def __init__(self) -> None:
        super().__init__(f"tables and lists are nested too deeply: the maximum is {DEEPEST}")


def read_text(path: Path) -> str:
    """Return the text of a regular file.

    Raises
    ------
    OSError
        If it cannot be read, is too large, or is a pipe or a device, which may never end.
    UnicodeDecodeError
        If it is not text in UTF-8.
    """
    about = path.stat()
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device; only regular files are allowed", str(path))
    if about.st_size > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES >> 20} MiB", str(path))
    # Files of the kernel report that they are empty, and may never end.
    with path.open("rb") as file:
        return file.read(about.st_size).decode("utf-8")


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises
    ------
    TooDeepError
        If tables and lists nest too deep, on which code that follows them would break.
    tomllib.TOMLDecodeError
        If it is not TOML.
    """
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise TooDeepError from None
    # Keys of a text may be as deep without recursion: a.a.a = 1.
    left: list[tuple[int, object]] = [(0, tables)]
    while left:
        depth, value = left.pop()
        if not isinstance(value, dict | list):
            continue
        if depth > DEEPEST:
            raise TooDeepError
        left += [(depth + 1, child) for child in (value.values() if isinstance(value, dict) else value)]
    return tables


def read_json(path: Path) -> Any:  # noqa: ANN401 (any JSON value)
    """Return what a regular file of JSON holds.

    Raises
    ------
    OSError
        As `read_text`.
    ValueError
        If it is not JSON in UTF-8, or nests too deep.
    """
    try:
        return json.loads(read_text(path))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def is_pipe(path: Path) -> bool:
    """Whether a path names a pipe, such as that of `<(...)` in a shell, or `/dev/stdin` behind one."""
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        return False


def read_pipe(path: Path) -> str:
    """Read a pipe to its end; Ctrl-C and SIGTERM still work meanwhile.

    Raises
    ------
    OSError
        If it cannot be read, or does not end.
    UnicodeDecodeError
        If it is not text in UTF-8.
    """
    with path.open("rb") as file:
        content = file.read(MOST_SCENARIO_BYTES + 1)
    if len(content) > MOST_SCENARIO_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_SCENARIO_BYTES >> 20} MiB", str(path))
    return content.decode("utf-8")

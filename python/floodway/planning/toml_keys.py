"""Keys of a small file of TOML, each with the line where it is."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from floodway.common.errors import PlanError
from floodway.common.files import TooDeepError, parse_toml, read_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["BOM", "Keys"]

#: The byte order mark that some editors put before a text in UTF-8.
BOM = "\ufeff"
#: Most lines that are tried as the begin of a key; some lie within longer texts.
MOST_TRIED = 20


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The keys of a file.

    Attributes
    ----------
    file
        The file.
    text
        Its text.
    values
        The values by key.
    """

    file: str
    text: str
    values: dict[str, Any]

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Read a file.

        Raises
        ------
        PlanError
            If it cannot be read, or is not TOML; the error names the line.
        """
        file = str(path)
        try:
            text = read_text(path).removeprefix(BOM)
        except OSError as error:
            raise PlanError(f"{file}: cannot be read: {error.strerror or error}", place=file) from None
        except UnicodeDecodeError:
            raise PlanError(f"{file}: is not text in UTF-8", place=file) from None
        try:
            return cls(file=file, text=text, values=parse_toml(text))
        except tomllib.TOMLDecodeError as error:
            place, reason = _fault(file, text, str(error))
            raise PlanError(f"{place}: not TOML: {reason}", place=place) from None
        except TooDeepError as error:
            raise PlanError(f"{file}: {error}", place=file) from None

    def place(self, key: str) -> str:
        """Return the file with the line of a key at the top level; the file alone where it is not found."""
        line = self._line(key)
        return self.file if line is None else f"{self.file}:{line}"

    def _line(self, key: str) -> int | None:
        begins = re.compile(rf"""\s*\[?\[?\s*["']?{re.escape(key)}["']?\s*[=.\]]""")
        lines = self.text.splitlines(keepends=True)
        matches = islice((number for number, line in enumerate(lines) if begins.match(line)), MOST_TRIED)
        return next((number + 1 for number in matches if _begins_anew("".join(lines[:number]), key)), None)


def _begins_anew(before: str, key: str) -> bool:
    """Whether a line after this text begins a key: within a longer value the text would not be whole."""
    try:
        return key not in parse_toml(before)
    except ValueError:
        return False


def _fault(file: str, text: str, reason: str) -> tuple[str, str]:
    """Split what the library says is wrong into the place and the reason."""
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", reason, re.DOTALL)
    if match is None:
        return file, reason
    number = int(match[2] or max(1, len(text.splitlines())))
    if match[1] == "Cannot overwrite a value":
        return f"{file}:{number}", _repeated(text, number)
    return f"{file}:{number}", match[1]


def _repeated(text: str, number: int) -> str:
    """Say which key is given a second time in a line, and where it was before."""
    lines = text.splitlines()
    key = lines[number - 1].partition("=")[0].strip()
    begins = re.compile(rf"\s*{re.escape(key)}\s*=")
    for before in range(number - 1, 0, -1):
        if begins.match(lines[before - 1]):
            return f"{key} is there already, in line {before}"
    return f"{key} is there already"

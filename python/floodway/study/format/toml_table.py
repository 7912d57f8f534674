"""Tables of a study's file with their key paths, so that every error names file and key path."""

from __future__ import annotations

import math
import tomllib
from typing import TYPE_CHECKING, Any, cast

from floodway.errors import StudyError
from floodway.files import TooDeepError, parse_toml, read_text
from floodway.names import not_a_choice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

__all__ = ["Table", "read_toml"]

#: What TOML calls the types of its values.
_KINDS = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


class Table:
    """A table of a study's file; each key is read once, and what is left over at the end is a fault.

    Parameters
    ----------
    file
        What messages call the file.
    path
        The key path of the table, empty for the whole file.
    content
        Its keys and values.
    """

    def __init__(self, file: str, path: str, content: Mapping[str, Any]) -> None:
        self.file = file
        self.path = path
        self._content = content
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._content

    def at(self, key: str) -> str:
        """Return the path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def fault(
        self,
        key: str,
        text: str,
        *,
        given: object = None,
        allowed: Sequence[str] = (),
        nearest: str | None = None,
    ) -> StudyError:
        """Make the error of a key; the table's own where the key is empty."""
        where = self.at(key) if key else self.path
        begin = f"{self.file}: {where}: " if where else f"{self.file}: "
        return StudyError(
            begin + text,
            place=self.file,
            key=where or None,
            given=None if given is None else str(given),
            allowed=tuple(allowed),
            nearest=nearest,
        )

    def choice(self, key: str, given: str, *, what: str, allowed: Iterable[str]) -> str:
        """Return a name that is one of those allowed, and refuse any other."""
        names = tuple(allowed)
        if given in names:
            return given
        text, near = not_a_choice(given, what=what, allowed=names)
        raise self.fault(key, text, given=given, allowed=names, nearest=near)

    def value(self, key: str, default: object = None) -> Any:  # noqa: ANN401 (any TOML value)
        """Return the value of a key, of any type."""
        self._known.append(key)
        return self._content.get(key, default)

    def text(self, key: str, default: str = "", *, due: bool = False) -> str:
        """Return text; with `due` the key must be there and not be empty."""
        found = self._typed(key, (str,), "a string", default)
        if due and not found.strip():
            missing = "is missing" if key not in self else "is empty"
            raise self.fault(key, f"{missing}; expected a string")
        return cast("str", found)

    def number(self, key: str) -> float | None:
        """Return a number, None where there is none."""
        found = self._typed(key, (int, float), "a number", None)
        if found is not None and not math.isfinite(found):
            raise self.fault(key, f"{found} is not a finite number", given=found)
        return None if found is None else float(found)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return whether something holds."""
        return bool(self._typed(key, (bool,), "true or false", default))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return texts; a single one needs no list."""
        found = self.value(key, [])
        many = [found] if isinstance(found, str) else found
        if not isinstance(many, list) or not all(isinstance(each, str) for each in many):
            raise self.fault(key, f"{_shown(found)} is not a string or a list of strings", given=found)
        return tuple(many)

    def numbers(self, key: str) -> tuple[float, ...]:
        """Return a list of numbers."""
        found = self._typed(key, (list,), "a list of numbers", [])
        if not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in found):
            raise self.fault(key, f"{_shown(found)} is not a list of numbers", given=found)
        return tuple(float(each) for each in found)

    def items(self, key: str) -> list[Any]:
        """Return a list of any values."""
        return list(self._typed(key, (list,), "a list", []))

    def table(self, key: str) -> Table:
        """Return the table at a key, empty where there is none."""
        return Table(self.file, self.at(key), self._typed(key, (dict,), "a table", {}))

    def tables(self, key: str) -> list[Table]:
        """Return the tables of a list, each called by its name or its number, from 1."""
        found = self._typed(key, (list,), f"a list of tables, as [[{key}]] begins each of them", [])
        if not all(isinstance(each, dict) for each in found):
            raise self.fault(key, f"is not a list of tables, as [[{key}]] begins each of them", given=found)
        return [
            Table(self.file, f"{self.at(key)}[{_called(each, number)}]", each)
            for number, each in enumerate(found, start=1)
        ]

    def mapping(self, key: str) -> dict[str, Any]:
        """Return a table as a dictionary."""
        return dict(self._typed(key, (dict,), "a table", {}))

    def names(self) -> tuple[str, ...]:
        """Return the keys that are there."""
        return tuple(self._content)

    def finish(self) -> None:
        """Refuse keys that were not read."""
        for key in self._content:
            if key not in self._known:
                self.choice("", key, what="a key here", allowed=dict.fromkeys(self._known))

    def _typed(self, key: str, kinds: tuple[type, ...], what: str, default: object) -> Any:  # noqa: ANN401
        found = self.value(key, default)
        if found is default:
            return found
        if not isinstance(found, kinds) or (isinstance(found, bool) and bool not in kinds):
            kind = _KINDS.get(type(found), "a date")
            raise self.fault(key, f"{_shown(found)} is {kind}; expected {what}", given=found)
        return found


def read_toml(file: Path) -> dict[str, Any]:
    """Read a study's file.

    Raises
    ------
    StudyError
        If it cannot be read, or is not TOML.
    """
    shown = str(file)
    try:
        return parse_toml(read_text(file))
    except OSError as error:
        raise StudyError(f"{shown}: cannot be read: {error.strerror or error}", place=shown) from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{shown}: is not text in UTF-8", place=shown) from error
    except TooDeepError as error:
        raise StudyError(f"{shown}: {error}", place=shown) from error
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{shown}: is not TOML: {error}", place=shown) from error


def _called(content: Mapping[str, Any], number: int) -> str:
    name = content.get("name")
    return name if isinstance(name, str) and name else str(number)


def _shown(value: object) -> str:
    text = repr(value)
    most = 60
    return text if len(text) <= most else f"{text[:most]} ..."

"""Objects by their names, with an error that says the nearest right name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from floodway.common.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["by_name", "value_of"]


class Named(Protocol):
    """An object with a name."""

    @property
    def name(self) -> str:
        """The name."""


NamedObject = TypeVar("NamedObject", bound=Named)
Value = TypeVar("Value")


def by_name(objects: Iterable[NamedObject], name: str, *, noun: str, key: str) -> NamedObject:
    """Return the object of a name; other names raise an `UnknownNameError`, as in `value_of`."""
    return value_of({candidate.name: candidate for candidate in objects}, name, noun=noun, key=key)


def value_of(values: Mapping[str, Value], name: str, *, noun: str, key: str) -> Value:
    """Return the value of a name.

    Parameters
    ----------
    values
        By their names.
    name
        One of these names.
    noun
        What the name is, with its article.
    key
        The error's `key`.

    Raises
    ------
    UnknownNameError
        If no value has this name; with all names and the nearest.
    """
    if name not in values:
        raise UnknownNameError.of_choice(name, noun=noun, allowed=values, key=key)
    return values[name]

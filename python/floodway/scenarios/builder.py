"""The base of the builders of `floodway.builders`: a table of a scenario as an object.

A builder's attributes are the keys of its table, with `_` for `-` and a trailing `_` for reserved
words of Python (`class_`, `from_`). An attribute that is `None` is left out: its key has the default.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from keyword import iskeyword
from numbers import Integral, Real
from os import PathLike, fspath
from typing import ClassVar, Self

from floodway.common.errors import InputError
from floodway.common.names import not_a_choice, printable

__all__ = ["Table", "attribute", "key", "plain"]


def attribute(key: str) -> str:
    """Return the attribute of a builder for a key.

    Examples
    --------
    >>> attribute("flow-control"), attribute("class")
    ('flow_control', 'class_')
    """
    name = key.replace("-", "_")
    return f"{name}_" if iskeyword(name) else name


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a scenario."""

    #: The name by which a choice has it: `{ tag = { … } }`.
    _tag: ClassVar[str | None] = None
    #: The choice is not a table but this attribute's value.
    _scalar: ClassVar[bool] = False

    @classmethod
    def from_dict(cls, keys: Mapping[str, object]) -> Self:
        """Return the builder of a table whose keys are spelled as scenarios spell them.

        Parameters
        ----------
        keys
            The keys of the table with their values, which may be builders.

        Returns
        -------
        Table
            The builder.

        Raises
        ------
        TypeError
            If the table has no such key, or one that it needs is missing.

        Examples
        --------
        >>> from floodway.builders import Burst
        >>> Burst.from_dict({"from": "h1", "to": "h2", "size": "1MB"}).from_
        'h1'
        """
        keys_by_field = {field.name: key(field.name) for field in fields(cls)}
        for name in keys:
            if attribute(name) not in keys_by_field:
                text, _ = not_a_choice(name, noun=f"a key of {cls.__name__}", allowed=keys_by_field.values())
                raise TypeError(text)
        return cls(**{attribute(name): value for name, value in keys.items()})

    def to_dict(self) -> dict[str, object]:
        """Return the table as a dictionary.

        Returns
        -------
        dict
            The keys of scenarios, without those whose attributes are `None`; tables are dictionaries.

        Examples
        --------
        >>> from floodway.builders import Pfc, XoffParts
        >>> Pfc(xoff=XoffParts(alpha=0.25)).to_dict()
        {'pfc': {'xoff': {'alpha': 0.25}}}
        """
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        keys = {key(name): plain(value) for name, value in values if value is not None}
        if self._tag is None:
            return keys
        return {self._tag: next(iter(keys.values())) if self._scalar else keys}


def plain(value: object, *, key_path: str = "") -> object:
    """Return a value with builders in it as dictionaries, lists, text, numbers and booleans.

    Raises
    ------
    InputError
        If it contains a value that a scenario cannot have; `key` is its path.
    """
    if isinstance(value, Table):
        value = value.to_dict()
    if isinstance(value, Mapping):
        return {str(name): plain(item, key_path=_below(key_path, str(name))) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [
            plain(item, key_path=_below(key_path, str(number))) for number, item in enumerate(value, start=1)
        ]
    return _scalar(value, key_path)


def _scalar(value: object, key_path: str) -> object:
    """Return a text, number or boolean, those of numpy and paths included."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    cls = value if isinstance(value, type) else type(value)
    bases = ("RateControl", "CongestionPoint")
    if any(
        base.__module__ == "floodway.scenarios.mechanisms" and base.__name__ in bases for base in cls.__mro__
    ):
        from floodway.scenarios.mechanisms import no_values  # noqa: PLC0415 (few scenarios have one)

        text = f"{printable(key_path) or 'the scenario'}: {no_values(cls, {})}"
        raise InputError(text, key=key_path, given=repr(value))
    allowed = "strings, numbers, true and false, lists, tables"
    text = f"{printable(key_path) or 'the scenario'}: {value!r} is not a valid value; allowed: {allowed}"
    raise InputError(text, key=key_path, given=repr(value))


def _below(key_path: str, name: str) -> str:
    return f"{key_path}.{name}" if key_path else name


def key(attribute: str) -> str:
    """Return the key of a scenario for an attribute of a builder."""
    return attribute.removesuffix("_").replace("_", "-")

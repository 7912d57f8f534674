"""Values as TOML text, as `--set` takes them."""

from __future__ import annotations

import json
import re

__all__ = ["plain", "toml_text"]


def toml_text(value: object) -> str:
    """Write a value as TOML does, in one line.

    Raises
    ------
    TypeError
        If TOML has no such value.

    Examples
    --------
    >>> toml_text({"pfc": {"xoff": "1MB", "resume-offset": 0}})
    '{ pfc = { xoff = "1MB", resume-offset = 0 } }'
    >>> toml_text(["a", 1.5, True])
    '["a", 1.5, true]'
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case int() | float():
            return repr(value)
        case list() | tuple():
            return f"[{', '.join(toml_text(each) for each in value)}]"
        case dict():
            pairs = ", ".join(f"{_key(key)} = {toml_text(each)}" for key, each in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case _:
            raise TypeError(f"{value!r} has no form in a scenario")


def plain(value: object) -> str:
    """Write a value as people name it: text without quotes, a whole number without its point.

    Examples
    --------
    >>> plain("80km"), plain(2.0), plain({"pfc": {}})
    ('80km', '2', '{ pfc = {} }')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return toml_text(value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)


def _quoted(text: str) -> str:
    """Quote text: JSON's escapes are TOML's, but for a character that JSON leaves as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

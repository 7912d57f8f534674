"""What a user's class says of itself: its page, and the meaning of its parameters."""

from __future__ import annotations

import inspect
import re

__all__ = ["documented"]

#: The section of a docstring that has parameters, in numpydoc's form.
_SECTION = re.compile(
    r"^(?:Parameters|Attributes)\n-{3,}\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", re.MULTILINE | re.DOTALL
)
#: A name of it, or several, perhaps with a type, above the indented meaning.
_ENTRY = re.compile(r"^([\w`*, -]+?)(?: *:[^\n]*)?\n((?:[ \t]+\S[^\n]*(?:\n|\Z)|\n(?=[ \t]))+)", re.MULTILINE)
#: An attribute of a class with a comment that documents it, in the lines above or behind it.
_COMMENTED = re.compile(
    r"((?:^[ \t]*#:[^\n]*\n)*)^[ \t]+(\w+)[ \t]*:(?!:)[^\n#]*(?:#:([^\n]*))?$", re.MULTILINE
)


def documented(cls: type, own: list[type]) -> tuple[str, dict[str, str]]:
    """Return the docstring of a class, and the meanings of its parameters by attribute.

    A section of the docstring that has nothing but parameters is left out of it.

    A meaning is what that section says of a parameter, or a comment that begins with `#:`, above the
    attribute or behind it.

    Parameters
    ----------
    cls
        The class.
    own
        The class and its bases that users wrote, the nearest first.
    """
    meanings: dict[str, str] = {}
    for each in reversed(own):
        meanings |= _of_comments(each)
        for section in _SECTION.findall(inspect.cleandoc(each.__doc__ or "")):
            meanings |= _of_section(section)
    names = {name for each in own for name in inspect.get_annotations(each)}

    def kept(found: re.Match[str]) -> str:
        return "" if set(_of_section(found[1])) <= names else found[0]

    return _SECTION.sub(kept, inspect.cleandoc(cls.__doc__ or "")).strip(), meanings


def _of_section(section: str) -> dict[str, str]:
    return {
        name.strip(" `*"): _line(text) for names, text in _ENTRY.findall(section) for name in names.split(",")
    }


def _of_comments(cls: type) -> dict[str, str]:
    try:
        source = inspect.getsource(cls)
    except (OSError, TypeError):
        return {}
    found = {}
    for above, name, behind in _COMMENTED.findall(source):
        text = _line(behind or re.sub(r"^[ \t]*#:", "", above, flags=re.MULTILINE))
        if text:
            found[name] = text
    return found


def _line(text: str) -> str:
    return " ".join(text.split())

"""Documentation of a user's class: its page, and the meanings of its parameters."""

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


def documented(cls: type, classes: list[type]) -> tuple[str, dict[str, str]]:
    """Return the docstring of a class, and the meanings of its parameters by attribute.

    A section of the docstring that only describes parameters is left out of it. A meaning is the text about a
    parameter in that section, or a comment that begins with `#:`, above the attribute or behind it.

    Parameters
    ----------
    cls
        The class.
    classes
        The class and its bases that users wrote, the nearest first.
    """
    meanings: dict[str, str] = {}
    for ancestor in reversed(classes):
        meanings |= _of_comments(ancestor)
        for section in _SECTION.findall(inspect.cleandoc(ancestor.__doc__ or "")):
            meanings |= _of_section(section)
    names = {name for ancestor in classes for name in inspect.get_annotations(ancestor)}

    def remaining(match: re.Match[str]) -> str:
        return "" if set(_of_section(match[1])) <= names else match[0]

    return _SECTION.sub(remaining, inspect.cleandoc(cls.__doc__ or "")).strip(), meanings


def _of_section(section: str) -> dict[str, str]:
    return {
        name.strip(" `*"): _line(text) for names, text in _ENTRY.findall(section) for name in names.split(",")
    }


def _of_comments(cls: type) -> dict[str, str]:
    try:
        source = inspect.getsource(cls)
    except (OSError, TypeError):
        return {}
    meanings = {}
    for above, name, behind in _COMMENTED.findall(source):
        text = _line(behind or re.sub(r"^[ \t]*#:", "", above, flags=re.MULTILINE))
        if text:
            meanings[name] = text
    return meanings


def _line(text: str) -> str:
    return " ".join(text.split())

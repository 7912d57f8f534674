"""Checks of a user's class by its code, and its documentation."""

from __future__ import annotations

import dis
import inspect
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType, TracebackType
from typing import TYPE_CHECKING, Any

from floodway.common.names import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["documented", "fault_of", "line_of", "own_frames", "refuse_callbacks", "refuse_keywords"]

#: Suffixes of units that users write in place of ours.
UNITS = ("bits", "bps", "byte", "bytes", "gbps", "kb", "kbps", "mbps", "ms", "ns", "packets", "ps", "s", "us")
#: Meanings of the attributes that are read after each call.
MEANINGS = {
    "rate_bps": "the pace, in bit/s",
    "window_bytes": "payload that may be in flight, in bytes",
    "timer_ps": "when to call on_timer, in picoseconds",
}
#: A name in a text such as `window_bytes = 'much': allowed: ...`, or `send_cnp: ...`.
SUBJECT = re.compile(r"(\w+)")


@dataclass
class _Use:
    """Attributes that the code of a class sets and reads."""

    #: File and line where a method first sets each attribute of its object.
    set_on_me: dict[str, tuple[str, int]] = field(default_factory=dict)
    #: Names of attributes that are set on any object, or read.
    set_anywhere: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    #: Whether attributes are set by names that the code computes.
    is_dynamic: bool = False


def refuse_callbacks(cls: type, methods: Sequence[str]) -> None:
    """Refuse callbacks that cannot be called like functions, and methods whose names are nearly a callback's.

    Raises
    ------
    TypeError
        If there is one; the text has the right form.
    """
    by_plain = {_plain(method): method for method in methods}
    for owner, attribute, value in _functions(cls):
        name = f"{owner.__name__}.{attribute}"
        if attribute in methods:
            if inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value):
                raise TypeError(
                    f"{name} is async: a callback is called and not awaited; write def {attribute}"
                )
            if inspect.isgeneratorfunction(value):
                raise TypeError(f"{name} has a yield, so a call runs none of its lines; write it without")
        elif not attribute.startswith("_"):
            near_name = by_plain.get(_plain(attribute))
            if (
                near_name is None
                and sorted(attribute) == sorted("start")
                and "start" not in {name for _, name, _ in _functions(cls)}
            ):
                near_name = "start"
            if near_name is not None:
                raise TypeError(f"{name} is never called; did you mean {near_name}?")


def refuse_keywords(
    cls: type, base: type, keywords: Mapping[str, object], allowed: Mapping[str, str]
) -> None:
    """Refuse keywords of a class definition that no base class knows.

    Parameters
    ----------
    cls
        The class.
    base
        The base class of floodway.
    keywords
        The keywords that are left over.
    allowed
        Names of keywords: of the base class with an empty text, of others with the reason why it has none.

    Raises
    ------
    TypeError
        If there is one.
    """
    others = (
        ancestor for ancestor in cls.__mro__ if not issubclass(ancestor, base) and ancestor is not object
    )
    if not keywords or any("__init_subclass__" in vars(ancestor) for ancestor in others):
        return
    keyword = next(iter(keywords))
    names = [name for name, why in allowed.items() if not why]
    why = allowed.get(keyword)
    near = nearest(keyword, names)
    hint = why or (f"did you mean {near}?" if near else "")
    raise TypeError(
        f"class {cls.__name__}(floodway.{base.__name__}, {keyword}=...): {keyword} is not a keyword of this "
        f"class; allowed: {', '.join(names)}{'; ' + hint if hint else ''}"
    )


def fault_of(cls: type, base: type, methods: Sequence[str], outputs: Sequence[str]) -> str | None:
    """Return the mistake that a class must contain; None if there is no sign of one.

    Only a scenario that chooses the class reports it: a base class of others need not be complete.

    Parameters
    ----------
    cls
        The class.
    base
        `RateControl` or `CongestionPoint`.
    methods
        Names of the methods that are called.
    outputs
        Names of the attributes that are read after each call.
    """
    called = [method for method in methods if getattr(cls, method) is not getattr(base, method)]
    overridden = [name for name in outputs if getattr(cls, name) is not getattr(base, name)]
    if not called and not overridden:
        functions = sorted(attribute for _, attribute, _ in _functions(cls) if not attribute.startswith("_"))
        has = f"; it has {', '.join(functions)}" if functions else ""
        return f"class {cls.__name__} overrides no method that is called; allowed: {', '.join(methods)}{has}"
    use = _use_of(cls)
    if use.is_dynamic:
        return None
    unset = [name for name in outputs if name not in overridden and name not in use.set_anywhere]
    has_effect = any(name != "timer_ps" and name not in unset for name in outputs)
    for name in unset:
        for attribute, place in _set_in(cls, use).items():
            is_in_vain = attribute not in use.read or (
                "on_timer" in called if name == "timer_ps" else not has_effect
            )
            if is_in_vain and _is_near(attribute, name):
                return (
                    f"class {cls.__name__} sets {attribute} ({place}) but never {name}, which is "
                    f"read instead ({MEANINGS[name]}): did you mean {name}? To keep {attribute}, begin it "
                    "with _"
                )
    if "on_timer" in called and "timer_ps" in unset:
        return f"class {cls.__name__} never sets timer_ps, so its on_timer is never called"
    return None


def line_of(cls: type, method: str, text: str) -> str | None:
    """Return the line of a class that an error without a traceback is about, as `FILE:LINE`.

    Parameters
    ----------
    cls
        The class.
    method
        The method that was called.
    text
        The error's text, which begins with the name of an attribute or method.
    """
    function = inspect.getattr_static(cls, method, None)
    if not isinstance(function, FunctionType):
        return None
    match = SUBJECT.match(text)
    subject = match[1] if match else method
    codes = [function.__code__, *(value.__code__ for _, _, value in _functions(cls))]
    for code in codes if subject != method else ():
        lines = list(_lines_using(code, subject))
        if lines:
            return f"{Path(code.co_filename).name}:{lines[-1]}"
    return f"{Path(function.__code__.co_filename).name}:{function.__code__.co_firstlineno}"


def own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of floodway and of imports."""
    package = str(Path(__file__).parents[1])
    chain: TracebackType | None = None
    frames: list[TracebackType] = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    for frame in reversed(frames):
        file = frame.tb_frame.f_code.co_filename
        if not file.startswith((package, "<frozen importlib")):
            chain = TracebackType(chain, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return chain


def _plain(name: str) -> str:
    """Return a name in one spelling: without case and underscores.

    >>> _plain("on_ack") == _plain("onAck")
    True
    """
    return name.replace("_", "").casefold()


def _user_classes(cls: type) -> list[type]:
    """Return the class and its bases without those of floodway, the nearest first."""
    return [
        ancestor
        for ancestor in cls.__mro__
        if ancestor is not object and ancestor.__module__ != "floodway.scenarios.mechanisms"
    ]


def _functions(cls: type) -> Iterator[tuple[type, str, FunctionType]]:
    for owner in _user_classes(cls):
        for attribute, value in vars(owner).items():
            function = _function(value)
            if function is not None:
                yield owner, attribute, function


def _function(value: object) -> FunctionType | None:
    """Return the function behind its decorators; None for values that are not functions."""
    function = inspect.unwrap(value) if callable(value) else None
    return function if isinstance(function, FunctionType) else None


def _use_of(cls: type) -> _Use:
    use = _Use()
    for owner in _user_classes(cls):
        use.is_dynamic |= "__setattr__" in vars(owner) or "__slots__" in vars(owner)
        for value in vars(owner).values():
            functions = [value.fget, value.fset] if isinstance(value, property) else [value]
            for function in filter(None, map(_function, functions)):
                _read_code(function.__code__, use)
    return use


def _read_code(code: CodeType, use: _Use) -> None:
    """Record the attributes that code sets and reads, functions in it included."""
    me = code.co_varnames[0] if code.co_argcount else None
    use.is_dynamic |= bool({"setattr", "__dict__", "vars"} & {*code.co_names})
    before = ""
    read_on_me: set[str] = set()
    for line, instruction in _instructions(code):
        name, argument = instruction.opname, instruction.argval
        if name == "STORE_ATTR":
            use.set_anywhere.add(argument)
            # An augmented assignment first reads the attribute from the same object.
            if before == "me" or (before == "SWAP" and argument in read_on_me):
                use.set_on_me.setdefault(argument, (Path(code.co_filename).name, line))
        elif name in {"LOAD_ATTR", "LOAD_METHOD"}:
            use.read.add(argument)
            if before in {"me", "COPY"}:
                read_on_me.add(argument)
        last = argument[-1] if isinstance(argument, tuple) and argument else argument
        is_me = name.startswith("LOAD_FAST") and me is not None and last == me
        # Of `self.x += 1` the object is copied first, and swapped to the top at last.
        before = "me" if is_me else name
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _read_code(constant, use)


def _instructions(code: CodeType) -> Iterator[tuple[int, dis.Instruction]]:
    """Yield the instructions of some code, each with its line, else with that of the one before."""
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if instruction.positions is not None and instruction.positions.lineno is not None:
            line = instruction.positions.lineno
        yield line, instruction


def _set_in(cls: type, use: _Use) -> dict[str, str]:
    """Return the attributes that a class sets, with where: in a method, or as one of its own, untyped."""
    places = {name: f"{file}:{line}" for name, (file, line) in use.set_on_me.items()}
    for owner in _user_classes(cls):
        typed: Mapping[str, Any] = inspect.get_annotations(owner)
        for name, value in vars(owner).items():
            if name not in typed and isinstance(value, int | float):
                places.setdefault(name, f"in class {owner.__name__}")
    return {name: place for name, place in places.items() if not name.startswith("_")}


def _lines_using(code: CodeType, name: str) -> Iterator[int]:
    """Find the lines of some code that set an attribute, or call a method, of this name."""
    for line, instruction in _instructions(code):
        sets = instruction.opname == "STORE_ATTR" or name.startswith("send_")
        if sets and instruction.argval == name:
            yield line


def _is_near(attribute: str, name: str) -> bool:
    """Whether an attribute is one of ours without its unit, with another unit, or misspelt.

    >>> [_is_near(each, "window_bytes") for each in ("window", "windowBytes", "window_kb", "windw_bytes")]
    [True, True, True, True]
    >>> [_is_near(each, "window_bytes") for each in ("max_window", "windows_seen", "packet")]
    [False, False, False]
    >>> _is_near("rate_gbps", "rate_bps"), _is_near("rtt_ps", "rate_bps"), _is_near("time_ps", "timer_ps")
    (True, False, True)
    """
    stem = name.rpartition("_")[0]
    units = {stem, *(f"{stem}_{unit}" for unit in UNITS)}
    most = 1 if len(name) < 10 else 2  # noqa: PLR2004 (letters)
    return attribute in units or _plain(attribute) == _plain(name) or _distance(attribute, name) <= most


def _distance(one: str, other: str) -> int:
    """Count the letters that are added, left out, changed or swapped between two words.

    >>> _distance("nedes", "needs"), _distance("need", "needs"), _distance("rtt_ps", "rate_bps")
    (1, 1, 3)
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        two_before, before, row = before, row, [i]
        for j, b in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, two_before[j - 2] + 1)
            row.append(cost)
    return row[-1]


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

"""Questions from files: a small `plan.toml`, whose keys have lines, or the links of a scenario."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from floodway.common.errors import PlanError, UnknownNameError
from floodway.common.files import TooDeepError, parse_toml, read_text
from floodway.common.names import not_a_choice
from floodway.planning.question import Question
from floodway.planning.units import size_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from floodway.scenarios.scenario import Scenario

__all__ = ["is_question", "question_of", "questions_of_scenario", "read_keys", "text_of"]

#: Keys of a question and what values they have.
KEYS: dict[str, type] = {
    **dict.fromkeys(("rate", "length", "buffer"), str),
    **dict.fromkeys(("links", "classes"), int),
    **dict.fromkeys(("mtu", "mix", "cell", "asic", "react", "interface-delay", "latency", "survive"), str),
}
#: One-way delay above which links are planned by default, us: those of a site are shorter.
LONG_US = 10.0
#: Of fibre.
METRES_PER_US = 200
#: The byte order mark that some editors put before a text in UTF-8.
BOM = "\ufeff"
#: Most lines that are tried as the begin of a key; some lie within longer texts.
MOST_TRIED = 20


def text_of(path: Path) -> str:
    """Return the text of a file without a byte order mark.

    Raises
    ------
    PlanError
        If it cannot be read.
    """
    file = str(path)
    try:
        return read_text(path).removeprefix(BOM)
    except OSError as error:
        raise PlanError(f"{file}: cannot be read: {error.strerror or error}", place=file) from None
    except UnicodeDecodeError:
        raise PlanError(f"{file}: is not text in UTF-8", place=file) from None


def is_question(path: Path) -> bool:
    """Whether a file asks for a plan, rather than being a scenario.

    Raises
    ------
    PlanError
        If it cannot be read.
    """
    return "topology" not in Keys.from_file(path).values


def read_keys(path: Path) -> Keys:
    """Return the keys of a `plan.toml`.

    Raises
    ------
    PlanError
        If it cannot be read, has another key, or a value of another kind.
    """
    keys = Keys.from_file(path)
    for key, value in keys.values.items():
        place = keys.place(key)
        if key not in KEYS:
            message, near = not_a_choice(key, noun="a key", allowed=KEYS)
            raise PlanError(f"{place}: {message}", place=place, key=key, given=key, nearest=near)
        if type(value) is not KEYS[key]:
            kind = "a text with a unit" if KEYS[key] is str else "a whole number"
            kinds: dict[type, str] = {dict: "a table", list: "a list"}
            value_kind = kinds.get(type(value), repr(value))
            text = f"{place}: {key}: {value_kind} is not {kind}"
            raise PlanError(text, place=place, key=key, given=value_kind)
    return keys


def question_of(keys: Mapping[str, Any], *, file: Keys | None = None) -> Question:
    """Return the question of these keys.

    Parameters
    ----------
    keys
        Values by key; those that are None are not given.
    file
        Keys of a file, which count where those are not given.

    Raises
    ------
    PlanError
        If rate or length is missing, or a value is not what it should be.
    UnknownNameError
        If no chip has the name of `asic`.
    """
    options = {key: value for key, value in keys.items() if value is not None}
    values = options if file is None else file.values | options
    for key, example in (("rate", "400G"), ("length", "40km")):
        if key not in values:
            option = f"--{key} {example}" if file is None else f'{key} = "{example}"'
            place = None if file is None else file.file
            text = f"{place}: {key} is missing" if place else f"{key} is missing"
            raise PlanError(f"{text}: give {option}", place=place, key=key)
    try:
        return Question.of(**{key.replace("-", "_"): value for key, value in values.items()})
    except (PlanError, UnknownNameError) as error:
        if file is None or error.key is None or error.key in options:
            raise
        place = file.place(error.key)
        facts: dict[str, Any] = {"key": error.key, "given": error.given, "nearest": error.nearest}
        raise type(error)(f"{place}: {error}", place=place, **facts) from None


def questions_of_scenario(
    scenario: Scenario, keys: Mapping[str, Any], kinds: Sequence[str] = ()
) -> dict[str, Question]:
    """Return the question of each kind of long link of a scenario, by name.

    What a kind has is taken from the scenario: rate, delay, MTU, how many there are, which may all end at one
    switch, the memory at their end, and the largest cell. `keys` come first.

    Raises
    ------
    PlanError
        If no kind has such a name, or none is long.
    """
    report: dict[str, Any] = scenario.check()
    links: list[dict[str, Any]] = report["links"]
    link_kinds = dict.fromkeys(link["kind"] for link in links)
    for kind in kinds:
        if kind not in link_kinds:
            message, near = not_a_choice(kind, noun="a kind of link", allowed=link_kinds)
            raise PlanError(f"kinds: {message}", key="kinds", given=kind, nearest=near)
    chosen = [link for link in links if (link["kind"] in kinds if kinds else link["delay_us"] > LONG_US)]
    if not chosen:
        text = f"no link is longer than {LONG_US:g} us: choose one of {', '.join(link_kinds)} by --kinds"
        raise PlanError(f"{scenario.name}: {text}", key="kinds")
    counts = Counter(link["kind"] for link in chosen)
    overrides = {key: value for key, value in keys.items() if value is not None}
    questions = {}
    for link in chosen:
        name = link["kind"] if counts[link["kind"]] == 1 else f"{link['kind']} {link['delay_us']:g}us"
        questions[name] = _of_link(scenario, report, link, overrides)
    return questions


def _of_link(
    scenario: Scenario, report: Mapping[str, Any], link: Mapping[str, Any], overrides: Mapping[str, Any]
) -> Question:
    ports = [port for port in report["ports"] if str(port["kind"]).endswith(f" from {link['kind']}")]
    classes = len({port["class"] for port in ports}) or 1
    usual: dict[str, Any] = {
        "rate": f"{round(link['rate_gbps'] * 1000)}M",
        "length": f"{max(1, round(link['delay_us'] * METRES_PER_US))}m",
        "mtu": f"{report['mtu_bytes']}B",
        "links": link["count"],
        "classes": classes,
    }
    memory = _memory(report, ports, overrides.get("links", link["count"]) * overrides.get("classes", classes))
    if memory:
        usual["buffer"] = f"{memory}B"
    cells = _cells(scenario)
    if cells and "asic" not in overrides:
        usual["cell"] = max(cells, key=lambda text: size_of(text, "cell"))
    question = question_of({**usual, **overrides})
    # The delay is the scenario's own, to the picosecond.
    exact = round(link["delay_us"] * 1_000_000)
    return question if "length" in overrides else replace(question, delay_ps=exact)


def _memory(report: Mapping[str, Any], ports: Sequence[Mapping[str, Any]], count: int) -> int:
    """Return the memory at the links' end: buffers of their own, or the switch's pool; 0 if there is none."""
    buffer_bytes = max((port["buffer_bytes"] or 0 for port in ports), default=0)
    if buffer_bytes:
        return int(buffer_bytes) * count
    kinds = {str(port["kind"]).partition(" from ")[0] for port in ports}
    return max((int(pool["pool_bytes"]) for pool in report["pools"] if pool["kind"] in kinds), default=0)


def _cells(scenario: Scenario) -> list[str]:
    """Return the cells that a scenario writes, whatever they are for."""
    written: dict[str, Any] = scenario.to_dict()
    tables = [written.get("defaults", {}), *written.get("override", [])]
    return [str(table["cell"]) for table in tables if "cell" in table]


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
        text = text_of(path)
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

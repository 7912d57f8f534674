"""Questions from files: a small `plan.toml`, or the links of a scenario."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from floodway.errors import PlanError
from floodway.files import read_text
from floodway.names import not_a_choice
from floodway.planning.question import Question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from floodway.scenarios import Scenario

__all__ = ["KEYS", "is_question", "question_of", "questions_of_scenario", "read_keys"]

#: Keys of a question and what values they have.
KEYS: dict[str, type] = {
    "rate": str,
    "length": str,
    "buffer": str,
    "links": int,
    "classes": int,
    "mtu": str,
    "mix": str,
    "cell": str,
    "asic": str,
    "react": str,
    "latency": str,
}
#: Where nothing is selected, links with a longer one-way delay are planned, us: those of a site are shorter.
LONG_US = 10.0


def is_question(path: Path) -> bool:
    """Whether a file asks for a plan, rather than being a scenario.

    Raises
    ------
    PlanError
        If it cannot be read.
    """
    return "topology" not in _tables(path)


def read_keys(path: Path) -> dict[str, Any]:
    """Return the keys of a `plan.toml`.

    Raises
    ------
    PlanError
        If it cannot be read, has another key, or a value of another kind.
    """
    tables = _tables(path)
    for key, value in tables.items():
        if key not in KEYS:
            message, near = not_a_choice(key, what="a key", allowed=KEYS)
            raise PlanError(f"{path}: {message}", place=str(path), key=key, given=key, nearest=near)
        if type(value) is not KEYS[key]:
            wanted = "a text with a unit" if KEYS[key] is str else "a whole number"
            text = f"{path}: {key}: {value!r} is not {wanted}"
            raise PlanError(text, place=str(path), key=key, given=str(value))
    return tables


def question_of(keys: Mapping[str, Any], *, place: str = "") -> Question:
    """Return the question of these keys.

    Parameters
    ----------
    keys
        Values by key; those that are None are not given.
    place
        The file that they are from; empty for the command line.

    Raises
    ------
    PlanError
        If rate or length is missing, or a value is not what it should be.
    UnknownNameError
        If no chip has the name of `asic`.
    """
    given = {key: value for key, value in keys.items() if value is not None}
    at = f"{place}: " if place else ""
    for key, example in (("rate", "400G"), ("length", "40km")):
        if key not in given:
            option = f'{key} = "{example}"' if place else f"--{key} {example}"
            raise PlanError(f"{at}{key} is missing: give {option}", place=place or None, key=key)
    try:
        return Question.of(**given)
    except PlanError as error:
        raise PlanError(f"{at}{error}", place=place or None, key=error.key, given=error.given) from None


def questions_of_scenario(
    scenario: Scenario, keys: Mapping[str, Any], kinds: Sequence[str] = ()
) -> dict[str, Question]:
    """Return the question of each kind of long link of a scenario, by the kind's name.

    What a kind has is taken from the scenario: rate, delay, MTU, its number at one switch, its own buffer and
    the cell. `keys` come first.

    Raises
    ------
    PlanError
        If no kind has such a name, or none is long.
    """
    report: dict[str, Any] = scenario.check()
    found = {link["kind"]: link for link in report["links"]}
    for kind in kinds:
        if kind not in found:
            message, near = not_a_choice(kind, what="a kind of link", allowed=found)
            raise PlanError(f"kinds: {message}", key="kinds", given=kind, nearest=near)
    long = [kind for kind, link in found.items() if link["delay_us"] > LONG_US]
    chosen = list(kinds) or long
    if not chosen:
        text = f"no link is longer than {LONG_US:g} us: choose one of {', '.join(found)} by --kinds"
        raise PlanError(f"{scenario.name}: {text}", key="kinds")
    return {kind: _of_kind(report, found[kind], keys, kind) for kind in chosen}


def _of_kind(
    report: Mapping[str, Any], link: Mapping[str, Any], keys: Mapping[str, Any], kind: str
) -> Question:
    metres = max(1, round(link["delay_us"] * 200))
    ports = [port for port in report["ports"] if str(port["kind"]).endswith(f" from {kind}")]
    own = max((port["buffer_bytes"] or 0 for port in ports), default=0)
    classes = len({port["class"] for port in ports}) or 1
    given = {key: value for key, value in keys.items() if value is not None}
    links = given.get("links", _at_one_node(report, link, ports))
    usual: dict[str, Any] = {
        "rate": f"{round(link['rate_gbps'] * 1000)}M",
        "length": f"{metres}m",
        "mtu": f"{report['mtu_bytes']}B",
        "links": links,
        "classes": classes,
    }
    if own:
        usual["buffer"] = f"{own * links * classes}B"
    found = question_of(usual | given)
    # The delay is the scenario's own, to the picosecond.
    exact = round(link["delay_us"] * 1_000_000)
    return found if "length" in given else replace(found, delay_ps=exact)


def _at_one_node(
    report: Mapping[str, Any], link: Mapping[str, Any], ports: Sequence[Mapping[str, Any]]
) -> int:
    """Return how many links of a kind end at a switch: its ports over the switches of that kind."""
    nodes = Counter({node["kind"]: node["count"] for node in report["nodes"]})
    most = 1
    for port in ports:
        count = nodes[str(port["kind"]).partition(" from ")[0]]
        most = max(most, -(-port["count"] // count) if count else 1)
    return min(most, int(link["count"]))


def _tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except OSError as error:
        text = f"{path}: cannot be read: {error.strerror or error}"
        raise PlanError(text, place=str(path)) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{path}: not TOML: {error}", place=str(path)) from None

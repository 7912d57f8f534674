"""Builds of other simulators: the folder that `FLOODWAY_PEERS` names, and its manifest `peers.toml`."""

from __future__ import annotations

import os
import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway.common.errors import FloodwayError, InputError
from floodway.common.names import not_a_choice
from floodway_lab.bench.model import Peer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["MANIFEST", "PEERS", "VARIABLE", "called", "folder_of_peers", "manifest"]

VARIABLE, MANIFEST = "FLOODWAY_PEERS", "peers.toml"
#: Keys of a manifest.
PEERS = ("htsim", "hpcc-ns3")
REQUIRED = ("name", "program", "version", "commit", "flags")
KEYS = (*REQUIRED, "command")
PLACES = ("program", "folder", "arguments")
COMMAND = "{program} {arguments}"
HELP = f"""{VARIABLE} is not set. It names a folder with builds of other simulators:
  DIR/{MANIFEST}   which there are: a [[peer]] each, with {", ".join(REQUIRED)}
  DIR/...          the builds, where {MANIFEST} says
docs/peers.md tells how to build them. Then: make bench-peers {VARIABLE}=DIR"""


def folder_of_peers() -> Path:
    """Return the folder of the builds.

    Raises
    ------
    FloodwayError
        The environment does not name it.
    """
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise FloodwayError(HELP)
    return Path(folder).resolve()


def manifest(folder: Path) -> dict[str, Peer]:
    """Return the builds of a folder by the names of the simulators.

    Raises
    ------
    InputError
        The manifest is missing or invalid.
    """
    file = folder / MANIFEST
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{file} is missing: docs/peers.md says what it holds", place=str(file)) from error
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: {error}", place=str(file)) from error
    _refuse_unknown(file, document, allowed=("peer",), at="")
    tables = document.get("peer")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise _fault(file, "peer", "needs a [[peer]] for each simulator", given=tables)
    peers: dict[str, Peer] = {}
    for number, table in enumerate(tables, start=1):
        peer = _peer(file, table, at=f"peer[{number}]")
        if peer.name in peers:
            raise _fault(file, f"peer[{number}].name", "is there twice", given=peer.name)
        peers[peer.name] = peer
    return peers


def _peer(file: Path, table: Mapping[str, Any], *, at: str) -> Peer:
    _refuse_unknown(file, table, allowed=KEYS, at=f"{at}.")
    for key in REQUIRED:
        if key not in table:
            raise _fault(file, f"{at}.{key}", "is missing", given=None)
    for key, value in table.items():
        if not isinstance(value, str) or not value:
            raise _fault(file, f"{at}.{key}", "must be a text", given=value)
    if table["name"] not in PEERS:
        text, near = not_a_choice(table["name"], noun="a simulator of the pairs", allowed=PEERS)
        raise _fault(file, f"{at}.name", text, given=table["name"], allowed=PEERS, nearest=near)
    peer = Peer(
        **{"command": COMMAND, **table, "program": file.parent / table["program"], "folder": file.parent}
    )
    _check_template(file, peer, at=f"{at}.command")
    return peer


def _check_template(file: Path, peer: Peer, *, at: str) -> None:
    try:
        called(peer, [])
    except (KeyError, IndexError, ValueError) as error:
        text = f"{peer.command!r} is not a template of {_names(PLACES)}: {error}"
        raise _fault(file, at, text, given=peer.command, allowed=PLACES) from error


def called(peer: Peer, arguments: Sequence[str]) -> list[str]:
    """Return the command of a build with arguments in it."""
    text = peer.command.format(
        program=shlex.quote(str(peer.program)),
        folder=shlex.quote(str(peer.folder)),
        arguments=shlex.join(arguments),
    )
    return shlex.split(text)


def _refuse_unknown(file: Path, table: Mapping[str, Any], *, allowed: Sequence[str], at: str) -> None:
    for key in table:
        if key not in allowed:
            text, near = not_a_choice(key, noun="a key", allowed=allowed)
            raise _fault(file, f"{at}{key}", text, given=key, allowed=allowed, nearest=near)


def _names(places: Sequence[str]) -> str:
    return ", ".join(f"{{{place}}}" for place in places)


def _fault(  # noqa: PLR0913 (the parts of a fault)
    file: Path,
    key: str,
    text: str,
    *,
    given: object,
    allowed: Sequence[str] = (),
    nearest: str | None = None,
) -> InputError:
    shown = f", not {given!r}" if given is not None and repr(given) not in text else ""
    return InputError(
        f"{file}: {key}: {text}{shown}",
        place=str(file),
        key=key,
        given=None if given is None else str(given),
        allowed=tuple(allowed),
        nearest=nearest,
    )

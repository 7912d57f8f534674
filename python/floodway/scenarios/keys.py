"""Keys of runs: a hash of everything that decides a result.

That is the resolved scenario, the bytes of every file that it reads, the code of its mechanisms in Python,
the seed, and the engine. Names of files and lines of settings are not in it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway import _floodway
from floodway.scenarios.own_code import chosen_digests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from floodway.scenarios.scenario import Scenario

__all__ = ["engine", "files_of", "key_of", "written_key_of"]

#: Version of the format of stored runs, which is a part of the key.
FORMAT = 2
#: Keys of a scenario that do not change its result.
DESCRIPTIVE_KEYS = ("name", "file", "description")
#: Letters of the key of a scenario as written: 128 bits.
WRITTEN = 32


def key_of(scenario: Scenario, folder: Path) -> str:
    """Return the key under which a run of a scenario is stored.

    Parameters
    ----------
    scenario
        The scenario, with its seed.
    folder
        Folder that relative paths start from.
    """
    resolved = _without_paths(scenario.resolved())
    content = resolved["scenario"]
    parts = {
        "format": FORMAT,
        "engine": engine(),
        "seed": scenario.seed,
        "files": _digests(files_of(content, folder)),
        **{key: value for key, value in resolved.items() if key not in DESCRIPTIVE_KEYS},
        "scenario": {key: value for key, value in content.items() if key not in DESCRIPTIVE_KEYS},
    }
    code = chosen_digests(resolved)
    if code:
        parts["code"] = code
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def written_key_of(scenario: Scenario, folder: Path) -> str:
    """Return a hash of a scenario as it is written, without its seed and without the engine.

    Runs with the same hash and the same seed are the same experiment in every version of floodway, although
    a version may add settings, change their defaults, or simulate it otherwise.

    Parameters
    ----------
    scenario
        The scenario, with any seed.
    folder
        Folder that relative paths start from.
    """
    content = scenario.to_dict()
    parts = {
        "files": _digests(files_of(content, folder)),
        "code": chosen_digests(scenario.resolved()),
        "scenario": {key: value for key, value in content.items() if key not in (*DESCRIPTIVE_KEYS, "seed")},
    }
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:WRITTEN]


@cache
def engine() -> str:
    """Return the engine's identity: the package's version, and a hash of the native module as built."""
    # An environment without the file, such as a frozen one, has its version alone.
    with contextlib.suppress(OSError, TypeError):
        return f"{_floodway.__version__}+{_digest(Path(_floodway.__file__))[:16]}"
    return _floodway.__version__


def _without_paths(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """Leave out files and lines of settings."""
    if isinstance(value, dict):
        return {
            key: _without_paths(inner)
            for key, inner in value.items()
            if not (key == "origin" and "key" in value and "value" in value)
        }
    return [_without_paths(inner) for inner in value] if isinstance(value, list) else value


def files_of(value: Any, folder: Path) -> dict[str, Path | tuple[Path, ...]]:  # noqa: ANN401 (any JSON value)
    """Return every file that a scenario names, by the text that names it; of a folder, the traces in it.

    Every text is tried as a path, whatever its key; so a word that happens to be a file's name is included.

    Parameters
    ----------
    value
        The scenario, as dictionaries and lists.
    folder
        Folder that relative paths start from.
    """
    return dict(_files(value, folder))


def _digests(files: Mapping[str, Path | tuple[Path, ...]]) -> dict[str, str]:
    """Hash every file: those of a folder by the folder's text and their names."""
    digests: dict[str, str] = {}
    for text, paths in files.items():
        if isinstance(paths, Path):
            digests[text] = _digest(paths)
        else:
            digests |= {f"{text}/{path.name}": _digest(path) for path in paths}
    return digests


def _files(value: Any, folder: Path) -> Iterator[tuple[str, Path | tuple[Path, ...]]]:  # noqa: ANN401 (any JSON value)
    inner: Iterable[Any] = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    for part in inner:
        yield from _files(part, folder)
    if isinstance(value, str) and value:
        path = folder / re.sub(r"\$\{([^}]*)\}", lambda match: os.environ.get(match[1], ""), value)
        with contextlib.suppress(OSError, ValueError):
            if path.is_file():
                yield value, path
            elif path.is_dir():
                # Chakra's traces are a folder with a file for each rank.
                traces = tuple(sorted(file for file in path.glob("*.et") if file.is_file()))
                if traces:
                    yield value, traces


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

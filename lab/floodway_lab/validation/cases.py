"""Cases of a folder: configurations of the HPCC simulator or of ConWeave's, with their results."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway.common.names import nearest
from floodway_lab.validation.files import fields_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Case", "cases_of"]

CONFIGS = "config*.txt"
#: Modes of the simulator whose senders react to marks: DCQCN and DCTCP.
MARKED_MODES = (1, 8)
#: The first characters of values that are not names of files: numbers, rates and durations.
NUMERIC = "0123456789.+-"
#: The file that lists the paths of flows.
PATHS_FILE = "paths.txt"
#: Names of output files that stand for no file.
NOWHERE = ("/dev/null",)
#: A set of the simulator's maps has a count and pairs of rate and value.
_PAIRED = 2


@dataclass(frozen=True, kw_only=True)
class Case:
    """One configuration with its reference.

    Attributes
    ----------
    name
        The folder's name.
    tag
        The tag of the configuration: the part of the file's name after `config_`.
    config
        The configuration.
    marks
        Whether switches draw at random which packets they mark, and senders react to marks.
    pinned
        Whether every flow's path is known: there is one way only between any two nodes, or the paths are
        listed beside the configuration or its flows.
    flows
        The reference's completion times.
    pauses, queues
        Its PFC frames, and its histogram of queues; `None` where there is no such file.
    cnps
        Its counts of CNPs, which ConWeave's simulator writes.
    """

    name: str
    tag: str
    config: Path
    marks: bool
    pinned: bool
    flows: Path
    pauses: Path | None
    queues: Path | None
    cnps: Path | None = None

    @property
    def label(self) -> str:
        """Name and tag."""
        return f"{self.name}/{self.tag}"


def cases_of(folder: str | os.PathLike[str]) -> tuple[Case, ...]:
    """Find the cases of a folder: its own, or those of the folders in it, in the order of their names.

    Raises
    ------
    ValidationError
        If there are none, a configuration is invalid, or one lacks the reference's completion times.
    """
    root = Path(folder)
    if not root.is_dir():
        near = nearest(root.name, _folders(root.resolve().parent))
        hint = f"; did you mean {root.parent / near}?" if near and not root.exists() else ""
        problem = "is not a folder" if root.exists() else "no such folder"
        raise ValidationError(f"{root}: {problem}{hint}", place=os.fspath(root), nearest=near)
    case_folders = [root] if _configs(root) else [root / name for name in _folders(root)]
    cases = tuple(
        _case(case_folder, config) for case_folder in case_folders for config in _configs(case_folder)
    )
    if not cases:
        form = "config_TAG.txt beside fct_TAG.txt, or tables of times of jobs, such as astra-times.tsv"
        raise ValidationError(
            f"{root}: contains no case, neither directly nor in its folders: expected {form}",
            place=os.fspath(root),
        )
    return cases


def _folders(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    except OSError:
        return []


def _configs(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob(CONFIGS) if file.is_file())


def _case(folder: Path, config: Path) -> Case:
    keys = _keys(config)
    tag = config.stem.removeprefix("config").lstrip("_") or "config"
    flows = _file(folder, keys.get("FCT_OUTPUT_FILE", ()), f"fct_{tag}.txt")
    if flows is None:
        file_name = " ".join(keys.get("FCT_OUTPUT_FILE", ()))
        sought = " nor ".join(dict.fromkeys(filter(None, (Path(file_name).name, f"fct_{tag}.txt"))))
        message = f"{config}: the reference's completion times are missing: {sought} is not beside it"
        raise ValidationError(message, place=os.fspath(config), key="FCT_OUTPUT_FILE", given=file_name)
    return Case(
        name=folder.resolve().name,
        tag=tag,
        config=config,
        marks=_marks(config, keys),
        pinned=_pinned(folder, keys),
        flows=flows,
        pauses=_file(folder, keys.get("PFC_OUTPUT_FILE", ()), f"pfc_{tag}.txt"),
        queues=_file(folder, keys.get("QLEN_MON_FILE", ()), f"qlen_{tag}.txt"),
        cnps=_file(folder, keys.get("CNP_OUTPUT_FILE", ()), f"cnp_{tag}.txt"),
    )


def _keys(config: Path) -> Mapping[str, Sequence[str]]:
    """Read a configuration: lines of a key and its values; of several lines of a key the last counts."""
    keys: dict[str, Sequence[str]] = {}
    for line, (key, *values) in fields_of(config):
        at = f"{config}:{line}"
        if not (key[0].isalpha() and key.replace("_", "").isalnum() and key.isupper()):
            raise ValidationError(f"{at}: {key!r} is not a key of the HPCC simulator", place=at, given=key)
        if not values:
            raise ValidationError(f"{at}: {key} has no value", place=at, key=key)
        if not key.endswith("_FILE") and not all(value[0] in NUMERIC for value in values):
            text = " ".join(values)
            raise ValidationError(
                f"{at}: {key}: expected a number, got {text}", place=at, key=key, given=text
            )
        keys[key] = values
    return keys


def _file(folder: Path, values: Sequence[str], else_called: str) -> Path | None:
    """Find a file of a configuration: at the path that it names, beside it, or by its usual name."""
    names = [name for name in values[:1] if name not in NOWHERE]
    candidates: Iterable[Path] = [
        *(folder / name for name in names),
        *(folder / Path(name).name for name in names),
        folder / else_called,
    ]
    return next((file for file in candidates if file.is_file()), None)


def _pinned(folder: Path, keys: Mapping[str, Sequence[str]]) -> bool:
    """Return whether no hash chooses paths; faults of the topology are reported by the import."""
    flows = folder / Path(*keys.get("FLOW_FILE", ("flow.txt",))[:1])
    if any((near / PATHS_FILE).is_file() for near in (folder, flows.parent)):
        return True
    topology = _file(folder, keys.get("TOPOLOGY_FILE", ()), "topology.txt")
    try:
        _, first = next(fields_of(topology)) if topology is not None else (0, [])
        nodes, _, links = (int(field) for field in first)
    except (ValidationError, StopIteration, ValueError):
        return False
    return links < nodes


def _marks(config: Path, keys: Mapping[str, Sequence[str]]) -> bool:
    """Return whether some port marks at random: it does between two thresholds that differ."""
    mode = _whole(config, "CC_MODE", keys.get("CC_MODE", ("1",)))[0]
    enabled = _whole(config, "ENABLE_QCN", keys.get("ENABLE_QCN", ("1",)))[0]
    low, high = (_map(config, key, keys.get(key, ("0",))) for key in ("KMIN_MAP", "KMAX_MAP"))
    return bool(enabled) and mode in MARKED_MODES and low != high


def _map(config: Path, key: str, fields: Sequence[str]) -> Mapping[int, int]:
    count, *values = _whole(config, key, fields)
    if len(values) != _PAIRED * count:
        message = f"{config}: {key}: expected {_PAIRED * count} values after its count, got {len(values)}"
        raise ValidationError(message, place=os.fspath(config), key=key)
    return dict(zip(values[::2], values[1::2], strict=True))


def _whole(config: Path, key: str, fields: Sequence[str]) -> list[int]:
    try:
        return [int(field) for field in fields]
    except ValueError:
        message = f"{config}: {key}: expected whole numbers, got {' '.join(fields)}"
        raise ValidationError(message, place=os.fspath(config), key=key, given=" ".join(fields)) from None

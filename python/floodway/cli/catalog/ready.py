"""Ready scenarios of the repository."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from floodway.common.errors import UnknownNameError
from floodway.common.files import parse_toml, read_text
from floodway.common.ready import FOLDER

__all__ = ["ReadyScenario", "ready_scenarios"]


@dataclass(frozen=True, kw_only=True)
class ReadyScenario:
    """A scenario that is ready to run.

    Attributes
    ----------
    file
        Path of the file.
    description
        Purpose of the scenario.
    """

    file: Path
    description: str


def ready_scenarios(folder: Path | None = None) -> tuple[ReadyScenario, ...]:
    """Return the scenarios in a folder and its subfolders.

    The default is `scenarios/` in the working folder, or if there is none, that of the package.

    Raises
    ------
    UnknownNameError
        If there is no such folder, or no file of TOML in it.
    """
    candidates = [folder] if folder is not None else [Path("scenarios"), FOLDER / "scenarios"]
    for candidate in candidates:
        if candidate.is_dir():
            files = sorted(candidate.rglob("*.toml"))
            if not files and folder is not None:
                message = f"{str(folder)!r} has no scenarios: no file there ends in .toml"
                raise UnknownNameError(message, given=str(folder))
            return tuple(map(_ready, files))
    shown = " or ".join(str(candidate) for candidate in candidates)
    raise UnknownNameError(f"{shown!r} is not a folder of scenarios", given=shown)


def _ready(file: Path) -> ReadyScenario:
    try:
        description = parse_toml(read_text(file)).get("description", "")
    except (OSError, ValueError) as error:
        description = f"cannot be read: {error}"
    return ReadyScenario(file=file, description=" ".join(str(description).split()))

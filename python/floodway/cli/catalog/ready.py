"""Ready scenarios of the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.errors import UnknownNameError
from floodway.common.files import parse_toml, read_text
from floodway.common.ready import root_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ready_scenarios"]


def ready_scenarios(folder: Path | None = None) -> tuple[tuple[Path, str], ...]:
    """Return the files of the scenarios in a folder and its subfolders, each with its description.

    The default is `scenarios/` in the working folder, or if there is none, that of the package.

    Raises
    ------
    UnknownNameError
        If there is no such folder, or no file of TOML in it.
    """
    files = sorted(root_of("scenarios", folder).rglob("*.toml"))
    if not files and folder is not None:
        message = f"{str(folder)!r} has no scenarios: no file there ends in .toml"
        raise UnknownNameError(message, given=str(folder))
    return tuple((file, _description(file)) for file in files)


def _description(file: Path) -> str:
    try:
        description = parse_toml(read_text(file)).get("description", "")
    except (OSError, ValueError) as error:
        description = f"cannot be read: {error}"
    return " ".join(str(description).split())

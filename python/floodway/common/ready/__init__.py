"""Scenarios and studies that are part of the package: files in a wheel, links in a clone."""

from __future__ import annotations

from pathlib import Path

from floodway.common.errors import UnknownNameError

__all__ = ["FOLDER", "resolved", "root_of", "shown"]

#: The folder that has `scenarios/` and `studies/`.
FOLDER = Path(__file__).parent


def resolved(path: Path) -> Path:
    """Return the path of a file: of the package's own where `scenarios/...` or `studies/...` is not here.

    Examples
    --------
    >>> resolved(Path("mine.toml")).name, resolved(Path("scenarios/demo.toml")).is_file()
    ('mine.toml', True)
    """
    packaged = FOLDER / path
    is_own = path.parts[:1] in {("scenarios",), ("studies",)} and ".." not in path.parts
    return packaged if is_own and not path.exists() and packaged.is_file() else path


def shown(path: Path) -> Path:
    """Return a path as `resolved` takes it: short where it is the package's own.

    Examples
    --------
    >>> shown(FOLDER / "scenarios" / "demo.toml").as_posix()
    'scenarios/demo.toml'
    """
    return path.relative_to(FOLDER) if path.is_relative_to(FOLDER) else path


def root_of(kind: str, folder: Path | None) -> Path:
    """Return a folder of `scenarios` or `studies`: by default the one here, else the package's own.

    Raises
    ------
    UnknownNameError
        If there is no such folder.
    """
    candidates = [folder] if folder is not None else [Path(kind), FOLDER / kind]
    root = next((candidate for candidate in candidates if candidate.is_dir()), None)
    if root is None:
        names = " or ".join(f"{str(candidate)!r}" for candidate in candidates)
        raise UnknownNameError(f"{names} is not a folder of {kind}", given=names)
    return root

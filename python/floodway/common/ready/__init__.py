"""Scenarios and studies that are part of the package: files in a wheel, links in a clone."""

from __future__ import annotations

from pathlib import Path

__all__ = ["FOLDER", "resolved", "shown"]

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

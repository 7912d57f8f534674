"""Python files that users name, executed as modules that replace no other module."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from importlib.machinery import PathFinder
from pathlib import Path

__all__ = ["execute", "neighbours_digest"]

#: Packages whose files are not a part of a user's code.
PACKAGES = ("floodway", "floodway_lab")


def execute(path: Path) -> None:
    """Execute a file as a module; it can import modules beside it.

    Its folder is searched last: a file called `random.py` or `numpy.py` replaces neither Python's own module
    nor that of a package. Such a file itself becomes a module with a name that nothing imports.

    Parameters
    ----------
    path
        The file, resolved; it ends with .py.

    Raises
    ------
    Exception
        Any exception that the file raises.
    """
    folder, name = str(path.parent), _module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # noqa: PT018, S101 (by its ending)
    module = importlib.util.module_from_spec(spec)
    if folder not in sys.path:
        sys.path.append(folder)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _module_name(path: Path) -> str:
    """Return the name of a file's module: its stem, unless that is the name of another module.

    >>> _module_name(Path("/nowhere/my_control.py"))
    'my_control'
    >>> _module_name(Path("/nowhere/random.py")).startswith("random_")
    True
    """
    stem = path.stem
    is_other = stem in sys.modules or stem in sys.stdlib_module_names or _is_found_elsewhere(stem, path)
    return f"{stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}" if is_other else stem


def _is_found_elsewhere(stem: str, path: Path) -> bool:
    # Not all folders have a loader, and not every stem is a name.
    spec = PathFinder.find_spec(stem) if stem.isidentifier() else None
    return spec is not None and (spec.origin is None or Path(spec.origin).resolve() != path)


def neighbours_digest(path: Path) -> str:
    """Hash a file and the modules that it imported from its folder, installed packages excepted."""
    folder = path.parent
    files = {
        Path(file)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] not in PACKAGES and (file := getattr(module, "__file__", None))
    }
    neighbours = sorted(
        file for file in files if file.is_relative_to(folder) and "site-packages" not in file.parts
    )
    code = hashlib.sha256()
    for file in neighbours:
        if file.is_file():
            code.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes())
    return code.hexdigest()

"""The native module: floodway's own, or that of an extension, which adds mechanisms.

An extension is a module `floodway_extensions.NAME`: the whole native module, built together with mechanisms
of a crate outside this repository. An installed extension replaces floodway's own native module.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["installed", "native"]

#: Extensions are modules of this package, which has no owner.
FOLDER = "floodway_extensions"
#: The name of the native module, in floodway and in extensions.
NATIVE = "floodway._floodway"
#: The version of this half: the other must be of the same.
VERSION = "0.2.0"


def native() -> ModuleType:
    """Return the native module; the first call of a process decides which one that is.

    Raises
    ------
    InputError
        If there are several extensions, or one that does not fit.
    """
    module = sys.modules.get(NATIVE)
    if module is not None:
        return module
    extension = installed()
    module = import_module(NATIVE) if extension is None else _loaded(extension)
    sys.modules[NATIVE] = module
    setattr(sys.modules["floodway"], "_floodway", module)  # noqa: B010 (it is no name that the package says)
    return module


def installed() -> str | None:
    """Return the name of the extension that is installed, if there is one.

    Raises
    ------
    InputError
        If there are several.
    """
    package = find_spec(FOLDER)
    if package is None or package.submodule_search_locations is None:
        return None
    names = sorted({module.name for module in iter_modules(package.submodule_search_locations)})
    if len(names) > 1:
        from floodway.common.errors import InputError  # noqa: PLC0415 (rarely needed)

        raise InputError(
            f"two extensions of floodway are installed, {' and '.join(names)}, and a process can have one: "
            "uninstall one, or build one crate that registers the mechanisms of both"
        )
    return names[0] if names else None


def _loaded(name: str) -> ModuleType:
    from floodway.common.errors import InputError  # noqa: PLC0415 (rarely needed)

    try:
        module = import_module(f"{FOLDER}.{name}")
    except ImportError as error:
        raise InputError(
            f"the extension {name} cannot be loaded: {error}; uninstall it or build it again"
        ) from error
    for attribute in ("run", "parse_text", "__version__"):
        if not hasattr(module, attribute):
            text = (
                f"{name} is not an extension: it has no {attribute}; an extension's module calls `extension`"
            )
            raise InputError(text)
    if module.__version__ != VERSION:
        raise InputError(
            f"the extension {name} was built with floodway {module.__version__}, and this is {VERSION}: "
            "build it again"
        )
    return module

"""Code of users: the code that a run used, and checks that it is unchanged.

Nearly every run has none; so this module imports nothing that only such code needs.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway.common.extensions import FOLDER, native

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["changed", "chosen_digests", "code_of", "known_digests", "meanings_of", "missing", "warn_of_older"]

#: The module that knows the classes; it is imported when one is defined.
MECHANISMS = "floodway.scenarios.mechanisms"


def known_digests() -> dict[str, str]:
    """Return digests of the code of each class in Python that is known now, by slot and name."""
    module = sys.modules.get(MECHANISMS)
    return {} if module is None else module.digests()


def chosen_digests(resolved: object) -> dict[str, str]:
    """Return digests of the code of each class in Python that a scenario chooses, by slot and name."""
    module = sys.modules.get(MECHANISMS)
    return {} if module is None else module.digests_of(resolved)


def meanings_of(full: str) -> Mapping[str, str]:
    """Return the meanings of the parameters of a class in Python, by key; empty for other mechanisms."""
    module = sys.modules.get(MECHANISMS)
    return {} if module is None else module.meanings_of(full)


def warn_of_older(digests: Mapping[str, str], resolved: object, *, name: str) -> None:
    """Warn of a scenario with a class that was redefined after the scenario was read.

    Parameters
    ----------
    digests
        Result of `known_digests` when the scenario was read.
    resolved
        The scenario after defaults.
    name
        The name of the scenario.
    """
    now = known_digests()
    older = {full for full, digest in digests.items() if now.get(full, digest) != digest}
    if not older:
        return
    for code in _python(resolved):
        if code["mechanism"] in older:
            warnings.warn(
                f"{name}: class {code['class']} was redefined after this scenario was loaded, and the "
                "scenario still runs the old class: load the scenario again to run the new one",
                stacklevel=3,
            )


def code_of(resolved: object, *, digests: Mapping[str, str]) -> dict[str, Any]:
    """Return the record of users' code in `run.json`: `python`, `extension`, both or neither.

    Parameters
    ----------
    resolved
        The scenario after defaults.
    digests
        Result of `known_digests` when the scenario was read.
    """
    python, extension = _python(resolved), _extension()
    for code in python:
        # The digest of the class that runs, even if it was redefined since.
        code["sha256"] = digests.get(code["mechanism"], code["sha256"]).partition("+")[0]
    return {
        **({"python": python} if python else {}),
        **({"extension": extension} if extension else {}),
    }


def missing(code: Mapping[str, Any]) -> str | None:
    """Return the text of an error about missing code of a run, with how to load it; None if all is loaded.

    Parameters
    ----------
    code
        Result of `code_of`.
    """
    recorded: Sequence[Mapping[str, str]] = code.get("python", ())
    digests = known_digests()
    lacks = [mechanism for mechanism in recorded if mechanism["mechanism"] not in digests]
    if lacks:
        files = list(dict.fromkeys(mechanism["file"] for mechanism in lacks if "file" in mechanism))
        helps = [f"--python {file}" for file in files]
        helps += [_import_of(mechanism) for mechanism in lacks if "file" not in mechanism]
        return f"the run used {', '.join(map(_called, lacks))}: add {' and '.join(helps)}"
    had = code.get("extension")
    if had is not None and _extension().get("name") != had["name"]:
        with_version = f"{had['name']} {had['version']}" if "version" in had else had["name"]
        return f"the run used the extension {with_version}: install it"
    return None


def changed(code: Mapping[str, Any]) -> str | None:
    """Return a sentence about the code of a run that has changed; None if all is unchanged.

    Parameters
    ----------
    code
        Result of `code_of`.
    """
    digests = known_digests()
    for mechanism in code.get("python", ()):
        if digests.get(mechanism["mechanism"], "").partition("+")[0] != mechanism["sha256"]:
            return f"{_called(mechanism)} has changed"
    had, has = code.get("extension"), _extension()
    if had is not None and had.get("sha256") != has.get("sha256"):
        return f"the extension {had['name']} is a different build"
    return None


def _called(code: Mapping[str, str]) -> str:
    slot, _, name = code["mechanism"].partition(".")
    origin = f" of {code['file']}" if "file" in code else f", class {code['class']}"
    return f"{slot} {name!r}{origin}"


def _import_of(code: Mapping[str, str]) -> str:
    # A class typed at a prompt is in no module that can be imported; earlier results name no module.
    if code.get("module", "__main__") == "__main__":
        return f"the definition of {code['class']}"
    return f"an import of {code['module']}"


def _python(resolved: object) -> list[dict[str, str]]:
    module = sys.modules.get(MECHANISMS)
    return [] if module is None else module.code_of(resolved)


def _extension() -> dict[str, str]:
    module = native()
    package, _, name = module.__name__.rpartition(".")
    return dict(_record_of(name, module.__file__ or "")) if package == FOLDER else {}


@cache
def _record_of(name: str, file: str) -> tuple[tuple[str, str], ...]:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 (rarely needed)

    parts = [("name", name)]
    with contextlib.suppress(PackageNotFoundError):
        parts.append(("version", version(name)))
    parts.append(("sha256", hashlib.sha256(Path(file).read_bytes()).hexdigest()))
    return tuple(parts)

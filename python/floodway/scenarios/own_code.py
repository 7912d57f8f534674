"""Code of users: the code that a run used, and checks that it is unchanged.

Nearly every run has none; so this module imports nothing that only such code needs.
"""

from __future__ import annotations

import contextlib
import hashlib
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway.common.extensions import FOLDER, native

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "FILES",
    "REGISTERED",
    "Registered",
    "changed",
    "chosen_digests",
    "code_of",
    "known_digests",
    "meanings_of",
    "missing",
    "warn_of_older",
]

#: The slots that classes can fill.
SLOTS = ("rate-control", "congestion-point")


@dataclass(kw_only=True)
class Registered:
    """A class in Python that scenarios can choose: its code's digest, and the meanings of its parameters.

    `file` is the file of `--python` that defines it, if any. Behind a `+` the digest has what that file
    imports from its folder.
    """

    cls: type
    digest: str
    meanings: Mapping[str, str]
    file: Path | None


#: All of them, by slot and name.
REGISTERED: dict[str, Registered] = {}
#: Files of `--python` that were loaded, in order, with the names that users gave.
FILES: dict[Path, str] = {}


def known_digests() -> dict[str, str]:
    """Return digests of the code of each class in Python that is known now, by slot and name."""
    return {full: registered.digest for full, registered in REGISTERED.items()}


def chosen_digests(resolved: object) -> dict[str, str]:
    """Return digests of the code of each class in Python that a scenario chooses, by slot and name.

    Parameters
    ----------
    resolved
        The scenario after defaults.
    """
    chosen = set(_chosen(resolved)) if REGISTERED else set()
    return {full: registered.digest for full, registered in sorted(REGISTERED.items()) if full in chosen}


def meanings_of(full: str) -> Mapping[str, str]:
    """Return the meanings of the parameters of a class in Python, by key; empty for other mechanisms."""
    return REGISTERED[full].meanings if full in REGISTERED else {}


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
    """Return, of each mechanism in Python that a scenario chooses, its code as `run.json` records it."""
    return [_record(full, digest.partition("+")[0]) for full, digest in chosen_digests(resolved).items()]


def _record(full: str, digest: str) -> dict[str, str]:
    """Record slot and name, the class, its file as `--python` named it, else its module, and the digest."""
    cls, file = REGISTERED[full].cls, REGISTERED[full].file
    source = {"module": cls.__module__} if file is None else {"file": FILES.get(file, file.name)}
    return {"mechanism": full, "class": cls.__qualname__, **source, "sha256": digest}


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


def _chosen(value: object, slot: str | None = None) -> Iterator[str]:
    """Yield every key below that of a slot, as `SLOT.KEY`: each may choose a mechanism."""
    if isinstance(value, list):
        for part in value:
            yield from _chosen(part, slot)
    if isinstance(value, dict):
        # A setting is `{"key": SLOT, "value": CHOICE, "origin": PLACE}`.
        setting = value.get("key")
        below = setting if isinstance(setting, str) and setting in SLOTS else slot
        for key, inner in value.items():
            if slot is not None:
                yield f"{slot}.{key}"
            yield from _chosen(inner, below)

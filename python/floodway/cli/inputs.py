"""Inputs of several commands: scenarios with values of `--set`, shards, seeds, links; and new files."""

from __future__ import annotations

import contextlib
from typing import IO, TYPE_CHECKING, Any

import click

import floodway
from floodway.common.errors import InputError, OutputError, ScenarioError, unwritable
from floodway.common.files import parse_toml
from floodway.common.ready import resolved
from floodway.results.files import new_folder
from floodway.results.quantities import counted
from floodway.simulation.shards import Shard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from floodway._floodway import Plan

__all__ = [
    "captured_links",
    "new_file",
    "pair",
    "parsed",
    "plan_warnings",
    "seeds_of",
    "shard_of",
    "threads_asked",
]

#: Escapes of quotes and backslashes in TOML.
ESCAPES = str.maketrans({'"': r"\"", "\\": r"\\"})
#: Formats of other simulators' jobs, by the suffixes of their files.
TRACES = {".goal": "goal", ".cm": "htsim", ".et": "chakra"}
#: Largest file, in bytes, that is read to see whether it is a study.
LONGEST_STUDY = 1 << 20


def parsed(path: Path, *, sets: Sequence[str]) -> floodway.Scenario:
    """Read a scenario, with each `KEY.PATH=VALUE` of `sets` in place of the file's value."""
    if path.is_dir():
        files = [
            file.name for file in sorted(path.iterdir()) if file.match("*.toml") or file.match("config*.txt")
        ]
        ones = f"; it has {', '.join(files)}" if files else ""
        traces = next(path.glob("*.et"), None)
        if traces is not None and not files:
            ones = f"; it has traces of Chakra: floodway import chakra {path} --out job.toml"
        raise click.BadParameter(f"{path} is a folder: name the file{ones}", param_hint="SCENARIO")
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if suffix in TRACES and path.is_file():
        verb = f"floodway import {TRACES[suffix]} {path} --out job.toml"
        raise click.BadParameter(f"{path} is no scenario; what runs it: {verb}", param_hint="SCENARIO")
    try:
        return floodway.load(resolved(path), sets=[pair(text) for text in sets])
    except ScenarioError:
        if _is_study(path):
            raise click.BadParameter(
                f"{path} is a study: floodway study {path}", param_hint="SCENARIO"
            ) from None
        raise


def _is_study(path: Path) -> bool:
    """Return whether a file has keys of studies that scenarios lack."""
    # A device may have no end, and a pipe no writer.
    if not path.is_file() or path.stat().st_size > LONGEST_STUDY:
        return False
    try:
        keys = parse_toml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return "variant" in keys and "topology" not in keys


def shard_of(text: str) -> Shard:
    """Read `--shard`, such as `0/4`."""
    try:
        return Shard.parse(text)
    except InputError as error:
        raise click.BadParameter(str(error), param_hint="--shard") from None


def seeds_of(text: str) -> int | tuple[int, ...]:
    """Read `--seeds`: a number of them, or a list such as `1,2,7`; `1,` is a list of one."""
    try:
        values = [int(seed) for seed in text.split(",") if seed.strip()]
    except ValueError:
        values = []
    one = "," not in text
    if not values or min(values) < int(one) or len(set(values)) < len(values):
        raise click.BadParameter(
            f"{text!r} is neither a number of seeds nor a list like 1,2,7", param_hint="--seeds"
        )
    return values[0] if one else tuple(values)


def pair(text: str, *, option: str = "--set", form: str = "KEY.PATH=VALUE") -> tuple[str, str]:
    """Split the text of an option into key path and value."""
    key, equals, value = text.partition("=")
    # Python keeps bytes that are no text as surrogates.
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise click.BadParameter(f"{text!a} is not text in UTF-8", param_hint=option)
    if not (key.strip() and equals):
        raise click.BadParameter(f"{text!r} is not {form}", param_hint=option)
    return key.strip(), value.strip()


def threads_asked(scenario: floodway.Scenario) -> int | None:
    """Return the number of threads that a scenario requests."""
    engine = scenario.to_dict().get("engine")
    threads = engine.get("threads") if isinstance(engine, dict) else None
    return threads if isinstance(threads, int) else None


def plan_warnings(plan: Plan, *, requested: int | None, force_memory: bool) -> Iterator[str]:
    """Yield warnings: fewer threads than requested, forced threads that mostly wait, or forced memory."""
    if requested is not None and plan.threads < requested:
        why = plan.threads_why or "more threads would not help"
        yield f"{counted(plan.threads, 'thread')} instead of {requested}: {why}"
    elif requested is not None and plan.threads > 1 and plan.threads_why:
        yield f"{plan.threads} threads are forced: {plan.threads_why}"
    if force_memory and plan.too_large:
        yield plan.too_large


def captured_links(options: Sequence[str]) -> str:
    """Return the links that `--pcap link=NAME[,NAME...]` and `--pcap tag=NAME[,...]` name, as a selector."""
    terms = [term for names in options for term in _terms(names)]
    return f"[{', '.join(terms)}]"


def _terms(text: str) -> list[str]:
    form = "link=NAME[,NAME...] or tag=NAME[,NAME...]"
    kind, names = pair(text, option="--pcap", form=form)
    parts = [name.strip() for name in names.split(",")]
    if kind not in {"link", "tag"} or not all(parts) or not text.isprintable():
        raise click.BadParameter(f"{text!r} is not {form}", param_hint="--pcap")
    quoted = [f'"{name.translate(ESCAPES)}"' for name in parts]
    return quoted if kind == "link" else [f"{{ tag = {name} }}" for name in quoted]


@contextlib.contextmanager
def new_file(out: Path, *, force: bool, mode: str = "w") -> Iterator[IO[Any]]:
    """Write a file in a `with` block, and create its folders; after an error nothing has changed.

    Parameters
    ----------
    out
        The file.
    force
        Whether it may be replaced.
    mode
        `w` for a text, `wb` for bytes.

    Raises
    ------
    OutputError
        If the file is there already and `force` is not given, is a folder or a device, or cannot be written.
    """
    if not force and (out.exists() or out.is_symlink()):
        raise OutputError(str(out), "is there already; --force replaces it")
    if out.exists() and not out.is_file():
        raise OutputError(str(out), "is not a regular file")
    part = out.with_name(f".{out.name}.part")
    try:
        with new_folder(out.parent):
            try:
                with part.open(mode, encoding=None if "b" in mode else "utf-8") as file:
                    yield file
                part.replace(out)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(out, error) from None

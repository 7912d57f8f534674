"""`floodway import`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from floodway import _floodway
from floodway.cli.exits import DONE
from floodway.cli.inputs import pair
from floodway.cli.output import echo
from floodway.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Job", "import_hpcc", "import_job"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """Files of a job, and what its scenario has besides.

    Attributes
    ----------
    format
        Format of the files.
    files
        The files, or a folder of them.
    keys
        Further keys of the table `trace`, as `KEY=VALUE`.
    topology
        The network, as `KIND={...}`; None for a switch.
    rate, delay
        Links of that switch.
    """

    format: str
    files: Sequence[Path]
    keys: Sequence[str]
    topology: str | None
    rate: str
    delay: str


def import_hpcc(config: Path, *, out: Path | None, force: bool) -> int:
    """Write the scenario that a configuration of the HPCC simulator means; returns the exit code."""
    text, _, warnings = _floodway.import_hpcc(config, to=_folder(out))
    return _done(text, warnings, out=out, force=force)


def import_job(job: Job, *, out: Path | None, force: bool) -> int:
    """Write the scenario that runs a job; returns the exit code."""
    topology = None
    if job.topology is not None:
        kind, table = pair(job.topology, option="--topology", form="KIND={...}")
        topology = f"{kind} = {table}"
    keys = [pair(key, option="--trace", form="KEY=VALUE") for key in job.keys]
    text, warnings = _floodway.import_job(
        job.format,
        job.files,
        keys=keys,
        topology=topology,
        rate=job.rate,
        delay=job.delay,
        to=_folder(out),
    )
    done = _done(text, warnings, out=out, force=force)
    if out is not None:
        # The first line says what the files are, and of how many ranks.
        echo(f"{out}: {text.splitlines()[0].removeprefix('# ')}")
    return done


def _folder(out: Path | None) -> Path:
    return Path() if out is None else out.parent


def _done(text: str, warnings: Iterable[str], *, out: Path | None, force: bool) -> int:
    for warning in warnings:
        echo(f"warning: {warning}", err=True)
    if out is None:
        echo(text.rstrip("\n"))
    else:
        _write(text, out, force=force)
    return DONE


def _write(text: str, out: Path, *, force: bool) -> None:
    try:
        with out.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise OutputError(str(out), "is there already; --force replaces it") from None
    except OSError as error:
        raise OutputError(str(out), f"cannot be written: {error.strerror}") from None

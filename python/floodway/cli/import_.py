"""The commands of `floodway import`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from floodway import _floodway
from floodway.cli.exits import DONE
from floodway.cli.inputs import pair
from floodway.cli.new_file import new_file
from floodway.cli.output import echo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Job", "import_hpcc", "import_job"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """The files of a job, and the settings of its scenario.

    Attributes
    ----------
    format
        Format of the files.
    files
        The files, or a folder of them.
    keys
        Further keys of the table `trace`, as `KEY=VALUE`.
    topology
        The network, as `KIND={...}`, or the file of another simulator's; None for a switch.
    gpu_nodes
        GPU nodes, as `{...}`, or `none`; None for those of the network.
    config
        The configuration of SimAI.
    rate, delay
        Rate and delay of the links of that switch.
    """

    format: str
    files: Sequence[Path]
    keys: Sequence[str]
    topology: str | None
    gpu_nodes: str | None
    config: Path | None
    rate: str | None
    delay: str | None


def import_hpcc(config: Path, *, out: Path | None, force: bool) -> int:
    """Write a configuration of the HPCC simulator as a scenario, and return the exit code."""

    def read(to: Path) -> tuple[str, list[str]]:
        text, _, warnings = _floodway.import_hpcc(config, to=to)
        return text, warnings

    return _write(read, out=out, force=force)


def import_job(job: Job, *, out: Path | None, force: bool) -> int:
    """Write the scenario that runs a job, and return the exit code."""
    topology, network = None, None
    if job.topology is not None:
        if "=" not in job.topology and Path(job.topology).exists():
            network = Path(job.topology)
        else:
            kind, table = pair(job.topology, option="--topology", form="KIND={...}, or a file that is there")
            topology = f"{kind} = {table}"
        for option, value in (("--rate", job.rate), ("--delay", job.delay)):
            if value is not None:
                raise click.BadParameter("--topology has rates and delays of its own", param_hint=option)
    keys = [pair(key, option="--trace", form="KEY=VALUE") for key in job.keys]
    return _write(
        lambda to: _floodway.import_job(
            job.format,
            job.files,
            keys=keys,
            topology=topology,
            network=network,
            gpu_nodes=job.gpu_nodes,
            config=job.config,
            rate=job.rate or "400G",
            delay=job.delay or "1us",
            to=to,
        ),
        out=out,
        force=force,
    )


def _write(read: Callable[[Path], tuple[str, list[str]]], *, out: Path | None, force: bool) -> int:
    """Write an imported scenario, and print its warnings."""
    if out is None:
        text, warnings = read(Path())
        _warn(warnings)
        echo(text.rstrip("\n"))
    else:
        if out.exists() and not force:
            # Errors in files and options come before the error that the scenario exists already.
            read(out.parent)
        # Paths in the scenario are relative to its folder, which exists now.
        with new_file(out, force=force) as file:
            text, warnings = read(out.parent)
            file.write(text)
        _warn(warnings)
        # The first line says what was imported: of jobs also how many ranks they have.
        echo(f"{out}: {text.splitlines()[0].removeprefix('# ')}")
    return DONE


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        echo(f"warning: {warning}", err=True)

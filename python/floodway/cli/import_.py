"""The commands of `floodway import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from floodway import _floodway
from floodway.cli.exits import DONE
from floodway.cli.inputs import pair
from floodway.cli.new_file import new_file
from floodway.cli.output import echo, warnings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["import_hpcc", "import_job"]


def import_hpcc(config: Path, *, out: Path | None, force: bool) -> int:
    """Write a configuration of the HPCC simulator as a scenario, and return the exit code."""

    def read(to: Path) -> tuple[str, list[str]]:
        text, _, notes = _floodway.import_hpcc(config, to=to)
        return text, notes

    return _write(read, out=out, force=force)


def import_job(  # noqa: PLR0913 (one argument an option)
    kind: str,
    files: Sequence[Path],
    *,
    keys: Sequence[str],
    topology: str | None,
    rate: str | None,
    delay: str | None,
    out: Path | None,
    force: bool,
    **others: Any,  # noqa: ANN401 (as the native module has them)
) -> int:
    """Write the scenario that runs a job, and return the exit code.

    Parameters
    ----------
    kind, files
        Format of the job, and its files, or a folder of them.
    keys
        Further keys of the table `trace`, as `KEY=VALUE`.
    topology
        The network, as `KIND={...}`, or the file of another simulator's; None for a switch.
    rate, delay
        Rate and delay of the links of that switch.
    out, force
        File of the scenario, and whether it may be replaced.
    others
        `gpu_nodes`, as `{...}` or `none`, and `config`, the configuration of SimAI.
    """
    network: Path | None = None
    if topology is not None:
        if "=" not in topology and Path(topology).exists():
            network = Path(topology)
            topology = None
        else:
            name, table = pair(topology, option="--topology", form="KIND={...}, or a file that is there")
            topology = f"{name} = {table}"
        for option, value in (("--rate", rate), ("--delay", delay)):
            if value is not None:
                raise click.BadParameter("--topology has rates and delays of its own", param_hint=option)
    settings: dict[str, Any] = {
        "keys": [pair(key, option="--trace", form="KEY=VALUE") for key in keys],
        "topology": topology,
        "network": network,
        "rate": rate or "400G",
        "delay": delay or "1us",
        **others,
    }
    return _write(lambda to: _floodway.import_job(kind, files, to=to, **settings), out=out, force=force)


def _write(read: Callable[[Path], tuple[str, list[str]]], *, out: Path | None, force: bool) -> int:
    """Write an imported scenario, and print its warnings."""
    if out is None:
        text, notes = read(Path())
        warnings(notes)
        echo(text.rstrip("\n"))
    else:
        if out.exists() and not force:
            # Errors in files and options come before the error that the scenario exists already.
            read(out.parent)
        # Paths in the scenario are relative to its folder, which exists now.
        with new_file(out, force=force) as file:
            text, notes = read(out.parent)
            file.write(text)
        warnings(notes)
        # The first line says what was imported: of jobs also how many ranks they have.
        echo(f"{out}: {text.splitlines()[0].removeprefix('# ')}")
    return DONE

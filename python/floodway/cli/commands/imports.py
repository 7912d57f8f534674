"""Definitions of the commands of `floodway import`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from floodway.cli import options
from floodway.cli.output import DONE, echo, warnings
from floodway.common.loading import loading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["chakra", "goal", "hpcc", "htsim", "simai"]

#: The options of every import of a job, as a decorator.
_trace_options = options.together(
    options.value(
        "--topology",
        "KIND={...}|FILE",
        "The network, as a scenario's topology has it, or in a file of another simulator.",
        "a switch with a host for each rank",
    ),
    options.value(
        "--gpu-nodes",
        "{...}|none",
        "GPU nodes, as a scenario's gpu-nodes has them.",
        "those of the network's file; of SimAI without a network, of 8 GPUs",
    ),
    options.value(
        "--config",
        "FILE",
        "Of SimAI, with its topology file: SimAI.conf.",
        "none",
        type=click.Path(path_type=Path),
    ),
    options.value("--rate", "RATE", "Rate of the links of that switch.", "400G"),
    options.value("--delay", "TIME", "Delay of the links of that switch.", "1us"),
    options.value(
        "--trace",
        "KEY=VALUE",
        "A further key of the scenario's table trace; may be repeated.",
        name="keys",
        multiple=True,
    ),
    options.out("FILE", "File of the scenario.", "stdout"),
    options.force_file,
)


def _imported(  # noqa: PLR0913 (one argument an option)
    kind: str,
    files: Sequence[Path],
    *,
    keys: Sequence[str],
    topology: str | None,
    rate: str | None,
    delay: str | None,
    out: Path | None,
    force: bool,
    **others: Any,
) -> int:
    """Write the scenario that runs a job's files, and return the exit code.

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
    with loading():
        from floodway import _floodway
        from floodway.cli.inputs import pair
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


def _of_one_file(kind: str, *, runs: str, file_help: str, example: str) -> click.Command:
    """Define the import of a format whose jobs are one file.

    Parameters
    ----------
    kind
        The format.
    runs, file_help
        Description of the job and of the file, in the help.
    example
        The arguments of an example.
    """
    shown = f"""Make a scenario that runs {runs}.

    Without --topology the network is a switch with a host for each rank. Warnings say what is not used.

    \b
    Examples:
      floodway import {kind} {example}

    \b
    Exit codes:
      0    done
      2    bad usage, or a file with an error; nothing is written
    """

    @click.command(help=shown)
    @options.path("file", "FILE", file_help)
    @_trace_options
    def command(*, file: Path, **values: Any) -> int:
        return _imported(kind, [file], **values)

    return command


@click.command()
@options.paths("files", "FOLDER", "Folder with a file NAME.<rank>.et for each rank, or these files.")
@_trace_options
def chakra(*, files: tuple[Path, ...], **values: Any) -> int:
    """Make a scenario that runs execution traces of Chakra.

    Without --topology the network is a switch with a host for each rank. Warnings say what is not used.

    \b
    Examples:
      floodway import chakra scenarios/jobs/chakra --out job.toml
      floodway import chakra scenarios/jobs/chakra --trace algorithm=halving-doubling --rate 100G

    \b
    Exit codes:
      0    done
      2    bad usage, or a file with an error; nothing is written
    """
    return _imported("chakra", files, **values)


@click.command()
@options.path(
    "config", "CONFIG", "The simulator's configuration file, which names the files of topology and flows."
)
@options.out("FILE", "File of the scenario.", "stdout")
@options.force_file
def hpcc(*, config: Path, out: Path | None, force: bool) -> int:
    """Convert a configuration of the HPCC simulator to a scenario.

    Differences from that simulator, and keys without effect, are printed to stderr. `run`, `check` and
    `compare` also read configurations directly.

    \b
    Examples:
      floodway import hpcc scenarios/hpcc/config.txt --out scenario.toml
      floodway run scenarios/hpcc/config.txt

    \b
    Exit codes:
      0    done
      2    bad usage, a file with an error, or a key that cannot be simulated; nothing is written
    """
    with loading():
        from floodway import _floodway

    def read(to: Path) -> tuple[str, list[str]]:
        text, _, notes = _floodway.import_hpcc(config, to=to)
        return text, notes

    return _write(read, out=out, force=force)


goal = _of_one_file(
    "goal",
    runs="a GOAL schedule of LogGOPSim or ATLAHS",
    file_help="The schedule, as text or in its binary form.",
    example="scenarios/jobs/pipeline.goal --out pipeline.toml",
)
htsim = _of_one_file(
    "htsim",
    runs="a connection matrix of htsim",
    file_help="The connection matrix, a .cm file.",
    example="scenarios/jobs/ring.cm --out ring.toml",
)
simai = _of_one_file(
    "simai",
    runs="a workload of SimAI",
    file_help="The workload, as AICB writes it.",
    example="scenarios/jobs/transformer.txt --out transformer.toml",
)


def _write(read: Callable[[Path], tuple[str, list[str]]], *, out: Path | None, force: bool) -> int:
    """Write an imported scenario, and print its warnings."""
    with loading():
        from floodway.cli.inputs import new_file
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

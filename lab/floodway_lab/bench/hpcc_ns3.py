"""Work for HPCC's ns-3: the same configuration, as its own folder or written from a scenario."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import floodway
from floodway_lab.bench.hpcc_folder import CONFIGURATION, write_folder
from floodway_lab.bench.work import OtherWorkError, Work

if TYPE_CHECKING:
    from floodway_lab.bench.model import Pair

__all__ = ["prepared"]

#: Fields of a line of completion times that identify its flow: addresses, ports, size and start.
FLOW = 6
OUTPUT = "FCT_OUTPUT_FILE"


def prepared(pair: Pair, folder: Path) -> Work:
    """Write the configuration of a pair into a folder, which both simulators run, and return the work.

    Parameters
    ----------
    pair
        The pair; its run of floodway names a configuration of HPCC's simulator, or a scenario on the fat tree
        of 320 hosts.
    folder
        The folder of the other simulator's run.
    """
    config = _configuration(Path(os.path.expandvars(pair.ours[0].scenario)), folder)
    output = folder / _output_of(config)
    output.unlink(missing_ok=True)
    if pair.reference is None:
        expected, owner = _times_of_ours(config, folder / "ours"), "floodway"
    else:
        expected, owner = _times(Path(os.path.expandvars(pair.reference))), "the reference"
    return Work(
        arguments=(config.name,),
        scenarios=(str(config),),
        flows=len(expected),
        check=lambda _printed: _checked(output, expected, owner=owner),
    )


def _configuration(file: Path, folder: Path) -> Path:
    if file.suffix == ".toml":
        write_folder(floodway.load(file), file.with_suffix("") / CONFIGURATION, folder)
        return folder / CONFIGURATION
    shutil.copytree(file.parent, folder, dirs_exist_ok=True)
    return folder / file.name


def _output_of(config: Path) -> str:
    text_columns = config.read_text(encoding="utf-8").split()
    return text_columns[text_columns.index(OUTPUT) + 1]


def _times_of_ours(config: Path, folder: Path) -> dict[str, str]:
    scenario = floodway.load(config)
    floodway.run(scenario).export_hpcc(folder, scenario=scenario)
    return _times(folder / "fct.txt")


def _times(file: Path) -> dict[str, str]:
    """Return completion times by flow."""
    lines = (line.split() for line in file.read_text(encoding="utf-8").splitlines())
    return {" ".join(text_columns[:FLOW]): text_columns[FLOW] for text_columns in lines}


def _checked(output: Path, expected: dict[str, str], *, owner: str) -> str:
    """Return a sentence on how many completion times are equal; both must have the same flows."""
    if not output.exists():
        raise OtherWorkError(f"HPCC's ns-3 did not write {output.name}")
    theirs = _times(output)
    if missing := expected.keys() - theirs.keys():
        raise OtherWorkError(
            f"HPCC's ns-3 did not finish {len(missing):,} of {len(expected):,} flows of {owner}, "
            f"the first of them {min(missing)}"
        )
    if more := theirs.keys() - expected.keys():
        raise OtherWorkError(f"HPCC's ns-3 finished {len(more):,} flows that {owner} does not have")
    equal = sum(theirs[flow] == time for flow, time in expected.items())
    return f"{len(theirs):,} flows finished in both; {equal:,} of theirs to the nanosecond as by {owner}"

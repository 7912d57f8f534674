"""Processes that MPI has started to execute one run together."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from floodway.common.errors import FloodwayError, RanksError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from floodway._floodway import Ranks
    from floodway.scenarios.scenario import Scenario

__all__ = ["AnotherRankError", "agreed", "is_first", "processes", "refusal", "require_alike"]

#: The type that work returns.
Done = TypeVar("Done")

#: Variables of the environment in which MPI states the number of processes, and that of this one.
VARIABLES = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
)
#: The command that several processes can execute together.
COMMAND = "run"
#: The option that every process may have.
VERSION = "--version"
#: Characters of a scenario's key that say whether two are the same.
KEY_SHOWN = 16
#: What has to be the same on all machines, by what differs.
OTHERWISE = {"floodway": "the build", "scenario": "its file, the files that it names and the options"}


class AnotherRankError(FloodwayError):
    """Another process has failed, which reports its own error."""


def processes() -> int:
    """Return the number of processes that MPI has started, 1 without MPI."""
    return _numbers()[0]


def is_first() -> bool:
    """Whether this is the process that prints and writes."""
    return _numbers()[1] == 0


def refusal(arguments: Sequence[str]) -> str | None:
    """Return why a call cannot be one of several processes, if so.

    Parameters
    ----------
    arguments
        The arguments of the program.
    """
    count = processes()
    if count == 1:
        return None
    command = next((argument for argument in arguments if not argument.startswith("-")), "")
    if not command and VERSION in arguments:
        # Users compare the builds of all machines by it.
        return None
    if command != COMMAND:
        program = f"floodway {command}" if command else "floodway"
        divides = "only `floodway run` divides its work among them"
        hint = "start it without mpirun, or divide studies and comparisons with --shard"
        return f"{program} was started in {count} processes; {divides}: {hint}"
    # Imported here: a native module that cannot be loaded is reported by the program.
    from floodway import _floodway  # noqa: PLC0415 (several processes alone need it)

    if not _floodway.Ranks.is_built():
        started = f"floodway run was started in {count} processes"
        return f"{started}, and this floodway is built without MPI: `make mpi` builds one with it"
    return None


def agreed(ranks: Ranks | None, work: Callable[[], Done]) -> Done:
    """Do work that all processes must complete before any of them continues.

    Parameters
    ----------
    ranks
        The processes; none where this one is alone.
    work
        The work of each process.

    Raises
    ------
    FloodwayError
        If the work failed here, and in no process before this one.
    AnotherRankError
        If it failed in another one.
    """
    if ranks is None:
        return work()
    failure: FloodwayError | None = None
    try:
        done = work()
    except FloodwayError as error:
        failure = error
    texts = ranks.agree(None if failure is None else str(failure))
    failed = [rank for rank, text in enumerate(texts) if text is not None]
    if not failed:
        return done
    if failure is not None and failed[0] == ranks.rank:
        raise failure
    raise AnotherRankError(f"rank {failed[0]} has failed: {texts[failed[0]]}")


def require_alike(ranks: Ranks, scenario: Scenario) -> None:
    """Require that all processes run the same scenario with the same build of floodway.

    Parameters
    ----------
    ranks
        The processes.
    scenario
        The scenario that this process has read.

    Raises
    ------
    RanksError
        If another process has another build of floodway, or has read other files.
    """
    # Imported here: both need a native module that can be loaded.
    from floodway.scenarios.keys import engine, key_of  # noqa: PLC0415 (several processes alone need them)

    key = key_of(scenario, Path(scenario.native.file).parent)
    for subject, own_text in (("floodway", engine()), ("scenario", key[:KEY_SHOWN])):
        texts = ranks.agree(own_text)
        for rank, text in enumerate(texts):
            if text != texts[0]:
                hint = f": {OTHERWISE[subject]} on all machines must be the same"
                differ = f"rank 0 has {subject} {texts[0]}, and rank {rank} has {subject} {text}"
                raise RanksError(f"{differ}{hint}")


def _numbers() -> tuple[int, int]:
    """Return the number of processes, and which of them this is."""
    for size, rank in VARIABLES:
        if size in os.environ:
            try:
                return int(os.environ[size]), int(os.environ.get(rank, "0"))
            except ValueError:
                raise RanksError(f"{size} and {rank} are not numbers of processes") from None
    return 1, 0

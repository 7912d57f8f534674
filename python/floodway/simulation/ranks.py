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

#: What work returns.
Done = TypeVar("Done")

#: In these variables MPI says how many processes it has started, and which this one is.
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
#: What differs where this does.
OTHERWISE = {"floodway": "the build", "scenario": "its file, the files that it names and the options"}


class AnotherRankError(FloodwayError):
    """Another process has failed, which says so itself."""


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
        Those of the program.
    """
    count = processes()
    if count == 1:
        return None
    command = next((argument for argument in arguments if not argument.startswith("-")), "")
    if not command and VERSION in arguments:
        # By which users compare the builds of all machines.
        return None
    if command != COMMAND:
        program = f"floodway {command}" if command else "floodway"
        return (
            f"{program} was started in {count} processes; only `floodway run` divides its work among them: "
            "start it without mpirun, or divide studies and comparisons with --shard"
        )
    # Here, for a native module that cannot be loaded is an error of the program.
    from floodway import _floodway  # noqa: PLC0415 (several processes alone need it)

    if not _floodway.Ranks.is_built():
        return (
            f"floodway run was started in {count} processes, and this floodway is built without MPI: "
            "`make mpi` builds one with it"
        )
    return None


def agreed(ranks: Ranks | None, work: Callable[[], Done]) -> Done:
    """Do work that all processes must complete before any goes on.

    Parameters
    ----------
    ranks
        The processes; none where this one is alone.
    work
        What each of them does.

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
    """Compare what the processes are about to run: parts of different runs do not fit together.

    Parameters
    ----------
    ranks
        The processes.
    scenario
        The scenario as this one has read it.

    Raises
    ------
    RanksError
        If another one is of another build of floodway, or has read other files.
    """
    # Here, for both need a native module that can be loaded.
    from floodway.scenarios.keys import engine, key_of  # noqa: PLC0415 (several processes alone need them)

    key = key_of(scenario, Path(scenario.native.file).parent)
    for subject, own_text in (("floodway", engine()), ("scenario", key[:KEY_SHOWN])):
        texts = ranks.agree(own_text)
        for rank, text in enumerate(texts):
            if text != texts[0]:
                hint = f": {OTHERWISE[subject]} on all machines must be the same"
                raise RanksError(
                    f"rank 0 has {subject} {texts[0]}, and rank {rank} has {subject} {text}{hint}"
                )


def _numbers() -> tuple[int, int]:
    """Return the number of processes, and which of them this is."""
    for size, rank in VARIABLES:
        if size in os.environ:
            try:
                return int(os.environ[size]), int(os.environ.get(rank, "0"))
            except ValueError:
                raise RanksError(f"{size} and {rank} are not numbers of processes") from None
    return 1, 0

"""The runs of a plan: several at once, a thread each; Ctrl-C ends them all, and those that ended are kept."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from floodway.common.errors import OutOfMemoryError, OutputError, RunError
from floodway.results.store import Reservation
from floodway.scenarios.keys import key_of
from floodway.scenarios.scenario import Scenario
from floodway.simulation.analysis import read
from floodway.simulation.driver import in_threads
from floodway.simulation.run import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from floodway._floodway import Progress
    from floodway.simulation.analysis import Result
    from floodway.simulation.driver import Future

__all__ = ["Runs", "Simulate", "at_once", "simulated"]

#: The result of a part.
Found = TypeVar("Found")


class Simulate(Protocol):
    """Runs a scenario, given as TOML, to its end."""

    def __call__(self, text: str, /) -> Result:
        """Return what came out."""


class Runs:
    """A folder of finished runs, each under its key as those of a study are.

    Attributes
    ----------
    folder
        The folder; made with the first run in it.
    error
        Why a run could not be written, the first time; its result is used all the same.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.error: OutputError | None = None

    def result(self, scenario: Scenario) -> Result | None:
        """Return what an earlier run of a scenario left; none where it is not there or not whole."""
        key = key_of(scenario, self.folder)
        try:
            return read(self.folder / key, key=key)
        except OutputError:
            return None

    def keep(self, scenario: Scenario, result: Result) -> None:
        """Write a finished run."""
        key = key_of(scenario, self.folder)
        try:
            with Reservation(self.folder / key, force=True) as place:
                place.publish(result, key=key)
        except OutputError as error:
            self.error = self.error or error


def simulated(text: str, *, stop: threading.Event | None = None, runs: Runs | None = None) -> Result:
    """Run a scenario to its end.

    Parameters
    ----------
    text
        The scenario, as TOML.
    stop
        Ends the run when it is set.
    runs
        Has finished runs, and gets this one.

    Raises
    ------
    RunError
        If the run needs more memory than there is.
    KeyboardInterrupt
        If the run was stopped before its end: what it has by then shows nothing.
    """

    def look(progress: Progress) -> None:
        if stop is not None and stop.is_set():
            progress.stop()

    _unless(stop)
    scenario = Scenario.from_toml(text, name="plan")
    if runs is not None and (before := runs.result(scenario)) is not None:
        return before
    try:
        result = run(scenario, on_progress=look)
    except OutOfMemoryError as error:
        needed = str(error).removeprefix("plan: ").partition(";")[0]
        text = (
            f"plan: the hardest runs are too large for this machine: {needed}; formulas alone need none of it"
        )
        raise RunError(f"{text} (--no-simulate, in Python simulate=False)") from None
    if result.outcome.stopped == "interrupted":
        raise KeyboardInterrupt
    if runs is not None:
        runs.keep(scenario, result)
    return result


def at_once(
    parts: Sequence[Callable[[Simulate], Found]],
    *,
    jobs: int,
    done: Callable[[int, int], None],
    runs: Runs | None = None,
) -> list[Found]:
    """Run all parts, up to `jobs` at once; the native module releases the interpreter's lock.

    Parameters
    ----------
    parts
        Functions that do runs, one after another, by the `simulate` that they receive.
    jobs
        How many are at work at once.
    done
        Called in the calling thread with how many parts have ended, and how many there are.
    runs
        Has finished runs, and gets those of the parts.

    Returns
    -------
    list
        The parts' results, in the order of the parts.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, when all runs have ended.
    RunError
        If a run failed; the others are then stopped.
    """
    stop = threading.Event()
    outcomes: dict[int, Found] = {}
    errors: list[BaseException] = []
    ended = 0

    def simulate(text: str, /) -> Result:
        return simulated(text, stop=stop, runs=runs)

    def find(place: int, part: Callable[[Simulate], Found]) -> None:
        try:
            _unless(stop)
            outcomes[place] = part(simulate)
        except BaseException as error:
            # The first is what the others were stopped for.
            errors.append(error)
            stop.set()
            raise

    def end(_: int, __: Future) -> None:
        nonlocal ended
        ended += 1
        done(ended, len(parts))

    done(0, len(parts))
    calls = [partial(find, place, part) for place, part in enumerate(parts)]
    in_threads(calls, jobs=jobs, stop=stop, end=end)
    if errors:
        raise errors[0]
    # Ctrl-C may have come when the last run had just ended.
    _unless(stop)
    return [outcomes[place] for place in range(len(parts))]


def _unless(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt

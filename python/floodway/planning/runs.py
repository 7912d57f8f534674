"""The runs of a plan: several at once, a thread each, and Ctrl-C ends them all."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from floodway.common.errors import OutOfMemoryError, RunError
from floodway.scenarios.scenario import Scenario
from floodway.simulation.driver import in_threads
from floodway.simulation.run import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from floodway._floodway import Progress
    from floodway.simulation.analysis import Result
    from floodway.simulation.driver import Future

__all__ = ["Simulate", "at_once", "simulated"]

#: What a part finds.
Found = TypeVar("Found")


class Simulate(Protocol):
    """Runs a scenario, given as TOML, to its end."""

    def __call__(self, text: str, /) -> Result:
        """Return what came out."""


def simulated(text: str, *, stop: threading.Event | None = None) -> Result:
    """Run a scenario to its end.

    Parameters
    ----------
    text
        The scenario, as TOML.
    stop
        Ends the run when it is set.

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
    try:
        result = run(Scenario.from_toml(text, name="plan"), on_progress=look)
    except OutOfMemoryError as error:
        needed = str(error).removeprefix("plan: ").partition(";")[0]
        text = (
            f"plan: the hardest runs are too large for this machine: {needed}; formulas alone need none of it"
        )
        raise RunError(f"{text} (--no-simulate, in Python simulate=False)") from None
    if result.outcome.stopped == "interrupted":
        raise KeyboardInterrupt
    return result


def at_once(
    parts: Sequence[Callable[[Simulate], Found]], *, jobs: int, done: Callable[[int, int], None]
) -> list[Found]:
    """Bring every part to its end, so many at once; the native module releases the interpreter's lock.

    Parameters
    ----------
    parts
        Functions that do runs, one after another, with what they are given for it.
    jobs
        How many are at work at once.
    done
        Called in the calling thread with how many parts have ended, and how many there are.

    Returns
    -------
    list
        What they found, in their order.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, when all runs have ended.
    RunError
        If a run failed; the others are then stopped.
    """
    stop = threading.Event()
    found: dict[int, Found] = {}
    errors: list[BaseException] = []
    ended = 0

    def simulate(text: str, /) -> Result:
        return simulated(text, stop=stop)

    def find(place: int, part: Callable[[Simulate], Found]) -> None:
        try:
            _unless(stop)
            found[place] = part(simulate)
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
    return [found[place] for place in range(len(parts))]


def _unless(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt

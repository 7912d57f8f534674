"""Progress of runs on stderr: a bar on a terminal, otherwise one line per minute."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Self

from floodway.cli.output import echo, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.progress import Progress, TaskID

    from floodway._floodway import Progress as NativeProgress
    from floodway.scenarios.scenario import Extent, Scenario
    from floodway.simulation.execution import Task
    from floodway.study.running.work import Task as StudyTask
    from floodway.study.running.work import TaskProgress

    #: The progress of a run, reported by the native module or another process; and a run among others.
    Running = NativeProgress | TaskProgress
    Watched = Task | StudyTask

__all__ = ["Watch", "WatchAll"]

#: Rates are averages over this many last seconds.
WINDOW_S = 10.0
#: Without a terminal a line is printed at the first update, and then at this interval, in seconds.
LINE_EVERY_S = 60.0
#: With more runs than this, those that have ended leave the display.
MOST_SHOWN_ENDED = 12
#: Number of active runs whose progress is in a line.
MOST_IN_LINE = 4
#: Seconds of a run before its first estimate.
LEAST_OBSERVED_S = 2.0
#: Estimates of more than this many times the elapsed time are not shown.
FARTHEST = 100.0
#: Maximum share that is shown before a run is done.
ALMOST = 0.99
#: The text until there is an estimate.
UNKNOWN = "no estimate yet"
#: Units of payload.
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B"))
#: Environment variables by which rich takes other outputs for a terminal.
TERMINALS = ("FORCE_COLOR", "TTY_COMPATIBLE")


class _Display:
    """A bar on a terminal, otherwise lines at intervals."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._next_line = 0.0
        self._bar = _bar(quiet=quiet)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _line_is_due(self) -> bool:
        """Whether the next line should be written now; the caller then writes it."""
        clock = time.monotonic()
        if self._quiet or clock < self._next_line:
            return False
        self._next_line = clock + LINE_EVERY_S
        return True


class Watch(_Display):
    """The display of a run's progress on stderr.

    Parameters
    ----------
    scenario
        Scenario of the run.
    quiet
        Whether to show nothing.
    """

    def __init__(self, scenario: Scenario, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._scenario = scenario
        self._pace = _Pace(scenario.extent, began=time.monotonic())
        if self._bar is not None:
            self._task = self._bar.add_task(printable(scenario.name), total=1.0, state="")

    def update(self, running: Running) -> None:
        """Show the progress."""
        pace = self._pace
        pace.snapshot(running)
        if self._bar is not None:
            self._bar.update(self._task, completed=pace.share, state=pace.state())
        elif self._line_is_due():
            echo(f"running {self._scenario.name}: {pace.share * 100:.0f} %, {pace.state()}", err=True)


class WatchAll(_Display):
    """The display of the progress of several runs on stderr.

    Parameters
    ----------
    quiet
        Whether to show nothing.
    """

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._began = time.monotonic()
        self._paces: dict[int, _Pace] = {}
        self._ended: set[int] = set()
        self._failed: set[int] = set()
        self._rows: dict[int, TaskID] = {}
        self._all: TaskID | None = None

    def update(self, runs: Sequence[Watched]) -> None:
        """Show the progress of every run."""
        for number, run in enumerate(runs):
            if number in self._ended:
                continue
            if run.progress is not None:
                self._take_snapshot(number, run, run.progress)
            if run.wall_s is not None or run.failed:
                self._end(number, run, total=len(runs))
        if self._bar is not None:
            self._show_all(self._bar, runs)
        elif self._line_is_due():
            echo(self._line(runs), err=True)

    def _take_snapshot(self, number: int, run: Watched, progress: Running) -> None:
        # Once per run: the extent of a scenario takes long to compute.
        if number not in self._paces:
            self._paces[number] = _Pace(run.extent, began=run.began)
        pace = self._paces[number]
        pace.snapshot(progress)
        if self._bar is not None:
            self._bar.update(
                self._row(self._bar, number, run.label), completed=pace.share, state=pace.brief()
            )

    def _end(self, number: int, run: Watched, *, total: int) -> None:
        self._ended.add(number)
        if run.failed:
            self._failed.add(number)
        if self._bar is not None:
            state = "failed" if run.failed else f"done in {run.wall_s or 0.0:.1f} s"
            visible = total <= MOST_SHOWN_ENDED
            self._bar.update(
                self._row(self._bar, number, run.label), completed=1.0, state=state, visible=visible
            )

    def _row(self, bar: Progress, number: int, label: str) -> TaskID:
        if number not in self._rows:
            self._rows[number] = bar.add_task(printable(label), total=1.0, state="")
        return self._rows[number]

    def _show_all(self, bar: Progress, runs: Sequence[Watched]) -> None:
        """Show all runs together in a row of their own, if there are several."""
        if len(runs) > 1:
            if self._all is None:
                self._all = bar.add_task("all runs", total=1.0, state="")
            state = f"{self._left(runs)}, {self._count(runs)}"
            bar.update(self._all, completed=self._share(runs), state=state)

    def _line(self, runs: Sequence[Watched]) -> str:
        under_way = [number for number in self._paces if number not in self._ended]
        paces = [
            f"{runs[number].label} {self._paces[number].share * 100:.0f} %"
            for number in under_way[:MOST_IN_LINE]
        ]
        more = len(under_way) - len(paces)
        paces += [f"{more} more"] if more else []
        return "; ".join([self._count(runs), *([", ".join(paces)] if paces else []), self._left(runs)])

    def _count(self, runs: Sequence[Watched]) -> str:
        failed = f", {len(self._failed)} failed" if self._failed else ""
        return f"{len(self._ended) - len(self._failed)} of {len(runs)} runs done{failed}"

    def _share(self, runs: Sequence[Watched]) -> float:
        under_way = (pace.share for number, pace in self._paces.items() if number not in self._ended)
        return (len(self._ended) + sum(under_way)) / max(len(runs), 1)

    def _left(self, runs: Sequence[Watched]) -> str:
        """Return an estimate from the durations so far, as if the other runs took as long."""
        elapsed, share = time.monotonic() - self._began, self._share(runs)
        rest = elapsed / share * (1 - share) if share > 0 else None
        return _time_left_text(rest, elapsed_s=elapsed)


class _Point(NamedTuple):
    """A run's progress at one time."""

    clock: float
    share: float
    packet_hops: int


class _Pace:
    """Progress and recent speed of a run: by its work, or by simulated time up to its limit."""

    def __init__(self, extent: Extent, *, began: float) -> None:
        self._extent = extent
        self._began = began
        self._points = deque([_Point(began, 0.0, 0)])
        self._running: Running | None = None

    def snapshot(self, running: Running) -> None:
        """Store a run's progress with the time."""
        share = max(self._points[-1].share, running.share)
        point = _Point(time.monotonic(), share, running.packet_hops)
        while len(self._points) > 1 and point.clock - self._points[1].clock > WINDOW_S:
            self._points.popleft()
        self._points.append(point)
        self._running = running

    @property
    def share(self) -> float:
        """The share that is done, from 0 to 1; it never decreases."""
        return min(ALMOST, self._points[-1].share)

    def state(self) -> str:
        """Return remaining time, position and speed of the run as text."""
        running = self._running
        if running is None:
            return UNKNOWN
        hops = self._per_second(running.packet_hops - self._points[0].packet_hops) / 1e6
        flows = f"{running.flows_done:,} of {running.flows_started:,} flows"
        return f"{self.brief()}, {flows}, {hops:.1f} M packet-hops/s"

    def brief(self) -> str:
        """Return a shorter text than `state`, for many runs."""
        running = self._running
        return (
            UNKNOWN
            if running is None
            else ", ".join([self._left(running), *_work(running), self._time(running)])
        )

    def _time(self, running: Running) -> str:
        end_us = self._extent.arrivals_end_us
        if any(total for _, total in (running.bytes, running.operations)):
            return f"{_ms(running.time_us)} ms"
        if running.time_us < end_us:
            return f"{_ms(running.time_us)} of {_ms(end_us)} ms"
        return f"{_ms(running.time_us)} ms, draining"

    def _left(self, running: Running) -> str:
        """Return the remaining time at the recent speed as text."""
        first, last = self._points[0], self._points[-1]
        pace = self._per_second(last.share - first.share)
        left_s = (1 - last.share) / pace if pace > 0 else None
        time_left = _time_left_text(left_s, elapsed_s=last.clock - self._began)
        at_most = self._extent.may_end_sooner and not running.by_work and time_left != UNKNOWN
        return f"at most {time_left}" if at_most else time_left

    def _per_second(self, amount: float) -> float:
        return amount / max(self._points[-1].clock - self._points[0].clock, 1e-9)


def _work(running: Running) -> Iterator[str]:
    """Yield how much of the work is done, if the total is known."""
    done, total = running.bytes
    if total:
        size, unit = next(((size, unit) for size, unit in SIZES if total >= size), SIZES[-1])
        yield f"{done / size:,.1f} of {total / size:,.1f} {unit}"
    done, total = running.operations
    if total:
        yield f"{done:,} of {total:,} operations"


def _time_left_text(left_s: float | None, *, elapsed_s: float) -> str:
    """Return a remaining time as text, if enough time has passed for an estimate."""
    if left_s is None or elapsed_s < LEAST_OBSERVED_S or not 0 <= left_s <= FARTHEST * elapsed_s:
        return UNKNOWN
    spans: Iterable[tuple[float, str]] = ((1.0, "s"), (60.0, "min"), (3600.0, "h"))
    size, unit = next(((size, unit) for size, unit in spans if left_s < 100 * size), (3600.0, "h"))
    return f"{left_s / size:.0f} {unit} left" if left_s >= 1 else "less than 1 s left"


def _bar(*, quiet: bool) -> Progress | None:
    """Return the bar; None if the output is not a terminal."""
    if quiet or not _may_be_terminal():
        return None
    from floodway.cli.bar import bar  # noqa: PLC0415 (few look on, and it takes a while)

    display = bar()
    return None if display.disable else display


def _may_be_terminal() -> bool:
    """Whether stderr is a terminal, or variables of the environment may call it one."""
    if any(name in os.environ for name in TERMINALS):
        return True
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        # stderr is missing or closed.
        return False


def _ms(us: float) -> str:
    return f"{us / 1000:,.2f}"

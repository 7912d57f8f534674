"""Progress of runs on stderr: a bar where somebody looks on, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from rich.progress import BarColumn, Progress, TextColumn

from floodway.cli.terminal import Terminal, printable, tell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from rich.progress import TaskID

    from floodway.scenarios import Scenario

__all__ = ["Watch", "WatchAll"]

#: Rates are those of the last so many seconds.
WINDOW_S = 3.0
#: Without a terminal there is a line at the first look, and then this often, in seconds.
LINE_EVERY_S = 10.0
#: With more runs than this, those that have ended leave the display.
MOST_SHOWN_ENDED = 12


class Running(Protocol):
    """How far a run is; the native half tells it, or another process."""

    @property
    def time_us(self) -> float:
        """Simulated microseconds so far."""

    @property
    def packet_hops(self) -> int:
        """Packets received over a link so far."""

    @property
    def flows_done(self) -> int:
        """Flows finished so far."""

    @property
    def flows_started(self) -> int:
        """Flows started so far."""


class Watched(Protocol):
    """A run among others: what it is called, when it began, how far it is, and what it took at its end."""

    @property
    def label(self) -> str:
        """What messages call it."""

    @property
    def scenario(self) -> Scenario:
        """What is simulated."""

    @property
    def began(self) -> float:
        """When it began, by the monotonic clock."""

    @property
    def progress(self) -> Running | None:
        """How far it is."""

    @property
    def wall_s(self) -> float | None:
        """What it took, in seconds; none before its end."""

    @property
    def failed(self) -> bool:
        """Whether it came to a bad end."""


@dataclass(frozen=True)
class _Look:
    """What one look at the progress saw."""

    clock: float
    time_us: float
    packet_hops: int
    flows_done: int
    flows_started: int


class Watch:
    """Shows how far a run is.

    Parameters
    ----------
    scenario
        What is run.
    quiet
        Whether to show nothing.
    """

    def __init__(self, scenario: Scenario, *, quiet: bool) -> None:
        self._scenario = scenario
        self._quiet = quiet
        self._pace = _Pace(scenario, began=time.monotonic())
        self._line_due = 0.0
        self._bar = _bar(quiet=quiet)
        self._task = self._bar.add_task(printable(scenario.name), total=1.0, state="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, running: Running) -> None:
        """Look at the progress and show it."""
        clock = self._pace.look(running)
        if not self._bar.disable:
            self._bar.update(self._task, completed=self._pace.share(), state=self._pace.state())
        elif not self._quiet and clock >= self._line_due:
            self._line_due = clock + LINE_EVERY_S
            tell(f"running {self._scenario.name}: {self._pace.state()}", err=True)


class WatchAll:
    """Shows how far each of several runs is.

    Parameters
    ----------
    quiet
        Whether to show nothing.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._paces: dict[int, _Pace] = {}
        self._lines_due: dict[int, float] = {}
        self._ended: set[int] = set()
        self._bar = _bar(quiet=quiet)
        self._rows: dict[int, TaskID] = {}

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, runs: Sequence[Watched]) -> None:
        """Look at every run's progress and show it."""
        for number, run in enumerate(runs):
            if run.progress is not None and number not in self._ended:
                self._look(number, run, run.progress)
            if run.wall_s is not None and number not in self._ended:
                self._ended.add(number)
                self._end(number, run.label, f"done in {run.wall_s:.1f} s", of=len(runs))
            elif run.failed and number not in self._ended:
                self._ended.add(number)
                self._end(number, run.label, "failed", of=len(runs))

    def _look(self, number: int, run: Watched, progress: Running) -> None:
        pace = self._paces.setdefault(number, _Pace(run.scenario, began=run.began))
        clock = pace.look(progress)
        if not self._bar.disable:
            self._bar.update(self._row(number, run.label), completed=pace.share(), state=pace.brief())
        elif not self._quiet and clock >= self._lines_due.get(number, 0.0):
            self._lines_due[number] = clock + LINE_EVERY_S
            tell(f"running {run.label}: {pace.state()}", err=True)

    def _end(self, number: int, label: str, state: str, *, of: int) -> None:
        if not self._bar.disable:
            self._bar.update(
                self._row(number, label), completed=1.0, state=state, visible=of <= MOST_SHOWN_ENDED
            )
        elif not self._quiet:
            tell(f"{label}: {state}, {len(self._ended)} of {of} runs", err=True)

    def _row(self, number: int, label: str) -> TaskID:
        if number not in self._rows:
            self._rows[number] = self._bar.add_task(printable(label), total=1.0, state="")
        return self._rows[number]


class _Pace:
    """How far a run is, and how fast of late.

    While flows still arrive, the share done is that of simulated time; after that, of flows.
    """

    def __init__(self, scenario: Scenario, *, began: float) -> None:
        self._scenario = scenario
        self._looks: deque[_Look] = deque([_Look(began, 0.0, 0, 0, 0)])

    def look(self, running: Running) -> float:
        """Look at a run's progress, and return the time of the look."""
        look = _Look(
            time.monotonic(),
            running.time_us,
            running.packet_hops,
            running.flows_done,
            running.flows_started,
        )
        while len(self._looks) > 1 and look.clock - self._looks[1].clock > WINDOW_S:
            self._looks.popleft()
        self._looks.append(look)
        return look.clock

    def share(self) -> float:
        """Return the share that is done, from 0 to 1."""
        look = self._looks[-1]
        if self._arriving(look):
            return look.time_us / self._scenario.arrivals_end_us
        return look.flows_done / max(look.flows_started, 1)

    def state(self) -> str:
        """Say where the run is and how long it will take."""
        look = self._looks[-1]
        hops = self._per_second(look.packet_hops - self._looks[0].packet_hops) / 1e6
        flows = f"{look.flows_done:,} of {look.flows_started:,} flows"
        return f"{self._time(look)}, {flows}, {hops:.1f} M packet-hops/s, {self._left(look)}"

    def brief(self) -> str:
        """Say the same in fewer words, for a display of many runs."""
        look = self._looks[-1]
        return f"{self._time(look)}, {self._left(look)}"

    def _time(self, look: _Look) -> str:
        if self._arriving(look):
            return f"{_ms(look.time_us)} of {_ms(self._scenario.arrivals_end_us)}"
        return f"{_ms(look.time_us)}, draining"

    def _left(self, look: _Look) -> str:
        """Say how long it will take at the present pace."""
        first = self._looks[0]
        if self._arriving(look):
            missing, done = self._scenario.arrivals_end_us - look.time_us, look.time_us - first.time_us
        else:
            missing, done = look.flows_started - look.flows_done, look.flows_done - first.flows_done
        pace = self._per_second(done)
        return f"{missing / pace:.0f} s left" if pace > 0 else "time left unknown"

    def _arriving(self, look: _Look) -> bool:
        return look.time_us < self._scenario.arrivals_end_us

    def _per_second(self, amount: float) -> float:
        return amount / max(self._looks[-1].clock - self._looks[0].clock, 1e-9)


def _bar(*, quiet: bool) -> Progress:
    console = Terminal(sys.stderr)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[state]}"),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )


def _ms(us: float) -> str:
    return f"{us / 1000:,.2f} ms"

"""Progress of a run on stderr: a bar where somebody looks on, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:
    from types import TracebackType

    from floodway._floodway import Progress as Running
    from floodway._floodway import Scenario

__all__ = ["Watch"]

#: Rates are those of the last so many seconds.
WINDOW_S = 3.0
#: Without a terminal there is a line at the first look, and then this often, in seconds.
LINE_EVERY_S = 10.0


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

    While flows still arrive, the share done is that of simulated time; after that, of flows.

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
        self._looks: deque[_Look] = deque([_Look(time.monotonic(), 0.0, 0, 0, 0)])
        self._line_due = 0.0
        console = Console(file=sys.stderr, highlight=False)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[state]}"),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._task = self._bar.add_task(scenario.name, total=1.0, state="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, running: Running) -> None:
        """Look at the progress and show it."""
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
        if not self._bar.disable:
            self._bar.update(self._task, completed=self._share(look), state=self._state(look))
        elif not self._quiet and look.clock >= self._line_due:
            self._line_due = look.clock + LINE_EVERY_S
            typer.echo(f"running {self._scenario.name}: {self._state(look)}", err=True)

    def _share(self, look: _Look) -> float:
        if self._arriving(look):
            return look.time_us / self._scenario.arrivals_end_us
        return look.flows_done / max(look.flows_started, 1)

    def _state(self, look: _Look) -> str:
        hops = self._per_second(look.packet_hops - self._looks[0].packet_hops) / 1e6
        flows = f"{look.flows_done:,} of {look.flows_started:,} flows"
        return f"{self._time(look)}, {flows}, {hops:.1f} M packet-hops/s, {self._left(look)}"

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


def _ms(us: float) -> str:
    return f"{us / 1000:,.2f} ms"

"""Runs that are as hard as can be for a planned number: does it hold, and what is the least that does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from floodway.errors import RunError
from floodway.planning.link import PREAMBLE_AND_GAP, SHORT_PS, Sizes, link_scenario, stop_ps
from floodway.planning.question import SMALLEST
from floodway.scenarios import Scenario
from floodway.simulation import run

if TYPE_CHECKING:
    from floodway.analysis import Result
    from floodway.planning.question import Question

__all__ = ["Trial", "trial"]

PS_PER_S = 1_000_000_000_000


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What the hardest run showed of one size, in bytes of one class of one link.

    Attributes
    ----------
    size
        Of the buffer that was tried.
    peak
        The most that was held, of all links and classes.
    lost_packets
        How many were dropped for want of room.
    least
        The least size that holds in this run; none where that was not tried.
    holds_at_least, loses_below
        Whether runs with the least size and with one cell less showed that.
    scenarios
        The scenarios by name, as TOML, so that anybody can run them again.
    """

    size: int
    peak: int
    lost_packets: int
    least: int | None = None
    holds_at_least: bool = False
    loses_below: bool = False
    scenarios: dict[str, str]

    @property
    def holds(self) -> bool:
        """Whether nothing was lost."""
        return self.lost_packets == 0

    @property
    def spare(self) -> int:
        """Bytes to spare: negative where packets were lost."""
        return self.size - self.peak


def trial(question: Question, sizes: Sizes, *, size: int, with_least: bool, sized_by: str = "") -> Trial:
    """Run the hardest case with a size, and with the least that holds.

    Parameters
    ----------
    question
        The link.
    sizes
        What is set at its end.
    size
        The size that results from that, in bytes.
    with_least
        Whether to find the least size.
    sized_by
        What the flow control must be where the size is another one; that of `sizes`, if empty.

    Raises
    ------
    RunError
        If no pause was sent though nothing left the switch.
    """
    end = stop_ps(question) + 6 * question.delay_ps + _fill_ps(question, size) + 100 * 1_000_000
    texts: dict[str, str] = {}
    pausing = "pfc" in sizes.control
    ahead = None
    if pausing:
        # When the pause is decided does not depend on the other direction, so one run says when to begin.
        decided = _decided_ps(question, _run(link_scenario(question, sizes, end_ps=end)))
        frame = question.largest_frame + PREAMBLE_AND_GAP
        ahead = decided - 1 - SHORT_PS - frame * 8 * PS_PER_S // question.rate_bps

    def hardest(tried: Sizes, name: str) -> tuple[int, int]:
        text = link_scenario(question, tried, ahead_ps=ahead, always_ahead=not pausing, end_ps=end)
        texts[name] = text
        return _held(_run(text))

    peak, lost = hardest(sizes, "planned")
    found = Trial(size=size, peak=peak, lost_packets=lost, scenarios=texts)
    if not with_least or lost:
        return found
    control = sized_by or sizes.control
    _, lost_at = hardest(Sizes(control=control, buffer=peak), "least")
    _, lost_below = hardest(Sizes(control=control, buffer=peak - question.cell_bytes), "below")
    return replace(found, least=peak, holds_at_least=lost_at == 0, loses_below=lost_below > 0)


def _run(text: str) -> Result:
    return run(Scenario.from_toml(text, name="plan"))


def _fill_ps(question: Question, size: int) -> int:
    """Time in which a buffer fills at the link's rate, if every byte is one of the wire."""
    return size * 8 * PS_PER_S // question.rate_bps


def _decided_ps(question: Question, result: Result) -> int:
    """Return when the switch decided to pause, from the arrival of its first pause after the stop."""
    pauses = result.pauses
    if pauses is None:
        raise RunError("plan: the run has no pauses")
    rows = pauses.filter(
        (pl.col("node").cast(pl.String) == "a1")
        & (pl.col("event").cast(pl.String) == "pause")
        & (pl.col("time_ns") * 1000 > stop_ps(question))
    )
    if rows.is_empty():
        raise RunError("plan: the switch sent no pause, though nothing left it")
    arrived = round(float(rows["time_ns"][0]) * 1000)
    frame = (SMALLEST + PREAMBLE_AND_GAP) * 8 * PS_PER_S // question.rate_bps
    return arrived - frame - question.delay_ps


def _held(result: Result) -> tuple[int, int]:
    """Return the most that a planned port and class held, and the packets that planned ports dropped."""
    ports = result.counters.filter(
        (pl.col("node").cast(pl.String) == "s") & pl.col("link").cast(pl.String).str.starts_with("a")
    )
    relays = result.counters.filter(
        pl.col("node").cast(pl.String).str.starts_with("r")
        & pl.col("link").cast(pl.String).str.starts_with("a")
    )
    rows = pl.concat([ports, relays])
    most, lost = rows.select(pl.col("peak_bytes").max(), pl.col("drops_buffer").sum()).row(0)
    return most or 0, lost or 0

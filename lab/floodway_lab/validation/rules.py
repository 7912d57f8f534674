"""Bounds of a validation: what may differ, by how much, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "FEW_FLOWS",
    "FEW_FRAMES",
    "FEW_SAMPLES",
    "MOST_PORTS",
    "RULES",
    "SHOWN_FLOWS",
    "Kind",
    "Limit",
    "Rules",
    "Verdict",
    "spread",
]

Verdict = Literal["pass", "fail", "shown", "not run"]
#: Of a case: equality is expected, since ties, draws and paths are those of the reference. Else the reference
#: is of another build, or its paths are not known: nothing in it is left to chance; flows that start at the
#: same instant at the same host make exact ties, whose order is the simulator's own; switches mark at random;
#: or a hash chooses among paths, in an order that the simulator takes from addresses in memory.
Kind = Literal["equal", "exact", "tied", "random", "hashed"]

#: Where a hash chooses paths that are not listed: when this many flows have ended before anything differs,
#: the paths are those of the reference. Flows that went otherwise would have met others from the beginning.
SHOWN_FLOWS = 200

#: With fewer flows in a bucket of sizes, its 99th percentile is one of the two slowest flows: shown only.
FEW_FLOWS = 200
#: With fewer PFC frames, one congestion episode more or less is more than a tenth: shown only.
FEW_FRAMES = 100
#: With fewer samples of a port (0.1 ms at one each 100 ns), its queue was one burst: shown only.
FEW_SAMPLES = 1000
#: Number of ports that are compared: the busiest of the reference.
MOST_PORTS = 4


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A bound on one number.

    Attributes
    ----------
    side
        Whether the bound is a maximum or a minimum.
    value
        The bound, a share (0.02 is 2 %) or a count.
    is_spread
        Whether it is the spread of our own seeds, being wider than the fixed bound.
    """

    side: Literal["most", "least"]
    value: float
    is_spread: bool = False

    def verdict(self, value: float) -> Verdict:
        """Return the verdict on a number; the bound itself passes, and NaN fails."""
        holds = value <= self.value if self.side == "most" else value >= self.value
        return "pass" if holds else "fail"


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The bounds of a kind of case; a number without one is shown only.

    Those from `close` to `pauses` are what this validation promises. Those from there on are stricter
    company, so that a case cannot pass by them with wrong queues, or with half of its flows missing.

    Attributes
    ----------
    equal
        Least share of flows, PFC frames and samples of queues that equal the reference's; totals do, too.
    close
        Least share of the flows whose completion time is within 0.5 % of the reference's.
    largest
        Largest relative difference of any flow's completion time.
    typical
        Median relative difference of completion times; or, if wider, that of two of our own seeds (the
        median over their pairs).
    p99
        Relative difference of the 99th percentile of completion times, in buckets of enough flows.
    pauses
        Relative difference of the number of PFC frames, where the reference has enough.
    p50, slowdown
        Relative difference of the median of completion times and of slowdown, and of the latter's 99th
        percentile, in buckets of enough flows.
    queue
        Relative difference of a port's samples with a queue, of the mean of that queue and of its 99th
        percentile, on top of one bin.
    lost
        Share of the flows that only one side has finished.
    or_spread
        Whether the spread of our own seeds takes the place of a bound from `p50` on where it is wider: no
        other implementation can be nearer than the simulator is to itself.
    """

    equal: float | None = None
    close: float | None = None
    largest: float | None = None
    typical: float | None = None
    p99: float | None = None
    pauses: float | None = None
    p50: float | None = None
    slowdown: float | None = None
    queue: float | None = None
    lost: float
    or_spread: bool


#: Of flows that start together; random marks beside them may also cost a flow.
TIED = Rules(
    typical=0.02,
    p99=0.05,
    pauses=0.10,
    p50=0.02,
    slowdown=0.05,
    queue=0.10,
    lost=0.0,
    or_spread=True,
)

#: Equal: that simulator's ties, draws and paths are known, so that every difference is an error of ours.
#:
#: The others count where the run with the configuration's own seed does not equal a reference whose paths are
#: not known, or of another build, which may number its random streams, or order its equal-cost ports,
#: otherwise.
#:
#: Exact: times differ by the nanoseconds that either side rounds, and by what coincidences of these decide.
#: No percentile can differ by more than the flow that differs most. Queues are sampled at instants that lie
#: otherwise between events: half a bin in the mean, a bin elsewhere, one sample in fifty at the edges.
#: Tied and random: the reference is one draw more from what our seeds are drawn from. What is not promised
#: may lie no farther from the median of ours than two of ours lie apart. A queue that marks at random
#: remembers a few round trips; over the milliseconds of an incast two runs differ by about a tenth.
#: Hashed: flows meet others than in the reference, at other ports; distributions alone are alike, their
#: tails less so.
RULES: dict[Kind, Rules] = {
    "equal": Rules(equal=1.0, lost=0.0, or_spread=False),
    "exact": Rules(
        close=0.95,
        largest=0.02,
        p99=0.02,
        pauses=0.10,
        p50=0.02,
        slowdown=0.02,
        queue=0.02,
        lost=0.0,
        or_spread=False,
    ),
    "tied": TIED,
    "random": replace(TIED, lost=0.001),
    "hashed": Rules(
        p99=0.10,
        p50=0.05,
        slowdown=0.10,
        lost=0.001,
        or_spread=True,
    ),
}


def spread(values: Sequence[float]) -> float:
    """Return the largest relative difference of two seeds; 0 for a single one.

    Parameters
    ----------
    values
        Numbers, one a seed.

    Examples
    --------
    >>> round(spread([100.0, 102.0, 104.0]), 4)
    0.0392
    """
    pairs = combinations(values, 2)
    return max((abs(a - b) / max((abs(a) + abs(b)) / 2, 1e-300) for a, b in pairs), default=0.0)

"""A run's tables with what is known about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from floodway.results.outcome import Outcome
from floodway.results.summary import Summary, summarise

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

__all__ = ["AskedLoad", "Result", "RunInfo", "Timings"]


@dataclass(frozen=True, kw_only=True)
class AskedLoad:
    """What the scenario asks of a workload at a stated load.

    Attributes
    ----------
    workload
        Its name.
    gbps
        Payload offered on average, in Gbit/s.
    load
        The same as a share of the capacity that the scenario names.
    """

    workload: str
    gbps: float
    load: float


@dataclass(frozen=True, kw_only=True)
class Timings:
    """What a run took: when it began (ISO 8601, UTC), its seconds, packet-hops per second."""

    started: str
    wall_s: float
    packet_hops_per_s: float


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """What is known about a run beside its tables; `run.json` holds just this.

    Attributes
    ----------
    name
        The scenario's name.
    seed
        What seeded every random stream and tie.
    scenario
        The whole scenario after defaults, as its JSON form.
    versions
        Of floodway and of what wrote the tables.
    timings
        What the run took; the only part that differs between two runs of one scenario and seed.
    verdicts
        The outcome as the simulator states it, events by cause included.
    loads
        What workloads at a stated load were asked for; the summary has what came out.
    """

    name: str
    seed: int
    scenario: Mapping[str, Any]
    versions: Mapping[str, str]
    timings: Timings
    verdicts: Mapping[str, Any]
    loads: tuple[AskedLoad, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """What a run keeps, as frames whose column names carry the units.

    Attributes
    ----------
    flows
        One row a flow.
    latency
        One row a workload, component and bucket of packet delay.
    series
        One row a watched object, metric and time bucket.
    counters
        One row a port and class.
    run
        What is known about the run.
    """

    flows: pl.DataFrame
    latency: pl.DataFrame
    series: pl.DataFrame
    counters: pl.DataFrame
    run: RunInfo

    def __repr__(self) -> str:
        name, seed, outcome = self.run.name, self.run.seed, self.outcome
        simulated = f"{outcome.simulated_us / 1000:,.2f} ms simulated"
        return f"Result({name!r}, seed {seed}: {len(self.flows):,} flows, {simulated}, {outcome.stopped})"

    @cached_property
    def outcome(self) -> Outcome:
        """Verdicts and totals."""
        return Outcome.from_json(self.run.verdicts)

    def summary(self) -> Summary:
        """Compute what the run came to, in the few numbers that people compare; the second call is free."""
        return self._summary

    @cached_property
    def _summary(self) -> Summary:
        return summarise(self.flows, self.series, self.counters, self.outcome, self.run)

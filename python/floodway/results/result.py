"""The tables of a run, and the facts about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from floodway.common.errors import OutputError
from floodway.results.outcome import Outcome
from floodway.results.quantities import counted

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import polars as pl

    from floodway.results.hpcc import HpccExport
    from floodway.results.summary import Summary
    from floodway.scenarios.scenario import Scenario

__all__ = ["AskedLoad", "Result", "RunInfo", "Timings"]


@dataclass(frozen=True, kw_only=True)
class AskedLoad:
    """The load that the scenario states for a workload.

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
    """Times, speed and threads of a run.

    Attributes
    ----------
    started
        When it began (ISO 8601, UTC).
    wall_s
        Its seconds.
    packet_hops_per_s
        Packets received over a link, in a second.
    threads
        On how many threads it ran.
    threads_why
        Why not on more, where there is a reason in the scenario.
    ranks
        In how many processes it ran, with so many threads each.
    """

    started: str
    wall_s: float
    packet_hops_per_s: float
    threads: int = 1
    threads_why: str | None = None
    ranks: int = 1


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """Facts about a run in addition to its tables; `run.json` holds them, and digests of all files.

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
    built
        The built network, as `floodway check --json` has it: nodes, links, paths,
        ports with their thresholds, pools, workloads. Results of older versions lack it.
    code
        Code that is not floodway's: classes in Python (`python`) that the scenario chose, each with its file
        and digest, and the extension (`extension`) with its version and digest; each where there is such.
    """

    name: str
    seed: int
    scenario: Mapping[str, Any]
    versions: Mapping[str, str]
    timings: Timings
    verdicts: Mapping[str, Any]
    loads: tuple[AskedLoad, ...] = ()
    built: Mapping[str, Any] = field(default_factory=dict)
    code: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """The tables of a run, as frames whose column names carry the units.

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
        Facts about the run: its scenario, seed, times and verdicts.
    pauses
        One row a pause or resume as it was received, where the scenario says `records.pauses = true`; else
        none.
    signals
        One row a mark, CNP or change of state of a port's congestion points, where the scenario says
        `records.signals = true`; else none.
    allowances
        One row each time that the pacing rate or the window of a flow's sender changed, where the scenario
        has `records.allowances`; else none.
    shares
        One row a flow, direction of a link and bucket of time, where the scenario has `records.shares`; else
        none.
    queue_histogram
        One row a switch's port and bin of queue length, where the scenario has `records.queue-histogram`;
        else none.
    operations
        One row an operation of a rank of a job that is complete (send, receive, computation, collective),
        where there are jobs; else none.
    collectives
        One row a collective of a group of ranks, where there are jobs: its time, and algorithm and bus
        bandwidth as nccl-tests define them; else none.
    capture
        Captured frames as a pcapng file, `capture.pcapng` in a folder of results; none where the scenario
        has no `records.capture`.
    """

    flows: pl.DataFrame
    latency: pl.DataFrame
    series: pl.DataFrame
    counters: pl.DataFrame
    run: RunInfo
    pauses: pl.DataFrame | None = None
    signals: pl.DataFrame | None = None
    allowances: pl.DataFrame | None = None
    shares: pl.DataFrame | None = None
    queue_histogram: pl.DataFrame | None = None
    operations: pl.DataFrame | None = None
    collectives: pl.DataFrame | None = None
    capture: bytes | None = None

    def __repr__(self) -> str:
        name, seed, outcome = self.run.name, self.run.seed, self.outcome
        simulated = f"{outcome.simulated_us / 1000:,.2f} ms simulated"
        flows = counted(len(self.flows), "flow")
        return f"Result({name!r}, seed {seed}: {flows}, {simulated}, {outcome.stopped})"

    def _repr_html_(self) -> str:
        from floodway.common.documents.html import body  # noqa: PLC0415 (in notebooks alone)
        from floodway.results.document import document  # noqa: PLC0415 (as above)

        return body(document(self))

    def summary(self) -> Summary:
        """Compute the summary of the run.

        Returns
        -------
        Summary
            The few numbers that people compare; later calls return the same object.
        """
        return self._summary

    def perftest(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Report on `perftest` workloads in perftest's columns: bandwidth and latency, a row a pair of hosts.

        Messages that are not complete do not count. The columns are those of
        `floodway.results.perftest.perftest`.

        Returns
        -------
        tuple of polars.DataFrame
            Bandwidth, and latency; without such workloads both frames are empty.
        """
        from floodway.results.perftest import perftest  # noqa: PLC0415 (where it is asked for)

        return perftest(self.flows, self.run)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the tables and the facts of the run, as `floodway run` does; `floodway.read` reads them.

        Parameters
        ----------
        folder
            Where; it is made if it does not exist.
        force
            Whether results that are there already may be replaced; other files beside them are kept.

        Raises
        ------
        OutputError
            If the folder is taken, or cannot be written; what was there before is then still there.
        """
        from floodway.results.store import Reservation  # noqa: PLC0415 (it needs this module)

        with Reservation(folder, force=force) as reservation:
            try:
                reservation.publish(self)
            except OutputError as error:
                reason = f"{error.reason}; the result is still in memory: save it elsewhere"
                raise OutputError(error.path, reason) from error

    def export_hpcc(
        self, folder: str | os.PathLike[str], *, scenario: Scenario | None = None, force: bool = False
    ) -> HpccExport:
        """Write `fct.txt`, `pfc.txt` and `qlen.txt` as the HPCC simulator writes them, and a map of nodes.

        `pfc.txt` needs `records.pauses = true` in the scenario, `qlen.txt` a `records.queue-histogram`; what
        the run did not keep is left out, and the notes of what is returned say so.

        Parameters
        ----------
        folder
            Where; it is made if it does not exist.
        scenario
            What was run; by default it is read again from the record of the run, which cannot be done where
            it names other files by relative paths.
        force
            Whether files of these names that are there may be replaced.

        Returns
        -------
        HpccExport
            The files, and what they lack.

        Raises
        ------
        OutputError
            If one of the files is there already, or cannot be written.
        ScenarioError
            If the scenario cannot be read again.
        """
        from floodway.results.hpcc import export  # noqa: PLC0415 (it needs this module)

        return export(self, folder, scenario=scenario, force=force)

    @cached_property
    def outcome(self) -> Outcome:
        """Verdicts and totals."""
        return Outcome.from_json(self.run.verdicts)

    @cached_property
    def _summary(self) -> Summary:
        from floodway.results.summary import summarise  # noqa: PLC0415 (where it is asked for)

        return summarise(
            self.flows, self.series, self.counters, self.outcome, self.run, self.collectives, self.operations
        )

"""The keys of a scenario's top level as typed arguments. Written by `make generate`.

The builders are named for type checkers alone: a scenario that comes from a file needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from floodway.builders import (
        Defaults,
        EngineKeys,
        Format,
        MeasureWindow,
        OnDeadlock,
        Override,
        Profile,
        RecordKeys,
        SemanticsKeys,
        Size,
        Stop,
        Time,
        Topology,
        Workload,
    )


__all__ = ["Keys"]


class Keys:
    """The keys of a scenario's top level as arguments; `floodway.Scenario` is the class to use.

    Parameters
    ----------
    topology
        The network.
    workload
        Traffic.
    name
        What results are filed under. Default: the file's name.
    description
        What it shows.
    seed
        Seeds every random stream and tie. Default: 1.
    profile
        Another simulator's semantics in every point; what is set beside it wins.
    wire
        Headers of packets. Default: `ethernet`.
    mtu
        Payload of a full packet. Default: 1000 B.
    semantics
        Points in which other simulators differ.
    origin
        What time 0 of the scenario is on the clock of the simulator whose files it reads:
        starts in HPCC's flow files count from there, and exports for that simulator add it.
        Default: 0.
    defaults
        What holds wherever no override says otherwise.
    override
        Exceptions, later ones win.
    measure
        Flows that start in this window are measured. Default: of Poisson arrivals all but the
        first tenth of their time, of lists all.
    limit
        The run ends here at the latest. Default: 100 base round-trip times and 4 times the end
        of Poisson arrivals that are measured, or the time by which other measured flows, as
        their links, paces and faults let them, would have ended.
    stop
        What ends the run. Default: `measured`.
    on_deadlock
        What a deadlock does. Default: `stop`.
    records
        What is kept beyond the tables of flows and counters.
    engine
        How the run is computed: `threads = 2`. It changes nothing of what is kept.
    """

    def __init__(
        self,
        *,
        topology: Topology,
        workload: Sequence[Workload],
        name: str | None = None,
        description: str | None = None,
        seed: int | None = None,
        profile: Profile | None = None,
        wire: Format | None = None,
        mtu: Size | None = None,
        semantics: SemanticsKeys | None = None,
        origin: Time | None = None,
        defaults: Defaults | None = None,
        override: Sequence[Override] | None = None,
        measure: MeasureWindow | None = None,
        limit: Time | None = None,
        stop: Stop | None = None,
        on_deadlock: OnDeadlock | None = None,
        records: RecordKeys | None = None,
        engine: EngineKeys | None = None,
    ) -> None:
        self._begin(
            {
                "name": name,
                "description": description,
                "seed": seed,
                "profile": profile,
                "wire": wire,
                "mtu": mtu,
                "semantics": semantics,
                "origin": origin,
                "topology": topology,
                "defaults": defaults,
                "override": override,
                "workload": workload,
                "measure": measure,
                "limit": limit,
                "stop": stop,
                "on-deadlock": on_deadlock,
                "records": records,
                "engine": engine,
            }
        )

    def replace(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        seed: int | None = None,
        profile: Profile | None = None,
        wire: Format | None = None,
        mtu: Size | None = None,
        semantics: SemanticsKeys | None = None,
        origin: Time | None = None,
        topology: Topology | None = None,
        defaults: Defaults | None = None,
        override: Sequence[Override] | None = None,
        workload: Sequence[Workload] | None = None,
        measure: MeasureWindow | None = None,
        limit: Time | None = None,
        stop: Stop | None = None,
        on_deadlock: OnDeadlock | None = None,
        records: RecordKeys | None = None,
        engine: EngineKeys | None = None,
        sets: Sequence[tuple[str, str]] = (),
    ) -> Self:
        """Return the same scenario with other values for some keys; `None` leaves a key as it is.

        Parameters
        ----------
        topology
            The network.
        workload
            Traffic.
        name
            What results are filed under. Default: the file's name.
        description
            What it shows.
        seed
            Seeds every random stream and tie. Default: 1.
        profile
            Another simulator's semantics in every point; what is set beside it wins.
        wire
            Headers of packets. Default: `ethernet`.
        mtu
            Payload of a full packet. Default: 1000 B.
        semantics
            Points in which other simulators differ.
        origin
            What time 0 of the scenario is on the clock of the simulator whose files it reads:
            starts in HPCC's flow files count from there, and exports for that simulator add it.
            Default: 0.
        defaults
            What holds wherever no override says otherwise.
        override
            Exceptions, later ones win.
        measure
            Flows that start in this window are measured. Default: of Poisson arrivals all but the
            first tenth of their time, of lists all.
        limit
            The run ends here at the latest. Default: 100 base round-trip times and 4 times the end
            of Poisson arrivals that are measured, or the time by which other measured flows, as
            their links, paces and faults let them, would have ended.
        stop
            What ends the run. Default: `measured`.
        on_deadlock
            What a deadlock does. Default: `stop`.
        records
            What is kept beyond the tables of flows and counters.
        engine
            How the run is computed: `threads = 2`. It changes nothing of what is kept.
        sets
            Paths of keys with values, written after that, as `--set` of the command line.

        Raises
        ------
        ScenarioError
            If what comes out is not a valid scenario.
        """
        return self._replaced(
            {
                "name": name,
                "description": description,
                "seed": seed,
                "profile": profile,
                "wire": wire,
                "mtu": mtu,
                "semantics": semantics,
                "origin": origin,
                "topology": topology,
                "defaults": defaults,
                "override": override,
                "workload": workload,
                "measure": measure,
                "limit": limit,
                "stop": stop,
                "on-deadlock": on_deadlock,
                "records": records,
                "engine": engine,
            },
            sets,
        )

    def _begin(self, keys: Mapping[str, object]) -> None:
        raise NotImplementedError

    def _replaced(self, keys: Mapping[str, object], sets: Sequence[tuple[str, str]]) -> Self:
        raise NotImplementedError

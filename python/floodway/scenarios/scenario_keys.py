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
        GpuNodes,
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
        Name of the results. Default: the file's name.
    description
        Description of the scenario.
    seed
        Seed of all random streams and of the order of ties. Default: 1.
    profile
        Semantics of another simulator, for all keys at once; keys set beside it take
        precedence.
    wire
        Packet headers. Default: `ethernet`.
    mtu
        Payload of a full packet. Default: 1000 B.
    semantics
        Semantics in which other simulators differ.
    origin
        Time 0 of the scenario on the clock of the simulator whose files it reads: start times
        in HPCC's flow files count from there, and exports for that simulator add it. Default:
        0.
    gpu_nodes
        Which hosts are the GPUs of a node. Default: each host is a node of its own.
    defaults
        Settings of all objects that no override changes.
    override
        Settings of selected objects; later ones take precedence.
    measure
        Flows that start in this window are measured. Default: of Poisson arrivals all but the
        first tenth of their time, of lists all.
    limit
        The latest end of the run. Default: 100 base round-trip times and 4 times the end of
        measured Poisson arrivals, or the time by which other measured flows would have ended,
        given their links, paces and faults.
    stop
        Condition that ends the run. Default: `measured`.
    on_deadlock
        Effect of a deadlock on the run. Default: `stop`.
    records
        Records in addition to the tables of flows and counters.
    engine
        Settings of the computation: `threads = 2`. They do not change the records.
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
        gpu_nodes: GpuNodes | None = None,
        defaults: Defaults | None = None,
        override: Sequence[Override] | None = None,
        measure: MeasureWindow | None = None,
        limit: Time | None = None,
        stop: Stop | None = None,
        on_deadlock: OnDeadlock | None = None,
        records: RecordKeys | None = None,
        engine: EngineKeys | None = None,
    ) -> None:
        self._begin(locals())

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
        gpu_nodes: GpuNodes | None = None,
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
            Name of the results. Default: the file's name.
        description
            Description of the scenario.
        seed
            Seed of all random streams and of the order of ties. Default: 1.
        profile
            Semantics of another simulator, for all keys at once; keys set beside it take
            precedence.
        wire
            Packet headers. Default: `ethernet`.
        mtu
            Payload of a full packet. Default: 1000 B.
        semantics
            Semantics in which other simulators differ.
        origin
            Time 0 of the scenario on the clock of the simulator whose files it reads: start times
            in HPCC's flow files count from there, and exports for that simulator add it. Default:
            0.
        gpu_nodes
            Which hosts are the GPUs of a node. Default: each host is a node of its own.
        defaults
            Settings of all objects that no override changes.
        override
            Settings of selected objects; later ones take precedence.
        measure
            Flows that start in this window are measured. Default: of Poisson arrivals all but the
            first tenth of their time, of lists all.
        limit
            The latest end of the run. Default: 100 base round-trip times and 4 times the end of
            measured Poisson arrivals, or the time by which other measured flows would have ended,
            given their links, paces and faults.
        stop
            Condition that ends the run. Default: `measured`.
        on_deadlock
            Effect of a deadlock on the run. Default: `stop`.
        records
            Records in addition to the tables of flows and counters.
        engine
            Settings of the computation: `threads = 2`. They do not change the records.
        sets
            Key paths with values, set after the keys, as by `--set` of the command line.

        Returns
        -------
        Scenario
            The changed scenario.

        Raises
        ------
        ScenarioError
            If the changed scenario is invalid.
        """
        return self._replaced(locals(), sets)

    def _begin(self, arguments: Mapping[str, object]) -> None:
        raise NotImplementedError

    def _replaced(self, arguments: Mapping[str, object], sets: Sequence[tuple[str, str]]) -> Self:
        raise NotImplementedError

"""A scenario on the fat tree of 320 hosts as a folder of HPCC's simulator."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import floodway
from floodway.common.errors import FloodwayError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from floodway.scenarios.scenario import Scenario

__all__ = ["CONFIGURATION", "fat_tree_of_320", "flow_file", "write_folder"]

CONFIGURATION = "config.txt"
TOPOLOGY = "mercury-fat"
HOSTS, HOSTS_OF_TOR, PODS, OF_POD, CORES_OF_AGGREGATION = 320, 16, 5, 4, 4
#: Values of the simulator's own flow files: start of the clock in seconds, priority group, destination port.
START_S, GROUP, PORT = 2, 3, 100


def write_folder(scenario: Scenario, configuration: Path, folder: Path) -> None:
    """Write topology, flows and an empty trace of a scenario, and a configuration that names them.

    Parameters
    ----------
    scenario
        The scenario.
    configuration
        The configuration to copy.
    folder
        The folder to write.

    Raises
    ------
    FloodwayError
        The scenario is on another network.
    """
    if scenario.to_dict()["topology"] != {"preset": TOPOLOGY}:
        raise FloodwayError(
            f"{scenario.name} is not on {TOPOLOGY}, the one network that HPCC's ns-3 is given"
        )
    flows = floodway.run(scenario.replace(limit=f"{scenario.arrivals_end_us}us")).flows
    shutil.copy(configuration, folder / CONFIGURATION)
    (folder / "topology.txt").write_text(fat_tree_of_320(), encoding="utf-8")
    (folder / "flow.txt").write_text(flow_file(flows), encoding="utf-8")
    (folder / "trace.txt").write_text("0\n", encoding="utf-8")


def fat_tree_of_320() -> str:
    """Return the fat tree of HPCC's paper: ToR 320-339, aggregation 340-359, cores 360-375."""
    links = list(_links())
    switches = range(HOSTS, 1 + max(upper for _, upper, _ in links))
    lines = [
        f"{switches.stop} {len(switches)} {len(links)}",
        " ".join(map(str, switches)),
        *(f"{lower} {upper} {rate} 1000ns 0.000000" for lower, upper, rate in links),
    ]
    return "\n".join([*lines, ""])


def _links() -> Iterator[tuple[int, int, str]]:
    tors = aggregations = PODS * OF_POD
    first_aggregation = HOSTS + tors
    first_core = first_aggregation + aggregations
    for host in range(HOSTS):
        yield host, HOSTS + host // HOSTS_OF_TOR, "100Gbps"
    for tor in range(tors):
        for index in range(OF_POD):
            yield HOSTS + tor, first_aggregation + tor // OF_POD * OF_POD + index, "400Gbps"
    for aggregation in range(aggregations):
        for core in range(CORES_OF_AGGREGATION):
            upper = first_core + aggregation % OF_POD * CORES_OF_AGGREGATION + core
            yield first_aggregation + aggregation, upper, "400Gbps"


def flow_file(flows: pl.DataFrame) -> str:
    """Return flows in the order of their start, to the nanosecond."""
    rows = flows.sort("start_us").select("source", "destination", "size_bytes", "start_us").iter_rows()
    lines = (
        f"{_number(source)} {_number(destination)} {GROUP} {PORT} {size} {START_S + start / 1e6:.9f}"
        for source, destination, size, start in rows
    )
    return "\n".join([str(flows.height), *lines, ""])


def _number(host: str) -> int:
    return int(host.removeprefix("h")) - 1

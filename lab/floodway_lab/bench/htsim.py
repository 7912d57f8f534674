"""Work for htsim: the same flows as a connection matrix on its fat tree, with RoCE and PFC at line rate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import floodway
from floodway_lab.bench.work import OtherWorkError, Work

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from floodway_lab.bench.model import Pair

__all__ = ["connection_matrix", "prepared"]

MATRIX = "connections.cm"
#: Payload of a full packet: 82 bytes of headers make it 1,064 on our wire, 64 on theirs.
OURS, THEIRS = 982, 1000
#: Flows that start at once are listed by a run that ends here.
BEGINNING = "1us"
ARGUMENTS = (
    *("-o", "htsim.log", "-tm", MATRIX, "-seed", "13"),
    *("-strat", "ecmp_host", "-paths", "256", "-queue_type", "lossless_input", "-pfc_thresholds", "12", "15"),
    *("-mtu", str(THEIRS), "-linkspeed", "100000", "-hop_latency", "1", "-switch_latency", "0"),
    # Nothing is dropped beyond `-q`, but a line is printed for each packet.
    *("-q", "10000", "-end", "45000"),
)
FINISHED = re.compile(r"finished at \S+(?: total bytes (\d+))?")


def prepared(pair: Pair, folder: Path) -> Work:
    """Write the matrix of a pair's flows into a folder, and return the work.

    Parameters
    ----------
    pair
        The pair, whose first run of floodway has the flows.
    folder
        The folder of the other simulator's run.
    """
    run = pair.ours[0]
    sets = [(path, value) for path, _, value in (setting.partition("=") for setting in run.sets)]
    scenario = floodway.load(run.scenario, sets=[*sets, ("limit", BEGINNING)])
    flows = floodway.run(scenario, threads=1).flows
    hosts = sum(not is_switch for _, is_switch in scenario.native.nodes)
    (folder / MATRIX).write_text(connection_matrix(flows, hosts=hosts), encoding="utf-8")
    return Work(
        arguments=("-nodes", str(hosts), *ARGUMENTS),
        scenarios=tuple(our_run.scenario for our_run in pair.ours),
        flows=flows.height,
        check=lambda printed: _checked(printed, flows=flows.height, sent=sum(_sizes(flows))),
    )


def connection_matrix(flows: pl.DataFrame, *, hosts: int) -> str:
    """Return the connection matrix of flows for htsim, each with the same number of packets."""
    columns = flows.select("source", "destination", "start_us").iter_rows()
    lines = (
        f"{_number(source)}->{_number(destination)} id {flow} start {round(start * 1e6)} size {size}"
        for flow, ((source, destination, start), size) in enumerate(
            zip(columns, _sizes(flows), strict=True), start=1
        )
    )
    return "\n".join([f"Nodes {hosts}", f"Connections {flows.height}", *lines, ""])


def _sizes(flows: pl.DataFrame) -> Iterator[int]:
    """Yield the bytes of each flow in whole packets of htsim."""
    return (-(-size // OURS) * THEIRS for size in flows["size_bytes"])


def _number(host: str) -> int:
    """Return htsim's number of a host: both count along the top-of-rack switches, htsim from 0."""
    return int(host.removeprefix("h")) - 1


def _checked(printed: str, *, flows: int, sent: int) -> str:
    sizes = [int(size) if size else None for size in FINISHED.findall(printed)]
    if len(sizes) != flows:
        raise OtherWorkError(f"htsim finished {len(sizes):,} of {flows:,} flows")
    total = sum(size or 0 for size in sizes)
    if total not in {0, sent}:
        raise OtherWorkError(f"htsim acknowledged {total:,} bytes, and {sent:,} were to be sent")
    return f"{flows:,} flows of {sent // THEIRS:,} packets in all finished in both"

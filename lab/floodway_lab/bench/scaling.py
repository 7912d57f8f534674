"""Networks of growing size with the same load per host: the cost of a packet-hop and of a host."""

from __future__ import annotations

import shutil
from statistics import median
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import NullLocator

from floodway.plot.axes import DOTS_PER_INCH, SIZE, NotebookFigure, plain_ticks
from floodway.plot.curves import COLOURS, Drawing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway_lab.bench.model import Scaling
    from floodway_lab.bench.program import Program

__all__ = ["HEAD", "drawing", "measure", "rows"]

#: Packets of a run, whatever the number of hosts, and the most and the least that a host sends.
PACKETS, MOST, FEWEST = 800_000, 20_000, 200
#: Packets per host in the two runs whose cache misses are subtracted.
SHORT, LONG = 50, 100
#: Keys that the runs set.
PORTS, FLOW = "topology.fat-tree.k", "workload.permutation.permutation.size"
HEAD = (
    "hosts",
    "switches",
    "links",
    "packets per host",
    "ns per packet-hop",
    "first-level misses per packet-hop",
    "last-level misses per packet-hop",
    "read and built, s",
    "built, MB",
    "peak, MB",
    "peak, KB per host",
)


def measure(
    program: Program, scaling: Scaling, *, runs: int, on_message: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    """Run each network, from the smallest to the largest; yield a row of numbers for each.

    Parameters
    ----------
    program
        The program that measures a run.
    scaling
        The networks.
    runs
        Number of runs of each network, of which the medians count.
    on_message
        Called with a line before each network.

    Raises
    ------
    FloodwayError
        A run failed.
    """
    for ports in scaling.ports:
        hosts = ports**3 // 4
        packets = min(MOST, max(FEWEST, PACKETS // hosts))
        on_message(f"{hosts} hosts, {packets} packets each")
        sets = (f"{PORTS}={ports}", f"{FLOW}={packets * scaling.payload}B")
        done = [program.run(scaling.scenario, sets=sets) for _ in range(runs)]
        yield {
            "packets_per_host": packets,
            **_row(done),
            **_misses(program, scaling, ports=ports, hosts=hosts),
        }


def _row(done: Sequence[dict[str, Any]]) -> dict[str, Any]:
    first = done[0]
    peak = median(run["peak_memory_bytes"] for run in done)
    return {
        "hosts": first["hosts"],
        "switches": first["switches"],
        "links": first["links"],
        "packet_hops": first["packet_hops"],
        "ns_per_packet_hop": median(run["wall_s"] / run["packet_hops"] for run in done) * 1e9,
        "read_and_built_s": median(run["read_s"] + run["build_s"] for run in done),
        "built_memory_bytes": median(run["built_memory_bytes"] for run in done),
        "peak_memory_bytes": peak,
        "peak_bytes_per_host": peak / first["hosts"],
    }


def _misses(program: Program, scaling: Scaling, *, ports: int, hosts: int) -> dict[str, float | None]:
    """Count misses of simulated caches; `None` without valgrind or for a network that is too large for it."""
    if hosts > scaling.most_hosts_simulated or shutil.which("valgrind") is None:
        return {"first_level_misses": None, "last_level_misses": None}
    (short, fewer), (long, more) = (
        program.misses(scaling.scenario, sets=(f"{PORTS}={ports}", f"{FLOW}={packets * scaling.payload}B"))
        for packets in (SHORT, LONG)
    )
    hops = long["packet_hops"] - short["packet_hops"]
    first, last = ((more[level] - fewer[level]) / hops for level in ("D1", "LLd"))
    return {"first_level_misses": first, "last_level_misses": last}


def rows(data: pl.DataFrame) -> Iterator[tuple[str, ...]]:
    """Yield the row of each network: the cells of `HEAD` as text."""
    for row in data.iter_rows(named=True):
        yield (
            f"{row['hosts']:,}",
            f"{row['switches']:,}",
            f"{row['links']:,}",
            f"{row['packets_per_host']:,}",
            f"{row['ns_per_packet_hop']:.0f}",
            _decimal(row["first_level_misses"]),
            _decimal(row["last_level_misses"]),
            f"{row['read_and_built_s']:.2f}",
            f"{row['built_memory_bytes'] / 1e6:.0f}",
            f"{row['peak_memory_bytes'] / 1e6:.0f}",
            f"{row['peak_bytes_per_host'] / 1e3:.0f}",
        )


def _decimal(number: float | None) -> str:
    return "not counted" if number is None else f"{number:.1f}"


def drawing(data: pl.DataFrame) -> Drawing:
    """Draw the cost of a packet-hop and the memory of a host over the number of hosts."""
    figure: Figure = NotebookFigure(figsize=SIZE, dpi=DOTS_PER_INCH, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    figure.suptitle("The same load for each host, whatever their number")
    _curve(above, data, "ns_per_packet_hop", 1.0, COLOURS[0])
    above.set(ylabel="ns a packet-hop", ylim=(0, None))
    _curve(below, data, "peak_bytes_per_host", 1e-3, COLOURS[1])
    below.set(ylabel="peak memory, KB a host", xlabel="hosts", xscale="log", yscale="log")
    below.set_xticks(data["hosts"].to_list(), [f"{hosts:,}" for hosts in data["hosts"]])
    below.xaxis.set_minor_locator(NullLocator())
    plain_ticks(below.yaxis)
    return Drawing(figure=figure, data=data)


def _curve(axes: Axes, data: pl.DataFrame, column: str, factor: float, colour: str) -> None:
    axes.plot(data["hosts"], data[column] * factor, color=colour, marker="o")
    axes.grid(visible=True, alpha=0.3)

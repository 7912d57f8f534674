"""Minimal scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "APART",
    "BURST",
    "LISTED",
    "LONG",
    "RAILS",
    "RING",
    "SMALL",
    "SPRAYED",
    "STARVED",
    "TOLD",
    "written",
]

#: Four hosts and two switches, some hundred flows, over in a moment.
SMALL = """\
mtu = "1000B"
limit = "20ms"
topology.dumbbell = { left = 2, right = 2, rate = "100G", delay = "1us" }

[defaults]
flow-control.pfc = { xoff = { alpha = 0.25 } }
buffer.shared = { pool = "10MB" }

[[workload]]
name = "rpc"
until = "2ms"

[workload.poisson]
sizes = "fb-hadoop"
load = 0.4
of = { tag = "bottleneck" }
from = { tag = "left" }
to = { tag = "right" }
"""

#: The same with far more to do than anybody waits for.
LONG = SMALL.replace('"20ms"', '"100s"').replace('"2ms"', '"90s"')

#: The same network with one flow of 8 ms.
LISTED = f"""\
{SMALL[: SMALL.index("[[workload]]")]}[[workload]]
name = "list"
flows = [{{ from = "h1", to = "h3", size = "100MB", start = "0us" }}]
"""

#: A pause that comes late: two senders share a port, and headroom is far too small.
STARVED = """\
mtu = "1000B"
limit = "20ms"
topology.dumbbell = { left = 2, right = 2, rate = "100G", delay = "50us" }

[defaults]
flow-control.pfc = { xoff = "200KB", headroom = "10KB" }
buffer.static = { size = "210KB" }

[[workload]]
name = "pair"
flows = [
    { from = "h1", to = "h3", size = "2MB", start = "0us" },
    { from = "h2", to = "h3", size = "2MB", start = "0us" },
]
"""

#: Each flow waits for the next: a deadlock.
RING = """\
mtu = "1000B"
limit = "5ms"

[topology.explicit]
hosts = ["h1..h3"]
switches = ["s1..s3"]
rate = "100G"
delay = "1us"
links = [
    { between = ["s1", "s2"] },
    { between = ["s2", "s3"] },
    { between = ["s3", "s1"] },
    { between = ["h1", "s1"] },
    { between = ["h2", "s2"] },
    { between = ["h3", "s3"] },
]

[defaults]
flow-control.pfc = { xoff = "100KB" }
buffer.static = { size = "150KB" }

[[workload]]
name = "clockwise"
flows = [
    { from = "h1", to = "h3", size = "20MB", start = "0us", path = "h1,s1,s2,s3,h3" },
    { from = "h2", to = "h1", size = "20MB", start = "0us", path = "h2,s2,s3,s1,h1" },
    { from = "h3", to = "h2", size = "20MB", start = "0us", path = "h3,s3,s1,s2,h2" },
]
"""

#: Packets of two flows take two ways, one of them longer than a flow is sent; those of the third have one.
SPRAYED = """\
mtu = "1000B"
limit = "2ms"

[topology.explicit]
hosts = ["h1..h3"]
switches = ["s1..s4"]
rate = "100G"
delay = "1us"
links = [
    { between = ["h1", "s1"] },
    { between = ["h2", "s4"] },
    { between = ["h3", "s4"] },
    { between = ["s1", "s2"] },
    { between = ["s2", "s4"] },
    { between = ["s1", "s3"] },
    { between = ["s3", "s4"], delay = "200us" },
]

[defaults]
flow-control.pfc = { xoff = "2MB" }
routing = "spray"
reliability = "none"

[[workload]]
name = "sprayed"
flows = [
    { from = "h1", to = "h2", size = "500KB", start = "0us" },
    { from = "h1", to = "h2", size = "300KB", start = "500us" },
]

[[workload]]
name = "straight"
flows = [{ from = "h3", to = "h2", size = "200KB", start = "1ms" }]
"""

#: Two networks that nothing joins.
APART = """\
mtu = "1000B"

[topology.explicit]
hosts = ["h1", "h2"]
switches = ["s1", "s2"]
rate = "10G"
delay = "1us"
links = [{ between = ["h1", "s1"] }, { between = ["h2", "s2"] }]
"""

#: Four nodes of eight GPUs on rails.
RAILS = """\
mtu = "4096B"
topology.rail-optimised = { nodes = 4, spines = 2, rate = "400G", delay = "500ns" }
gpu-nodes.scale-up = { rate = "3600G", latency = "500ns" }

[defaults]
flow-control = "lossy"
buffer.static = { size = "64MB" }

[[workload]]
name = "job"
collective = { op = "all-reduce", size = "1MB", algorithm = "hierarchical", reduce-rate = "900G" }
"""


def written(folder: Path, text: str, *, name: str = "small") -> Path:
    """Write a scenario's file and return it."""
    file = folder / f"{name}.toml"
    file.write_text(text, encoding="utf-8")
    return file


#: Two senders by one switch and a third by another meet before their destination; flows are held back there.
BURST = """\
mtu = "1000B"
limit = "1ms"
records.signals = true

[topology.explicit]
hosts = ["h1..h4"]
switches = ["s1..s3"]
rate = "100G"
delay = "1us"
links = [
    { between = ["h1", "s1"] },
    { between = ["h2", "s1"] },
    { between = ["h3", "s2"] },
    { between = ["s1", "s3"] },
    { between = ["s2", "s3"] },
    { between = ["s3", "h4"] },
]

[defaults]
flow-control.pfc = { xoff = "100KB" }
congestion-point = "rcm"

[[workload]]
name = "burst"
flows = [
    { from = "h1", to = "h4", size = "1MB", start = "10us" },
    { from = "h2", to = "h4", size = "1MB", start = "10us" },
    { from = "h3", to = "h4", size = "1MB", start = "50us" },
]
"""

#: Three senders to one: switches mark and make CNPs, and everything about it is kept.
TOLD = """\
mtu = "1000B"
limit = "2ms"
topology.dumbbell = { left = 3, right = 1, rate = "100G", delay = "1us" }
records = { watch = "*", pauses = true, signals = true, allowances = ["culprits"] }

[defaults]
flow-control.pfc = { xoff = "100KB" }
rate-control = "dcqcn"
congestion-point = [
    { red = { kmin = "20KB", kmax = "100KB" } },
    { proxy-cnp = { kmin = "20KB", kmax = "100KB" } },
]

[[workload]]
name = "culprits"
flows = [
    { from = "h1", to = "h4", size = "1MB", start = "10us" },
    { from = "h2", to = "h4", size = "1MB", start = "10us" },
]

[[workload]]
name = "other"
flows = [{ from = "h3", to = "h4", size = "1MB", start = "10us" }]
"""

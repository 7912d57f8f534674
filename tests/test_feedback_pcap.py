"""CNPs that switches make, as they are in a capture: bytes back into what the switch said."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

import polars as pl
import pytest

import floodway as package

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.results import Result

#: Ethernet, IPv4 and UDP stand before the BTH; behind it the 16 reserved bytes of a CNP.
IP, BTH, RESERVED = 14, 42, 54
#: Opcode of a CNP.
CNP = 0x81

INCAST = """\
mtu = "1000B"
limit = "20ms"
topology.single-switch = { hosts = 5, rate = "100G", delay = "1us" }
records = { capture = { links = "*", bytes = "96B" }, signals = true }

[defaults]
flow-control.pfc = { xoff = "400KB" }
buffer.shared = { pool = "10MB" }
congestion-point.mercury = { threshold = "20KB" }
rate-control = ["dcqcn", "mercury"]
reliability = "go-back-n"

[[workload]]
name = "burst"
burst = { from = ["h1", "h2", "h3", "h4"], to = "h5", size = "500KB" }
"""


@pytest.fixture(scope="module")
def result() -> Result:
    return package.run(package.Scenario.from_toml(INCAST, name="incast"))


@pytest.fixture(scope="module")
def cnps(result: Result, tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Read the CNPs that the switch sent, in the order in which they started."""
    utils = pytest.importorskip("scapy.utils", reason="scapy reads the capture")
    file: Path = tmp_path_factory.mktemp("capture") / "capture.pcapng"
    file.write_bytes(result.capture or b"")
    with utils.RawPcapNgReader(str(file)) as reader:
        frames = [bytes(data) for data, _ in reader]
    return [frame for frame in frames if len(frame) > BTH and frame[BTH] == CNP and frame[IP] == 0x45]


def test_windows_are_in_the_first_four_reserved_bytes(result: Result, cnps: list[bytes]) -> None:
    assert result.signals is not None
    said = result.signals.filter(pl.col("event") == "cnp").sort("time_ns")["window_bytes"].to_list()
    sent = [struct.unpack(">I", frame[RESERVED : RESERVED + 4])[0] for frame in cnps]
    assert len(sent) > 0
    assert sorted(sent) == sorted(int(window) for window in said)
    assert all(frame[RESERVED + 4 : RESERVED + 16] == bytes(12) for frame in cnps)


def test_they_come_from_the_flows_receiver_and_go_to_its_sender(result: Result, cnps: list[bytes]) -> None:
    def ends(frame: bytes) -> tuple[IPv4Address, IPv4Address]:
        return IPv4Address(frame[IP + 12 : IP + 16]), IPv4Address(frame[IP + 16 : IP + 20])

    assert len({source for source, _ in map(ends, cnps)}) == 1
    assert len({destination for _, destination in map(ends, cnps)}) == 4
    # TTL counts from the switch.
    assert {frame[IP + 8] for frame in cnps} == {64}
    # DSCP 48, the control class; BECN is set.
    assert {frame[IP + 1] >> 2 for frame in cnps} == {48}
    assert {frame[BTH + 4] for frame in cnps} == {0x40}
    assert int(result.flows["cnps"].sum()) == len(cnps) == int(result.counters["cnps"].sum())

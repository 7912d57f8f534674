"""Captures in one form, as tshark and scapy read them, which are independent of the tested code."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["READERS", "Frame"]

#: Kinds of packets by opcode.
OPCODES = {6: "write-first", 7: "write-middle", 8: "write-last", 10: "write-only", 17: "ack", 0x81: "cnp"}
#: The syndrome of a sequence error.
NAK = 0x60
MAC_CONTROL = 0x8808
#: The UDP port of messages between the ends of a queue pair.
MESSAGES = 64791
#: What the CRC over a frame and its FCS comes to.
RESIDUE = 0x2144DF1C
#: scapy takes milliseconds to compute checksums: it does so for this many frames of a kind, mark and port.
CHECKED = 10


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A frame as a dissector shows it; what it does not check is as it should be."""

    interface: str
    time_ns: int
    length: int
    kept: int
    kind: str
    psn: int = 0
    payload: bytes = b""
    queue_pair: int = 0
    dscp: int = 0
    ecn: int = 0
    quanta: Mapping[int, int] = field(default_factory=dict)
    message: int | None = None
    faults: tuple[str, ...] = ()


#: What tshark is asked for.
FIELDS = (
    "frame.interface_name",
    "frame.time_epoch",
    "frame.len",
    "frame.cap_len",
    "ip.dsfield.dscp",
    "ip.dsfield.ecn",
    "udp.dstport",
    "udp.checksum.status",
    "data.data",
    "infiniband.bth.opcode",
    "infiniband.bth.psn",
    "infiniband.bth.destqp",
    "infiniband.aeth.syndrome",
    "infiniband.reth.dmalen",
    "macc.opcode",
    "macc.cbfc.enbv",
    "macc.cbfc.pause_time.c0",
    "macc.cbfc.pause_time.c1",
    "macc.cbfc.pause_time.c2",
    "macc.cbfc.pause_time.c3",
    "macc.cbfc.pause_time.c4",
    "macc.cbfc.pause_time.c5",
    "macc.cbfc.pause_time.c6",
    "macc.cbfc.pause_time.c7",
    "eth.fcs.status",
    "ip.checksum.status",
    "_ws.expert.severity",
    "_ws.expert.message",
)
#: What it checks beyond its defaults.
CHECKS = ("ip.check_checksum:TRUE", "udp.check_checksum:TRUE", "eth.check_fcs:TRUE")
#: Its words for a checksum that is right, and for a remark that is a comment.
GOOD = "1"
COMMENT = "1048576"


def tshark(file: Path) -> list[Frame]:
    """Read a capture with tshark."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed")
    options = [word for check in CHECKS for word in ("-o", check)]
    options += [word for name in FIELDS for word in ("-e", name)]
    call = [program, "-n", "-r", str(file), "-T", "fields", "-E", "occurrence=a", *options]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    lines = (line.split("\t") for line in done.stdout.splitlines())
    return [_of_tshark(dict(zip(FIELDS, line, strict=True))) for line in lines]


def _of_tshark(row: dict[str, str]) -> Frame:
    def number(name: str) -> int:
        return int(row[name] or "0", 0)

    seconds, _, fraction = row["frame.time_epoch"].partition(".")
    # Comments, of which the capture has one a queue pair, are told in the same way.
    faults = [] if row["_ws.expert.severity"] in {"", COMMENT} else [row["_ws.expert.message"]]
    faults += [name for name in ("eth.fcs.status", "ip.checksum.status") if row[name] not in {GOOD, ""}]
    common: dict[str, Any] = {
        "interface": row["frame.interface_name"],
        "time_ns": int(seconds) * 10**9 + int(fraction),
        "length": number("frame.len"),
        "kept": number("frame.cap_len"),
        "faults": tuple(faults),
    }
    if row["macc.opcode"]:
        enabled = number("macc.cbfc.enbv")
        quanta = {c: number(f"macc.cbfc.pause_time.c{c}") for c in range(8) if enabled >> c & 1}
        return Frame(kind="pause", quanta=quanta, **common)
    if number("udp.dstport") == MESSAGES:
        if row["udp.checksum.status"] != GOOD:
            common["faults"] += ("udp.checksum.status",)
        # A protocol that took it for its own would leave no data.
        payload = bytes.fromhex(row["data.data"].replace(":", ""))
        dscp, ecn = number("ip.dsfield.dscp"), number("ip.dsfield.ecn")
        return Frame(kind="message", payload=payload, dscp=dscp, ecn=ecn, **common)
    kind = OPCODES[number("infiniband.bth.opcode")]
    return Frame(
        kind="nak" if kind == "ack" and number("infiniband.aeth.syndrome") == NAK else kind,
        psn=number("infiniband.bth.psn"),
        queue_pair=number("infiniband.bth.destqp"),
        dscp=number("ip.dsfield.dscp"),
        ecn=number("ip.dsfield.ecn"),
        message=number("infiniband.reth.dmalen") if row["infiniband.reth.dmalen"] else None,
        **common,
    )


def scapy(file: Path) -> list[Frame]:
    """Read a capture with scapy."""
    pytest.importorskip("scapy")
    importlib.import_module("scapy.contrib.roce")
    importlib.import_module("scapy.contrib.mac_control")
    return list(_of_scapy(file))


def _of_scapy(file: Path) -> Iterator[Frame]:
    utils: Any = importlib.import_module("scapy.utils")
    checked: Counter[object] = Counter()
    with utils.PcapNgReader(str(file)) as packets:
        for packet in packets:
            common = {
                "interface": packet.sniffed_on,
                "time_ns": int(packet.time * 10**9),
                "length": packet.wirelen,
                "kept": len(packet.original),
            }
            if packet.type == MAC_CONTROL:
                yield _pause(packet, common)
                continue
            if packet["UDP"].dport == MESSAGES:
                yield _message(packet, common)
                continue
            alike = packet["BTH"].opcode, packet["IP"].tos, packet.sniffed_on
            checked[alike] += 1
            yield _roce(packet, common, check=checked[alike] <= CHECKED)


def _pause(packet: Any, common: dict[str, Any]) -> Frame:  # noqa: ANN401 (scapy has no types)
    body = packet["MACControlClassBasedFlowControl"]
    classes = [c for c in range(8) if getattr(body, f"c{c}_enabled")]
    quanta = {c: getattr(body, f"c{c}_pause_time") for c in classes}
    return Frame(kind="pause", quanta=quanta, **common)


def _message(packet: Any, common: dict[str, Any]) -> Frame:  # noqa: ANN401 (as above)
    ip, udp = packet["IP"], packet["UDP"]
    due = ip.__class__(bytes(ip)[: ip.len])
    given = due.chksum, due["UDP"].chksum
    del due.chksum, due["UDP"].chksum
    due = due.__class__(bytes(due))
    right = due.chksum, due["UDP"].chksum
    faults = () if given == right and zlib.crc32(packet.original) == RESIDUE else ("checksums",)
    payload = bytes(udp.payload)[: udp.len - 8]
    return Frame(kind="message", payload=payload, dscp=ip.tos >> 2, ecn=ip.tos & 3, faults=faults, **common)


def _roce(packet: Any, common: dict[str, Any], *, check: bool) -> Frame:  # noqa: ANN401 (as above)
    ip, bth = packet["IP"], packet["BTH"]
    kind = OPCODES[bth.opcode]
    if kind == "ack" and packet["AETH"].syndrome == NAK:
        kind = "nak"
    return Frame(
        kind=kind,
        psn=bth.psn,
        queue_pair=bth.dqpn,
        dscp=ip.tos >> 2,
        ecn=ip.tos & 3,
        faults=_wrong(packet) if check else (),
        **common,
    )


def _wrong(packet: Any) -> tuple[str, ...]:  # noqa: ANN401 (as above)
    """Checksums that scapy computes otherwise, once it is told to compute them; it takes no FCS for one."""
    found = packet["IP"].__class__(bytes(packet["IP"])[: packet["IP"].len])
    due = found.copy()
    del due.chksum, due["BTH"].icrc
    due = due.__class__(bytes(due))
    pairs = {
        "IPv4 checksum": (due.chksum, found.chksum),
        "ICRC": (due["BTH"].icrc, found["BTH"].icrc),
        "FCS": (zlib.crc32(packet.original), RESIDUE),
    }
    return tuple(name for name, (right, given) in pairs.items() if right != given)


READERS: dict[str, Callable[[Path], list[Frame]]] = {"tshark": tshark, "scapy": scapy}

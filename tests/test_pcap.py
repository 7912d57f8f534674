from __future__ import annotations

import struct
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl
import pytest

import floodway as package
from dissect import READERS, Frame
from scenarios import SMALL, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

#: Two senders meet: RED marks and receivers send CNPs, PFC pauses them, and a few packets are lost.
MEETING = """\
mtu = "1000B"
limit = "20ms"
topology.dumbbell = { left = 2, right = 1, rate = "100G", delay = "1us" }
records.capture = { links = "*", bytes = "16KB" }

[defaults]
flow-control.pfc = { xoff = "60KB" }
buffer.static = { size = "auto" }
congestion-point.red = { kmin = "5KB", kmax = "200KB", pmax = 0.01 }
rate-control = "dcqcn"

[[override]]
name = "lossy"
links = { tag = "bottleneck" }
faults.error-rate = { data = 0.01 }

[[workload]]
name = "pair"
flows = [
    { from = "h1", to = "h3", size = "200002B", start = "0us" },
    { from = "h2", to = "h3", size = "200002B", start = "0us" },
]
"""

DATA = {"write-first", "write-middle", "write-last", "write-only"}
REPLIES = {"ack", "nak", "cnp"}
CE = 3


@pytest.fixture(scope="module")
def result() -> package.Result:
    return package.run(package.Scenario.from_toml(MEETING, name="meeting"))


@pytest.fixture(scope="module", params=READERS)
def frames(
    request: pytest.FixtureRequest, result: package.Result, tmp_path_factory: pytest.TempPathFactory
) -> list[Frame]:
    file = tmp_path_factory.mktemp("capture") / "capture.pcapng"
    file.write_bytes(result.capture or b"")
    return READERS[request.param](file)


def counted(result: package.Result, column: str) -> int:
    return int(result.counters[column].sum())


def kinds(frames: list[Frame]) -> Counter[str]:
    return Counter(frame.kind for frame in frames)


def test_every_frame_is_dissected_and_its_checksums_are_right(frames: list[Frame]) -> None:
    assert {fault for frame in frames for fault in frame.faults} == set()
    assert all(frame.kept == frame.length for frame in frames)


def test_counts_of_packets_are_those_of_the_counters(frames: list[Frame], result: package.Result) -> None:
    found = kinds(frames)
    by_class = result.counters.group_by("class").agg(pl.col("tx_packets").sum())
    sent = dict(by_class.iter_rows())
    assert sum(found[kind] for kind in DATA) == sent[3]
    assert sum(found[kind] for kind in REPLIES) == sent[6]
    assert result.outcome.capture is not None
    assert (result.outcome.capture.packets, result.outcome.capture.missed) == (len(frames), 0)
    # CNPs cross two links each; the last ones may still be on their way.
    assert 2 * int(result.flows["cnps"].sum()) <= found["cnp"]
    assert found["cnp"] > 0
    assert found["nak"] > 0


def test_packets_have_the_class_selector_of_their_class(frames: list[Frame]) -> None:
    assert {frame.dscp for frame in frames if frame.kind in DATA} == {24}
    assert {frame.dscp for frame in frames if frame.kind in REPLIES} == {48}


@pytest.mark.parametrize("reader", READERS)
def test_a_class_of_data_may_have_another_dscp(reader: str, tmp_path: Path) -> None:
    asked = MEETING.replace('bytes = "16KB"', "dscp = { class-3 = 26, class-4 = 34 }")
    result = package.run(package.Scenario.from_toml(asked, name="meeting"))
    (tmp_path / "capture.pcapng").write_bytes(result.capture or b"")
    frames = READERS[reader](tmp_path / "capture.pcapng")
    assert {frame.dscp for frame in frames if frame.kind in DATA} == {26}
    assert {frame.dscp for frame in frames if frame.kind in REPLIES} == {48}


def test_pauses_name_their_class_and_are_as_many_as_counted(
    frames: list[Frame], result: package.Result
) -> None:
    pauses = [frame for frame in frames if frame.kind == "pause"]
    assert len(pauses) == counted(result, "pfc_tx") > 0
    assert all(set(frame.quanta) == {3} and frame.length == 64 for frame in pauses)
    assert {quanta for frame in pauses for quanta in frame.quanta.values()} == {0, 65535}


def test_marked_packets_leave_the_port_that_marked_them(frames: list[Frame], result: package.Result) -> None:
    assert all(frame.ecn in {2, CE} for frame in frames if frame.kind in DATA)
    assert all(frame.ecn == 0 for frame in frames if frame.kind in REPLIES)
    marked = Counter(frame.interface for frame in frames if frame.ecn == CE and frame.kind in DATA)
    marks = result.counters.filter(pl.col("ecn_marks") > 0).select("node", "link", "ecn_marks")
    assert marks.height > 0
    # A counter has packets that came marked, too: they leave marked anyhow.
    for node, link, count in marks.iter_rows():
        (name,) = {frame.interface for frame in frames if frame.interface.startswith(f"{link}:{node}->")}
        assert marked[name] >= count


def test_sequence_numbers_go_up_from_zero_where_nothing_is_sent_again(frames: list[Frame]) -> None:
    queue_pairs = {frame.queue_pair for frame in frames if frame.kind in DATA}
    assert len(queue_pairs) == 2
    again = 0
    for queue_pair in queue_pairs:
        sent = [
            frame
            for frame in frames
            if frame.queue_pair == queue_pair and frame.kind in DATA and ":h" in frame.interface
        ]
        assert (sent[0].psn, sent[0].kind) == (0, "write-first")
        assert {frame.psn for frame in sent} == set(range(201))
        steps = [after.psn - before.psn for before, after in pairwise(sent)]
        # Only a step back, to what is sent again, is none of one.
        assert all(step == 1 or step <= 0 for step in steps)
        naks = {f.psn for f in frames if f.kind == "nak" and f.queue_pair == queue_pair}
        backs = {after.psn for before, after in pairwise(sent) if after.psn <= before.psn}
        assert bool(naks & backs) == bool(backs)
        again += bool(backs)
    assert again > 0


def test_headers_name_class_length_and_message(frames: list[Frame]) -> None:
    assert {frame.dscp for frame in frames if frame.kind in DATA} == {24}
    assert {frame.dscp for frame in frames if frame.kind in REPLIES} == {48}
    lengths = {kind: {f.length for f in frames if f.kind == kind} for kind in kinds(frames)}
    assert lengths["write-first"] == {1078}
    assert lengths["write-middle"] == {1062}
    # 2 bytes of payload and as many of pad.
    assert lengths["write-last"] == {66}
    assert (lengths["ack"], lengths["nak"], lengths["cnp"]) == ({66}, {66}, {78})
    assert {frame.message for frame in frames if frame.kind == "write-first"} <= {None, 200_002}


def test_time_stamps_are_those_of_the_run_and_go_up(frames: list[Frame], result: package.Result) -> None:
    times = [frame.time_ns for frame in frames]
    assert times == sorted(times)
    assert times[0] == 0
    assert times[-1] <= result.outcome.simulated_us * 1000


@pytest.mark.parametrize("reader", READERS)
def test_late_times_are_read_back(reader: str, tmp_path: Path) -> None:
    start = MEETING.replace('start = "0us"', 'start = "19ms"').replace('"20ms"', '"40ms"')
    one = start.replace('bytes = "16KB"', "packets = 1")
    file = tmp_path / "late.pcapng"
    file.write_bytes(package.run(package.Scenario.from_toml(one)).capture or b"")
    (frame,) = READERS[reader](file)
    assert (frame.time_ns, frame.kept) == (19_000_000, 1078)


def test_the_command_line_writes_a_capture_of_the_links_that_it_names(
    floodway: Command, tmp_path: Path
) -> None:
    small = written(tmp_path, SMALL)
    done = floodway("run", small, "--pcap", "link=h1-*,s1-s2", "--set", "records.capture.packets=50")
    assert (done.code, "capture: 50 packets kept, " in done.out) == (0, True)
    folder = tmp_path / "out" / "small"
    again = package.read(folder)
    assert again.capture == (folder / "capture.pcapng").read_bytes()
    assert b"s1-s2:s1->s2" in again.capture
    assert b"h1-s1:h1->s1" in again.capture
    assert b"h2-s1" not in again.capture
    # Without the option the old capture does not stay beside the new results.
    assert floodway("run", small, "--quiet", "--force").code == 0
    assert not (folder / "capture.pcapng").exists()


@pytest.mark.parametrize("reader", READERS)
def test_telemetry_is_part_of_the_length_and_no_fault(reader: str, tmp_path: Path) -> None:
    # Whole multiples of four bytes: a pad would not be charged.
    text = MEETING.replace('"dcqcn"', '"hpcc"').replace("200002B", "200000B")
    result = package.run(package.Scenario.from_toml(text))
    file = tmp_path / "hpcc.pcapng"
    file.write_bytes(result.capture or b"")
    frames = READERS[reader](file)
    assert {fault for frame in frames for fault in frame.faults} == set()
    lengths = {kind: {frame.length for frame in frames if frame.kind == kind} for kind in kinds(frames)}
    telemetry = 42
    assert lengths["write-first"] == {1078 + telemetry}
    assert lengths["write-middle"] == {1062 + telemetry}
    assert (lengths["ack"], lengths["nak"]) == ({66 + telemetry}, {66 + telemetry})
    packets = sum(frame.length for frame in frames if frame.kind != "pause")
    assert packets == counted(result, "tx_bytes")


#: Two senders that ask for credits.
CREDITS = """\
mtu = "1000B"
limit = "20ms"
topology.dumbbell = { left = 2, right = 1, rate = "10G", delay = "1us", bottleneck = { rate = "10G" } }
records.capture = { links = "*", bytes = "16KB" }

[defaults]
flow-control.pfc = { xoff = "1MB" }
buffer.static = { size = "auto" }
congestion-point = "expresspass"
rate-control = "expresspass"
reliability = "go-back-n"

[[workload]]
name = "pair"
burst = { from = ["h1", "h2"], to = "h3", size = "100KB" }
"""
REQUEST, STOP, CREDIT = 1, 2, 3


@pytest.mark.parametrize("reader", READERS)
def test_messages_are_data_to_a_dissector_and_as_long_as_charged(reader: str, tmp_path: Path) -> None:
    result = package.run(package.Scenario.from_toml(CREDITS))
    file = tmp_path / "credits.pcapng"
    file.write_bytes(result.capture or b"")
    frames = READERS[reader](file)
    assert {fault for frame in frames for fault in frame.faults} == set()
    assert sum(frame.length for frame in frames) == counted(result, "tx_bytes")
    messages = [frame for frame in frames if frame.kind == "message"]
    assert {(frame.dscp, frame.ecn) for frame in messages} == {(48, 0)}
    # Ethernet, IPv4, UDP and the FCS take 46 bytes.
    assert all(len(frame.payload) == frame.length - 46 for frame in messages)
    said = [struct.unpack(">BBQQ", frame.payload[:18]) for frame in messages]
    assert Counter(kind for kind, *_ in said).keys() == {REQUEST, STOP, CREDIT}
    assert all(metered == (kind == CREDIT) for kind, metered, *_ in said)
    assert {number for kind, _, number, _ in said if kind != CREDIT} == {0}
    numbers = {number for kind, _, number, _ in said if kind == CREDIT}
    # They count from 0; some are dropped before the first wire.
    assert min(numbers) == 0
    assert len(numbers) >= 100
    for frame, (kind, _, _, made) in zip(messages, said, strict=True):
        assert made // 1000 <= frame.time_ns
        assert frame.length == 64 or (kind == CREDIT and frame.length <= 72)
        assert not any(frame.payload[18:])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("link=s1-s3", '"s1-s3" matches nothing; did you mean "s1-s2"?'),
        ("tag=botleneck", '{ tag = "botleneck" } matches nothing; did you mean "bottleneck"?'),
        ("s1-s2", "'s1-s2' is not link=NAME[,NAME...] or tag=NAME[,NAME...]"),
        ("links=s1-s2", "'links=s1-s2' is not link=NAME[,NAME...] or tag=NAME[,NAME...]"),
        ("link=a,,b", "'link=a,,b' is not link=NAME[,NAME...] or tag=NAME[,NAME...]"),
    ],
)
def test_links_that_are_not_there_are_refused(
    floodway: Command, tmp_path: Path, given: str, said: str
) -> None:
    done = floodway("run", written(tmp_path, SMALL), "--pcap", given)
    assert (done.code, said in " ".join(done.err.split())) == (2, True), done.err


def test_quotes_and_backslashes_in_names_are_names(floodway: Command, tmp_path: Path) -> None:
    done = floodway("run", written(tmp_path, SMALL), "--pcap", 'link=a"b\\c')
    assert (done.code, "matches nothing" in done.err) == (2, True), done.err

"""Traces for Perfetto, read back by a decoder of their own and by Perfetto's classes where they are there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from protobuf_reader import fields, one

from command import Command
from floodway.results.causes import ends_of, grid_of, pause_causes
from floodway.results.feedback import pause_spans
from floodway.results.perfetto import trace
from floodway.simulation.analysis import read

if TYPE_CHECKING:
    from command import Done
    from floodway.simulation.analysis import Result

ROOT = Path(__file__).parent.parent
TREE = "scenarios/concepts/congestion-tree.toml"


def floodway(*arguments: str) -> Done:
    return Command(ROOT)(*arguments)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("perfetto") / "tree"
    done = floodway("run", TREE, "--export", "perfetto", "--out", str(folder), "--quiet")
    assert done.code == 0, done.err
    return folder


class Trace:
    """Tracks, slices, counters and arrows of a trace, from its bytes."""

    def __init__(self, content: bytes) -> None:
        self.names: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        self.slices: list[tuple[int, int, int, str]] = []
        self.counts: list[tuple[int, int, int]] = []
        self.begins: dict[int, tuple[int, int]] = {}
        self.ends: dict[int, tuple[int, int]] = {}
        self._open: dict[int, list[tuple[int, str]]] = {}
        for number, packet in fields(content):
            assert number == 1
            assert isinstance(packet, bytes)
            assert one(packet, 10) == 1
            self._packet(packet)
        assert not any(self._open.values())

    def _packet(self, packet: bytes) -> None:
        described, event = one(packet, 60), one(packet, 11)
        if isinstance(described, bytes):
            uuid, name = one(described, 1), one(described, 2)
            assert isinstance(uuid, int)
            assert isinstance(name, bytes)
            self.names[uuid] = name.decode()
            parent = one(described, 5)
            self.parents[uuid] = parent if isinstance(parent, int) else 0
        elif isinstance(event, bytes):
            time = one(packet, 8)
            assert isinstance(time, int)
            self._event(time, event)

    def _event(self, time: int, event: bytes) -> None:
        kind, track, name = one(event, 9), one(event, 11), one(event, 23)
        assert isinstance(track, int)
        if kind == 1:
            assert isinstance(name, bytes)
            self._open.setdefault(track, []).append((time, name.decode()))
        elif kind == 2:
            begin, text = self._open[track].pop()
            self.slices.append((track, begin, time, text))
        elif kind == 4:
            value = one(event, 30)
            assert isinstance(value, int)
            self.counts.append((track, time, value))
        for number, value in fields(event):
            if number == 47:
                self.begins[_whole(value)] = (track, time)
            if number == 48:
                self.ends[_whole(value)] = (track, time)

    def pauses(self) -> Counter[tuple[str, str, int, int]]:
        """Count pauses by port, class, begin and end."""
        return Counter(
            (self.names[self.parents[track]], self.names[track].rpartition(" ")[2], begin, end)
            for track, begin, end, name in self.slices
            if name == "pause"
        )


def _whole(value: int | bytes) -> int:
    assert isinstance(value, int)
    return value


def _ns(time_us: float) -> int:
    return round(time_us * 1e6) // 1000


def _pauses_of(result: Result) -> Counter[tuple[str, str, int, int]]:
    return Counter(
        (row["object"], str(row["class"]), _ns(row["from_us"]), _ns(row["to_us"]))
        for row in pause_spans(result).iter_rows(named=True)
    )


def test_a_trace_has_the_pauses_of_the_table(tree: Path) -> None:
    found = Trace((tree / "trace.perfetto-trace").read_bytes()).pauses()
    assert found == _pauses_of(read(tree))
    assert sum(found.values()) > 100


def test_a_trace_has_the_longest_queues_of_the_series(tree: Path) -> None:
    found, result = Trace((tree / "trace.perfetto-trace").read_bytes()), read(tree)
    most: Counter[str] = Counter()
    for track, _, value in found.counts:
        name = found.names[found.parents[track]]
        most[name] = max(most[name], value)
    series = result.series.filter(pl.col("metric") == "queue_max_bytes")
    longest = series.group_by(pl.col("object").cast(pl.String)).agg(pl.col("value").max())
    assert most == Counter({name: int(value) for name, value in longest.iter_rows()})


def test_a_trace_has_every_flow_once(tree: Path) -> None:
    found, result = Trace((tree / "trace.perfetto-trace").read_bytes()), read(tree)
    flows = [name for track, *_, name in found.slices if found.names[track] == "flows"]
    done = dict(result.flows.select("flow_id", "finished").iter_rows())
    assert sorted(flows) == sorted(
        name if finished else f"{name} (unfinished)" for name, finished in done.items()
    )


def test_an_arrow_leads_to_each_pause_from_its_cause(tree: Path) -> None:
    found, result = Trace((tree / "trace.perfetto-trace").read_bytes()), read(tree)
    pauses = pause_causes(result, grid_of(result))
    assert found.begins.keys() == found.ends.keys()
    assert len(found.ends) == pauses["cause"].count()
    for row, pause in enumerate(pauses.iter_rows(named=True), start=1):
        if pause["cause"] is not None:
            track, time = found.begins[row]
            of_pause = pause["caused_by"] is not None
            named = found.names[found.parents[track]] if of_pause else found.names[track]
            assert named == pause["cause"]
            assert time <= found.ends[row][1] == _ns(pause["from_us"])


def test_causes_of_a_congestion_tree_lead_to_its_root(tree: Path) -> None:
    result = read(tree)
    pauses = pause_causes(result, grid_of(result))
    origins = pauses.filter(pl.col("caused_by").is_null())
    assert origins["cause"].unique().to_list() == ["h16-t8: t8>h16"]
    caused = pauses.filter(pl.col("caused_by").is_not_null())
    for row in caused.iter_rows(named=True):
        cause = pauses.row(row["caused_by"], named=True)
        assert cause["object"] == row["cause"]
        assert cause["from_us"] <= row["sent_us"] < cause["to_us"]
        assert ends_of(row["object"])[2] == ends_of(cause["object"])[1]


def test_causes_agree_with_why(tree: Path) -> None:
    # The same tree with flows that finish, which `why` can take apart to the picosecond.
    folder = tree.with_name("finished")
    size = "workload.incast.burst.size=20KB"
    done = floodway("run", TREE, "--set", size, "--export", "perfetto", "--out", str(folder), "--quiet")
    assert done.code == 0, done.err
    result = read(folder)
    parts = [part for part in result.why("worst").parts if part.origin is not None]
    assert all(part.origin == "h16-t8: t8>h16" or part.time_ps < 2_000_000 for part in parts)


def test_a_trace_of_a_run_without_pauses_says_so(tmp_path: Path) -> None:
    done = floodway("run", TREE, "--set", 'records.watch="h1-t1"', "--out", str(tmp_path / "run"), "--quiet")
    assert done.code == 0, done.err
    shown = floodway("export", "perfetto", str(tmp_path / "run"), "--out", str(tmp_path / "t.trace"))
    assert shown.code == 0
    assert "has no pauses: the run did not record them (records.pauses = true)" in shown.err
    assert "of 96 ports" in shown.err
    assert not Trace((tmp_path / "t.trace").read_bytes()).pauses()
    again = floodway("export", "perfetto", str(tmp_path / "run"), "--out", str(tmp_path / "t.trace"))
    assert again.code == 2
    assert "is there already; --force replaces it" in again.err


def test_a_trace_with_pauses_that_run_out_says_so(tmp_path: Path) -> None:
    bifrost = ("--set", "long-haul.flow-control=bifrost", "--export", "perfetto")
    for words, runs_out in (((), False), (bifrost[:2], True)):
        out = str(tmp_path / f"{runs_out}")
        done = floodway("run", "scenarios/demo.toml", *words, *bifrost[2:], "--out", out, "--quiet")
        assert done.code == 0, done.err
        assert ("ran out without a resume" in done.err) == runs_out, done.err


def test_a_trace_has_collectives_and_states(tmp_path: Path) -> None:
    job = floodway(
        *("run", "scenarios/ring-allreduce.toml", "--export", "perfetto", "--quiet"),
        *("--out", str(tmp_path / "job")),
    )
    assert job.code == 0, job.err
    result = read(tmp_path / "job")
    found = Trace((tmp_path / "job" / "trace.perfetto-trace").read_bytes())
    if result.collectives is not None:
        own = [name for track, *_, name in found.slices if found.names[track] == "collectives"]
        assert len(own) == len(result.collectives)


def test_perfettos_own_classes_read_the_same_pauses(tree: Path) -> None:
    protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    parsed: Any = protos.Trace()
    parsed.ParseFromString((tree / "trace.perfetto-trace").read_bytes())
    tracks: dict[int, Any] = {}
    begun: dict[int, int] = {}
    pauses: Counter[tuple[str, str, int, int]] = Counter()
    for packet in parsed.packet:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("track_event"):
            event = packet.track_event
            track = tracks[event.track_uuid]
            if event.type == protos.TrackEvent.TYPE_SLICE_BEGIN:
                begun[track.uuid] = packet.timestamp
            if event.type == protos.TrackEvent.TYPE_SLICE_END and track.name.startswith("pauses of class"):
                port = tracks[track.parent_uuid].name
                pauses[port, track.name.rpartition(" ")[2], begun[track.uuid], packet.timestamp] += 1
    assert pauses == _pauses_of(read(tree))


def test_a_trace_of_the_same_run_is_the_same(tree: Path) -> None:
    assert trace(read(tree)) == (tree / "trace.perfetto-trace").read_bytes()

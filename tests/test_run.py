from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import floodway as package
from command import environment, limited_files
from scenarios import LISTED, LONG, RING, SMALL, STARVED, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

COLUMNS = {
    "flows": "flow_id workload source destination source_port destination_port class size_bytes start_us "
    "finish_receiver_us "
    "finish_sender_us fct_us ideal_fct_us slowdown retransmitted_bytes "
    "packets out_of_order_packets timeouts cnps path_class "
    "measured finished",
    "latency": "workload component bucket_low_ns bucket_high_ns packets",
    "series": "object kind metric time_us bucket_us value",
    "counters": "node port link class tx_packets tx_bytes rx_packets rx_bytes pfc_tx pfc_rx paused_us "
    "ecn_marks ue_marks cnps cns moves drops_buffer peak_bytes headroom_peak_bytes",
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return written(tmp_path, SMALL)


def document(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return loaded


def test_a_run_writes_its_tables_with_their_columns(floodway: Command, small: Path) -> None:
    assert floodway("run", small).code == 0
    folder = small.parent / "out" / "small"
    for table, columns in COLUMNS.items():
        frame = pl.read_parquet(folder / f"{table}.parquet")
        assert [column for column in frame.columns if column in columns.split()] == columns.split()
        assert len(frame) > 0
    assert document(folder)["verdicts"]["invariants"] == {
        "conservation": "holds",
        "buffers": "holds",
        "destinations": "holds",
        "slowdown": "holds",
    }


def test_a_run_prints_its_summary(floodway: Command, small: Path) -> None:
    out = floodway("run", small, "--full").out
    titles = ("Traffic", "Completion time of measured flows in us", "Slowdown by size", "Watched links")
    verdicts = ("drops: none", "lossless: held by sizing", "invariants: hold")
    for part in ("all measured flows finished", *titles, "Fullest buffers", *verdicts, "results: out/small/"):
        assert part in out
    lines = floodway("run", small, "--force").out.splitlines()
    assert lines[2].startswith("All ")
    assert len(lines) < 20
    table = next(at for at, line in enumerate(lines) if "workload" in line)
    assert all(len(line) <= 80 for line in lines[table : table + 4])


def test_finished_flows_have_times_and_a_slowdown_of_at_least_one(floodway: Command, small: Path) -> None:
    assert floodway("run", small, "--quiet").code == 0
    flows = package.read(small.parent / "out" / "small").flows
    assert flows["finished"].all()
    assert (flows["slowdown"].drop_nulls() >= 1).all()
    assert flows["flow_id"].n_unique() == len(flows)
    assert flows["flow_id"].str.contains(r"^rpc:h[12]:\d+$").all()
    assert (flows["fct_us"] - (flows["finish_receiver_us"] - flows["start_us"])).abs().max() < 1e-6  # type: ignore[operator]


def test_packet_delays_are_at_least_propagation_and_their_parts_are_of_every_packet(small: Path) -> None:
    result = package.run(package.load(small))
    total = result.latency.filter(pl.col("component") == "total")
    assert total["bucket_high_ns"].min() >= 3000  # type: ignore[operator]
    assert total["bucket_high_ns"].max() > 3300  # type: ignore[operator]
    packets = result.latency.group_by("component").agg(pl.col("packets").sum())
    assert packets["packets"].n_unique() == 1


def test_unfinished_flows_have_no_finish_and_no_slowdown(floodway: Command, tmp_path: Path) -> None:
    done = floodway("run", written(tmp_path, LISTED), "--set", "limit=1ms", "--full")
    result = package.read(tmp_path / "out" / "small")
    (flow,) = result.flows.iter_rows(named=True)
    assert (done.code, flow["finished"], result.outcome.stopped) == (0, False, "limit")
    for column in ("finish_receiver_us", "finish_sender_us", "fct_us", "slowdown"):
        assert flow[column] is None
    for part in ("the limit was reached", "100,000,000", "not reached"):
        assert part in done.out


def bytes_of(folder: Path) -> dict[str, bytes]:
    found = {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix == ".parquet"}
    plain = {key: value for key, value in document(folder).items() if key != "timings"}
    return {**found, "run": json.dumps(plain).encode()}


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(floodway: Command, small: Path) -> None:
    for out, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        assert floodway("run", small, "--seed", seed, "--out", out, "--quiet").code == 0
    a, b, c = (bytes_of(small.parent / out) for out in "abc")
    assert a == b
    assert a["flows.parquet"] != c["flows.parquet"]
    assert document(small.parent / "c")["seed"] == 8


def test_results_are_overwritten_only_by_force(floodway: Command, small: Path) -> None:
    assert floodway("run", small).code == 0
    before = bytes_of(small.parent / "out" / "small")
    again = floodway("run", small, "--seed", "9")
    assert (again.code, again.out) == (2, "")
    assert (
        again.err == "error: out/small: holds results already; --force, in Python force=True, replaces them\n"
    )
    assert bytes_of(small.parent / "out" / "small") == before
    assert floodway("run", small, "--seed", "9", "--force").code == 0
    assert bytes_of(small.parent / "out" / "small") != before


def test_quiet_prints_nothing(floodway: Command, small: Path) -> None:
    done = floodway("run", small, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_json_is_one_document_with_the_summary(floodway: Command, small: Path) -> None:
    done = floodway("run", small, "--json")
    printed = json.loads(done.out)
    flows = package.read(small.parent / "out" / "small").flows
    total = printed["summary"]["total"]
    assert (done.code, printed["scenario"], printed["results"]) == (0, "small", "out/small")
    assert total["measured"] == flows["measured"].sum()
    assert total["fct"]["mean_us"] == pytest.approx(flows.filter("measured")["fct_us"].mean())


def test_a_set_key_reaches_the_run_and_its_record(floodway: Command, small: Path) -> None:
    assert floodway("run", small, "--set", "workload.rpc.until=1ms", "--quiet").code == 0
    result = package.read(small.parent / "out" / "small")
    assert result.flows["start_us"].max() < 1000  # type: ignore[operator]


def test_strict_fails_a_run_that_lost_packets_of_a_lossless_class(floodway: Command, tmp_path: Path) -> None:
    starved = written(tmp_path, STARVED)
    relaxed = floodway("run", starved)
    assert relaxed.code == 0
    assert "lossless: violated: " in relaxed.out
    assert "which did not fit by" in relaxed.out
    assert relaxed.err.startswith("warning: ")
    strict = floodway("run", starved, "--strict", "--force")
    assert strict.code == 1
    assert strict.err.splitlines()[-1].startswith("error: lossless classes lost ")


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_keeps_what_is_complete_and_says_so(
    tmp_path: Path, floodway: Command, number: int, code: int
) -> None:
    command = floodway.line("run", written(tmp_path, LONG))
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith("running small: ")
        running.send_signal(number)
        sent = time.monotonic()
        (said,) = running.stderr.read().splitlines()
    assert running.returncode == code
    assert sorted(file.name for file in tmp_path.glob("out/*")) == ["small"]
    assert time.monotonic() - sent < 5, "a second, and what a busy machine takes to write the results"
    assert said.startswith("interrupted at ")
    assert said.endswith("what was complete by then is written")
    result = package.read(tmp_path / "out" / "small")
    assert result.outcome.stopped == "interrupted"
    assert result.outcome.broken == ()
    assert len(result.flows) > 0


#: Each of six flows asks for credits every 10 ps, and a window is as long as a link: it has thousands of
#: millions of events.
DENSE = """
limit = "100ms"
topology.single-switch = { hosts = 3, rate = "100G", delay = "10ms" }
defaults.rate-control = { expresspass = { request-timeout = "10ps" } }
workload = [{ name = "w", all-to-all = { size = "300B" } }]
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_is_interrupted_within_a_window_that_would_take_minutes(
    tmp_path: Path, floodway: Command, number: int, code: int, threads: int
) -> None:
    words = ("run", written(tmp_path, DENSE), "--threads", str(threads), "--force-threads")
    with subprocess.Popen(
        floodway.line(*words),
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as running:
        assert running.stderr is not None
        next(line for line in running.stderr if line.startswith("running small: "))
        running.send_signal(number)
        try:
            # This bound is for what a busy machine takes to write the results.
            running.wait(timeout=30)
        finally:
            running.kill()
    assert running.returncode == code
    result = package.read(tmp_path / "out" / "small")
    assert result.outcome.stopped == "interrupted"
    assert result.outcome.broken == ()


def test_flows_without_end_show_their_goodput(floodway: Command, tmp_path: Path) -> None:
    text = LISTED.replace('"100MB"', '"unbounded"').replace('"20ms"', '"1ms"')
    done = floodway("run", written(tmp_path, text))
    assert done.code == 0
    assert "Goodput of flows that never end" in done.out
    (endless,) = package.read(tmp_path / "out" / "small").summary().endless
    # 1000 of 1082 bytes on the wire, less a start of some microseconds.
    assert endless.goodput_gbps == pytest.approx(100 * 1000 / 1082, rel=0.01)


def test_the_package_runs_what_the_command_line_runs(floodway: Command, small: Path) -> None:
    assert floodway("run", small, "--seed", "3", "--quiet").code == 0
    seen: list[int] = []
    scenario = package.load(small).with_seed(3)
    result = package.run(scenario, on_progress=lambda progress: seen.append(progress.packet_hops))
    assert result.flows.equals(package.read(small.parent / "out" / "small").flows)
    assert result.outcome.stopped == "finished"


def test_a_scenario_is_read_from_text_as_from_a_file(small: Path) -> None:
    assert package.Scenario.from_toml(SMALL, name=str(small)) == package.load(small)


def test_the_load_that_came_out_stands_beside_the_one_asked_for(small: Path) -> None:
    total = package.run(package.load(small)).summary().total
    assert total.asked_load == 0.4
    assert total.load is not None
    assert total.offered_gbps is not None
    assert total.load == pytest.approx(total.offered_gbps / 100)


@pytest.mark.parametrize(("choice", "code"), [("stop", 1), ("continue", 0)])
def test_a_deadlock_stops_the_run_or_not_and_its_ports_are_named(
    floodway: Command, tmp_path: Path, choice: str, code: int
) -> None:
    done = floodway("run", written(tmp_path, RING), "--on-deadlock", choice)
    assert done.code == code
    since = re.search(
        r"deadlock since ([\d.]+) us: s1 \(s1-s2\) -> s2 \(s2-s3\) -> s3 \(s3-s1\) -> s1 \(s1-s2\)", done.out
    )
    assert since is not None
    # It is found when its pauses have lasted for a millisecond: at the next whole one.
    assert 0 < float(since[1]) < 1000
    assert "can send: s1 (s1-s2) -> s2 (s2-s3) -> s3 (s3-s1) -> s1 (s1-s2)" in done.err
    stopped = f"error: a deadlock since {since[1]} us stopped the run at 2,000.0 us"
    assert (stopped in done.err) == (choice == "stop")
    assert package.read(tmp_path / "out" / "small").outcome.simulated_us == (2000 if code else 5000)


def test_a_second_run_to_the_same_place_is_refused_at_its_start(tmp_path: Path, floodway: Command) -> None:
    written(tmp_path, SMALL)
    line = floodway.line("run", written(tmp_path, LONG, name="long"), "--out", "out")
    with subprocess.Popen(
        line, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stderr is not None
        running.stderr.readline()
        for force in ([], ["--force"]):
            second = floodway("run", "small.toml", "--out", "out", "--quiet", *force)
            assert (second.code, second.out) == (2, "")
            assert second.err.startswith(
                f"error: out: is in use: process {running.pid} has been writing there"
            )
            assert second.err.endswith("; wait for its end, or choose another folder\n")
        running.send_signal(signal.SIGINT)
        running.stderr.read()
    assert running.returncode == 130
    assert package.read(tmp_path / "out").run.name == "long"


def test_results_whose_folder_is_lost_during_the_run_go_elsewhere_with_a_message(
    tmp_path: Path, floodway: Command
) -> None:
    (tmp_path / "temporary").mkdir()
    line = floodway.line("run", written(tmp_path, LONG), "--out", "out")
    with subprocess.Popen(
        line,
        cwd=tmp_path,
        env={**environment(), "TMPDIR": str(tmp_path / "temporary")},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as running:
        assert running.stderr is not None
        running.stderr.readline()
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "run.json").write_text("mine", encoding="utf-8")
        running.send_signal(signal.SIGINT)
        said = running.stderr.read().splitlines()
    (elsewhere,) = (tmp_path / "temporary").iterdir()
    assert said[-2:] == [
        "error: out: holds something that was not there when the run began",
        f"error: the results are in {elsewhere}/ instead; move them when there is room",
    ]
    assert package.read(elsewhere).outcome.stopped == "interrupted"
    assert (tmp_path / "out" / "run.json").read_text(encoding="utf-8") == "mine"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out", "small.toml", "temporary"]


def test_results_that_can_be_written_nowhere_are_reported_in_a_line_and_fail_the_run(
    tmp_path: Path, floodway: Command
) -> None:
    with limited_files(4000):
        done = floodway("run", written(tmp_path, SMALL), "--quiet", "--out", "out")
    assert done.code == 1
    assert done.err.startswith("error: out: cannot be written: File too large; neither can ")
    assert done.err.endswith(", and the results are lost\n")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["small.toml"]

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import floodway as package
from floodway.common.errors import OutputError
from scenarios import SMALL, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

#: A switch with three hosts; two send to the third at once, and the switch pauses them.
INCAST = """\
mtu = "1000B"
limit = "5ms"
topology.single-switch = { hosts = 3, rate = "100G", delay = "1us" }

[defaults]
flow-control.pfc = { xoff = "50KB" }
buffer.static = { size = "auto" }

[[workload]]
name = "incast"
flows = [
    { from = "h1", to = "h3", size = "300KB", start = "1us", source-port = 10000, destination-port = 100 },
    { from = "h2", to = "h3", size = "300500B", start = "1us", source-port = 10001, destination-port = 101 },
    { from = "h1", to = "h2", size = "1B", start = "400us", source-port = 10002, destination-port = 100 },
]
"""
KEPT = '[records]\npauses = true\nqueue-histogram = { every = "50ns", bin = "500B" }\n'
FILES = ["fct.txt", "nodes.txt", "pfc.txt", "qlen.txt"]


def lines(file: Path) -> list[list[str]]:
    return [line.split(" ") for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_line_of_a_flow_has_the_fields_of_that_simulator(tmp_path: Path) -> None:
    scenario = package.Scenario.from_toml(INCAST + KEPT)
    result = package.run(scenario)
    exported = result.export_hpcc(tmp_path, scenario=scenario)
    assert sorted(exported.files) == FILES
    assert exported.notes == ()
    rows = lines(tmp_path / "fct.txt")
    # h1, h2 and h3 are 0, 1 and 2: 11.0.0.1, 11.0.1.1, 11.0.2.1.
    assert sorted(row[:6] for row in rows) == [
        ["0b000001", "0b000101", "10002", "100", "1", "400000"],
        ["0b000001", "0b000201", "10000", "100", "300000", "1000"],
        ["0b000101", "0b000201", "10001", "101", "300500", "1000"],
    ]
    # Two links: 2 x 2 us, 2 x 80 ns of payload, and size and 48 bytes a packet at 100 Gbit/s.
    standalone = {row[4]: int(row[7]) for row in rows}
    assert standalone == {
        "1": 4160 + 49 * 8 // 100,
        "300000": 4160 + 300 * 1048 * 8 // 100,
        "300500": 4160 + (300_500 + 301 * 48) * 8 // 100,
    }


def test_flows_stand_in_the_order_of_their_completion_at_the_sender(tmp_path: Path) -> None:
    scenario = package.Scenario.from_toml(INCAST)
    result = package.run(scenario)
    result.export_hpcc(tmp_path, scenario=scenario)
    rows = lines(tmp_path / "fct.txt")
    ends = [int(row[5]) + int(row[6]) for row in rows]
    assert ends == sorted(ends)
    finish = {
        str(size): int(us * 1000 + 1e-6)
        for size, us in result.flows.select("size_bytes", "finish_sender_us").iter_rows()
    }
    assert {row[4]: end for row, end in zip(rows, ends, strict=True)} == finish


def test_pauses_are_as_the_log_has_them_with_interfaces_from_one(tmp_path: Path) -> None:
    result = package.run(package.Scenario.from_toml(INCAST + KEPT))
    result.export_hpcc(tmp_path)
    assert result.pauses is not None
    rows = lines(tmp_path / "pfc.txt")
    assert len(rows) == len(result.pauses) == result.counters["pfc_rx"].sum() > 0
    numbers = {"h1": "0", "h2": "1", "h3": "2", "s1": "3"}
    for row, logged in zip(rows, result.pauses.iter_rows(named=True), strict=True):
        kind = str(int(logged["node"] == "s1"))
        event = str(int(logged["event"] == "pause"))
        node = numbers[logged["node"]]
        assert row == [str(int(logged["time_ns"])), node, kind, str(logged["port"] + 1), event]


def test_queues_are_counts_of_the_histogram_in_kilobytes(tmp_path: Path) -> None:
    result = package.run(package.Scenario.from_toml(INCAST + KEPT))
    result.export_hpcc(tmp_path)
    queues = result.queue_histogram
    assert queues is not None
    first, last = (tmp_path / "qlen.txt").read_text(encoding="utf-8").split("time: ")[1:]
    # At time zero every queue is empty; the run ends with its epoch, at 500 us.
    assert first == "0\n3 1 1\n3 2 1\n3 3 1\n"
    header, *ports = last.splitlines()
    assert header == "500000"
    assert [port.split(" ")[:2] for port in ports] == [["3", "1"], ["3", "2"], ["3", "3"]]
    for port in ports:
        _, number, *counts = map(int, port.split(" "))
        of = queues.filter(pl.col("port") == number - 1)
        for kilobytes, samples in enumerate(counts):
            inside = of.filter(pl.col("bin_low_bytes") // 1000 == kilobytes)
            assert samples == inside["samples"].sum()
        # One at 0 and each 50 ns to 500 us.
        assert sum(counts) == 10_001
        assert counts[-1] > 0
    assert len(ports[2].split(" ")) > 50


def test_the_record_of_a_run_says_which_instants_were_sampled(tmp_path: Path) -> None:
    result = package.run(package.Scenario.from_toml(INCAST + KEPT))
    assert result.run.verdicts["queue_samples"] == {
        "from_us": 0.0,
        "to_us": 500.0,
        "every_us": 0.05,
        "bin_bytes": 500,
        "instants": 10_001,
    }
    assert result.pauses is not None
    assert result.run.verdicts["pauses"] == {"rows": len(result.pauses), "beyond": 0}
    result.save(tmp_path / "kept")
    again = package.read(tmp_path / "kept")
    assert again.pauses is not None
    assert again.pauses.equals(result.pauses)
    assert again.queue_histogram is not None
    assert result.queue_histogram is not None
    assert again.queue_histogram.equals(result.queue_histogram)


def test_what_a_run_did_not_keep_is_not_written_and_said(tmp_path: Path) -> None:
    result = package.run(package.Scenario.from_toml(INCAST))
    assert result.pauses is None
    assert result.queue_histogram is None
    exported = result.export_hpcc(tmp_path)
    assert exported.files == ("fct.txt", "nodes.txt")
    assert [note.partition(" ")[0] for note in exported.notes] == ["pfc.txt", "qlen.txt"]


def test_bins_that_do_not_fit_the_format_are_not_written(tmp_path: Path) -> None:
    result = package.run(package.Scenario.from_toml(INCAST + KEPT.replace("500B", "300B")))
    exported = result.export_hpcc(tmp_path)
    assert "qlen.txt" not in exported.files
    assert "300 B" in exported.notes[0]


def test_flows_without_a_last_ack_are_counted_and_left_out(tmp_path: Path) -> None:
    text = INCAST.replace("[defaults]\n", '[defaults]\nreliability = "none"\n') + KEPT
    exported = package.run(package.Scenario.from_toml(text)).export_hpcc(tmp_path)
    assert (tmp_path / "fct.txt").read_text(encoding="utf-8") == ""
    assert exported.notes == ("fct.txt lacks 3 flows that arrived but had no last ACK when the run ended",)


def test_files_that_are_there_are_replaced_only_by_force(tmp_path: Path) -> None:
    result = package.run(package.Scenario.from_toml(INCAST))
    (tmp_path / "fct.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match=r"holds fct\.txt already"):
        result.export_hpcc(tmp_path)
    assert (tmp_path / "fct.txt").read_text(encoding="utf-8") == "mine"
    result.export_hpcc(tmp_path, force=True)
    assert len(lines(tmp_path / "fct.txt")) == 3


def test_the_command_exports_all_files_beside_the_results(floodway: Command, tmp_path: Path) -> None:
    file = written(tmp_path, SMALL)
    done = floodway("run", file, "--export", "hpcc", "--quiet")
    assert (done.code, done.err) == (0, "")
    out = tmp_path / "out" / "small"
    assert [name for name in FILES if not (out / name).is_file()] == []
    result = package.read(out)
    assert len(lines(out / "fct.txt")) == result.flows["finish_sender_us"].count() > 50
    assert lines(out / "nodes.txt")[0] == ["0", "h1", "host"]
    kinds = [row[2] for row in lines(out / "nodes.txt")]
    assert kinds == ["host"] * 4 + ["switch"] * 2
    # Results that replace these do not keep their export.
    assert floodway("run", file, "--force", "--quiet").code == 0
    assert [name for name in FILES if (out / name).exists()] == []
    assert json.loads((out / "run.json").read_text(encoding="utf-8"))["verdicts"].get("pauses") is None


def test_a_histogram_that_the_scenario_has_is_kept_by_an_export(floodway: Command, tmp_path: Path) -> None:
    window = '[records]\nqueue-histogram = { from = "10us", to = "20us" }\n'
    file = written(tmp_path, SMALL + window)
    assert floodway("run", file, "--export", "hpcc").code == 0
    text = (tmp_path / "out" / "small" / "qlen.txt").read_text(encoding="utf-8")
    assert text.startswith("time: 20000\n")
    assert text.count("time:") == 1


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        (
            'every = "0ns"',
            'records.queue-histogram.every: 0us is not allowed; write a time above 0, like "100ns"',
        ),
        ('bin = "10B"', "records.queue-histogram.bin: 10B is too small: the minimum is 64B"),
        ('from = "2us", to = "1us"', "records.queue-histogram.to: 1us is before the first instant, 2us"),
    ],
)
def test_a_histogram_of_nothing_is_refused(keys: str, fault: str) -> None:
    with pytest.raises(package.ScenarioError) as caught:
        package.Scenario.from_toml(f"{INCAST}[records]\nqueue-histogram = {{ {keys} }}\n")
    assert fault in str(caught.value)

"""Closed loops, flows that wait, and what is reported of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import floodway as package
from floodway.results.messages import _shortest
from floodway.results.perftest import perftest
from scenarios import written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

#: Two hosts and the switches between them.
HEAD = """\
mtu = "1000B"
topology.dumbbell = { left = 2, right = 2, rate = "100G", delay = "1us" }
"""
BOTH = f"""\
{HEAD}
[[workload]]
name = "bw"
perftest = {{ test = "write-bw", from = "h1", to = "h3", size = "800B", queue-depth = 1, iterations = 50 }}
[[workload]]
name = "lat"
start = "10ms"
perftest = {{ test = "write-lat", from = "h1", to = "h3", iterations = 20 }}
"""
#: Microseconds of a byte at 100G, of three links, and wire bytes of an ACK.
BYTE, LINKS, ACK = 80e-6, 3.0, 86


def result_of(text: str) -> package.Result:
    return package.run(package.Scenario.from_toml(name="small", text=text))


def test_one_message_outstanding_is_a_message_in_a_round_trip() -> None:
    bandwidth, _ = perftest((result := result_of(BOTH)).flows, result.run)
    (row,) = bandwidth.iter_rows(named=True)
    round_trip = 3 * (898 + ACK) * BYTE + 2 * LINKS
    assert (row["workload"], row["from"], row["to"]) == ("bw", "h1", "h3")
    assert (row["bytes"], row["iterations"]) == (800, 50)
    assert row["bw_average_gbps"] == pytest.approx(6.4 / round_trip, rel=1e-12)
    assert row["bw_peak_gbps"] == pytest.approx(6.4 / round_trip, rel=1e-9)
    assert row["msg_rate_mpps"] == pytest.approx(1 / round_trip, rel=1e-12)


def test_latency_is_half_a_round_trip() -> None:
    _, latency = perftest((result := result_of(BOTH)).flows, result.run)
    (row,) = latency.iter_rows(named=True)
    # The ACK of the message before goes first, so both ways but the first take its time, too.
    usual = 3 * 100 * BYTE + LINKS + ACK * BYTE
    first = usual - ACK * BYTE / 2
    assert (row["bytes"], row["iterations"]) == (2, 20)
    for column in ("t_max_us", "t_typical_us", "p99_us", "p999_us"):
        assert row[column] == pytest.approx(usual, rel=1e-9), column
    # 17 of the 19 times between posts are kept, among them the first, which is the shortest.
    assert row["t_min_us"] == pytest.approx(first, rel=1e-9)
    assert row["t_avg_us"] == pytest.approx((16 * usual + first) / 17, rel=1e-9)
    assert row["t_stdev_us"] == pytest.approx((usual - first) * 4 / 17, rel=1e-4)


def test_a_deep_queue_reaches_the_line_rate_less_headers_and_both_ways_count_twice() -> None:
    shape = 'perftest = { test = "write-bw", from = "h2", to = "h4", iterations = 300, qps = 2'
    averages = []
    for more in ("", ", bidirectional = true"):
        result = result_of(f'{HEAD}\n[[workload]]\nname = "deep"\n{shape}{more} }}\n')
        (row,) = perftest(result.flows, result.run)[0].iter_rows(named=True)
        assert (row["from"], row["iterations"]) == ("h2", 600)
        assert row["bw_average_gbps"] <= row["bw_peak_gbps"]
        averages.append(row["bw_average_gbps"])
    # Messages of 65 full packets and one of 536 B; the first has 16 B more.
    share = 65_536 / (65 * 1082 + 16 + 618)
    assert averages[0] == pytest.approx(100 * share, rel=2e-3)
    # ACKs of the other way take their part.
    assert averages[1] == pytest.approx(200 * 65_536 / (65_536 / share + 66 * ACK), rel=5e-3)


def read_of(keys: str) -> dict[str, object]:
    shape = f'perftest = {{ test = "read-bw", from = "h1", to = "h3", {keys} }}'
    result = result_of(f'{HEAD}\n[[workload]]\nname = "read"\n{shape}\n')
    (row,) = perftest(result.flows, result.run)[0].iter_rows(named=True)
    return row


def test_one_read_outstanding_is_a_request_there_and_a_response_back() -> None:
    row = read_of('size = "800B", outstanding-reads = 1, iterations = 50')
    # A request of a byte has 99 on the wire. The ACK of the response goes before the next request, and that
    # of the request before its response.
    whole = 3 * (99 + 898) * BYTE + 2 * LINKS + ACK * BYTE
    total = 50 * whole + 49 * ACK * BYTE
    assert (row["from"], row["to"], row["bytes"], row["iterations"]) == ("h1", "h3", 800, 50)
    assert row["bw_average_gbps"] == pytest.approx(50 * 6.4 / total, rel=1e-9)
    # The depth of the queue is no more than what the NIC sends of it.
    assert read_of('size = "800B", queue-depth = 1, iterations = 50') == row


def test_outstanding_reads_bound_the_bandwidth_over_a_long_link() -> None:
    far = HEAD.replace('delay = "1us" }', 'delay = "1us", bottleneck = { delay = "400us" } }')
    rates = {}
    for keys in (
        "",
        ", outstanding-reads = 4",
        ", queue-depth = 8",
        ", queue-depth = 64, outstanding-reads = 64",
    ):
        shape = f'perftest = {{ test = "read-bw", from = "h1", to = "h3", iterations = 256{keys} }}'
        result = result_of(f'{far}\n[[workload]]\nname = "read"\n{shape}\n')
        (row,) = perftest(result.flows, result.run)[0].iter_rows(named=True)
        rates[keys] = row["bw_average_gbps"]
    # So many messages of 65,536 B a round trip of 804 us, which the last of them lengthens by 5.7 us each.
    for keys, outstanding in zip(rates, (16, 4, 8, 64), strict=True):
        most = outstanding * 65_536 * 8e-3 / 804
        assert 0.5 * most < rates[keys] < most, keys
    assert rates[""] == pytest.approx(2 * rates[", queue-depth = 8"], rel=0.1)


def test_many_reads_reach_the_line_rate_less_headers() -> None:
    row = read_of("iterations = 500, outstanding-reads = 16, qps = 2")
    share = 65_536 / (65 * 1082 + 16 + 618)
    assert row["iterations"] == 1000
    assert row["bw_average_gbps"] == pytest.approx(100 * share, rel=5e-3)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ('test = "read-bw", outstanding-reads = 0', "outstanding-reads: 0 is not allowed; the minimum is 1"),
        ('test = "read-bw", bidirectional = true', '"read-bw" has no such key: it belongs to "write-bw"'),
        ('test = "write-bw", outstanding-reads = 4', '"write-bw" has no such key: it belongs to "read-bw"'),
        ('test = "write-lat", queue-depth = 4', 'it belongs to "write-bw" and "read-bw"'),
        ('test = "read-bx"', 'did you mean "read-bw"'),
    ],
)
def test_keys_of_other_tests_are_refused(keys: str, why: str) -> None:
    text = f'{HEAD}\n[[workload]]\nname = "w"\nperftest = {{ from = "h1", to = "h3", {keys} }}\n'
    with pytest.raises(package.ScenarioError, match=why):
        package.Scenario.from_toml(name="small", text=text)


def test_the_peak_is_that_of_the_best_run_of_messages() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 7, 60):
        posted = np.sort(rng.uniform(0, 50, n))
        completed = np.sort(posted + rng.uniform(0.1, 9, n))
        runs = [(completed[j] - posted[i]) / (j - i + 1) for i in range(n) for j in range(i, n)]
        assert _shortest(posted, completed) == pytest.approx(min(runs), rel=1e-12)


def test_the_report_is_printed_in_perftests_columns_and_is_in_the_json(
    floodway: Command, tmp_path: Path
) -> None:
    path = written(tmp_path, BOTH)
    out = floodway("run", path, "--full").out
    assert (
        "bw: h1 to h3\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
        in out
    )
    assert "lat: h1 to h3\n #bytes #iterations    t_min[usec]    t_max[usec]" in out
    assert "99% percentile[usec]   99.9% percentile[usec]\n 2       20             3.0" in out
    printed = json.loads(floodway("run", path, "--json", "--force").out)["perftest"]
    assert printed["bandwidth"][0]["iterations"] == 50
    assert printed["latency"][0]["t_typical_us"] == pytest.approx(3.03, abs=0.01)


def test_runs_without_closed_loops_have_no_report(floodway: Command, tmp_path: Path) -> None:
    flow = '[[workload]]\nname = "one"\nflows = [{ from = "h1", to = "h3", size = "1MB" }]\n'
    path = written(tmp_path, f"{HEAD}\n{flow}")
    assert "#bytes" not in floodway("run", path, "--full").out
    assert "perftest" not in json.loads(floodway("run", path, "--json", "--force").out)
    report = perftest((result := package.read(tmp_path / "out" / "small")).flows, result.run)
    assert [len(frame) for frame in report] == [0, 0]


def test_flows_that_never_start_are_reported(floodway: Command, tmp_path: Path) -> None:
    flows = """\
[[workload]]
name = "chain"
flows = [
    { id = "a", from = "h1", to = "h3", size = "1KB" },
    { from = "h3", to = "h1", size = "1KB", after = "a", wait = "5ms" },
]
"""
    path = written(tmp_path, f'limit = "1ms"\n{HEAD}\n{flows}')
    done = floodway("run", path)
    assert "1 flows of chain never started" in done.out
    result = package.read(tmp_path / "out" / "small")
    assert (len(result.flows), result.outcome.workloads[0].never_started) == (1, 1)


def test_lists_in_parquet_may_wait(tmp_path: Path) -> None:
    rows = {
        "id": ["a", None],
        "source": ["h1", "h3"],
        "destination": ["h3", "h1"],
        "size_bytes": [1000, 1000],
        "start_us": [0.0, 0.0],
        "after": [None, "a"],
        "wait_us": [None, 2.5],
    }
    pl.DataFrame(rows).write_parquet(tmp_path / "list.parquet")
    list_ = '[[workload]]\nname = "list"\nflow-list = { file = "list.parquet" }\n'
    result = package.run(package.load(written(tmp_path, f"{HEAD}\n{list_}")))
    first, second = result.flows.iter_rows(named=True)
    assert second["start_us"] == pytest.approx(first["finish_receiver_us"] + 2.5, abs=1e-9)

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import floodway as package
from floodway import _floodway
from floodway.study.metrics.buckets import link_buckets, queue_buckets
from floodway.study.metrics.kinds import COMPUTED, KINDS
from floodway.study.metrics.selection import Options, chosen_flows, matches
from floodway_lab.study.pictures.formulas import (
    FORMULAS,
    arguments_of,
    cbfc_highest,
    cbfc_lowest,
    pfc_utilisation,
    relay_utilisation,
)
from made_up import made_up_feedback, made_up_result, made_up_shares
from scenarios import LISTED, SMALL, SPRAYED, STARVED, TOLD, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command
    from floodway.results import Result

ALL = Options()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return package.run(package.load(written(tmp_path_factory.mktemp("small"), SMALL)))


def value(result: Result, kind: str, **options: Any) -> float | None:  # noqa: ANN401 (any option)
    return KINDS[kind].compute(result, replace(ALL, **options)).value


def test_numbers_are_those_of_the_summary(small: Result) -> None:
    total = small.summary().total
    expected = {
        "fct-mean": total.fct.mean_us,
        "fct-p50": total.fct.p50_us,
        "fct-p99": total.fct.p99_us,
        "fct-p999": total.fct.p999_us,
        "slowdown-p99": total.slowdown_p99,
        "flows": total.measured,
        "unfinished": 0,
        "paused-time": small.summary().paused_us,
        "pfc-frames": small.summary().pfc_frames,
        "drops": 0,
        "lossless": 1,
    }
    assert {kind: value(small, kind) for kind in expected} == expected


#: One flow that is acknowledged, and one of which the last ACK comes after the limit.
ACKNOWLEDGED = """
limit = "1ms"
defaults = { reliability = "go-back-n" }
workload = [{ name = "flows", flows = [
  { from = "h1", to = "h2", size = "100KB" },
  { from = "h1", to = "h3", size = "200KB", start = "50us" },
  { from = "h2", to = "h4", size = "10KB", start = "850us" },
] }]

[topology.two-dc]
fabric.single-switch = { hosts = 2 }
rate = "100G"
delay = "1us"
long-link = { rate = "100G", delay = "100us" }
"""


def test_normalised_completion_times_are_those_of_an_export(tmp_path: Path) -> None:
    result = package.run(package.Scenario.from_toml(ACKNOWLEDGED))
    result.export_hpcc(tmp_path)
    lines = [line.split() for line in (tmp_path / "fct.txt").read_text().splitlines()]
    # Both are whole nanoseconds there.
    shares = [int(line[6]) / int(line[7]) for line in lines]
    assert len(shares) == 2
    all_flows = KINDS["normalised-fct-mean"].compute(result, ALL)
    assert all_flows.value == pytest.approx(sum(shares) / 2, rel=1e-3)
    # The third has arrived, but nobody has said so yet.
    assert all_flows.unfinished == 1
    within = value(result, "normalised-fct-mean", path_class="intra")
    assert within == pytest.approx(shares[0], rel=1e-3)
    assert value(result, "normalised-fct-mean", workload=("other",)) is None


def test_unfinished_flows_are_never_averaged_in_silence() -> None:
    result = made_up_result((1.0, 2.0, 3.0, None))
    mean, median, tail = (KINDS[f"fct-{each}"].compute(result, ALL) for each in ("mean", "p50", "p99"))
    assert (mean.value, mean.unfinished) == (2.0, 1)
    assert (median.value, median.unfinished) == (3.0, 0)
    assert (tail.value, tail.unfinished) == (None, 1)
    assert value(result, "unfinished") == 1


def test_flows_are_chosen_by_size_ends_workload_and_path(small: Result) -> None:
    largest = chosen_flows(small, Options(largest_bytes=10_000))["size_bytes"].max()
    smallest = chosen_flows(small, Options(smallest_bytes=10_000))["size_bytes"].min()
    assert isinstance(largest, int)
    assert isinstance(smallest, int)
    assert largest <= 10_000 <= smallest
    of_one = chosen_flows(small, Options(source=("h1",)))
    assert set(of_one["source"].to_list()) == {"h1"}
    assert len(chosen_flows(small, Options(source=("h1..h2",)))) == len(chosen_flows(small, ALL))
    assert chosen_flows(small, Options(source=("h3..h9",))).is_empty()
    assert chosen_flows(small, Options(workload=("another",))).is_empty()
    assert chosen_flows(small, Options(path_class="inter")).is_empty()
    assert value(small, "fct-mean", path_class="inter") is None


def test_ranges_count_and_stars_stand_for_letters() -> None:
    names = ["h1", "h2", "h10", "x1", "h[1]"]
    assert [name for name in names if matches(name, ["h1..h9"])] == ["h1", "h2"]
    assert [name for name in names if matches(name, ["h*", "x?"])] == names
    assert [name for name in names if matches(name, ["h[1]"])] == ["h[1]"]


def test_a_link_carries_in_a_window_what_its_buckets_hold(small: Result) -> None:
    whole = value(small, "throughput", link="s1>s2")
    (link,) = (each for each in small.summary().links if each.object.endswith("s1>s2"))
    assert whole == pytest.approx(link.mean_gbps)
    assert value(small, "utilisation", link="s1>s2") == pytest.approx(link.mean_gbps)
    halves = [
        value(small, "throughput", link="s1>s2", from_us=a, to_us=b)
        for a, b in ((0.0, 500.0), (500.0, 1000.0))
    ]
    both = value(small, "throughput", link="s1>s2", to_us=1000.0)
    assert sum(half for half in halves if half is not None) / 2 == pytest.approx(both)
    with pytest.raises(package.PlotError, match="'s1>s3' is not the name of a watched object"):
        value(small, "throughput", link="s1>s3")


@given(st.floats(3.0, 2000.0), st.floats(0.0, 500.0))
def test_buckets_of_any_width_hold_all_bytes(bucket_us: float, from_us: float) -> None:
    result = made_up_result()
    buckets = link_buckets(result, Options(bucket_us=bucket_us, from_us=from_us, to_us=1000.0))
    sent = float((buckets.gbps * buckets.span_us).sum()) / 8e-3
    assert sent == pytest.approx(6_250_000.0 * max(0.0, 500.0 - from_us) / 500.0, abs=1e-3)
    assert float(buckets.span_us.sum()) == pytest.approx(1000.0 - from_us)


def test_idle_time_is_that_of_empty_buckets() -> None:
    result = made_up_result()
    assert value(result, "idle") == pytest.approx(50.0)
    assert value(result, "idle", bucket_us=100.0) == pytest.approx(50.0)
    assert value(result, "idle-buckets", bucket_us=100.0) == 5
    assert value(result, "throughput") == pytest.approx(50.0)
    assert value(result, "peak-throughput") == pytest.approx(100.0)
    assert value(result, "throughput-stdev") == pytest.approx(50.0)
    # Beyond the run nothing is carried.
    assert value(result, "throughput", to_us=2000.0) == pytest.approx(25.0)


def test_ports_are_hosts_switches_or_named() -> None:
    result = made_up_result()
    assert value(result, "paused-time") == 12.5
    assert value(result, "paused-time", ports=("hosts",)) == 12.5
    assert value(result, "paused-time", ports=("switches",)) == 0.0
    assert value(result, "paused-time", ports=("h1 l1",)) == 12.5
    assert value(result, "paused-time", ports=("h2",)) is None
    assert value(result, "peak-buffer") == 0.005
    assert value(result, "pfc-frames", ports=("l*",)) == 2.0


def test_goodput_and_the_end_of_the_last_flow_are_of_payload(tmp_path: Path) -> None:
    result = package.run(package.load(written(tmp_path, LISTED)))
    end_us = float(result.flows["finish_receiver_us"][0])
    assert value(result, "goodput") == pytest.approx(100e6 * 8e-3 / end_us)
    assert value(result, "last-finish") == pytest.approx(end_us / 1000)


def test_drops_and_retransmissions_are_counted(tmp_path: Path) -> None:
    text = STARVED.replace("[defaults]\n", '[defaults]\nreliability = "go-back-n"\n')
    result = package.run(package.load(written(tmp_path, text)))
    again = float(result.flows["retransmitted_bytes"].sum())
    assert value(result, "lossless") == 0
    assert (value(result, "drops") or 0) > 0
    assert value(result, "retransmitted") == again > 0
    assert value(result, "retransmission-time") == pytest.approx(again * 8e-3 / 100)


def test_packets_are_out_of_order_where_ways_differ(floodway: Command, tmp_path: Path) -> None:
    file = written(tmp_path, SPRAYED)
    result = package.run(package.load(file))
    assert result.flows["packets"].to_list() == [500, 300, 200]
    late = result.flows["out_of_order_packets"].to_list()
    # All that takes the long way, but for what is sent after the last packet by the short one.
    long = result.counters.filter(pl.col("node").cast(pl.String) == "s3", pl.col("rx_packets") > 100)
    assert int(long["rx_packets"].sum()) - 40 < late[0] + late[1] <= long["rx_packets"].sum()
    assert late[2] == 0
    assert value(result, "out-of-order") == pytest.approx((late[0] + late[1]) / 10)
    assert value(result, "out-of-order", workload=("sprayed",), smallest_bytes=400_000) == late[0] / 5
    assert value(result, "out-of-order", workload=("straight",)) == 0
    order = result.summary().order
    assert (order.packets, order.out_of_order) == (1000, sum(late))
    shown = floodway("run", file, "--out", tmp_path / "out", "--full").out
    assert f"out of order: {sum(late)} of 1,000 data packets, {sum(late) / 10:.2f} %" in shown
    assert "out of order" not in floodway("run", written(tmp_path, SMALL), "--full").out


def test_delays_of_packets_come_from_their_histogram(small: Result) -> None:
    delays = small.latency.filter(pl.col("component").cast(pl.String) == "total").sort("bucket_high_ns")
    every = np.repeat(delays["bucket_high_ns"].to_numpy(), delays["packets"].to_numpy().astype(np.int64))
    assert value(small, "latency-p99") == every[990 * len(every) // 1000] / 1000
    assert value(small, "latency-p50", workload=("another",)) is None
    assert value(small, "latency-mean") == pytest.approx(every.mean() / 1000, rel=0.02)


def test_perftest_reports_bandwidth_and_latency() -> None:
    scenario = package.Scenario.from_toml(
        """
topology.dumbbell = { left = 2, right = 2, rate = "100G", delay = "1us" }
[[workload]]
name = "bw"
perftest = { test = "write-bw", from = "h1", to = "h3", iterations = 100 }
[[workload]]
name = "lat"
perftest = { test = "write-lat", from = "h2", to = "h4", iterations = 100 }
"""
    )
    result = package.run(scenario)
    bandwidth, latency = result.perftest()
    assert value(result, "perftest-bandwidth") == bandwidth["bw_average_gbps"][0]
    assert value(result, "perftest-latency") == latency["t_avg_us"][0]
    assert value(result, "perftest-latency", column="p99_us") == latency["p99_us"][0]
    assert value(result, "perftest-latency", column="another") is None


def test_where_there_are_no_flows_there_is_no_number(tmp_path: Path) -> None:
    result = package.run(package.load(written(tmp_path, LISTED)))
    result = replace(result, flows=result.flows[:0])
    assert [value(result, kind) for kind in ("fct-mean", "fct-p99", "goodput", "last-finish")] == [None] * 4
    assert value(result, "flows") == 0
    # None of no flows is unfinished or was sent again: that is no number either.
    assert [value(result, kind) for kind in ("unfinished", "timeouts", "out-of-order")] == [None] * 3
    after = result.outcome.simulated_us + 1
    assert value(result, "idle", from_us=after, to_us=after + 1) is None


def test_a_queue_in_time_is_the_longest_of_each_bucket_inside_the_window(small: Result) -> None:
    whole = queue_buckets(small, Options(link="s1>s2"))
    series = small.series.filter(
        (pl.col("object").cast(pl.String) == "s1-s2: s1>s2")
        & (pl.col("metric").cast(pl.String) == "queue_max_bytes")
    )
    assert whole["queue_mb"].max() == pytest.approx(float(series["value"].max()) / 1e6)  # type: ignore[arg-type]
    assert whole.height == series.height
    part = queue_buckets(small, Options(link="s1>s2", from_us=500.0, to_us=1000.0))
    assert part.equals(whole.filter(pl.col("time_us").is_between(500.0, 1000.0, closed="left")))


def test_what_senders_allow_is_weighted_by_time_until_the_flow_is_complete() -> None:
    result = made_up_feedback()
    assert value(result, "allowed-min") == 20.0
    # 300 us, 200 us, and 200 us until the end at the sender.
    assert value(result, "allowed-mean") == pytest.approx((300 * 100 + 200 * 20 + 200 * 60) / 700)
    assert value(result, "allowed-min", from_us=500.0) == 60.0
    assert value(result, "allowed-mean", from_us=250.0, to_us=350.0) == pytest.approx(60.0)
    assert value(result, "allowed-min", workload=("load",)) == 20.0
    assert value(result, "allowed-min", from_us=700.0) is None
    with pytest.raises(package.PlotError, match="recorded no allowance of other"):
        value(result, "allowed-min", workload=("other",))
    with pytest.raises(package.PlotError, match=r"records\.allowances = true"):
        value(made_up_result(), "allowed-min")


def test_time_in_a_state_is_that_of_all_chosen_queues_inside_the_window() -> None:
    result = made_up_feedback()
    assert value(result, "time-in-state", state="busy") == 150.0
    assert value(result, "time-in-state", state="calm") == 850.0
    assert value(result, "time-in-state", state="calm", from_us=200.0, to_us=500.0) == 150.0
    assert value(result, "time-in-state", state="busy", ports=("h1",)) == 0.0
    assert value(result, "time-in-state", state="busy", ports=("s1 l1",)) == 150.0
    with pytest.raises(package.PlotError, match=r"records\.signals = true"):
        value(made_up_result(), "time-in-state", state="busy")
    # A state that its congestion point gives, though no queue of this run was in it.
    assert value(result, "time-in-state", state="checking") == 0.0
    with pytest.raises(package.PlotError, match=r"'bussy' is not a state of queues; .*did you mean 'busy'\?"):
        value(result, "time-in-state", state="bussy")
    for kind in ("time-in-state", "max-queue"):
        with pytest.raises(
            package.PlotError, match=r"ports: 's2 l1' matches no port; .*did you mean 's1 l1'\?"
        ):
            value(result, kind, state="busy", ports=("s2 l1",))


def test_the_first_time_in_a_state_is_that_of_any_chosen_queue_inside_the_window() -> None:
    result = made_up_feedback()
    assert value(result, "first-in-state", state="busy") == 250.0
    assert value(result, "first-in-state", state="calm") == 0.0
    assert value(result, "first-in-state", state="calm", from_us=300.0) == 400.0
    # A queue that is in it when the window begins is in it from there on.
    assert value(result, "first-in-state", state="busy", from_us=300.0) == 300.0
    assert value(result, "first-in-state", state="busy", ports=("s1 l1",)) == 250.0
    for nothing in ({"to_us": 250.0}, {"from_us": 400.0}, {"ports": ("h1",)}, {"ports": ("hosts",)}):
        assert value(result, "first-in-state", state="busy", **nothing) is None
    assert value(result, "first-in-state", state="checking") is None
    for options, message in (
        ({"state": "bussy"}, r"'bussy' is not a state of queues; .*did you mean 'busy'\?"),
        ({"state": "busy", "ports": ("s2 l1",)}, r"ports: 's2 l1' matches no port; .*did you mean 's1 l1'\?"),
    ):
        with pytest.raises(package.PlotError, match=message):
            value(result, "first-in-state", **options)
    with pytest.raises(package.PlotError, match=r"records\.signals = true"):
        value(made_up_result(), "first-in-state", state="busy")


def test_what_flows_had_of_links_is_that_of_buckets_that_begin_inside_the_window() -> None:
    result = made_up_shares()
    assert value(result, "flow-throughput") == pytest.approx(3_010_000 * 8e-3 / 1000)
    assert value(result, "flow-throughput", link="s1>h9") == pytest.approx(3_000_000 * 8e-3 / 1000)
    assert value(result, "flow-throughput", link="s1>h?") == pytest.approx(3_010_000 * 8e-3 / 1000)
    inside = {"link": "s1>h9", "from_us": 100.0, "to_us": 300.0}
    assert value(result, "flow-throughput", **inside) == pytest.approx(40.0)
    assert value(result, "flow-throughput", **{**inside, "from_us": 50.0}) == pytest.approx(32.0)
    assert value(result, "flow-throughput", workload=("load",), from_us=300.0, to_us=400.0) == 20.0
    # Beyond the run there is no time.
    assert value(result, "flow-throughput", from_us=300.0, to_us=5000.0) == pytest.approx(8e3 / 700)
    assert value(result, "flow-throughput", from_us=1000.0) is None
    assert value(result, "flow-throughput", workload=("burst",), link="s1>h8") is None


def test_the_flow_that_has_least_is_one_that_had_anything_of_the_link() -> None:
    result = made_up_shares()
    assert value(result, "lowest-flow-throughput") == pytest.approx(10_000 * 8e-3 / 1000)
    assert value(result, "lowest-flow-throughput", link="s1>h9") == pytest.approx(750_000 * 8e-3 / 1000)
    assert value(result, "lowest-flow-throughput", link="s1>h9", from_us=0.0, to_us=100.0) == 0.0
    of_load = {"link": "s1>h9", "workload": ("load",), "from_us": 100.0, "to_us": 400.0}
    assert value(result, "lowest-flow-throughput", **of_load) == pytest.approx(500_000 * 8e-3 / 300)


def test_fairness_is_jains_index_over_the_flows_of_the_link() -> None:
    result = made_up_shares()
    # 1.5, 0.75 and 0.75 MB: 3² / (3 · (2.25 + 0.5625 + 0.5625)).
    assert value(result, "fairness", link="s1>h9") == pytest.approx(8 / 9)
    # Two have 0.5 MB each, and the third one has nothing yet.
    assert value(result, "fairness", link="s1>h9", from_us=100.0, to_us=200.0) == pytest.approx(2 / 3)
    assert value(result, "fairness", link="s1>h9", to_us=100.0) == pytest.approx(1 / 3)
    assert value(result, "fairness", link="s1>h8") == 1.0
    of_load = {"link": "s1>h9", "workload": ("load",), "from_us": 100.0, "to_us": 200.0}
    assert value(result, "fairness", **of_load) == 1.0
    # Where nobody had anything there is no index.
    assert value(result, "fairness", link="s1>h9", from_us=500.0) is None
    assert value(result, "fairness", from_us=1000.0) is None


@pytest.mark.parametrize("kind", ["flow-throughput", "lowest-flow-throughput", "fairness"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"link": "s1>h7"}, r"'s1>h7' is not a direction with shares; allowed: .*; did you mean 's1>h"),
        ({"link": "l9"}, r"'l9' is not a direction with shares; allowed: s1>h9, s1>h8"),
        ({"workload": ("laod",)}, r"'laod' is not a workload; allowed: load, burst; did you mean 'load'\?"),
    ],
)
def test_a_link_or_workload_without_shares_is_reported_with_the_nearest(
    kind: str, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(package.PlotError, match=message):
        value(made_up_shares(), kind, **given)
    with pytest.raises(
        package.PlotError, match=r'did not record flows\' shares .*records\.shares = \{ links = "'
    ):
        value(made_up_result(), kind, **given)


@pytest.mark.parametrize("point", sorted(dict(_floodway.queue_states())))
def test_states_are_those_that_congestion_points_give(tmp_path: Path, point: str) -> None:
    head, tail = TOLD[: TOLD.index("congestion-point")], TOLD[TOLD.index("]\n\n[[") + 1 :]
    text = f"{head}congestion-point.{point} = {{}}{tail}".replace("100KB", "40KB")
    signals = package.run(package.load(written(tmp_path, text))).signals
    assert signals is not None
    found = set(signals["state"].drop_nulls().cast(pl.String))
    assert found
    assert found <= set(dict(_floodway.queue_states())[point])


def test_the_longest_queue_is_that_of_a_link_or_of_watched_ports() -> None:
    result = made_up_feedback()
    assert value(result, "max-queue") == 5.0
    assert value(result, "max-queue", ports=("switches",)) == 5.0
    assert value(result, "max-queue", ports=("hosts",)) is None
    assert value(result, "max-queue", from_us=500.0) == 3.0
    assert value(result, "max-queue", link="s1>h1", from_us=500.0) == 3.0
    assert value(result, "max-queue", from_us=2000.0) is None


def test_the_mean_wait_is_the_queue_over_time_by_the_bytes_sent() -> None:
    plain = made_up_feedback()
    shape = plain.series.head(2).sort("time_us")
    sent = shape.with_columns(metric=pl.lit("tx_bytes"), value=pl.Series([6e6, 2e6]))
    queue = shape.with_columns(metric=pl.lit("queue_mean_bytes"), value=pl.Series([4000.0, 1000.0]))
    result = replace(plain, series=pl.concat([sent, queue]))
    # 500 us of 4 KB and 500 us of 1 KB, for 8 MB.
    assert value(result, "mean-wait", link="s1>h1") == pytest.approx(0.3125)
    assert value(result, "mean-wait", link="s1>h1", from_us=500.0) == pytest.approx(0.25)
    assert value(result, "mean-wait", link="s1>h1", to_us=500.0) == pytest.approx(1 / 3)
    assert value(result, "mean-wait", link="s1>h1", from_us=2000.0) is None
    assert value(result, "mean-wait", ports=("switches",)) == pytest.approx(0.3125)
    assert value(result, "mean-wait", ports=("hosts",)) is None


#: Two senders at the rate of the one link that both use; nothing is paused.
MEETING = """
records.watch = "*"
topology.single-switch = { hosts = 3, rate = "100G", delay = "1us" }
workload = [{ name = "burst", burst = { from = ["h1", "h2"], to = "h3", size = "1MB" } }]

[defaults]
rate-control = "line-rate"
flow-control.pfc = { xoff = "4MB" }
buffer.static = { size = "5MB" }
"""


def test_the_mean_wait_of_two_bursts_that_meet_is_a_quarter_of_their_time(tmp_path: Path) -> None:
    result = package.run(package.load(written(tmp_path, MEETING)))
    # The queue rises to half of the bytes in half of the time, and falls to none.
    carried = value(result, "throughput", link="s1>h3")
    assert carried is not None
    took_us = carried * result.outcome.simulated_us / 100
    assert value(result, "mean-wait", link="s1>h3") == pytest.approx(took_us / 4, rel=0.03)


def test_marks_and_cnps_are_counted_by_port(tmp_path: Path) -> None:
    result = package.run(package.load(written(tmp_path, TOLD)))
    counters = result.counters
    assert value(result, "ecn-marks") == counters["ecn_marks"].sum() > 0
    assert value(result, "cnps-made", ports=("switches",)) == counters["cnps"].sum() > 0
    assert value(result, "cnps-made", ports=("hosts",)) == counters["receiver_cnps"].sum() > 0
    assert value(result, "ue-marks") == 0
    lowest = value(result, "lowest-throughput", link="s1>s2", bucket_us=10.0, to_us=100.0)
    assert lowest is not None
    assert lowest <= (value(result, "throughput", link="s1>s2", to_us=100.0) or 0)
    # No packet starts there before 10 us.
    assert lowest == 0


@pytest.mark.parametrize(("delay_us", "kept"), [(1.0, True), (293.0, True), (294.0, False), (440.0, False)])
def test_pfc_keeps_half_the_rate_until_its_threshold_cannot_bridge_a_round_trip(
    delay_us: float, *, kept: bool
) -> None:
    # 11 MB at 100 Gbit/s (Chen et al. 2023, figure 5): 11 MB - 2 D R >= 2 D R / 2 holds up to 293.3 us.
    assert (pfc_utilisation(delay_us, 0.5, 11e6, 100.0) == 50.0) == kept


@given(st.floats(1.0, 440.0), st.floats(0.01, 0.99))
def test_pfc_never_uses_more_than_the_relay(delay_us: float, alpha: float) -> None:
    found = pfc_utilisation(delay_us, alpha, 11e6, 100.0)
    assert 0 < found <= relay_utilisation(delay_us, alpha, 11e6, 100.0) * (1 + 1e-12)
    assert pfc_utilisation(440.1, alpha, 11e6, 100.0) == 0


@given(st.floats(1.0, 3000.0), st.floats(1e4, 1e9), st.floats(0.0, 100.0))
def test_the_bounds_of_credits_enclose_a_share(
    delay_us: float, buffer_bytes: float, period_us: float
) -> None:
    low = cbfc_lowest(delay_us, buffer_bytes, 100.0, period_us, 1500.0)
    assert 0 < low <= cbfc_highest(delay_us, buffer_bytes, 100.0) <= 100


@pytest.mark.parametrize("name", FORMULAS)
def test_no_formula_fails_where_a_link_has_no_delay(name: str) -> None:
    given = {"delay-us": 0.0, "alpha": 0.5, "buffer-bytes": 5e6, "rate-gbps": 100.0, "slot-us": 0.0}
    given |= {"period-us": 0.0, "mtu-bytes": 0.0}
    shares = {"cbfc-lowest": 100.0, "cbfc-highest": 100.0, "swing-eq4": 50.0, "swing-eq6": 50.0}
    assert FORMULAS[name](*(given[each] for each in arguments_of(name))) == shares.get(name, 0.0)


def test_the_grammar_has_the_metrics_and_formulas_that_are_computed() -> None:
    grammar = json.loads(_floodway.study_catalog_json())
    assert [each["name"] for each in grammar["metrics"]] == list(KINDS)
    assert set(KINDS) == set(COMPUTED)
    assert grammar["formulas"] == {name: list(arguments_of(name)) for name in FORMULAS}

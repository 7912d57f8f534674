from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floodway.cli.show_document import show
from floodway.results.document import document
from floodway.results.metrics import link_rates
from floodway.results.summary import percentile, size_buckets
from made_up import made_up_flows, made_up_result

times = st.lists(st.floats(1, 1e9), max_size=300)


def test_a_percentile_is_the_value_of_rank_floor_q_n() -> None:
    values = np.arange(1000.0)
    assert percentile(values, count=1000, thousandths=500) == 500
    assert percentile(values, count=1000, thousandths=990) == 990
    assert percentile(values, count=1000, thousandths=999) == 999
    assert percentile(values[:3], count=3, thousandths=500) == 1


def test_a_percentile_among_the_unfinished_is_not_reached() -> None:
    values = np.arange(99.0)
    assert percentile(values, count=100, thousandths=980) == 98
    assert percentile(values, count=100, thousandths=990) is None
    assert percentile(values[:0], count=0, thousandths=500) is None


@given(times, st.integers(0, 50), st.sampled_from([500, 990, 999]))
def test_no_interpolation_and_unfinished_rank_last(finished: list[float], missing: int, q: int) -> None:
    values = np.sort(np.array(finished))
    found = percentile(values, count=len(values) + missing, thousandths=q)
    ranked = [*sorted(finished), *[None] * missing]
    assert found == (ranked[q * len(ranked) // 1000] if ranked else None)


@given(st.lists(st.integers(1, 10**9), max_size=400))
def test_size_buckets_hold_every_flow_once_in_order_of_size(sizes: list[int]) -> None:
    buckets = size_buckets(made_up_flows([2.0] * len(sizes), sizes=sizes))
    assert sum(bucket.flows for bucket in buckets) == len(sizes)
    edges = [edge for bucket in buckets for edge in (bucket.from_bytes, bucket.to_bytes)]
    assert edges == sorted(edges)
    counts = [bucket.flows for bucket in buckets]
    assert max(counts, default=0) - min(counts, default=0) <= 1


def test_a_hundred_flows_make_twenty_buckets_of_five() -> None:
    buckets = size_buckets(made_up_flows([float(n) for n in range(1, 101)]))
    assert [bucket.flows for bucket in buckets] == [5] * 20
    assert (buckets[0].p50, buckets[0].p99) == (3.0, 5.0)


def test_four_flows_make_one_bucket() -> None:
    assert len(size_buckets(made_up_flows([1.0, 2.0, 3.0, 4.0]))) == 1


def test_a_mean_without_the_unfinished_is_marked() -> None:
    whole, torn = made_up_result().summary().total.fct, made_up_result([1.0, 2.0, None]).summary().total.fct
    assert (whole.mean_us, whole.mean_of_finished_only) == (2.5, False)
    assert (torn.mean_us, torn.mean_of_finished_only, torn.p50_us, torn.p99_us) == (1.5, True, 2.0, None)


def test_flows_that_never_end_have_a_goodput_from_their_start_on() -> None:
    assert made_up_result([1.0, None]).summary().endless == ()
    result = made_up_result([1.0, None, None])
    sizes = pl.Series("delivered_bytes", [1000, 50_000_000, 1_000_000])
    flows = result.flows.with_columns(sizes, size_bytes=sizes, start_us=pl.Series([0.0, 0.0, 900.0]))
    (endless,) = replace(result, flows=flows).summary().endless
    assert (endless.workload, endless.flows) == ("load", 2)
    assert (endless.goodput_gbps, endless.lowest_gbps, endless.highest_gbps) == (480.0, 80.0, 400.0)


def test_a_result_is_shown_in_a_line() -> None:
    shown = "Result('made-up', seed 1: 4 flows, 1.00 ms simulated, finished)"
    assert (str(made_up_result()), repr(made_up_result())) == (shown, shown)


def test_flows_that_are_not_measured_do_not_count() -> None:
    result = made_up_result()
    flows = result.flows.with_columns(measured=pl.col("fct_us") > 2)
    kept = type(result)(
        flows=flows, latency=result.latency, series=result.series, counters=result.counters, run=result.run
    )
    assert kept.summary().total.fct.mean_us == 3.5


def test_throughput_is_over_the_run_and_its_peak_over_a_bucket() -> None:
    (link,) = made_up_result().summary().links
    assert (link.mean_gbps, link.peak_gbps) == (50.0, 100.0)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=300), st.integers(1, 50))
def test_parts_of_a_curve_carry_all_bytes_and_are_not_too_many(sent: list[int], points: int) -> None:
    rows = len(sent)
    series = pl.DataFrame(
        {
            "object": ["l1"] * rows,
            "metric": ["tx_bytes"] * rows,
            "time_us": [2.0 * bucket for bucket in range(rows)],
            "bucket_us": [2.0] * (rows - 1) + [0.5],
            "value": [float(value) for value in sent],
        }
    )
    parts = link_rates(series, points=points)
    ends = [*parts["time_us"].to_list()[1:], 2.0 * (rows - 1) + 0.5]
    carried = ((pl.Series(ends) - parts["time_us"]) * parts["gbps"] / 8e-3).sum()
    assert len(parts) <= points
    assert carried == pytest.approx(sum(sent))


def test_the_offered_rate_is_over_the_span_of_the_starts() -> None:
    total = made_up_result().summary().total
    assert (total.offered_gbps, total.asked_load, total.load) == (10.0, 0.4, 0.5)


def test_ports_without_a_peak_or_a_pause_are_not_named() -> None:
    summary = made_up_result().summary()
    assert [port.node for port in summary.peak_buffers] == ["s1"]
    assert [port.node for port in summary.most_paused] == ["h1"]
    assert (summary.paused_us, summary.pfc_frames) == (12.5, 2)


def shown(**verdicts: object) -> str:
    text = io.StringIO()
    show(document(made_up_result([1.0, None], **verdicts), "out"), text, full=True)
    return text.getvalue()


def test_what_is_shown_marks_means_and_percentiles_that_unfinished_flows_touch() -> None:
    text = shown(stopped="limit")
    assert "the limit was reached" in text
    assert "1.0 *" in text
    assert "fullest switches: s2 7,000 B, s1 5,000 B" in text
    assert "* of the finished flows only" in text
    assert "not reached" in text


def test_what_is_shown_closes_the_circle_of_a_deadlock() -> None:
    text = shown(deadlocks=[{"time_us": 2000.0, "ports": ["a (l1)", "b (l2)", "c (l3)"]}])
    assert "deadlock since 2,000.0 us: a (l1) -> b (l2) -> c (l3) -> a (l1)" in text


def test_what_is_shown_names_ports_that_flow_control_never_let_go_on() -> None:
    blocked = [
        {"port": f"h{i} (h{i}-s)", "class": 3, "flow_control": "stop", "blocked_us": 9000.0 - i}
        for i in range(4)
    ]
    text = shown(blocked=blocked)
    assert (
        "warning: h0 (h0-s), class 3: flow control 'stop' had blocked it for 9,000.0 us when the run" in text
    )
    assert "warning: h2 " in text
    assert "warning: h3 " not in text
    assert "warning: 1 more ports and classes were blocked like that" in text
    assert "warning" not in shown()


def test_the_document_has_the_numbers_that_are_shown() -> None:
    summary = document(made_up_result(), Path("out/x")).data["summary"]
    assert summary["total"]["fct"]["mean_us"] == 2.5
    assert summary["most_paused"][0]["class"] == 3
    assert summary["outcome"]["lossless"]["verdict"] == "held-by-sizing"

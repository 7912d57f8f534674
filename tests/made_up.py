"""Minimal made-up results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from floodway import Result
from floodway.results import AskedLoad, RunInfo, Timings

if TYPE_CHECKING:
    from collections.abc import Sequence


def made_up_flows(fct_us: Sequence[float | None], *, sizes: Sequence[int] | None = None) -> pl.DataFrame:
    """Flows of one workload with these completion times, none for an unfinished flow; ideal times of 1 us."""
    numbers = range(len(fct_us))
    size_bytes = list(sizes) if sizes is not None else [1000 + n for n in numbers]
    finished = [value is not None for value in fct_us]
    return pl.DataFrame(
        {
            "flow_id": [f"load:h1:{n}" for n in numbers],
            "workload": ["load" for _ in numbers],
            "size_bytes": size_bytes,
            "delivered_bytes": [size if done else 0 for size, done in zip(size_bytes, finished, strict=True)],
            "start_us": [0.0 for _ in numbers],
            "finish_receiver_us": fct_us,
            "fct_us": fct_us,
            "slowdown": fct_us,
            "measured": [True for _ in numbers],
            "finished": finished,
        },
        schema_overrides=dict.fromkeys(("finish_receiver_us", "fct_us", "slowdown"), pl.Float64),
    )


def made_up_verdicts(**changes: object) -> dict[str, object]:
    """Verdicts of a run without faults."""
    return {
        "stopped": "finished",
        "simulated_us": 1000.0,
        "invariants": {
            "conservation": "holds",
            "buffers": "holds",
            "destinations": "holds",
            "slowdown": "holds",
        },
        "lossless": {"verdict": "held-by-sizing", "react_is_zero": False},
        "deadlocks": [],
        "workloads": [
            {
                "name": "load",
                "flows": 4,
                "finished": 4,
                "measured": 4,
                "measured_finished": 4,
                "offered_bytes": 1_000_000,
                "delivered_bytes": 1_000_000,
                "span_us": 800.0,
            }
        ],
        "packet_hops": 1000,
        "devices": [{"node": "s1", "peak_bytes": 5000}, {"node": "s2", "peak_bytes": 7000}],
        "drops": [["buffer", 0], ["link_error", 0]],
        **changes,
    }


def made_up_result(fct_us: Sequence[float | None] = (1.0, 2.0, 3.0, 4.0), **verdicts: object) -> Result:
    """Result of a made-up run over one link."""
    series = pl.DataFrame(
        {
            "object": ["l1: h1>s1", "l1: h1>s1"],
            "kind": ["link", "link"],
            "metric": ["tx_bytes", "tx_bytes"],
            "time_us": [0.0, 500.0],
            "bucket_us": [500.0, 500.0],
            "value": [6_250_000.0, 0.0],
        }
    )
    counters = pl.DataFrame(
        {
            "node": ["s1", "h1"],
            "link": ["l1", "l1"],
            "class": [3, 3],
            "peak_bytes": [5000, 0],
            "headroom_peak_bytes": [10, 0],
            "paused_us": [0.0, 12.5],
            "pfc_rx": [0, 2],
            "pfc_tx": [2, 0],
        }
    )
    latency = pl.DataFrame({"workload": ["load"], "component": ["total"], "packets": [4]})
    info = RunInfo(
        name="made-up",
        seed=1,
        scenario={"mtu": "1000B"},
        versions={"floodway": "0"},
        timings=Timings(started="2026-01-01T00:00:00+00:00", wall_s=1.0, packet_hops_per_s=1000.0),
        verdicts=made_up_verdicts(**verdicts),
        loads=(AskedLoad(workload="load", gbps=8.0, load=0.4),),
    )
    return Result(flows=made_up_flows(fct_us), latency=latency, series=series, counters=counters, run=info)


def made_up_feedback() -> Result:
    """Result of a made-up run of 1 ms that kept pauses, signals and allowances of the link's two ports."""
    plain = made_up_result()
    port = {"node": "s1", "port": 0, "link": "l1", "class": 3}
    pauses = [(100, "pause"), (150, "pause"), (200, "resume"), (900, "pause")]
    signals: list[tuple[float, str, str | None, str | None]] = [
        (0, "state", "calm", None),
        (250, "state", "busy", None),
        (260, "mark-ce", None, "load:h1:0"),
        (270, "mark-ue", None, "load:h1:0"),
        (280, "cnp", None, "load:h1:0"),
        (400, "state", "calm", None),
    ]
    allowances = [(0, "load:h1:0", 100.0), (300, "load:h1:0", 20.0), (500, "load:h1:0", 60.0)]
    ends = pl.DataFrame({"destination": ["h9"], "finish_sender_us": [700.0], "finish_receiver_us": [650.0]})
    series = plain.series.with_columns(metric=pl.lit("queue_max_bytes"), value=pl.Series([5000.0, 3000.0]))
    return replace(
        plain,
        flows=plain.flows.head(1).drop("finish_receiver_us").hstack(ends),
        series=pl.concat([plain.series, series]).with_columns(object=pl.lit("l1: s1>h1")),
        pauses=pl.DataFrame([{"time_ns": at * 1e3, **port, "event": event} for at, event in pauses]),
        signals=pl.DataFrame(
            [
                {"time_ns": at * 1e3, **port, "event": event, "state": state, "flow_id": flow}
                for at, event, state, flow in signals
            ]
        ).with_columns(window_bytes=pl.lit(None, dtype=pl.Float64)),
        allowances=pl.DataFrame(
            [{"time_ns": at * 1e3, "flow_id": flow, "allowed_gbps": gbps} for at, flow, gbps in allowances]
        ),
    )


def made_up_shares() -> Result:
    """Result of a made-up run of 1 ms that kept, in buckets of 100 us, what flows had of two links."""
    load = made_up_verdicts()["workloads"][0]  # type: ignore[index]
    plain = made_up_result(workloads=[load, {**load, "name": "burst"}])
    rows = [
        ("l9: s1>h9", "load:h1:0", 0.0, 1_000_000),
        ("l9: s1>h9", "load:h1:0", 100.0, 500_000),
        ("l9: s1>h9", "load:h1:1", 100.0, 500_000),
        ("l8: s1>h8", "load:h1:2", 200.0, 10_000),
        ("l9: s1>h9", "load:h1:1", 300.0, 250_000),
        ("l9: s1>h9", "burst:h2:0", 300.0, 750_000),
    ]
    names = ("object", "flow_id", "time_us", "tx_bytes")
    shares = pl.DataFrame(rows, schema=names, orient="row", schema_overrides={"tx_bytes": pl.UInt64})
    return replace(plain, shares=shares.with_columns(bucket_us=100.0))

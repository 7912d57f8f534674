"""Hosts that drain slower than their links, and hosts with several NICs, in the ready scenarios."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import floodway

SCENARIOS = Path(__file__).parents[1] / "scenarios"


def run(name: str, **sets: str) -> floodway.Result:
    """Run a ready scenario, with keys whose dots are double underscores, and dashes underscores."""
    pairs = [(key.replace("__", ".").replace("_", "-"), value) for key, value in sets.items()]
    return floodway.run(floodway.load(SCENARIOS / f"{name}.toml", sets=pairs))


def goodput_gbps(result: floodway.Result, workload: str) -> float:
    flow = result.flows.filter(pl.col("workload") == workload)
    longest = flow.sort("fct_us").row(-1, named=True)["fct_us"]
    return float(flow["size_bytes"].sum() * 8 / longest / 1e3)


def test_a_slow_host_gets_its_drain_and_a_flow_past_it_waits() -> None:
    slow, fast = run("slow-receiver"), run("slow-receiver", slow__drain="400G")
    # The payload's share of the drain: 1000 of 1062 bytes of a frame.
    assert goodput_gbps(slow, "to-slow") == pytest.approx(234 * 1000 / 1062, rel=0.01)
    host = slow.counters.filter((pl.col("node") == "h3") & (pl.col("class") == 3))
    assert host["pfc_tx"].sum() > 0
    assert fast.counters.filter(pl.col("node") == "h3")["pfc_tx"].sum() == 0
    assert goodput_gbps(slow, "victim") < 0.9 * goodput_gbps(fast, "victim")


def test_the_receive_buffer_has_its_part_of_a_completion_time() -> None:
    why = run("slow-receiver").why("to-slow:h1:0")
    buffered = [part for part in why.parts if part.cause == "receive-buffer"]
    assert [part.port for part in buffered] == ["h3-t2: t2>h3"]
    assert sum(part.time_ps for part in why.parts) == why.fct_ps


def test_queue_pairs_of_a_failed_nic_move_and_wait_where_they_may_not() -> None:
    moved, waited = run("two-nics"), run("two-nics", bond__nic_failover="off")
    # The link is down from 1 ms to 20 ms, and 80 MB take 6.9 ms over one NIC.
    assert (moved.flows["finish_receiver_us"] < 10_000).all()
    assert (waited.flows["finish_receiver_us"] > 20_000).any()


def test_sprayed_packets_use_both_nics() -> None:
    sprayed = run("two-nics", bond__nics="spray", defaults__reliability="irn")
    sent = sprayed.counters.filter((pl.col("node") == "h1") & (pl.col("class") == 3))["tx_packets"]
    assert (sent > 10_000).all()
    assert (sprayed.flows["finish_receiver_us"] < 10_000).all()

"""Findings of made-up results: what differs is said, by workload and size, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

import floodway as package
from floodway.comparison.findings import findings
from floodway.comparison.groups import groups
from floodway.comparison.metrics import rows
from floodway.comparison.shown_link import shown_link
from floodway.results.goodput import goodput_gbps, goodput_until_done_gbps
from made_up import made_up_flows, made_up_result
from scenarios import written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from floodway import Result

LABELS = ("first", "other")
ONE_SEED = "one seed gives no confidence interval; --seeds 3 shows the spread"
#: A workload of many sizes, as (flows, bytes, completion time in us).
MICE, ELEPHANTS = (2000, 10_000, 10.0), (100, 20_000_000, 4000.0)


def flows_of(name: str, parts: Sequence[tuple[int, int, float]]) -> pl.DataFrame:
    times = [time for count, _, time in parts for _ in range(count)]
    sizes = [size for count, size, _ in parts for _ in range(count)]
    made = made_up_flows(times, sizes=sizes)
    return made.with_columns(
        workload=pl.lit(name), slowdown=pl.col("fct_us") / 5, flow_id=pl.lit(name) + pl.col("flow_id")
    )


def with_flows(flows: pl.DataFrame) -> Result:
    """A run with these flows, and the totals that they have."""
    names = flows["workload"].unique(maintain_order=True).to_list()
    totals = []
    for name in names:
        own = flows.filter(pl.col("workload") == name)
        totals.append(
            {
                "name": name,
                "flows": len(own),
                "measured": len(own),
                "finished": own["finished"].sum(),
                "measured_finished": own["finished"].sum(),
                "offered_bytes": own["size_bytes"].sum(),
                "delivered_bytes": own["delivered_bytes"].sum(),
                "span_us": 800.0,
            }
        )
    plain = made_up_result(workloads=totals)
    scenario = {**plain.run.scenario, "scenario": {"workload": [{"name": name} for name in names]}}
    return replace(plain, flows=flows, run=replace(plain.run, scenario=scenario))


def result_of(**workloads: Sequence[tuple[int, int, float]]) -> Result:
    """A run of these workloads."""
    return with_flows(pl.concat([flows_of(name, parts) for name, parts in workloads.items()]))


def found(first: Sequence[Result], other: Sequence[Result], *, paired: bool = True) -> tuple[str, ...]:
    results = [list(first), list(other)]
    link = shown_link([*first, *other])
    return findings(
        LABELS,
        results,
        rows(results, link, paired=paired),
        groups(results, paired=paired),
        ["held"] * 2,
        link,
    )


def slower(parts: Sequence[tuple[int, int, float]], *factors: float) -> list[tuple[int, int, float]]:
    return [(count, size, time * by) for (count, size, time), by in zip(parts, factors, strict=True)]


def test_small_flows_and_an_incast_that_differ_the_other_way_are_both_named() -> None:
    incast = [(16, 100_000, 100.0)]
    first = result_of(rpc=[MICE, ELEPHANTS], incast=incast)
    other = result_of(rpc=slower([MICE, ELEPHANTS], 0.1, 1.0), incast=slower(incast, 1.28))
    said, seeds = found([first], [other])
    assert seeds == ONE_SEED
    assert said == (
        "with other, rpc flows up to 100 KB end 90 % sooner on average and have a slowdown of 0.20 instead "
        "of 2 at p99, incast flows end 28 % later on average and 28 % later at p99 of 16 flows than with "
        "first (one seed)"
    )


def test_a_difference_that_three_seeds_decide_has_its_interval() -> None:
    times = [100.0, 102.0, 104.0]
    first = [result_of(load=[(1000, 1000, time)]) for time in times]
    other = [result_of(load=[(1000, 1000, time * 1.28)]) for time in times]
    assert found(first, other) == (
        "with other, flows end 28 % later (± 1.4) on average and 28 % later (± 1.4) at p99 than with first",
    )


@pytest.mark.parametrize("paired", [False, True])
def test_no_difference_is_named_whose_interval_holds_zero(*, paired: bool) -> None:
    first = [result_of(load=[(1000, 1000, time)]) for time in (100.0, 101.0, 100.0)]
    # The mean is 10 % higher, and one seed of three alone makes it so.
    other = [result_of(load=[(1000, 1000, time)]) for time in (100.0, 131.0, 100.0)]
    said = "the seeds decide no difference between the completion times with other and first"
    assert found(first, other, paired=paired) == (said,)


def test_two_seeds_must_agree() -> None:
    def runs(*times: float) -> list[Result]:
        return [result_of(load=[(1000, 1000, time)]) for time in times]

    assert found(runs(100.0, 200.0), runs(110.0, 190.0))[0].startswith("the seeds decide no difference ")
    (said,) = found(runs(100.0, 200.0), runs(110.0, 220.0))
    assert said == (
        "with other, flows end 10 % later on average and 10 % later at p99 than with first "
        "(in each of 2 seeds)"
    )


def test_equal_results_differ_in_nothing() -> None:
    run = result_of(rpc=[MICE, ELEPHANTS])
    assert found([run], [run]) == ("the completion times with other and first are the same", ONE_SEED)
    hardly = result_of(rpc=slower([MICE, ELEPHANTS], 1.0, 1.0001))
    said = "the completion times with other and first differ by less than 0.1 %"
    assert found([run], [hardly]) == (said, ONE_SEED)


def test_no_more_than_three_groups_are_named_those_that_differ_most() -> None:
    names = ["a", "b", "c", "d", "e"]
    first = result_of(**{name: [(10, 1000, 100.0)] for name in names})
    other = result_of(**{name: [(10, 1000, 100.0 * 2**n)] for n, name in enumerate(names)})
    (said, _) = found([first], [other])
    assert [name for name in names if f"{name} flows " in said] == ["c", "d", "e"]
    assert said.index("e flows") < said.index("d flows") < said.index("c flows")


def test_a_group_with_unfinished_flows_has_no_mean() -> None:
    first = result_of(load=[(100, 1000, 10.0)])
    cut = first.flows.with_columns(
        fct_us=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise(5.0),
        finished=pl.int_range(pl.len()) != 7,
        finish_receiver_us=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise(5.0),
        slowdown=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise(1.0),
    )
    (said, _) = found([first], [with_flows(cut)])
    assert said == "unfinished measured flows: other 1, first 0"


#: 128 hosts, of which 16 send to one, and the others to one another.
TREE = """
limit = "3ms"
topology.fat-tree = { k = 8, rate = "100G", delay = "1us" }

[defaults]
flow-control.pfc = { xoff = "100KB" }
buffer.shared = { pool = "10MB" }

[[workload]]
name = "incast"
burst = { from = ["h1", "h5", "h9", "h13", "h17", "h21", "h29", "h33"], to = "h100", size = "300KB" }

[[workload]]
name = "idle"
flows = [{ from = "h27", to = "h28", size = "2MB" }]
"""


@pytest.mark.parametrize("control", ["pfc", "lossy"])
def test_without_a_long_link_the_port_that_is_named_is_a_switch_s(tmp_path: Path, control: str) -> None:
    tree = (
        TREE
        if control == "pfc"
        else TREE.replace('flow-control.pfc = { xoff = "100KB" }', 'flow-control = "lossy"')
    )
    variants = package.vary(written(tmp_path, tree), [("mtu", ["1000B", "4096B"])])
    compared = package.compare(variants, jobs=1)
    assert compared.link is not None
    node = compared.link.name.partition(">")[0]
    assert node[0] in "tac", compared.link
    assert not any("h27>t7" in finding or "buffer" in finding for finding in compared.findings)
    if control == "pfc":
        assert compared.link.kind == "most paused link"
        # By the sum over the variants, so that none decides which port is compared.
        paused = [
            {
                (row["node"], row["link"]): row["paused_us"]
                for row in results[0].counters.iter_rows(named=True)
                if row["node"][0] != "h"
            }
            for results in compared.results
        ]
        longest = max(paused[0], key=lambda port: sum(of.get(port, 0) for of in paused))
        (cell, _) = next(row for row in compared.rows if row.key == "link_paused_us").cells
        assert node == longest[0]
        assert cell.mean == pytest.approx(paused[0][longest])
        assert f"the most paused link {compared.link.name} is paused for " in compared.findings[0]
    else:
        assert compared.link.kind == "link with the longest queue"


def test_a_busier_link_of_a_host_is_not_taken_for_one_of_the_network() -> None:
    plain = made_up_result()
    slower_link = plain.series.with_columns(object=pl.lit("l2: s1>h9"), value=pl.col("value") / 2)
    scenario = {**plain.run.scenario, "resolved": [{"kind": "switch", "objects": ["s1"], "settings": []}]}
    run = replace(
        plain,
        series=pl.concat([plain.series, slower_link]),
        run=replace(plain.run, scenario=scenario),
    )
    link = shown_link([run, run])
    assert link is not None
    assert (link.object, link.title) == ("l2: s1>h9", "the busiest link s1>h9")


def staggered(last_us: float) -> pl.DataFrame:
    """99 flows of 1 MB, one a microsecond, and an elephant that starts among them and ends at `last_us`."""
    mice = [(float(n), float(n) + 1, 1_000_000) for n in range(99)]
    flows = [*mice, (0.0, last_us, 100_000_000)]
    return pl.DataFrame(
        flows, schema=["start_us", "finish_receiver_us", "delivered_bytes"], orient="row"
    ).with_columns(measured=True)


def test_goodput_does_not_end_with_the_last_elephant() -> None:
    soon, late = (goodput_gbps(staggered(last), end_us=1e6) for last in (5_000.0, 10_000.0))
    assert soon is not None
    assert late is not None
    # 98 mice in 98 us, and what the elephant has by then.
    assert soon == pytest.approx((98e6 + 100e6 * 98 / 5_000) * 8e-3 / 98)
    assert soon / late < 1.02
    by_tail = [goodput_until_done_gbps(staggered(last), end_us=1e6) for last in (5_000.0, 10_000.0)]
    assert by_tail == pytest.approx([199e6 * 8e-3 / 5_000, 199e6 * 8e-3 / 10_000])


def test_flows_that_start_at_once_have_the_goodput_until_the_last_one_is_done() -> None:
    flows = made_up_flows([2.0, 8.0], sizes=[1000, 1000]).rename({"delivered_bytes": "x"})
    flows = flows.with_columns(delivered_bytes=pl.col("x"))
    assert (
        goodput_gbps(flows, end_us=100.0) == goodput_until_done_gbps(flows, end_us=100.0) == 2000 * 8e-3 / 8
    )


def test_no_difference_of_goodput_is_given_where_all_that_was_offered_arrived() -> None:
    def goodput(first: pl.DataFrame, other: pl.DataFrame) -> float | None:
        results = [[with_flows(flows)] for flows in (first, other)]
        (row,) = (row for row in rows(results, None, paired=True) if row.key == "goodput_gbps")
        assert all(cell.mean is not None for cell in row.cells)
        return row.cells[1].change

    plain = flows_of("load", [(100, 1000, 1.0)])
    start = pl.int_range(100).cast(pl.Float64)
    first, other = (
        plain.with_columns(start_us=start, finish_receiver_us=start + time) for time in (1.0, 40.0)
    )
    assert goodput(first, other) is None
    half = pl.int_range(100) < 50
    cut = other.with_columns(
        finished=half,
        finish_receiver_us=pl.when(half).then("finish_receiver_us"),
        delivered_bytes=pl.when(half).then("delivered_bytes").otherwise(0),
    )
    change = goodput(first, cut)
    assert change is not None
    assert change < -40


def test_a_long_link_of_a_host_is_not_taken_for_the_long_haul() -> None:
    plain = made_up_result()
    names = ("l1: h1>s1", "l2: s1>s2")
    series = pl.concat(
        plain.series.with_columns(object=pl.lit(name), value=pl.col("value") / (1 + at))
        for at, name in enumerate(names)
    )
    resolved = [
        {"kind": "switch", "objects": ["s1", "s2"], "settings": []},
        {"kind": "link", "objects": ["l1", "l2"], "settings": [{"key": "delay", "value": "5us"}]},
    ]
    scenario = {**plain.run.scenario, "resolved": resolved}
    run = replace(plain, series=series, run=replace(plain.run, scenario=scenario))
    link = shown_link([run, run])
    assert link is not None
    assert link.object == "l2: s1>s2"

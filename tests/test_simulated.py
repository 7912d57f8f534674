"""The head of pages: what was simulated; and the notes on percentiles of few flows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import floodway as package
from floodway.comparison.formatting import cell_text, notes
from floodway.results import percentiles
from floodway.results.simulated import Realised, common_facts, facts, realised
from made_up import made_up_result
from scenarios import SMALL, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command


@pytest.fixture(scope="module")
def small() -> package.Scenario:
    return package.Scenario.from_toml(SMALL, name="small")


@pytest.fixture(scope="module")
def result(small: package.Scenario) -> package.Result:
    return package.run(small)


def test_what_was_simulated_has_network_traffic_thresholds_and_buffers(result: package.Result) -> None:
    known = {fact.name: fact.lines for fact in facts(result)}
    assert known["topology"] == ("dumbbell: left 2, right 2, rate 100G, delay 1us",)
    assert known["nodes"] == ("4 hosts, 2 switch",)
    assert known["links"] == ("5 of 100 Gbit/s and 1 us (bottleneck, host-switch)",)
    (traffic,) = known["traffic"]
    assert traffic.startswith("rpc: ")
    for said in (
        "sizes fb-hadoop",
        "load 0.4",
        "of tag bottleneck",
        "until 2ms",
        "40 Gbit/s of payload offered",
    ):
        assert said in traffic
    # alpha = 0.25 of 10 MB.
    assert all(line.startswith("pfc, class 3, threshold 2.5 MB, headroom ") for line in known["flow control"])
    assert any(line.startswith("shared pool of 10 MB a switch") for line in known["buffers"])
    assert known["rate control"] == ("line-rate; reliability go-back-n",)
    assert known["packets"] == ("MTU 1KB, ethernet",)


def test_long_round_trips_and_large_loads_have_no_exponents(result: package.Result) -> None:
    paths = [{"kind": "inter-dc", "base_rtt_us_min": 10_014.2, "base_rtt_us_max": 10_014.2}]
    paths = [{**path, "hops_min": 3, "hops_max": 3} for path in paths]
    workloads = [{"name": "rpc", "offered_gbps": 12_345.6}]
    built = {**result.run.built, "paths": paths, "workloads": workloads}
    known = {fact.name: fact.lines for fact in facts(replace(result, run=replace(result.run, built=built)))}
    assert known["base round trip"] == ("inter-dc: 10,014 us over 3 links",)
    assert known["traffic"][0].endswith("; 12,346 Gbit/s of payload offered")


def test_what_came_of_it_has_flows_seeds_and_simulated_time(
    small: package.Scenario, result: package.Result
) -> None:
    known = {fact.name: fact.lines for fact in realised([Realised.from_result(result)])}
    sizes = result.flows.filter("measured")["size_bytes"]
    smallest = min(sizes.to_list())
    assert known["flows"][0].startswith(f"{len(sizes):,} measured, of {smallest} B to ")
    assert known["seeds"] == ("1",)
    assert known["simulated time"] == (f"{result.outcome.simulated_us / 1000:.2f} ms",)
    other = package.run(small.with_seed(2))
    both = {
        fact.name: fact.lines
        for fact in realised([Realised.from_result(result), Realised.from_result(other)])
    }
    assert both["seeds"] == ("1 to 2",)
    assert " measured a run" in both["flows"][0]


def test_a_run_keeps_what_was_simulated_and_older_runs_are_read_without(
    result: package.Result, tmp_path: Path
) -> None:
    result.save(tmp_path / "run")
    again = package.read(tmp_path / "run")
    assert facts(again) == facts(result)
    file = tmp_path / "run" / "run.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    assert document["built"]["nodes"][0] == {"kind": "host", "count": 4}
    older = replace(result, run=replace(result.run, built={}))
    names = [fact.name for fact in facts(older)]
    assert "topology" in names
    assert "links" not in names


def test_variants_that_differ_have_a_line_each(small: package.Scenario, result: package.Result) -> None:
    little = package.run(small.replace(sets=[("defaults.buffer.shared.pool", "1MB")]))
    together = dict(common_facts(["10 MB", "1 MB"], [facts(result), facts(little)]))
    assert [label for label, _ in together["topology"]] == [""]
    assert [label for label, _ in together["flow control"]] == ["10 MB", "1 MB"]
    assert "threshold 250 KB" in together["flow control"][1][1][0]


def test_the_page_of_a_comparison_says_behind_its_answer_what_was_simulated(
    tmp_path: Path, floodway: Command
) -> None:
    path = written(tmp_path, SMALL)
    vary = "defaults.buffer.shared.pool=10MB,1MB"
    done = floodway("compare", path, "--vary", vary, "--out", "out", "--json")
    assert done.code == 0
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    heads = ("<h1>", "simulated: ", "All numbers", "What was simulated", "Keys that differ")
    places = [page.index(head if head[0] in "<s" else f"<summary>{head}</summary>") for head in heads]
    assert places == sorted(places)
    simulated = page[places[-2] : places[-1]]
    for said in (
        "dumbbell: left 2",
        "fb-hadoop",
        "threshold 2.5 MB",
        "threshold 250 KB",
        "seeds",
        "simulated time",
    ):
        assert said in simulated
    # p99 of some hundred flows: marked, with their number.
    cells = next(row for row in json.loads(done.out)["rows"] if row["key"] == "fct_p99_us")["cells"]
    few = cells["1MB" if "1MB" in cells else next(iter(cells))]["of_few_flows"]
    assert 0 < few < 1000
    assert f"†{few}" in page
    assert "per seed; fewer than 10 lie above this percentile" in page


def test_a_notebook_shows_the_answer_first_and_what_was_simulated_behind_it(result: package.Result) -> None:
    shown_ = result._repr_html_()
    places = [shown_.index(text) for text in ("<h1>", "slowdown p99", "What was simulated", "dumbbell")]
    assert places == sorted(places)
    assert "†" in shown_


def test_a_run_names_its_last_finish_and_goodput_by_workload(result: package.Result) -> None:
    (workload,) = result.summary().workloads
    flows = result.flows.filter("measured")
    last = max(flows["finish_receiver_us"].to_list())
    assert workload.last_finish_us == last
    first, until = min(flows["start_us"].to_list()), max(flows["start_us"].to_list())
    arrived = sum(
        size * min(1, (until - start) / (end - start))
        for size, start, end in flows.select("delivered_bytes", "start_us", "finish_receiver_us").iter_rows()
    )
    assert workload.goodput_gbps == pytest.approx(arrived * 8e-3 / (until - first))
    cut = made_up_result((1.0, None, 3.0)).summary().total
    assert cut.last_finish_us is None


def test_the_terminal_marks_percentiles_of_few_flows(tmp_path: Path, floodway: Command) -> None:
    done = floodway("run", written(tmp_path, SMALL), "--out", "out")
    (row,) = (line for line in done.out.splitlines() if line.strip().startswith("all") and "†" in line)
    assert row.count("†") == 2, "p99 and p99.9"
    assert "† few flows: fewer than 10 lie above this percentile" in done.out
    assert "last finish" in floodway("run", written(tmp_path, SMALL), "--out", "whole", "--full").out


@pytest.mark.parametrize(
    ("flows", "thousandths", "few"),
    [
        (999, 990, True),
        (1000, 990, False),
        (19, 500, True),
        (20, 500, False),
        (9999, 999, True),
        (0, 990, False),
    ],
)
def test_a_percentile_is_of_few_flows_where_fewer_than_ten_lie_beyond_it(
    flows: int, thousandths: int, *, few: bool
) -> None:
    assert percentiles.is_few(flows, thousandths=thousandths) == few


def test_a_comparison_of_many_flows_has_no_marks() -> None:
    many = package.Scenario.from_toml(
        SMALL.replace('"20ms"', '"60ms"').replace('"2ms"', '"40ms"'), name="many"
    )
    compared = package.compare([many, many.replace(name="same")], jobs=1)
    (row,) = (row for row in compared.rows if row.key == "fct_p99_us")
    assert compared.results[0][0].summary().total.measured >= 1000
    assert not any("†" in cell_text(row, cell)[0] for cell in row.cells)
    (tail,) = (row for row in compared.rows if row.key == "fct_p999_us")
    assert all("†" in cell_text(tail, cell)[0] for cell in tail.cells)
    assert any("per seed; fewer than 10 lie above this percentile" in note for note in notes(compared))

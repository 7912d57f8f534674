"""Pages of runs: their data, and their bundle."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zlib
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import floodway as package
from command import Command
from floodway.results.answer import answer
from floodway.results.causes import grid_of
from floodway.results.feedback import pause_spans
from floodway.simulation.critical_path import find_path
from floodway.simulation.report import MOST_RUNS, report
from floodway.simulation.report.network import network_of
from floodway.simulation.report.page import TYPES, packed
from floodway.simulation.report.timeline import LEAST_BYTES, Steps, frames_of
from floodway.simulation.run import with_report_records
from floodway.simulation.why import Why, chosen, take_each_apart
from scenarios import RAILS, SMALL, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.results import Result
    from floodway.simulation.critical_path import CriticalPath

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "page"
BUNDLED = ROOT / "python" / "floodway" / "simulation" / "report"
TREE = ROOT / "scenarios" / "concepts" / "congestion-tree.toml"
#: Bytes of script and style together, and of the data of 432 hosts in 500 frames.
LARGEST_BUNDLE, LARGEST_DATA = 200_000, 1_000_000


@pytest.fixture(scope="module")
def tree() -> Result:
    return package.run(with_report_records(package.load(TREE)))


def unpacked(column: dict[str, Any]) -> np.ndarray[Any, Any]:
    values = np.frombuffer(zlib.decompress(b64decode(column["data"]), -15), dtype=TYPES[column["type"]])
    assert len(values) == column["length"]
    return values


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])  # type: ignore[no-any-return]


def test_columns_are_read_back_as_they_were() -> None:
    for kind in TYPES:
        values = np.array([0, 1, 2, 200, 7])
        assert unpacked(packed(values, kind)).tolist() == values.tolist()


def test_a_fat_tree_has_tiers_and_pods(tree: Result) -> None:
    network = network_of(tree)
    tiers = {"h": 0, "t": 1, "a": 2, "c": 3}
    assert all(node.tier == tiers[node.name[0]] for node in network.nodes)
    assert all((node.pod < 0) == (node.name[0] == "c") for node in network.nodes)
    assert len({node.pod for node in network.nodes}) == 4 + 1
    assert {node.site for node in network.nodes} == {0}
    assert len(network.ports) == 96
    assert not any(link.is_long for link in network.links)


def test_long_links_join_sites() -> None:
    scenario = package.load(ROOT / "scenarios" / "demo.toml", sets=[("workload.hadoop.until", "20us")])
    network = network_of(package.run(scenario.replace(sets=[("limit", "1ms"), ("stop", "limit")])))
    assert [link.name for link in network.links if link.is_long] == ["x1-x2"]
    sites = {node.name: node.site for node in network.nodes}
    assert len(set(sites.values())) == 2
    assert sites["x1"] == sites["h1"] != sites["h17"] == sites["x2"]


def test_peaks_stay_in_wider_frames(tree: Result) -> None:
    network, grid = network_of(tree), grid_of(tree)
    frames = frames_of(grid, network.ports, network.rates_gbps)
    assert frames.buckets == 1
    series = tree.series.filter(pl.col("metric") == "queue_max_bytes")
    longest = dict(series.group_by(pl.col("object").cast(pl.String)).agg(pl.col("value").max()).iter_rows())
    for row, port in enumerate(network.ports):
        assert frames.queue[row].max() == longest[port]
    sent = tree.series.filter(pl.col("metric") == "tx_bytes")["value"].sum()
    rates = np.array(network.rates_gbps)[:, None]
    assert (frames.load * rates * np.diff(frames.edges_us)).sum() / 8e-3 == pytest.approx(sent)


def test_steps_keep_what_is_not_nothing(tree: Result) -> None:
    network = network_of(tree)
    frames = frames_of(grid_of(tree), network.ports, network.rates_gbps)
    document = frames.document(Steps(load=10, queue=16))
    load, queue = (unpacked(document[name]).reshape(frames.load.shape) for name in ("load", "queue"))
    assert ((load > 0) == (frames.load > 0)).all()
    assert ((queue > 0) == (frames.queue > 0)).all()
    ratio = (document["queueMost"] / LEAST_BYTES) ** (1 / 15)
    shown = LEAST_BYTES * ratio ** (queue.astype(float) - 1)
    known = frames.queue > LEAST_BYTES
    assert (np.abs(np.log(shown[known] / frames.queue[known])) <= np.log(ratio) / 2 + 1e-9).all()


def test_pauses_of_the_page_are_those_of_the_table(tree: Result) -> None:
    (run,) = data_of(report({"tree": tree}, flows=[]))["runs"]
    assert tree.pauses is not None
    events = tree.pauses.filter(pl.col("event") == "pause")
    first = events.with_columns(pl.col("time_ns").floor().cast(pl.Int64))
    assert int(unpacked(run["pauses"]["count"]).sum()) == run["pauses"]["recorded"]
    begins = np.cumsum(unpacked(run["pauses"]["from"]).astype(np.int64))
    assert set(begins.tolist()) <= set(first["time_ns"].to_list())
    assert int(begins.min()) == first["time_ns"].min()


def totals_of(run: dict[str, Any]) -> pl.DataFrame:
    """Sum the pauses of a page by port, of all pauses and of those that are shown."""
    totals = {name: unpacked(column) for name, column in run["pauses"]["totals"].items()}
    return pl.DataFrame(totals).group_by("port").agg(pl.col("paused", "count").sum()).sort("port")


def test_sums_of_pauses_are_those_of_all_pauses_of_the_table(tree: Result) -> None:
    (run,) = data_of(report({"tree": tree}, flows=[]))["runs"]
    spans = pause_spans(tree).with_columns(us=pl.col("to_us") - pl.col("from_us"))
    numbers = {port: index for index, port in enumerate(network_of(tree).ports)}
    sums = {
        numbers[port]: (us, count)
        for port, us, count in spans.group_by("object").agg(pl.col("us").sum(), pl.len()).iter_rows()
    }
    shown = totals_of(run)
    assert shown["port"].to_list() == sorted(sums)
    for port, paused, count in shown.iter_rows():
        assert (paused, count) == (pytest.approx(sums[port][0]), sums[port][1])
    paused = unpacked(run["ports"]["paused"])
    assert paused[shown["port"].to_list()].tolist() == pytest.approx(shown["paused"].to_list())
    assert paused.sum() == pytest.approx(shown["paused"].sum())


def test_begins_of_pauses_that_are_shown_as_one_are_those_of_the_table() -> None:
    sets = [("workload.hadoop.until", "3ms"), ("limit", "4ms"), ("stop", "limit")]
    result = package.run(with_report_records(package.load(ROOT / "scenarios" / "demo.toml", sets=sets)))
    (run,) = data_of(report({"pfc": result}, flows=[]))["runs"]
    first = np.cumsum(unpacked(run["pauses"]["from"]).astype(np.int64))
    counts = unpacked(run["pauses"]["count"])
    assert counts.max() > 1
    steps = np.split(unpacked(run["pauses"]["begins"]).astype(np.int64), np.cumsum(counts - 1)[:-1])
    begins = [begin + np.append(0, np.cumsum(own)) for begin, own in zip(first, steps, strict=True)]
    recorded = np.floor(pause_spans(result)["from_us"].to_numpy() * 1000 + 1e-6).astype(np.int64)
    assert sorted(np.concatenate(begins).tolist()) == sorted(recorded.tolist())


def test_pauses_that_run_out_last_as_long_as_the_series_say() -> None:
    sets = [
        ("long-haul.flow-control", "bifrost"),
        ("workload.hadoop.until", "3ms"),
        ("limit", "4ms"),
        ("stop", "limit"),
    ]
    result = package.run(with_report_records(package.load(ROOT / "scenarios" / "demo.toml", sets=sets)))
    spans = pause_spans(result).filter(pl.col("object") == "x1-x2: x1>x2")
    series = result.series.filter((pl.col("object") == "x1-x2: x1>x2") & (pl.col("metric") == "paused_us"))
    paused = series["value"].sum()
    assert result.pauses is not None
    frames = result.pauses.filter(
        (pl.col("node") == "x1") & (pl.col("link") == "x1-x2") & (pl.col("event") == "pause")
    )
    # From frame to frame they would last many times longer.
    assert (spans["to_us"] - spans["from_us"]).sum() > 2 * paused > 0
    (run,) = data_of(report({"bifrost": result}, flows=[]))["runs"]
    port = network_of(result).ports.index("x1-x2: x1>x2")
    (row,) = totals_of(run).filter(pl.col("port") == port).rows()
    assert row[1:] == (pytest.approx(paused), len(frames))
    own = unpacked(run["pauses"]["port"]) == port
    shown = np.where(
        unpacked(run["pauses"]["paused"]) > 0,
        unpacked(run["pauses"]["paused"]) - 1.0,
        unpacked(run["pauses"]["to"]),
    )
    assert shown[own].sum() / 1000 == pytest.approx(paused, abs=own.sum() / 500)


def test_the_key_turns_on_the_records_of_a_report(tree: Result) -> None:
    assert tree.series["object"].n_unique() == 96
    assert tree.pauses is not None
    assert tree.signals is None
    states = [("defaults.congestion-point", '{ mercury = { threshold = "40KB" } }'), ("limit", "20us")]
    mercury = package.run(with_report_records(package.load(TREE).replace(sets=states)))
    assert mercury.signals is not None


def test_the_option_sets_the_key(tmp_path: Path) -> None:
    small = ("--set", "limit=15us", "--set", "stop=limit", "--quiet")
    ways = {"option": ("--report",), "key": ("--set", "records.report=true")}
    for name, way in ways.items():
        done = Command(ROOT)("run", TREE, *small, *way, "--out", tmp_path / name)
        assert done.code == 0, done.err
    runs = {name: package.read(tmp_path / name) for name in ways}
    assert runs["option"].run.scenario == runs["key"].run.scenario
    assert runs["option"].run.scenario["scenario"]["records"]["report"] is True
    assert runs["option"].series.equals(runs["key"].series)
    # The key does not write the page.
    assert [(tmp_path / name / "report.html").exists() for name in ways] == [True, False]


@pytest.mark.parametrize(("sets", "most"), [({}, 1000), ({"records.buckets": "20"}, 20)])
def test_the_records_of_a_report_are_bounded(sets: dict[str, str], most: int) -> None:
    long = {"workload.incast.burst.size": '"20KB"', "limit": '"3ms"', "stop": '"limit"', **sets}
    result = package.run(with_report_records(package.load(TREE).replace(sets=list(long.items()))))
    buckets = result.series.group_by("object", "metric").len()["len"].to_list()
    assert most / 2 <= max(buckets) <= most


def test_a_report_of_a_large_network_has_fewer_buckets(tmp_path: Path) -> None:
    text = """
    limit = "600us"
    stop = "limit"
    topology.fat-tree = { k = 8, rate = "100G", delay = "1us" }
    records.report = true
    [[workload]]
    name = "one"
    burst = { from = "h1", to = "h100", size = "1KB" }
    """
    result = package.run(package.load(written(tmp_path, text)))
    assert result.series.group_by("object", "metric").len()["len"].max() == 300


def test_one_repetition_finds_the_causes_of_all_flows() -> None:
    result = package.run(package.load(TREE, sets=[("workload.incast.burst.size", "60KB")]))
    asked: list[list[str]] = []

    def why(of: Result, flows: Sequence[str]) -> list[Why]:
        asked.append(list(flows))
        return take_each_apart(of, flows)

    (run,) = data_of(report({"tree": result}, why=why))["runs"]
    measured = result.flows.filter("measured").with_columns(pl.col("workload").cast(pl.String))
    slowest = measured.sort("slowdown", descending=True).group_by("workload").first()["flow_id"].to_list()
    assert len(asked) == 1
    assert set(asked[0]) == {*slowest, chosen(result.flows, "p99")}
    for own in run["why"]:
        alone = result.why(own["flow"])
        assert [part["ps"] for part in own["parts"]] == [str(part.time_ps) for part in alone.parts]
        size = result.flows.row(by_predicate=pl.col("flow_id") == own["flow"], named=True)["size_bytes"]
        assert unpacked(own["sent"]["bytes"]).sum() == size


def test_a_page_of_jobs_has_collectives_and_the_phases_of_the_longest(tmp_path: Path) -> None:
    text = RAILS.replace('size = "1MB"', 'size = ["100KB", "1MB"]')
    result = package.run(package.load(written(tmp_path, text)))
    asked: list[str] = []

    def path(of: Result, name: str) -> CriticalPath:
        asked.append(name)
        return find_path(of, name)

    (run,) = data_of(report({"rails": result}, flows=[], path=path))["runs"]
    jobs = run["jobs"]
    assert jobs["iterations"] == []
    assert [row["name"] for row in jobs["collectives"]] == ["job: all-reduce 100KB", "job: all-reduce 1MB"]
    assert result.collectives is not None
    spans = result.collectives.select("start_us", "end_us").rows()
    assert [(row["from"], row["to"]) for row in jobs["collectives"]] == spans
    assert asked == ["job:1"]
    found = result.critical_path("job:1")
    places = ["within nodes", "between nodes", "within nodes"]
    assert [phase["place"] for phase in jobs["path"]["phases"]][-3:] == places
    assert [phase["steps"] for phase in jobs["path"]["phases"]] == [len(own.steps) for own in found.phases]
    assert sum(phase["us"] for phase in jobs["path"]["phases"]) == pytest.approx(jobs["path"]["us"])


def test_a_page_without_jobs_has_none_and_says_what_cannot_be_found(tree: Result, tmp_path: Path) -> None:
    (run,) = data_of(report({"tree": tree}, flows=[]))["runs"]
    assert run["jobs"] is None

    def path(of: Result, name: str) -> CriticalPath:
        raise package.InputError(f"{name} of {of.run.name} is too long", key="collective")

    result = package.run(package.load(written(tmp_path, RAILS)))
    (run,) = data_of(report({"rails": result}, flows=[], path=path))["runs"]
    assert run["jobs"]["path"] is None
    assert f"Phases of job:0: job:0 of {result.run.name} is too long." in run["notes"]


def test_losses_are_above_everything_else() -> None:
    short = ("defaults.flow-control.pfc.headroom", "150KB")
    scenario = package.load(ROOT / "scenarios" / "concepts" / "headroom.toml", sets=[short])
    (run,) = data_of(report({"short": package.run(scenario)}, flows=[]))["runs"]
    assert any("Lossless classes lost" in text and "buffer overflow" in text for text in run["warnings"])


def test_unfinished_flows_are_above_everything_else(tree: Result) -> None:
    (run,) = data_of(report({"tree": tree}, flows=["p99"]))["runs"]
    assert any("12 of 12 measured flows did not finish" in text for text in run["warnings"])
    assert any(text.startswith("Causes of p99: p99 does not exist") for text in run["notes"])


def test_a_page_loads_nothing_and_has_no_tag_in_its_data(tree: Result) -> None:
    page = report({"</script><script>window.own = 1</script>": tree}, title="<b>tree & root</b>", flows=[])
    assert "<h1>&lt;b&gt;tree &amp; root&lt;/b&gt;</h1>" in page
    assert page.count("<script") == 2
    assert "window.own = 1</script>" not in page
    assert "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert data_of(page)["runs"][0]["label"] == "</script><script>window.own = 1</script>"


def test_too_many_runs_are_refused(tree: Result) -> None:
    with pytest.raises(package.InputError, match=r"5 runs: a page shows 1 to 4"):
        report({str(number): tree for number in range(MOST_RUNS + 1)})


def test_the_same_results_give_the_same_page(tree: Result) -> None:
    assert report({"tree": tree}, flows=[]) == report({"tree": tree}, flows=[])


def test_a_page_of_many_ports_is_small_enough(tmp_path: Path) -> None:
    text = """
    limit = "1ms"
    topology.fat-tree = { k = 12, rate = "100G", delay = "1us" }
    records.buckets = 512
    [defaults]
    flow-control.pfc = { xoff = "100KB" }
    [[workload]]
    name = "web"
    poisson = { sizes = "fb-hadoop", load = 0.4, of = "hosts" }
    until = "100us"
    """
    result = package.run(with_report_records(package.load(written(tmp_path, text))))
    page = report({"many": result}, flows=[])
    bundle = sum((BUNDLED / name).stat().st_size for name in ("bundle.js", "bundle.css"))
    assert bundle < LARGEST_BUNDLE
    assert len(page) - bundle < LARGEST_DATA


def test_the_bundle_is_that_of_its_sources(tmp_path: Path) -> None:
    if not (SOURCES / "node_modules" / "esbuild").is_dir() or shutil.which("node") is None:
        pytest.skip("esbuild is not installed: make page installs it")
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=SOURCES, check=True, capture_output=True)  # noqa: S607
    for name in ("bundle.js", "bundle.css"):
        fresh, kept = ((folder / name).read_bytes() for folder in (tmp_path, BUNDLED))
        assert fresh == kept, f"{name} is not what its sources give: make page"


def test_all_pages_have_their_colours_from_one_file() -> None:
    def colours(file: Path) -> list[str]:
        return re.findall(r"--[a-z]+:[^;}]+", re.sub(r"\s+", "", file.read_text(encoding="utf-8")))

    templates = ROOT / "python" / "floodway" / "common" / "documents" / "templates"
    base = colours(templates / "base.css")
    assert base
    assert colours(BUNDLED / "bundle.css") == base
    assert '{% include "base.css" %}' in (templates / "style.css.jinja").read_text(encoding="utf-8")
    assert colours(templates / "style.css.jinja") == colours(SOURCES / "src" / "page.css") == []


def test_a_page_begins_with_the_answer_of_its_run(tmp_path: Path) -> None:
    result = package.run(package.load(written(tmp_path, SMALL)))
    assert f'<h1>small</h1>\n<p class="answer">{answer(result.summary())}</p>' in report(
        {"one": result}, flows=[]
    )
    assert '<p class="answer">First &lt;b&gt;.</p>' in report({"one": result}, answer="First <b>.", flows=[])


def test_the_command_writes_a_page_and_says_what_is_missing(tmp_path: Path) -> None:
    call = Command(ROOT)
    run = call("run", TREE, "--out", tmp_path / "tree", "--quiet")
    assert run.code == 0, run.err
    done = call("report", tmp_path / "tree", "--flow", "none", "--quiet")
    assert done.code == 0, done.err
    assert done.out.strip() == str(tmp_path / "tree" / "report.html")
    (shown,) = data_of((tmp_path / "tree" / "report.html").read_text())["runs"]
    assert any("Single pauses were not recorded" in note for note in shown["notes"])
    again = call("report", tmp_path / "tree", "--flow", "none")
    assert again.code == 2
    assert "is there already; --force replaces it" in again.err
    wrong = call("report", tmp_path / "tree", "--flow", "incast:h99:0", "--force")
    assert wrong.code == 2
    assert "incast:h99:0" in wrong.err
    nothing = call("report", tmp_path / "nothing")
    assert nothing.code == 2
    assert "no such folder" in nothing.err


def test_run_writes_the_page_of_a_run(tmp_path: Path) -> None:
    small = "workload.incast.burst.size=20KB"
    done = Command(ROOT)("run", TREE, "--set", small, "--report", "--out", tmp_path / "run", "--quiet")
    assert done.code == 0, done.err
    (shown,) = data_of((tmp_path / "run" / "report.html").read_text())["runs"]
    assert not [note for note in shown["notes"] if "ports were recorded" in note]
    assert shown["why"][0]["asked"] == "p99"
    # The command chooses the same flows where none is named.
    page = tmp_path / "page.html"
    assert Command(ROOT)("report", tmp_path / "run", "--out", page, "--quiet").code == 0
    (again,) = data_of(page.read_text())["runs"]
    assert [flow["asked"] for flow in again["why"]] == [flow["asked"] for flow in shown["why"]]
    assert shown["folder"] == str(tmp_path / "run")
    assert Command(ROOT)("verify", tmp_path / "run").code == 0


def test_a_comparison_links_to_the_page_of_its_runs(tmp_path: Path) -> None:
    vary = ("--vary", "defaults.flow-control.pfc.xoff=50KB,100KB", "--set", "workload.incast.burst.size=20KB")
    done = Command(ROOT)("compare", TREE, *vary, "--report", "--out", tmp_path / "pair", "--quiet")
    assert done.code == 0, done.err
    assert 'href="report.html"' in (tmp_path / "pair" / "index.html").read_text()
    runs = data_of((tmp_path / "pair" / "report.html").read_text())["runs"]
    assert [run["label"] for run in runs] == ["xoff=50KB", "xoff=100KB"]
    assert all(run["pauses"] is not None and run["why"] for run in runs)
    assert [Path(run["folder"]).parent for run in runs] == [tmp_path / "pair"] * 2
    assert all((Path(run["folder"]) / "run.json").is_file() for run in runs)
    several = Command(tmp_path)("report", *(run["folder"] for run in runs), "--flow", "none", "--quiet")
    assert " " not in several.out.strip()
    assert (tmp_path / several.out.strip()).is_file()


def test_a_result_makes_its_page(tmp_path: Path) -> None:
    result = package.run(package.load(written(tmp_path, SMALL)))
    page = result.report(tmp_path / "pages" / "small.html", title="small & quick")
    assert (tmp_path / "pages" / "small.html").read_text() == page.text
    assert "<iframe srcdoc=" in page._repr_html_()
    assert data_of(page.text)["runs"][0]["why"][0]["asked"] == "p99"
    with pytest.raises(package.UnknownNameError, match="nobody"):
        result.report(flows=["nobody"])
    with pytest.raises(package.OutputError, match="cannot be written"):
        result.report(tmp_path / "pages" / "small.html" / "no.html", flows=[])

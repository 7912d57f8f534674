from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import textwrap
import time
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import floodway as package
from command import environment, until
from floodway.comparison.findings import findings
from floodway.comparison.formatting import cell_text
from floodway.comparison.metrics import Cell, Row
from floodway.comparison.variants import files, folder_names, split_values
from scenarios import LISTED, LONG, RING, SMALL, STARVED, written
from studies import BRIEF, study_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from command import Command, Done

POOLS = ("--vary", "defaults.buffer.shared.pool=10MB,1MB")
SEEDED = ("--vary", "seed=1,2")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return written(tmp_path, SMALL)


def numbers(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "compare.json").read_text(encoding="utf-8"))
    return loaded


def row(document: dict[str, Any], key: str) -> dict[str, Any]:
    (found,) = (each["cells"] for each in document["rows"] if each["key"] == key)
    cells: dict[str, Any] = found
    return cells


def refused(done: Done) -> str:
    """The only line of a command that was refused."""
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("error: ")
    return line.removeprefix("error: ")


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Everything that a comparison left, without the timings of its runs and the pictures and page."""
    found = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.parquet")}
    for file in folder.rglob("run.json"):
        run = json.loads(file.read_text(encoding="utf-8"))
        del run["timings"]
        found[str(file.relative_to(folder))] = json.dumps(run).encode()
    return {**found, "compare.json": (folder / "compare.json").read_bytes()}


def test_every_combination_of_two_keys_is_run(floodway: Command, small: Path) -> None:
    done = floodway("compare", small, *POOLS, "--vary", "mtu=1000B,4096B", "--out", "out")
    folder = small.parent / "out"
    labels = [f"pool={pool}, mtu={mtu}" for pool in ("10MB", "1MB") for mtu in ("1000B", "4096B")]
    assert done.code == 0
    assert [variant["label"] for variant in numbers(folder)["variants"]] == labels
    for run in numbers(folder)["runs"]:
        scenario = package.read(folder / run["folder"]).run.scenario["scenario"]
        pool, mtu = scenario["defaults"]["buffer"]["shared"]["pool"], scenario["mtu"]
        assert run["variant"] == f"pool={pool}, mtu={mtu}"


def test_seeds_count_from_the_scenario_s_own(floodway: Command, small: Path) -> None:
    given = ("--seeds", "3", "--set", "seed=7", "--json")
    done = floodway("compare", small, *POOLS, *given, "--out", "out")
    printed = json.loads(done.out)
    folder = small.parent / "out"
    assert [variant["seeds"] for variant in printed["variants"]] == [[7, 8, 9], [7, 8, 9]]
    cell = row(printed, "fct_mean_us")["pool=10MB"]
    runs = [package.read(folder / f"pool=10MB/seed-{seed}") for seed in (7, 8, 9)]
    means = [result.summary().total.fct.mean_us for result in runs]
    assert [result.run.seed for result in runs] == [7, 8, 9]
    assert cell["values"] == means
    assert (cell["min"], cell["max"]) == (min(means), max(means))  # type: ignore[type-var]
    assert cell["mean"] == pytest.approx(sum(means) / 3)  # type: ignore[arg-type]


def test_runs_at_once_leave_the_same_bytes_as_one_after_the_other(floodway: Command, small: Path) -> None:
    for jobs in ("1", "4"):
        done = floodway("compare", small, *POOLS, "--seeds", "2", "--jobs", jobs, "--out", jobs, "--quiet")
        assert (done.code, done.out, done.err) == (0, "", "")
    one, four = (bytes_of(small.parent / jobs) for jobs in ("1", "4"))
    assert len(one) == 4 * 5 + 1
    assert one == four


@pytest.mark.long
def test_workloads_have_rows_of_their_own_where_there_are_several(floodway: Command, small: Path) -> None:
    compared = json.loads(floodway("compare", small, *SEEDED, "--json", "--out", "out").out)
    keys = [each["key"] for each in compared["rows"]]
    assert not any(key.startswith("workload_") for key in keys)
    second = small.with_name("second.toml")
    more = """
    [[workload]]
    name = "more"
    burst = { from = "h1", to = "h2", size = "10KB" }
    """
    second.write_text(small.read_text(encoding="utf-8") + textwrap.dedent(more), encoding="utf-8")
    compared = json.loads(floodway("compare", second, *SEEDED, "--json", "--out", "out-2").out)
    rows = {each["key"]: each["label"] for each in compared["rows"] if each["key"].startswith("workload_")}
    assert rows["workload_more_fct_p99_us"] == "more: completion time, p99, us"
    assert len(rows) == 4


def test_the_numbers_are_those_of_a_run(floodway: Command, small: Path) -> None:
    compared = json.loads(floodway("compare", small, *SEEDED, "--json", "--out", "out").out)
    ran = json.loads(floodway("run", small, "--seed", "2", "--json").out)["summary"]
    (link,) = (each for each in ran["links"] if each["object"] == compared["link"]["object"])
    expected = {
        "flows_finished": ran["total"]["measured_finished"],
        "fct_mean_us": ran["total"]["fct"]["mean_us"],
        "fct_p50_us": ran["total"]["fct"]["p50_us"],
        "fct_p99_us": ran["total"]["fct"]["p99_us"],
        "fct_p999_us": ran["total"]["fct"]["p999_us"],
        "slowdown_p50": ran["total"]["slowdown_p50"],
        "slowdown_p99": ran["total"]["slowdown_p99"],
        "link_loaded_gbps": link["loaded_gbps"],
        "link_loaded_idle_percent": link["loaded_idle_share"] * 100,
        "link_queue_peak_kilobytes": link["queue_peak_bytes"] / 1e3,
        "link_receiver_peak_megabytes": link["receiver_peak_bytes"] / 1e6,
        "paused_us": ran["paused_us"],
        "pfc_frames": ran["pfc_frames"],
        "dropped_packets": sum(ran["outcome"]["drops"].values()),
    }
    cells = {key: row(compared, key)["seed=2"]["mean"] for key in expected}
    assert cells == expected


def test_differences_are_in_percent_of_the_first_variant(floodway: Command, small: Path) -> None:
    compared = json.loads(floodway("compare", small, *SEEDED, "--json", "--out", "out").out)
    cells = row(compared, "fct_p99_us")
    first, second = cells["seed=1"], cells["seed=2"]
    assert first["change"] is None
    assert second["change"] == pytest.approx((second["mean"] / first["mean"] - 1) * 100)


def test_what_is_printed_has_the_numbers_and_says_where_to_look(floodway: Command, small: Path) -> None:
    done = floodway("compare", small, *SEEDED, "--out", "out", "--full")
    folder = small.parent / "out"
    cell = row(numbers(folder), "fct_p99_us")["seed=2"]
    line = next(line for line in done.out.splitlines() if "completion time, p99, us" in line)
    assert f"{cell['mean']:,.1f} †{cell['of_few_flows']} ({cell['change']:+,.1f} %)" in line
    assert done.out.splitlines()[2] == numbers(folder)["answer"]
    for finding in numbers(folder)["findings"]:
        assert finding in done.out
    assert done.out.splitlines()[-1] == "page with pictures: out/index.html"


def test_of_many_keys_that_differ_four_are_named_below_the_answer(floodway: Command, small: Path) -> None:
    sets = "description=other, mtu=2000B, records.buckets=32, limit=5ms, defaults.buffer.shared.pool=2MB"
    done = floodway("compare", small, "--variant", "base=", "--variant", f"other={sets}", "--out", "out")
    assert done.code == 0, done.err
    (line,) = (line for line in done.out.splitlines() if line.startswith("varied: "))
    assert line.endswith(", and 1 more: see Keys that differ, --full")
    assert line.count(",") == 4 + 1
    assert "description" not in line, "it changes no result"
    assert re.search(r"^† few flows, [0-9 to]+ per seed: fewer than 10 lie above", done.out, re.MULTILINE)


def test_the_answer_is_first_and_the_terminal_has_room_for_all(floodway: Command, small: Path) -> None:
    done = floodway("compare", small, "--vary", "workload.rpc.poisson.load=0.2,0.4", "--out", "out")
    lines = done.out.splitlines()
    assert re.fullmatch(r"With load=0\.4 flows end \S+ % later on average than with load=0\.2: .*", lines[2])
    assert lines[2].endswith("(one seed).")
    assert len(lines) <= 40
    table = [line for line in lines if " us  " in line or " ms  " in line]
    assert table
    assert all(len(line) <= 80 for line in table)
    assert "All numbers" not in done.out


def test_the_tables_beside_the_page_have_the_rows_that_are_printed(floodway: Command, small: Path) -> None:
    assert floodway("compare", small, *SEEDED, "--out", "out", "--quiet").code == 0
    folder = small.parent / "out"
    answer = numbers(folder)["answer"]
    markdown, latex = ((folder / f"table.{end}").read_text(encoding="utf-8") for end in ("md", "tex"))
    assert markdown.partition("\n")[0].startswith(answer[:20])
    assert "| completion time, mean |" in markdown
    assert "completion time, mean &" in latex
    frame = pl.read_csv(folder / "table.csv")
    cell = row(numbers(folder), "fct_mean_us")["seed=2"]
    assert frame.filter(number="fct_mean_us", variant="seed=2")["mean"].to_list() == [cell["mean"]]


def test_a_scenario_beside_itself_with_another_name_differs_in_nothing(
    floodway: Command, small: Path
) -> None:
    written(small.parent, SMALL, name="other")
    done = floodway("compare", small, "other.toml", "--json", "--out", "out")
    printed = json.loads(done.out)
    assert [variant["label"] for variant in printed["variants"]] == ["small", "other"]
    assert printed["differs"] == []
    changes = [each["cells"]["other"]["change"] for each in printed["rows"]]
    assert set(changes) <= {0.0, None}
    assert printed["findings"][0] == "the completion times with other and small are the same"


def test_files_of_one_name_are_distinguished_by_their_folders(floodway: Command, tmp_path: Path) -> None:
    for folder, text in (("a", SMALL), ("b", SMALL.replace("load = 0.4", "load = 0.3"))):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder, text)
    done = floodway("compare", "a/small.toml", "b/small.toml", "--json", "--out", "out")
    printed = json.loads(done.out)
    assert [variant["label"] for variant in printed["variants"]] == ["a/small", "b/small"]
    assert printed["differs"] == [
        {"key": "workload.rpc.poisson.load", "values": {"a/small": "0.4", "b/small": "0.3"}}
    ]


def test_the_page_needs_nothing_else_and_names_every_variant(floodway: Command, small: Path) -> None:
    assert floodway("compare", small, "--vary", "workload.rpc.poisson.load=0.2,0.4", "--out", "out").code == 0
    page = (small.parent / "out" / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|src=\"(?!data:)|<link|<script|@import|url\(", page)
    assert page.count("data:image/png;base64,") >= 4
    for part in (
        "load=0.2",
        "load=0.4",
        "workload.rpc.poisson.load",
        "completion time, p99",
        "held by sizing",
    ):
        assert part in page


@pytest.mark.parametrize(
    ("text", "first"), [(SMALL, "Slowdown against flow size"), (LISTED, "Share of measured flows")]
)
def test_the_first_picture_of_the_page_shows_the_answer(
    floodway: Command, tmp_path: Path, text: str, first: str
) -> None:
    """Flows of one size have no slowdown against size."""
    written(tmp_path, text)
    assert floodway("compare", "small.toml", "--vary", "mtu=1KB,2KB", "--out", "out").code == 0
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert page.partition('alt="')[2].startswith(first)


def test_what_a_scenario_is_called_is_text_on_the_page(floodway: Command, tmp_path: Path) -> None:
    named = written(tmp_path, SMALL, name="less<i>")
    assert floodway("compare", named, *SEEDED, "--out", "out", "--quiet").code == 0
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "less&lt;i&gt;" in page
    assert "<i>" not in page


def test_percentiles_of_unfinished_flows_are_not_reached_and_no_claim_is_made(
    floodway: Command, tmp_path: Path
) -> None:
    listed = written(tmp_path, LISTED)
    done = floodway("compare", listed, "--vary", "limit=1ms,20ms", "--out", "out", "--full")
    assert done.code == 0
    assert "not reached" in done.out
    assert "sooner" not in done.out
    assert "unfinished measured flows: limit=20ms 0, limit=1ms 1" in done.out
    held = "held by sizing (react = 0us)"
    assert f"limit=20ms {held}, limit=1ms {held}, ended at the limit" in done.out


def test_numbers_that_some_seeds_lack_say_of_how_many_seeds_they_are() -> None:
    def row_of(key: str, label: str, *cells: Cell) -> Row:
        return Row(key=key, label=label, digits=0, change_unit="percent", missing="not reached", cells=cells)

    cut = row_of("fct_p99_us", "p99", Cell(values=(1.0, 2.0, 3.0)), Cell(values=(1.0, None, 3.0)))
    assert cell_text(cut, cut.cells[1])[0] == "not reached in 1 of 3 seeds"
    left = row_of("flows_unfinished", "left", Cell(values=(1.0, 0.0, 0.0)), Cell(values=(1.0, 1.0, 1.0)))
    lost = row_of("dropped_packets", "lost", Cell(values=(1.0, 0.0, 0.0)), Cell(values=(1.0, 1.0, 1.0)))
    said, *_ = findings(["line-rate", "dcqcn"], [[], []], [left, lost], [], ["lossless"] * 2, None)
    assert said == (
        "unfinished measured flows per run: dcqcn 1, line-rate 0.33 (mean of 3 seeds); "
        "dropped packets per run: dcqcn 1, line-rate 0.33 (mean of 3 seeds)"
    )


def test_collectives_are_compared_instead_of_their_messages() -> None:
    def row_of(key: str, job: str, *cells: Cell) -> Row:
        return Row(
            key=key, label=key, job=job, digits=0, change_unit="percent", missing="not reached", cells=cells
        )

    flows = row_of("fct_mean_us", "", Cell(values=(1.0,)), Cell(values=(2.0,), change=100.0))
    job = row_of(
        "job_mean_us",
        "all-reduce 1MB",
        Cell(values=(9.0,)),
        Cell(values=(6.0,), change=-33.3, apart=True),
    )
    said, *_ = findings(["one", "other"], [[], []], [flows, job], [], ["lossless"] * 2, None)
    assert said == "with other, all-reduce 1MB ends 33 % sooner than with one (one seed)"


def test_collectives_of_different_sizes_have_rows_and_are_not_judged_by_messages(tmp_path: Path) -> None:
    job = """
    topology.single-switch = { hosts = 4, rate = "100G", delay = "1us" }

    [[workload]]
    name = "job"
    collective = { op = "all-reduce", size = "100KB" }
    """
    sizes = package.vary(written(tmp_path, job), [("workload.job.collective.size", ("100KB", "200KB"))])
    compared = package.compare(sizes, jobs=1)
    times = {row.label: [cell.mean for cell in row.cells] for row in compared.rows if row.job}
    assert [[mean is None for mean in means] for means in times.values()] == [[False, True], [True, False]]
    assert compared.findings[0].startswith("no collective or iteration was complete with both ")
    assert "finishes flows" not in " ".join(compared.findings)
    shown = compared._repr_html_()
    assert all(f"<th>{label}</th>" in shown for label in compared.labels)
    assert "have no number in common that they can be compared by" in shown
    assert all(escape(row.label) in shown for row in compared.rows)
    assert "<script" not in shown
    # A notebook may show one whose second variant was interrupted.
    cut = replace(compared, complete=False, results=(compared.results[0], ()))
    assert "Not all runs ended: 1 of 2; nothing is compared." in cut._repr_html_()


@pytest.mark.parametrize("strict", [False, True])
def test_strict_fails_where_any_variant_lost_packets(
    floodway: Command, tmp_path: Path, *, strict: bool
) -> None:
    starved = written(tmp_path, STARVED)
    vary = ("--vary", "defaults.buffer.static.size=210KB,20MB")
    done = floodway("compare", starved, *vary, "--out", "out", *(["--strict"] if strict else []))
    assert done.code == int(strict)
    assert "violated, " in done.out
    assert "held by sizing" in done.out
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert bool(errors) == strict
    assert all(line.startswith("error: size=210KB, seed 1: lossless classes lost ") for line in errors)


def test_the_verdict_counts_what_lossy_links_dropped() -> None:
    sized = (
        STARVED.replace('.pfc = { xoff = "200KB", headroom = "10KB" }', ' = "pfc"')
        .replace("50us", "1us")
        .replace('"210KB"', '"auto"')
    )
    one = '[[override]]\nname = "one"\nlinks = "h1-*"\nbuffer.static.size = "300KB"\n'
    text = sized.replace("[[workload]]", f"{one}[[workload]]")
    scenarios = [
        package.Scenario.from_toml(text, name=name, sets=[("one.flow-control", name)])
        for name in ("pfc", "lossy")
    ]
    compared = package.compare(scenarios, jobs=1)
    dropped = sum(packets for _, packets in compared.results[1][0].outcome.drops)
    assert dropped > 1
    assert compared.verdicts[0].startswith("held by sizing")
    assert "dropped" not in compared.verdicts[0]
    due = f"{compared.verdicts[0]}, {dropped:,} packets dropped where no flow control is lossless"
    assert compared.verdicts[1] == due


def test_a_deadlock_is_a_failed_run_and_its_results_are_kept(floodway: Command, tmp_path: Path) -> None:
    done = floodway("compare", written(tmp_path, RING), "--vary", "mtu=1000B,900B", "--out", "out")
    assert done.code == 1
    assert re.search(
        r"error: mtu=1000B, seed 1: a deadlock since [\d.]+ us stopped the run at 2,000.0 us", done.err
    )
    assert numbers(tmp_path / "out")["complete"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "one scenario and nothing that varies; add --vary KEY.PATH=A,B or a second scenario"),
        (["small.toml"], "small.toml: is given twice"),
        (["other.toml", "--vary", "seed=1,2"], "--vary is of one scenario, and 2 are given"),
        (["--vary", "mtu"], "invalid value for --vary: 'mtu' is not KEY.PATH=A,B"),
        (["--vary", "mtu=1000B"], "mtu: varies over one value; give at least two, as in mtu=A,B"),
        (["--vary", "mtu=1000B,"], "--vary mtu: '1000B,': a value is missing; write them as in A,B"),
        (["--vary", "mtu=[1,2"], "--vary mtu: '[1,2': a bracket or quote does not match"),
        (["--vary", "mtu=1B,2B", "--vary", "mtu=3B,4B"], "mtu: is varied twice; give all its values at once"),
        (["--vary", "seed=1,1"], "seed: 1 is given twice"),
        (["--vary", "seed=1,2", "--set", "seed=3"], "seed: is both set and varied; choose one of the two"),
        (["--vary", "seed=1,2", "--seeds", "2"], "--vary seed and --seeds both choose the seeds"),
        (["--vary", "seed=1,2", "--seeds", "0"], "invalid value for --seeds: "),
        (["--vary", "seed=1,2", "--jobs", "0"], "invalid value for --jobs: "),
        (["--vary", "seed=1,2", "--out", "small.toml"], "small.toml: is not a folder"),
        (["--vary", "seed=1,2", "--out", "small.toml/out"], "small.toml/out: cannot be written: "),
        (["--vary", "seed=1,2", "--out", ".", "--force"], ".: holds something other than results"),
        (["--vary", "mtu=1000B,4096", "--out", "out"], "variant mtu=4096: --vary mtu=4096: "),
        (
            ["--vary", "mtu=1000B,1", "--vary", "seed=1,2"],
            "variants mtu=1, seed=1; mtu=1, seed=2: --vary mtu=1",
        ),
        (["nothing.toml"], "nothing.toml"),
    ],
)
def test_wrong_usage_is_reported_in_a_line_before_anything_runs(
    floodway: Command, small: Path, arguments: list[str], message: str
) -> None:
    written(small.parent, SMALL, name="other")
    done = floodway("compare", "small.toml", *arguments)
    assert message.casefold() in refused(done).casefold()
    assert sorted(file.name for file in small.parent.iterdir()) == ["other.toml", "small.toml"]


def test_a_fault_of_every_variant_is_reported_once(floodway: Command, tmp_path: Path) -> None:
    faulty = written(tmp_path, SMALL.replace("load = 0.4", "load = -1"))
    assert refused(floodway("compare", faulty, *SEEDED)).startswith(f"{faulty}:15: workload.rpc.poisson.load")


def test_each_variant_that_is_refused_is_named(floodway: Command, small: Path) -> None:
    done = floodway("compare", small, "--vary", "mtu=1000B,1,2")
    assert (done.code, done.out) == (2, "")
    assert [line.split(": ")[1] for line in done.err.splitlines()] == ["variant mtu=1", "variant mtu=2"]


@pytest.mark.long
def test_an_earlier_comparison_is_replaced_only_by_force(floodway: Command, small: Path) -> None:
    out = small.parent / "out"
    assert floodway("compare", small, *SEEDED, "--out", "out", "--quiet").code == 0
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    line = refused(floodway("compare", small, *POOLS, "--out", "out"))
    assert line == "out: holds results already; --force, in Python force=True, replaces them"
    assert floodway("compare", small, *POOLS, "--out", "out", "--force", "--quiet").code == 0
    assert sorted(entry.name for entry in out.iterdir() if entry.is_dir()) == ["pool=10MB", "pool=1MB"]
    assert (out / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.long
def test_one_seed_gives_way_to_several_and_back(floodway: Command, small: Path) -> None:
    for seeds, folders in (("1", "pool=10MB"), ("2", "pool=10MB/seed-1"), ("1", "pool=10MB")):
        done = floodway("compare", small, *POOLS, "--seeds", seeds, "--out", "out", "--force", "--quiet")
        assert (done.code, done.err) == (0, "")
        out = small.parent / "out"
        runs = {str(file.parent.relative_to(out)) for file in out.rglob("run.json")}
        assert folders in runs
        assert len(runs) == 2 * int(seeds)


@pytest.mark.long
def test_a_run_s_results_give_way_to_a_comparison_by_force(floodway: Command, small: Path) -> None:
    assert floodway("run", small, "--out", "out", "--quiet").code == 0
    assert floodway("compare", small, *SEEDED, "--out", "out", "--quiet").code == 2
    assert floodway("compare", small, *SEEDED, "--out", "out", "--force", "--quiet").code == 0
    assert not (small.parent / "out" / "run.json").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_an_interrupted_comparison_keeps_what_had_ended_and_says_so(
    tmp_path: Path, floodway: Command
) -> None:
    written(tmp_path, SMALL)
    written(tmp_path, LONG, name="long")
    command = floodway.line("compare", "small.toml", "long.toml", "--out", "out", "--jobs", "2")
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        assert running.stdout is not None
        until((tmp_path / "out" / "small" / "run.json").exists, "the short run")
        running.send_signal(signal.SIGINT)
        sent = time.monotonic()
        said = running.stderr.read().splitlines()
        assert running.stdout.read() == ""
    assert running.returncode == 130
    assert time.monotonic() - sent < 5, "a second, and what a busy machine takes to end the process"
    assert said[-1] == "interrupted; 1 of 2 runs are kept in out/, and the same command continues from there"
    assert package.read(tmp_path / "out" / "small").outcome.stopped == "finished"
    assert sorted(entry.name for entry in (tmp_path / "out").iterdir()) == ["compare.json", "small"]
    assert not numbers(tmp_path / "out")["complete"]
    done = floodway("compare", "small.toml", *SEEDED, "--out", "out", "--quiet")
    assert (
        refused(done)
        == "out: holds an interrupted comparison of other runs; --force, in Python force=True, replaces it"
    )
    done = floodway("compare", "small.toml", *SEEDED, "--out", "out", "--force", "--quiet")
    assert (done.code, done.err) == (0, "")


def killed(line: list[str], folder: Path, *, when: Callable[[], bool]) -> None:
    """Kill a command as soon as something has happened."""
    with subprocess.Popen(
        line, cwd=folder, env=environment(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as running:
        until(when, "what it is killed at", of=running)
        running.kill()


@pytest.mark.long
def test_a_comparison_killed_before_a_run_has_ended_locks_nothing_and_leaves_nothing(
    tmp_path: Path, floodway: Command
) -> None:
    written(tmp_path, LONG, name="long")
    out = tmp_path / "out"
    long = ["compare", "long.toml", *SEEDED, "--out", "out", "--quiet"]
    for force in ([], ["--force"], []):
        killed(floodway.line(*long, *force), tmp_path, when=(out / "compare.json").is_file)
    written(tmp_path, SMALL)
    other = ["compare", "small.toml", *SEEDED, "--out", "out", "--quiet"]
    assert refused(floodway(*other)) == (
        "out: holds an interrupted comparison of other runs; --force, in Python force=True, replaces it"
    )
    done = floodway(*other, "--force")
    assert (done.code, done.err) == (0, "")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["long.toml", "out", "small.toml"]
    assert not list(out.rglob(".*"))


@pytest.mark.long
def test_a_killed_comparison_continues_to_the_same_end(tmp_path: Path, floodway: Command) -> None:
    written(tmp_path, SMALL)
    line = ["compare", "small.toml", "--vary", "seed=1,2,3", "--jobs", "1", "--out", "out"]
    assert floodway(*line[:-1], "whole", "--quiet").code == 0
    out = tmp_path / "out"
    killed(floodway.line(*line), tmp_path, when=(out / "seed=1" / "run.json").is_file)
    # As if it had been killed while it published the second.
    (out / ".seed=2.floodway" / "new").mkdir(parents=True, exist_ok=True)
    made = {file: file.stat().st_mtime_ns for file in out.glob("*/run.json")}
    done = floodway(*line)
    assert done.code == 0
    assert f"{len(made)} of 3 runs are in out/ already" in done.err.splitlines()
    assert {file: file.stat().st_mtime_ns for file in made} == made
    assert bytes_of(out) == bytes_of(tmp_path / "whole")
    assert not list(out.rglob(".*"))
    assert (
        refused(floodway(*line, "--quiet"))
        == "out: holds results already; --force, in Python force=True, replaces them"
    )


@pytest.mark.long
def test_a_damaged_run_of_a_comparison_that_goes_on_is_run_again(small: Path) -> None:
    folder = small.parent
    variants = package.vary(small, [("seed", ("1", "2"))])
    package.compare(variants, out=folder / "whole", jobs=1)
    shutil.copytree(folder / "whole", folder / "out")
    document = numbers(folder / "out")
    cut_short = {"complete": False, "planned": document["runs"], "runs": document["runs"]}
    (folder / "out" / "compare.json").write_text(json.dumps(cut_short), encoding="utf-8")
    (folder / "out" / "seed=2" / "flows.parquet").write_bytes(b"PAR1")
    said: list[str] = []
    assert package.compare(variants, out=folder / "out", jobs=1, on_message=said.append).complete
    assert [line.split(" in ")[0] for line in said] == ["1 of 2 runs are"]
    assert bytes_of(folder / "out") == bytes_of(folder / "whole")


@pytest.mark.long
@pytest.mark.parametrize("name", ["compare.json", ".compare.json.floodway-new"])
def test_pipes_in_the_place_of_files_are_never_waited_for(
    tmp_path: Path, floodway: Command, name: str
) -> None:
    written(tmp_path, SMALL)
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / name)
    for force in ([], ["--force"]):
        done = floodway("compare", "small.toml", *SEEDED, "--out", "out", "--quiet", *force)
        if name == "compare.json":
            assert refused(done) == "out: holds something other than results; choose another folder"
        else:
            assert done.code == 0, done.err


@pytest.mark.long
def test_whatever_begins_where_a_comparison_is_written_names_its_process(
    tmp_path: Path, floodway: Command
) -> None:
    line = floodway.line("compare", written(tmp_path, LONG), *SEEDED, "--out", "out", "--quiet")
    study_file(tmp_path, BRIEF, scenario=LONG)
    with subprocess.Popen(line, cwd=tmp_path, env=environment()) as running:
        until((tmp_path / "out" / "compare.json").is_file, "its begin", of=running)
        for begun in (["run", "small.toml"], ["study", "pools.toml"]):
            for force in ([], ["--force"]):
                second = floodway(*begun, "--out", "out", "--quiet", *force)
                assert refused(second).startswith(f"out: is in use: process {running.pid} "), begun
        running.send_signal(signal.SIGTERM)
    assert running.returncode == 143
    assert not list(tmp_path.rglob(".*"))


def test_two_comparisons_at_once_at_one_place_are_refused(tmp_path: Path, floodway: Command) -> None:
    line = floodway.line("compare", written(tmp_path, LONG), *SEEDED, "--out", "out", "--quiet")
    with subprocess.Popen(line, cwd=tmp_path, env=environment()) as running:
        until((tmp_path / "out" / "compare.json").is_file, "its begin", of=running)
        for force in ([], ["--force"]):
            second = floodway("compare", "small.toml", *SEEDED, "--out", "out", "--quiet", *force)
            assert refused(second).startswith(f"out: is in use: process {running.pid} ")
        running.send_signal(signal.SIGTERM)
    assert running.returncode == 143
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["small.toml"]


def test_results_of_a_comparison_whose_disk_is_full_go_elsewhere_all_of_them(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small.parent
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "temporary"))
    (folder / "temporary").mkdir()
    opened = Path.open

    def full(self: Path, mode: str = "r", **more: Any) -> IO[Any]:  # noqa: ANN401 (as it is)
        is_there = "seed=2" in str(self) and "temporary" not in str(self) and mode == "xb"
        return opened(Path("/dev/full"), "wb") if is_there else opened(self, mode, **more)

    monkeypatch.setattr(Path, "open", full)
    variants = package.vary(small, [("seed", ("1", "2", "3"))])
    compared = package.compare(variants, out=folder / "out", jobs=1)
    (elsewhere,) = (folder / "temporary").iterdir()
    assert compared.folder == elsewhere
    assert compared.trouble is not None
    assert compared.trouble.endswith("seed=2: cannot be written: No space left on device")
    assert numbers(elsewhere)["complete"]
    assert sorted(file.parent.name for file in elsewhere.glob("*/run.json")) == ["seed=1", "seed=2", "seed=3"]


@pytest.mark.long
def test_the_package_compares_what_the_command_line_compares(floodway: Command, small: Path) -> None:
    printed = json.loads(floodway("compare", small, *POOLS, "--seeds", "2", "--json", "--out", "out").out)
    variants = package.vary(small, [("defaults.buffer.shared.pool", ["10MB", "1MB"])])
    comparison = package.compare(variants, seeds=2)
    assert list(comparison.findings) == printed["findings"]
    cells = row(printed, "fct_mean_us")
    of_mean = comparison.table.filter(pl.col("number") == "fct_mean_us")
    assert of_mean["mean"].to_list() == [cell["mean"] for cell in cells.values()]
    assert list(small.parent.iterdir()) != []
    assert comparison.complete


def test_scenarios_and_files_are_compared_as_they_are(small: Path) -> None:
    scenario = package.Scenario.from_toml(SMALL.replace("load = 0.4", "load = 0.2"), name="text")
    comparison = package.compare([small, scenario])
    assert comparison.labels == ("small", "text")
    assert [results[0].run.name for results in comparison.results] == ["small", "text"]


def test_what_cannot_be_compared_is_an_error_of_its_own(small: Path) -> None:
    with pytest.raises(package.ComparisonError, match="at least two variants"):
        package.compare([small])
    with pytest.raises(package.ComparisonError, match="two variants have this label"):
        package.compare([package.load(small), package.load(small)])
    with pytest.raises(package.ComparisonError, match="exceed"):
        package.compare(
            [package.load(small).with_seed(2**64 - 1), *files([written(small.parent, SMALL, name="other")])],
            seeds=2,
        )


words = st.text("abcxyz019 .", min_size=1).map(str.strip).filter(bool)
wrapped = st.sampled_from(["{}", "[{}, 1]", "{{ a = {}, b = 2 }}", '"{}, x"', "'{}, ]'"])
values = st.lists(st.builds(lambda form, word: form.format(word), wrapped, words), min_size=1)


@given(values)
def test_commas_split_values_but_not_inside_brackets_and_quotes(written_values: list[str]) -> None:
    assert split_values(",".join(written_values)) == tuple(written_values)


@given(st.text())
def test_whatever_is_given_it_is_values_or_an_error(text: str) -> None:
    try:
        found = split_values(text)
    except package.ComparisonError:
        return
    assert all(found)


@given(st.lists(st.text(max_size=80), max_size=8))
def test_folders_of_labels_are_plain_and_each_its_own(labels: list[str]) -> None:
    names = folder_names(labels)
    assert len({name.casefold() for name in names}) == len(labels)
    assert all(re.fullmatch(r"[A-Za-z0-9_=+][A-Za-z0-9._=+-]*", name) for name in names)


@pytest.mark.parametrize(
    ("given_values", "labels"),
    [
        (["pfc", "lossy"], ["pfc", "lossy"]),
        (["{ pfc = { xoff = '320KB' } }", "lossy"], ["pfc", "lossy"]),
        (
            ["{ pfc = { xoff = '320KB' } }", "pfc"],
            ["flow-control={ pfc = { xoff = '320KB' } }", "flow-control=pfc"],
        ),
    ],
)
def test_a_variant_is_called_by_its_choice_where_that_is_its_own(
    small: Path, given_values: list[str], labels: list[str]
) -> None:
    variants = package.vary(small, [("defaults.flow-control", given_values)])
    assert [variant.label for variant in variants] == labels


def test_a_comparison_without_pictures_has_its_numbers(small: Path, floodway: Command) -> None:
    drawn = floodway("compare", small, *POOLS, "--out", "drawn")
    plain = floodway("compare", small, *POOLS, "--out", "plain", "--no-pictures")
    assert (drawn.code, plain.code) == (0, 0)
    assert "\npage: plain/index.html\n" in plain.out
    folder = floodway.folder / "plain"
    assert list(folder.glob("*.png")) == []
    assert "data:image" not in (folder / "index.html").read_text(encoding="utf-8")
    assert numbers(folder)["rows"] == numbers(floodway.folder / "drawn")["rows"]


def test_a_description_that_a_set_may_contradict_is_shown_as_that_of_its_file(
    tmp_path: Path, floodway: Command
) -> None:
    for name, hosts in (("one", "two hosts"), ("other", "2 hosts")):
        written(tmp_path, f'description = "{hosts} a side"\n{SMALL}', name=name)
    call = ("compare", "one.toml", "other.toml", "--full", "--no-pictures")
    changed = "description, as its file says; changed: topology.dumbbell.left"
    done = floodway(*call, "--out", "a", "--set", "topology.dumbbell.left=3")
    assert done.code == 0
    assert " ".join(done.out.split()).count("as its file says") == 1
    page = (tmp_path / "a" / "index.html").read_text(encoding="utf-8")
    assert page.count(changed) == 1
    done = floodway(*call, "--out", "b")
    assert "as its file says" not in done.out
    assert "2 hosts a side" in done.out

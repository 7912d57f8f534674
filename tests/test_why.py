"""Breakdowns of completion times of flows."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

import floodway as package
from floodway.common.errors import InputError, RunError, UnknownNameError
from floodway.simulation.why import CAUSES, Part, Sent, Why, chosen, short_name
from scenarios import LISTED, RING, SMALL, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command
    from floodway import Result

#: An incast at a switch, and a victim that shares the way to it and not its end.
VICTIM = """\
mtu = "1000B"
limit = "20ms"

[topology.explicit]
hosts = ["h", "v", "a", "n1..n3", "f1..f3"]
switches = ["s", "t"]
rate = "100G"
delay = "1us"
links = [
    { between = ["s", "t"], rate = "400G" },
    { between = ["t", "h"] },
    { between = ["t", "v"] },
    { between = ["a", "s"] },
    { between = ["n1", "t"] },
    { between = ["n2", "t"] },
    { between = ["n3", "t"] },
    { between = ["f1", "s"] },
    { between = ["f2", "s"] },
    { between = ["f3", "s"] },
]

[defaults]
flow-control.pfc = { xoff = "30KB" }
buffer.static = { size = "auto" }

[[workload]]
name = "incast"
burst = { from = ["n*", "f*"], to = "h", size = "400KB" }

[[workload]]
name = "victim"
flows = [{ from = "a", to = "v", size = "200KB", start = "20us" }]
"""


#: A ring of all-reduces over two nodes of eight GPUs, whose repeats are equal.
REPEATED = """\
mtu = "4096B"
topology.rail-optimised = { nodes = 2, spines = 2, rate = "100G", delay = "500ns" }
gpu-nodes.scale-up = { rate = "900G", latency = "500ns" }

[defaults]
flow-control.pfc = { xoff = "auto" }
buffer.shared = { pool = "16MB" }
reliability.go-back-n = { ack-interval = 16 }

[[workload]]
name = "job"
collective = { op = "all-reduce", size = "16MB", repeat = 12 }
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return package.run(package.load(written(tmp_path_factory.mktemp("small"), SMALL)))


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("victim")
    package.run(package.load(written(folder, VICTIM))).save(folder / "out")
    return folder / "out"


def test_the_parts_add_up_to_what_the_table_says(small: Result) -> None:
    for flow in ("worst", "p99", "p50", "p0"):
        why = small.why(flow)
        row = small.flows.row(by_predicate=pl.col("flow_id") == why.flow_id, named=True)
        assert sum(part.time_ps for part in why.parts) == why.fct_ps
        assert all(part.time_ps > 0 for part in why.parts)
        assert (why.start_us, why.fct_us) == (row["start_us"], row["fct_us"])
        assert (why.ideal_fct_ps / 1e6, why.slowdown) == (row["ideal_fct_us"], row["slowdown"])
        assert {part.cause for part in why.parts} <= set(CAUSES)
        assert why.frame["time_us"].sum() == pytest.approx(why.fct_us)
        assert why.frame["share"].sum() == pytest.approx(1.0)


def test_a_flow_alone_is_its_data_and_the_way(tmp_path: Path) -> None:
    why = package.run(package.load(written(tmp_path, LISTED))).why("list:h1:0")
    assert why.slowdown == 1.0
    parts = why.by_cause()
    assert list(parts) == ["serialisation", "propagation", "queueing"]
    # All packets wait behind the first one, whose RETH takes 16 bytes more, wherever it is sent on.
    queued = {(part.port, part.time_ps) for part in parts["queueing"]}
    assert queued == {("s1-s2: s1>s2", 16 * 80), ("h3-s2: s2>h3", 16 * 80)}
    assert why.sentence() == "Its data on the wire: 100 % of 8.66 ms, 100 % of that at h1>s1"


def test_a_message_waits_at_its_nic_for_those_before_it_on_its_queue_pair(tmp_path: Path) -> None:
    both = LISTED.replace("100MB", "10MB").replace(
        "flows = [{", 'flows = [{ from = "h1", to = "h3", size = "30MB", start = "0us" }, {'
    )
    shared = both.replace(
        "[[workload]]", '[[override]]\nname = "shared"\nflows = "*"\nqp = "per-pair"\n[[workload]]'
    )
    why = package.run(package.load(written(tmp_path, shared))).why("list:h1:1")
    (before,) = why.by_cause()["predecessors"]
    assert (before.port, before.origin) == ("h1-s1: h1>s1", None)
    expected = "Behind earlier messages of its queue pair: 75 % of 3.47 ms at its NIC, h1>s1"
    assert why.sentence() == expected


def test_a_victim_of_pauses_hears_where_they_began(victim: Path) -> None:
    why = package.read(victim).why("victim:a:0")
    paused = why.by_cause()["paused"]
    assert {part.origin for part in paused} == {"t-h: t>h"}
    assert {part.port for part in paused} == {"a-s: a>s", "s-t: s>t"}
    assert why.sentence().endswith("those pauses began at t>h")


def test_flows_are_chosen_by_id_and_by_rank(small: Result) -> None:
    ranked = small.flows.filter("measured").sort("slowdown", pl.col("flow_id").cast(pl.String))["flow_id"]
    ids = ranked.cast(pl.String).to_list()
    assert chosen(small.flows, ids[3]) == ids[3]
    assert chosen(small.flows, "worst") == ids[-1]
    assert chosen(small.flows, "p99") == ids[99 * len(ids) // 100]
    assert chosen(small.flows, "p99.9") == ids[999 * len(ids) // 1000]
    assert chosen(small.flows, "p0") == ids[0]


def test_what_is_no_flow_is_reported_with_the_nearest(small: Result) -> None:
    with pytest.raises(
        UnknownNameError, match=r"'rpc:h1:99999' is not a flow of this run, which has .* flows"
    ):
        chosen(small.flows, "rpc:h1:99999")
    with pytest.raises(
        UnknownNameError, match=r"'p100' is not a flow; allowed: a flow_id, worst, p0 to p99.9+;"
    ):
        chosen(small.flows, "p100")
    with pytest.raises(InputError, match=r"5 is not a flow: expected a string"):
        small.why(5)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match=r"did you mean 'worst'"):
        chosen(small.flows, "wurst")
    with pytest.raises(UnknownNameError, match="the run has no flows"):
        chosen(small.flows.clear(), "rpc:h1:0")


def test_a_flow_that_is_not_complete_cannot_be_taken_apart(tmp_path: Path) -> None:
    cut = package.run(package.load(written(tmp_path, LISTED), sets=[("limit", "1ms")]))
    with pytest.raises(
        InputError,
        match=r"list:h1:0 was not complete when the run ended: .* bytes had arrived; its sender has .* timer",
    ):
        cut.why("list:h1:0")
    with pytest.raises(InputError, match="p99 does not exist: 0 of 1 measured flows are complete"):
        cut.why("p99")


LOSSY = """
mtu = "4096B"
limit = "100us"
topology.single-switch = { hosts = 2, rate = "100G", delay = "1us" }
[defaults]
flow-control = "lossy"
buffer.output-queue = { size = "400KB" }
reliability.uet = { rto = "1ms" }
faults.error-rate = { data = 1.0 }
[[workload]]
name = "list"
flows = [{ from = "h1", to = "h2", size = "1MB" }]
"""


@pytest.mark.parametrize(
    ("control", "text"),
    [
        ("nscc", r"its sender has packet 2\d to send, and waits for its window: .*B, with .*B in flight"),
        ("rccc", r"its sender has packet 2\d to send, and waits for credit: it has none, and .*B in flight"),
        ("line-rate", r"its sender has sent all packets, and waits for replies: .*B are in flight"),
    ],
)
def test_a_flow_that_is_not_complete_says_what_its_sender_waits_for(
    tmp_path: Path, control: str, text: str
) -> None:
    cut = package.run(package.load(written(tmp_path, LOSSY), sets=[("defaults.rate-control", control)]))
    with pytest.raises(
        InputError, match=rf"0 of 1,000,000 bytes had arrived; {text}; its timer expires at 1"
    ):
        cut.why("list:h1:0")


def test_results_of_another_run_are_distinguished_from_ours(small: Result) -> None:
    other = replace(small, flows=small.flows.with_columns(pl.col("fct_us") + 1e-6))
    with pytest.raises(RunError, match="another build of floodway"):
        other.why("p50")
    older = replace(other, run=replace(small.run, versions={"floodway": "0.0.1"}))
    with pytest.raises(RunError, match=r"floodway 0\.0\.1 wrote them"):
        older.why("p50")
    elsewhere = replace(
        small, run=replace(small.run, seed=7, scenario={**small.run.scenario, "scenario": {}})
    )
    with pytest.raises(package.ScenarioError):
        elsewhere.why("p50")


def test_a_seed_of_its_own_is_that_of_the_run_that_is_done_again(tmp_path: Path) -> None:
    result = package.run(package.load(written(tmp_path, SMALL)).with_seed(9))
    assert result.why("p99").slowdown > 1


def test_names_of_ports_are_short_where_no_other_link_has_such_ports() -> None:
    def part(port: str) -> Part:
        return Part(cause="queueing", port=port, origin=None, time_ps=1)

    parts = (part("x: s1>s2"), part("y: s1>s2"), part("z: s2>h1"))
    why = Why(
        flow_id="w:h:0",
        start_us=0.0,
        fct_ps=3,
        ideal_fct_ps=1,
        parts=parts,
        sent=Sent(begin_us=(), width_us=0.0, bytes=()),
    )
    assert [why.short(each.port) for each in parts if each.port] == ["x: s1>s2", "y: s1>s2", "s2>h1"]
    assert why.sentence() == "Behind other packets: 100 % of 0.003 ns, 33 % of that at x: s1>s2"


def test_the_command_shows_the_parts_and_their_sum(victim: Path, floodway: Command) -> None:
    done = floodway("why", victim, "victim:a:0", "--full")
    assert (done.code, done.err.count("error")) == (0, 0)
    why = package.read(victim).why("victim:a:0")
    assert "victim:a:0, started at 20.000 us" in done.out
    assert f"{why.fct_us:,.6f}" in done.out
    lines = done.out.splitlines()
    assert lines[2] == why.sentence()
    assert lines[3].endswith("; no CNP, no timeout, nothing retransmitted")
    shown = [line.split()[0] for line in lines if line[:1] == " " and line[1:2] != " "]
    assert [cause for cause in CAUSES if cause in shown] == list(why.by_cause())
    short = floodway("why", victim, "victim:a:0").out.splitlines()
    assert short == lines[: len(short)]
    assert len(short) < 20


def test_the_command_writes_json(victim: Path, floodway: Command) -> None:
    done = floodway("why", victim, "worst", "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert sum(part["time_ps"] for part in document["parts"]) == document["fct_ps"]
    assert document["flow_id"] == chosen(package.read(victim).flows, "worst")


def test_a_run_whose_scenario_names_files_is_done_again(tmp_path: Path, floodway: Command) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "flows.csv").write_text("source,destination,size_bytes,start_us\nh1,h3,1000,0\n")
    listed = LISTED[: LISTED.index("flows = ")] + 'flow-list = { file = "flows.csv" }\n'
    (tmp_path / "in" / "listed.toml").write_text(listed)
    assert floodway("run", "in/listed.toml", "--quiet").code == 0
    done = floodway("why", "out/listed")
    assert done.code == 0, done.err
    (tmp_path / "in" / "flows.csv").write_text("source,destination,size_bytes,start_us\nh1,h3,2000,0\n")
    done = floodway("why", "out/listed", "--quiet")
    assert (done.code, done.out) == (1, "")
    assert "files that the scenario names have changed" in done.err
    (tmp_path / "in" / "flows.csv").unlink()
    done = floodway("why", "out/listed", "--quiet")
    assert done.code == 2
    assert "flows.csv" in done.err
    assert "call this in the same folder" in done.err


def test_what_holds_no_run_is_reported(tmp_path: Path, victim: Path, floodway: Command) -> None:
    done = floodway("why", "nowhere")
    assert (done.code, done.err) == (2, "error: nowhere: no such folder\n")
    (tmp_path / "empty").mkdir()
    done = floodway("why", "empty")
    assert done.code == 2
    assert "holds no results" in done.err
    done = floodway("why", victim, "victim:a:7")
    assert done.code == 2
    assert done.err == (
        "error: 'victim:a:7' is not a flow of this run, which has 'victim:a:0' alone of victim; "
        "did you mean 'victim:a:0'?\n"
    )


def test_feedback_of_a_sender_and_unfinished_flows_are_reported(tmp_path: Path, floodway: Command) -> None:
    file = written(tmp_path, SMALL)
    assert floodway("run", file, "--out", "cut", "--quiet", "--set", "limit=1.5ms").code == 0
    flows = package.read(tmp_path / "cut").flows.filter("measured")
    cut = len(flows) - flows["finished"].sum()
    assert 0 < cut < len(flows)
    told = f"{cut:,} of {len(flows):,} measured flows never finished, and rank above it"
    assert told in floodway("why", "cut", "worst", "--quiet").out.splitlines()
    assert told not in floodway("why", "cut", "p0", "--quiet").out


def test_a_comparison_names_its_runs(tmp_path: Path, floodway: Command) -> None:
    written(tmp_path, LISTED)
    (file,) = tmp_path.glob("*.toml")
    done = floodway(
        "compare", file, "--vary", "defaults.rate-control=line-rate,dcqcn", "--out", "both", "--quiet"
    )
    assert done.code == 0, done.err
    done = floodway("why", "both")
    assert done.code == 2
    folders = done.err.rpartition("name one of its runs: ")[2].strip().split(", ")
    assert len(folders) == 2
    assert floodway("why", folders[1], "worst", "--quiet").code == 0


def test_a_deadlock_has_flows_that_are_not_complete(tmp_path: Path, floodway: Command) -> None:
    file = written(tmp_path, RING)
    assert floodway("run", file, "--out", "ring", "--quiet").code in {0, 1}
    done = floodway("why", "ring", "worst")
    assert done.code == 2
    assert "0 of 3 measured flows are complete" in done.err


def test_a_port_of_parallel_links_keeps_the_name_of_its_link() -> None:
    assert short_name("x1-x2: x2>x1", ()) == "x2>x1"
    assert short_name("x1-x2#2: x2>x1", ()) == "x1-x2#2: x2>x1"


def test_a_run_says_which_micro_batches_it_skipped(tmp_path: Path, floodway: Command) -> None:
    collective = re.search(r"collective = .*", REPEATED)
    assert collective is not None
    training = (
        "training = { model = { layers = 4, hidden = 1024, sequence = 512, parameters = 100000000 },"
        ' pipeline = 4, data = 4, micro-batches = 24, forward = "40us", backward = "80us" }'
    )
    written(tmp_path, REPEATED.replace(collective.group(), training), name="micro-batches")
    done = floodway("run", "micro-batches.toml", "--out", "out")
    skipped = re.search(
        r"\d+ of 20 micro-batches in the steady part of iteration 0 of job repeat [\d to]+ of them to",
        done.out,
    )
    assert skipped is not None
    found = json.loads(floodway("why", "out", "job:skips", "--json").out)
    assert (found["iterations"], found["of"]) == (0, 1)
    assert skipped.group().startswith(f"{found['micro_batches']} of 20 micro-batches")


def test_a_run_says_which_iterations_it_skipped_or_why_none(tmp_path: Path, floodway: Command) -> None:
    written(tmp_path, REPEATED, name="skips")
    done = floodway("run", "skips.toml", "--out", "out")
    skipped = re.search(
        r"\d+ of 12 iterations of job repeat iterations? [\d to]+ to the picosecond", done.out
    )
    assert skipped is not None
    assert skipped.group() in floodway("why", "out", "job:skips").out

    flow = (
        '[[workload]]\nname = "late"\nflows = [{ from = "h1", to = "h9", size = "1MB", start = "2500us" }]\n'
    )
    both = REPEATED.replace('"16MB", repeat = 12', '"8MB", repeat = 60')
    written(tmp_path, f"{both}\n{flow}", name="both")
    done = floodway("run", "both.toml", "--out", "both")
    assert re.search(
        r"of 60 iterations of job repeat iterations? [\d to]+ and iterations? [\d to]+ to", done.out
    )
    skips = json.loads((tmp_path / "both" / "run.json").read_text(encoding="utf-8"))["verdicts"]["skipped"]
    found = json.loads(floodway("why", "both", "job:skips", "--json").out)
    assert found["iterations"] == sum(skip["iterations"] for skip in skips)

    written(tmp_path, f"{REPEATED}\n{flow.replace('1MB', '100MB').replace('2500us', '0us')}", name="late")
    done = floodway("run", "late.toml", "--out", "late", "--full")
    assert "nothing of job was skipped: the state of the network at iterations" in done.out
    found = json.loads(floodway("why", "late", "job:skips", "--json").out)
    assert any(each["parts"] == "queue pairs" for each in found["differences"])
    assert floodway("why", "late", "late:skips").code == 2

    done = floodway("run", "late.toml", "--out", "all", "--no-skip")
    assert "skipped" not in done.out
    refused = floodway("why", "all", "job:skips")
    assert (refused.code, "skips were switched off" in refused.err) == (2, True)
    assert "one iteration" not in refused.err
    refused = floodway("why", "all", "jib:skips")
    assert (refused.code, "'jib' is no job: the run has job" in refused.err) == (2, True)


def test_each_of_several_jobs_has_a_true_answer_on_what_was_skipped(
    tmp_path: Path, floodway: Command
) -> None:
    short = """
[[workload]]
name = "short"
collective = { op = "all-reduce", ranks = "h*", size = "1MB", repeat = 2 }
"""
    written(tmp_path, REPEATED + short, name="jobs")
    assert floodway("run", "jobs.toml", "--out", "jobs", "--quiet").code == 0
    assert "iterations of job repeat" in floodway("why", "jobs", "job:skips").out
    refused = floodway("why", "jobs", "short:skips")
    assert refused.code == 2
    assert refused.err.startswith("error: nothing of short was skipped; ")
    assert "iterations of job repeat" in refused.err

    written(tmp_path, f"{REPEATED}\n{short.replace('2 }', '12 }')}".replace("16MB", "1MB"), name="alike")
    options = ("--quiet", "--set", "records.queue-histogram={}")
    assert floodway("run", "alike.toml", "--out", "alike", *options).code == 0
    reason = "nothing of job was skipped: histograms of queues are kept"
    assert reason in floodway("why", "alike", "job:skips").out
    assert f"nothing of short was skipped; {reason}" in floodway("why", "alike", "short:skips").out

    written(tmp_path, REPEATED + short.replace(", repeat = 2", ""), name="single")
    assert floodway("run", "single.toml", "--out", "single", "--quiet").code == 0
    refused = floodway("why", "single", "short:skips")
    assert refused.code == 2
    assert refused.err == "error: the run has one iteration of short, of which nothing could repeat\n"

"""Jobs from files of other simulators, and for them: `floodway import`, `trace`, `floodway export`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import chakra_traces
import polars as pl
import pytest

import floodway as package
from scenarios import written

if TYPE_CHECKING:
    from command import Command

EXAMPLES = Path(__file__).parents[1] / "scenarios/jobs"
FILES = {
    "chakra": EXAMPLES / "chakra",
    "goal": EXAMPLES / "pipeline.goal",
    "htsim": EXAMPLES / "ring.cm",
    "simai": EXAMPLES / "transformer.txt",
}

#: Operations that wait for each other.
CYCLE = """\
num_ranks 1
rank 0 {
a: calc 1
b: calc 1
a requires b
b requires a
}
"""


def run(trace: str, *, hosts: int, rate: str = "8G", delay: str = "500ns") -> package.Result:
    """Run a trace on a switch whose packets have nothing but headers in their way."""
    text = (
        f'mtu = "4000B"\nwire = "hpcc-ns3"\n'
        f'topology.single-switch = {{ hosts = {hosts}, rate = "{rate}", delay = "{delay}" }}\n'
        '[defaults]\nreliability = "none"\nflow-control = "lossy"\nbuffer.static = { size = "100MB" }\n'
        f'[[workload]]\nname = "job"\ntrace = {{ {trace} }}\n'
    )
    return package.run(package.Scenario.from_toml(text))


def ends_us(result: package.Result) -> dict[int, float]:
    """Return when each rank completed the last of its receives and computations."""
    operations = result.operations
    assert operations is not None
    kinds = operations.filter(pl.col("kind").cast(pl.String).is_in(["recv", "compute", "collective"]))
    return dict(kinds.group_by("rank").agg(pl.col("end_us").max()).iter_rows())


def test_the_traces_of_the_example_are_written_as_they_should_be() -> None:
    files = sorted(FILES["chakra"].iterdir())
    assert [file.name for file in files] == [f"step.{rank}.et" for rank in range(4)]
    assert [file.read_bytes() for file in files] == [chakra_traces.iteration(rank) for rank in range(4)]


@pytest.mark.parametrize(("kind", "ranks"), [("chakra", 4), ("goal", 3), ("htsim", 4), ("simai", 8)])
def test_import_writes_a_scenario_that_runs(floodway: Command, tmp_path: Path, kind: str, ranks: int) -> None:
    done = floodway("import", kind, FILES[kind], "--out", "job.toml")
    assert done.code == 0, done.err
    text = (tmp_path / "job.toml").read_text(encoding="utf-8")
    assert f': {ranks} ranks.\ntopology.single-switch = {{ hosts = {ranks}, rate = "400G"' in text
    ran = floodway("run", "job.toml", "--out", "out")
    assert ran.code == 0, ran.err
    assert f"{ranks} of {ranks} ranks completed their program" in ran.out
    # What was written is not overwritten.
    again = floodway("import", kind, FILES[kind], "--out", "job.toml")
    assert again.code == 2
    assert again.err.endswith("error: job.toml: is there already; --force replaces it\n")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ("--topology", 'hpcc={ file = "net.txt" }'),
            "./net.txt:2: topology.hpcc: switch 8 is not below 7, ",
        ),
        (
            ("--topology", 'hpcc={ file = "nix.txt" }'),
            '--topology: topology.hpcc.file: cannot read "./nix.txt": ',
        ),
        (("--topology", "fat-tree={ k = 3 }"), "--topology: topology.fat-tree.k: 3 is not an even number"),
        (("--rate", "x"), '--rate: topology.single-switch.rate: "x" is not a rate'),
    ],
)
def test_faults_of_the_network_are_not_told_as_those_of_the_job(
    floodway: Command, tmp_path: Path, options: tuple[str, str], told: str
) -> None:
    (tmp_path / "net.txt").write_text("7 2 1\n4 8\n0 4 100Gbps 1us 0\n", encoding="utf-8")
    done = floodway("import", "goal", FILES["goal"], *options, "--out", "job.toml")
    assert (done.code, done.err.startswith(f"error: {told}")) == (2, True), done.err


CUT = "topology: [ Switch"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--gpu-nodes", "foo"), '--gpu-nodes: "foo" is neither none nor a table like { gpus-per-node = 8 }'),
        (("--gpu-nodes", "1\nseed = 2"), "--gpu-nodes: "),
        (
            ("--topology", "leaf-spine={ spines = "),
            '--topology: "leaf-spine = { spines =" is not a topology',
        ),
        (("--topology", "sub/../cut.yml"), "sub/../cut.yml:2: it is no YAML: "),
        (("--topology", "part.yaml"), "part.yaml: the key topology is missing; a network of ASTRA-sim has"),
        (("--topology", "net.txt"), "net.txt:2: switch 8 is not below 7, "),
    ],
)
def test_options_and_files_of_an_import_have_the_names_that_were_given(
    floodway: Command, tmp_path: Path, options: tuple[str, str], told: str
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "net.txt").write_text("7 2 1\n4 8\n0 4 100Gbps 1us 0\n", encoding="utf-8")
    (tmp_path / "cut.yml").write_text(CUT, encoding="utf-8")
    (tmp_path / "part.yaml").write_text("bandwidth: [ 50.0 ]\n", encoding="utf-8")
    for out in ((), ("--out", "sub/job.toml")):
        done = floodway("import", "goal", FILES["goal"], *options, *out)
        assert (done.code, done.err.startswith(f"error: {told}")) == (2, True), done.err


def test_bad_usage_is_told_before_that_a_scenario_is_there(floodway: Command, tmp_path: Path) -> None:
    (tmp_path / "job.toml").touch()
    done = floodway("import", "goal", FILES["goal"], "--out", "job.toml", "--trace", "foo=3")
    assert (done.code, '"foo" is not a key' in done.err) == (2, True), done.err
    done = floodway("import", "goal", FILES["goal"], "--out", "job.toml")
    assert (done.code, done.err) == (2, "error: job.toml: is there already; --force replaces it\n")


def test_import_takes_a_network_and_keys(floodway: Command) -> None:
    network = 'leaf-spine={ spines = 2, leaves = 2, hosts = 2, rate = "100G", delay = "1us" }'
    keys = ("--trace", "algorithm=halving-doubling", "--trace", "splits=2")
    done = floodway("import", "chakra", FILES["chakra"], "--topology", network, *keys)
    assert (done.code, done.err) == (0, "")
    assert f"topology.{network.replace('={', ' = {')}" in done.out
    assert 'algorithm = "halving-doubling", splits = 2 }' in done.out


def test_a_folder_is_imported_from_itself(floodway: Command, tmp_path: Path) -> None:
    for file in FILES["chakra"].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    done = floodway("import", "chakra", ".", "--out", "job.toml")
    assert done.code == 0, done.err
    assert 'files = "."' in (tmp_path / "job.toml").read_text(encoding="utf-8")
    assert floodway("check", "job.toml").code == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("chakra", "nothing"), "error: nothing: cannot read it: No such file or directory"),
        (("chakra", "."), '.: "." has no file NAME.<rank>.et'),
        (("goal", "a.goal"), 'error: a.goal:1: "what" where "num_ranks" is expected'),
        (("simai", "a.goal"), 'error: a.goal:1: "what" is not available; available is HYBRID_TRANS'),
        (("htsim", "a.goal"), 'error: a.goal:1: "what" is unknown; allowed: Nodes, Connections,'),
        (
            ("goal", FILES["goal"], "--trace", "algorithm=ring"),
            'trace.algorithm: it belongs to format = "chakra" and format = "simai"',
        ),
        (("simai", FILES["simai"], "--trace", "splits=2"), 'trace.splits: it belongs to format = "chakra"'),
        (
            ("goal", FILES["goal"], "--trace", "cross-nic=next"),
            'trace.cross-nic: it belongs to format = "chakra" and format = "simai"',
        ),
        (("simai", FILES["simai"], "--trace", "cross-nic=nxt"), 'did you mean "next"?'),
        (("simai", FILES["simai"], "--trace", "algoritm=ring"), 'did you mean "algorithm"?'),
        (
            ("goal", FILES["goal"], "--rate", "fast"),
            'error: --rate: topology.single-switch.rate: "fast" is not a rate',
        ),
        (("goal", "empty"), "expected is a GOAL schedule as text, which begins with num_ranks"),
        (("simai", "empty"), "error: empty: cannot read it: it is empty, or has no size"),
        (("htsim", "empty"), "expected is a connection matrix of htsim, which begins with Nodes"),
        (("chakra", "ranks"), "error: ranks/empty.0.et: cannot read it: it is empty, or has no size"),
        (("goal", "cycle.goal"), "error: cycle.goal: operations of rank 0 wait for each other"),
        (
            ("goal", FILES["goal"], "--topology", 'single-switch={hosts=2,rate="8G",delay="1us"}'),
            "the trace has 3 ranks, and the network has 2 GPUs for them",
        ),
        (
            ("goal", FILES["goal"], "--topology", 'single-switch={hosts=3,rate="8G"}', "--rate", "9G"),
            "invalid value for --rate: --topology has rates and delays of its own",
        ),
        (("goal", FILES["goal"], "--topology", "single-switch"), "'single-switch' is not KIND={...}"),
    ],
)
def test_mistakes_of_an_import_are_told(
    floodway: Command, tmp_path: Path, arguments: tuple[str | Path, ...], why: str
) -> None:
    (tmp_path / "a.goal").write_text("what\n", encoding="utf-8")
    (tmp_path / "cycle.goal").write_text(CYCLE, encoding="utf-8")
    (tmp_path / "ranks").mkdir()
    for name in ("empty", "ranks/empty.0.et"):
        (tmp_path / name).touch()
    done = floodway("import", *arguments, "--out", "new/folder/job.toml")
    assert done.code == 2
    assert why in done.err.replace("\n", " ")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("path", "verb"),
    [
        (FILES["goal"], "import goal"),
        (FILES["htsim"], "import htsim"),
        (FILES["chakra"], "import chakra"),
        (EXAMPLES.parents[1] / "studies/example.toml", "study"),
    ],
)
def test_what_is_no_scenario_is_told_with_what_runs_it(floodway: Command, path: Path, verb: str) -> None:
    done = floodway("run", path)
    assert (done.code, done.out) == (2, "")
    assert f"floodway {verb} {path}" in " ".join(done.err.split())


def test_imports_and_exports_make_their_folder(floodway: Command, tmp_path: Path) -> None:
    assert floodway("import", "goal", FILES["goal"], "--out", "new/folder/job.toml").code == 0
    assert floodway("export", "goal", "new/folder/job.toml", "--out", "other/job.goal").code == 0
    assert floodway("import", "goal", "other/job.goal", "--out", "other/job.toml").code == 0
    assert sorted(file.name for file in (tmp_path / "other").iterdir()) == ["job.goal", "job.toml"]
    done = floodway("import", "goal", "other/job.goal", "--out", "/dev/null", "--force")
    assert done.code == 2
    assert "/dev/null: is not a regular file" in done.err


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (3, "job.toml: Execution traces of Chakra: 3 ranks."),
        (
            1,
            ('there is no file of rank 1, "traces/step.1.et", but there are files of 3 ranks up to rank 3'),
        ),
    ],
)
def test_the_ranks_that_have_traces_are_told(
    floodway: Command, tmp_path: Path, missing: int, said: str
) -> None:
    (tmp_path / "traces").mkdir()
    for rank in {0, 1, 2, 3} - {missing}:
        (tmp_path / f"traces/step.{rank}.et").write_bytes(chakra_traces.iteration(rank))
    done = floodway("import", "chakra", "traces", "--out", "job.toml")
    assert said in (done.out + done.err).replace("\n", " ")
    if done.code == 0:
        assert "ranks of traces: 3\n" in floodway("check", "job.toml").out


def test_what_is_not_used_of_a_file_is_a_warning(floodway: Command) -> None:
    done = floodway("import", "htsim", FILES["htsim"])
    why = "triggers act at once at any node in htsim: here messages of a byte carry them from node to node"
    assert done.err == f"warning: {FILES['htsim']}: {why} (1 of them)\n"


def test_a_matrix_starts_its_connections_in_picoseconds() -> None:
    """At a byte a nanosecond, over two wires of 500 ns; each packet of 4000 bytes has 48 of headers."""
    result = run(f'format = "htsim", files = "{FILES["htsim"]}"', hosts=4)
    operations = result.operations
    assert operations is not None
    ends = operations.filter(pl.col("kind").cast(pl.String) == "recv").select("name", "end_us")
    found = dict(ends.iter_rows())
    message = (1_000_000 + 250 * 48) / 1e3
    # 1 us of wires, and a packet that the switch forwards as a whole.
    hop = 1 + 4.048
    assert found["0->1 id 1"] == pytest.approx(message + hop, abs=0.01)
    assert found["3->0 id 4"] == pytest.approx(4 * (message + hop), abs=0.01)
    assert found["1->3 id 5"] == pytest.approx(5 + 50 * 4.048 + hop, abs=0.01)


def test_a_workload_of_simai_takes_its_computations_and_messages() -> None:
    """With links so fast that messages take next to nothing, the pipeline's formula is left."""
    result = run(f'format = "simai", files = "{FILES["simai"]}"', hosts=8, rate="100000G", delay="1ps")
    # Two stages and two micro-batches: three of 120 us forward, three of 240 us back.
    assert max(ends_us(result).values()) == pytest.approx(3 * 120 + 3 * 240 + 1, abs=3)


# Messages of several queue pairs, and collectives that occupy a unit, share a NIC otherwise in GOAL.
@pytest.mark.parametrize(("kind", "tolerance"), [("goal", 1e-9), ("chakra", 0.01), ("simai", 0.03)])
def test_what_is_exported_takes_as_long(
    floodway: Command, tmp_path: Path, kind: str, tolerance: float
) -> None:
    """A job with sends that are complete when issued, and the schedule that is written of it."""
    assert floodway("import", kind, FILES[kind], "--out", "job.toml").code == 0
    done = floodway("export", "goal", "job.toml", "--out", "again.goal")
    assert done.code == 0, done.err
    assert ("warning" in done.err) == (kind != "goal")
    ranks = {"goal": 3, "chakra": 4, "simai": 8}[kind]
    trace = f'format = "{kind}", files = "{FILES[kind]}", send-completes = "issued"'
    own = run(trace, hosts=ranks, rate="400G")
    other = run(f'format = "goal", files = "{tmp_path / "again.goal"}"', hosts=ranks, rate="400G")
    assert ends_us(other) == pytest.approx(ends_us(own), rel=tolerance)


def test_a_collective_is_exported_and_takes_as_long(floodway: Command, tmp_path: Path) -> None:
    network = 'topology.single-switch = { hosts = 6, rate = "400G", delay = "500ns" }\n'
    job = (
        '[[workload]]\nname = "{}"\ncollective = {{ op = "all-reduce", size = "6MB", repeat = 2, '
        'reduce-rate = "800G", count = 6 }}\n'
    )
    (tmp_path / "job.toml").write_text(network + job.format("sum"), encoding="utf-8")
    done = floodway("export", "goal", "job.toml")
    assert done.code == 0
    assert done.out.startswith("num_ranks 6\nrank 0 {\nl0: calc 0\nl1: send 1000000b to 1 tag 0\n")
    assert "calc 10000 cpu 1\n" in done.out
    assert done.err.count("warning: ") == 1
    (tmp_path / "sum.goal").write_text(done.out, encoding="utf-8")
    assert floodway("import", "goal", "sum.goal", "--delay", "500ns", "--out", "again.toml").code == 0
    own, other = (package.run(package.load(tmp_path / name)) for name in ("job.toml", "again.toml"))
    # Nothing waits for acknowledgements of a ring, but the end of it.
    received = [
        max(operations.filter(pl.col("last_from").is_not_null())["end_us"])
        for operations in (own.operations, other.operations)
        if operations is not None
    ]
    assert received[1] == pytest.approx(received[0], rel=0.01)
    assert received[1] <= received[0]


@pytest.mark.parametrize(
    ("jobs", "arguments", "why"),
    [
        ([], (), 'no workload is a job: a "collective", a "training" or a "trace"'),
        (["a", "b"], (), "there are several jobs: name one of a, b"),
        (["first", "b"], ("--workload", "frist"), 'allowed: first, b; did you mean "first"?'),
    ],
)
def test_an_export_names_one_job(
    floodway: Command, tmp_path: Path, jobs: list[str], arguments: tuple[str, ...], why: str
) -> None:
    text = 'topology.single-switch = { hosts = 4, rate = "100G", delay = "1us" }\n'
    text += '[[workload]]\nname = "other"\nburst = { from = "h1", to = "h2", size = "1MB" }\n'
    for name in jobs:
        text += f'[[workload]]\nname = "{name}"\ncollective = {{ op = "all-reduce", size = "1MB" }}\n'
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    done = floodway("export", "goal", "job.toml", "--out", "a.goal", *arguments)
    assert done.code == 2
    assert why in done.err.replace("\n", " ")
    assert list(tmp_path.glob("*.goal*")) == []


def test_an_export_replaces_no_file_unasked(floodway: Command, tmp_path: Path) -> None:
    assert floodway("import", "goal", FILES["goal"], "--out", "job.toml").code == 0
    (tmp_path / "a.goal").write_text("mine", encoding="utf-8")
    done = floodway("export", "goal", "job.toml", "--out", "a.goal")
    assert (done.code, done.err) == (2, "error: a.goal: is there already; --force replaces it\n")
    assert (tmp_path / "a.goal").read_text(encoding="utf-8") == "mine"
    assert floodway("export", "goal", "job.toml", "--out", "a.goal", "--force").code == 0
    assert (tmp_path / "a.goal").read_text(encoding="utf-8").startswith("num_ranks 3\n")
    nowhere = floodway("export", "goal", "job.toml", "--out", "a.goal/b.goal")
    assert nowhere.code == 2
    assert re.fullmatch(r"error: a.goal/b.goal: cannot be written: .*\n", nowhere.err)


def test_all_reduces_of_simai_take_their_closed_form() -> None:
    """Two of 16 and 64 MiB over eight GPUs, a computation before each: the samples of the simulator."""
    folder = os.environ.get("FLOODWAY_REFERENCE")
    path = Path(folder or ".") / "reference/ai/simai/microAllReduce.txt"
    if not (folder and path.is_file()):
        pytest.skip("FLOODWAY_REFERENCE names no folder with SimAI's samples")
    result = run(f'format = "simai", files = "{path}"', hosts=8, rate="1440G", delay="25ns")
    assert result.collectives is not None
    times = result.collectives.sort("bytes")["time_us"].to_list()
    for size, time in zip((1 << 24, 1 << 26), times, strict=True):
        part = size / 8
        packets = -(-part // 4000)
        step = (part + packets * 48 + 4048) / 180e3 + 0.05
        assert time == pytest.approx(14 * step, rel=1e-5)
    assert ends_us(result)[0] == pytest.approx(2 * 556 + sum(times), abs=0.1)


def test_a_chain_of_operations_takes_time_in_proportion_to_its_length(
    floodway: Command, tmp_path: Path
) -> None:
    count = 600_000
    chain = "a0: calc 1\n" + "".join(f"a{i}: calc 1\na{i} requires a{i - 1}\n" for i in range(1, count))
    (tmp_path / "chain.goal").write_text(f"num_ranks 2\nrank 0 {{\n{chain}}}\nrank 1 {{\n}}\n")
    network = 'topology.single-switch = { hosts = 2, rate = "400G", delay = "1us" }'
    job = 'workload = [{ name = "chain", trace = { format = "goal", files = "chain.goal" } }]'
    # Where each name is looked for among all others, this takes beyond the time that a command is given.
    done = floodway("run", written(tmp_path, f"{network}\n{job}\n"), "--quiet", "--out", "out")
    assert (done.code, done.err) == (0, "")
    operations = package.read(tmp_path / "out").operations
    assert operations is not None
    assert (len(operations), operations["end_us"].max()) == (count, count / 1000)

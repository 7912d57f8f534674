from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import floodway
from floodway.common.errors import FloodwayError, InputError
from floodway_lab.bench import __main__ as program_of_bench
from floodway_lab.bench import hpcc_ns3, htsim, turns
from floodway_lab.bench.history import entry, last_pairs, read
from floodway_lab.bench.hpcc_folder import write_folder
from floodway_lab.bench.listing import Listing
from floodway_lab.bench.model import Pair, Paired, Peer, Run, Usage
from floodway_lab.bench.page import pairs_block, written
from floodway_lab.bench.peers import called, manifest
from floodway_lab.bench.program import Program
from floodway_lab.bench.turns import Turns, missing
from floodway_lab.bench.usage import used
from floodway_lab.bench.work import OtherWorkError, Work

ROOT = Path(__file__).parent.parent
MANIFEST = """
[[peer]]
name = "htsim"
version = "htsim (stand-in)"
program = "bin/htsim"
commit = "0123abc"
flags = "-O3"
"""
#: Stands for htsim: it finishes what the matrix says, but for what its folder is told.
HTSIM = f"""#!{sys.executable}
import os, pathlib, signal, sys
how = pathlib.Path(__file__).with_name("how").read_text()
if how == "fails":
    sys.exit("no such strategy")
if how == "is killed":
    os.kill(os.getpid(), signal.SIGKILL)
matrix = pathlib.Path(sys.argv[sys.argv.index("-tm") + 1]).read_text().splitlines()[2:]
for line in matrix[how == "leaves one":]:
    size = int(line.split()[-1]) - (1000 if how == "sends less" else 0)
    print("Flow Roce finished at 12.5 total bytes", size)
"""
#: Stands for the program that runs a scenario of ours.
OURS = """
import json, sys
print(json.dumps({"flows_finished": int(sys.argv[1])}))
"""
INCAST = """
mtu = "982B"
topology.fat-tree = { k = 4, rate = "100G", delay = "1us" }

[[workload]]
name = "incast"
incast = { to = "h*", fan-in = 4, size = "4000B", every = "1ms" }
until = "1ms"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    binary = tmp_path / "peers" / "bin" / "htsim"
    binary.parent.mkdir(parents=True)
    binary.write_text(HTSIM, encoding="utf-8")
    binary.chmod(0o755)
    (tmp_path / "peers" / "peers.toml").write_text(MANIFEST, encoding="utf-8")
    behave(tmp_path / "peers", "as it should")
    return tmp_path / "peers"


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    scenario = tmp_path / "incast.toml"
    scenario.write_text(INCAST, encoding="utf-8")
    runs = (Run(name="one", scenario=str(scenario)), Run(name="two", scenario=str(scenario)))
    return Pair(name="incast", what="4 to 1", peer="htsim", theirs="PFC", ours=runs)


def behave(folder: Path, how: str) -> None:
    (folder / "bin" / "how").write_text(how, encoding="utf-8")


def ours(tmp_path: Path, *, flows: int = 4) -> Program:
    file = tmp_path / "ours.py"
    file.write_text(OURS, encoding="utf-8")
    return Program((sys.executable, str(file), str(flows)))


def quiet(_line: str) -> None:
    pass


def work_folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def usage(cpu_s: float) -> Usage:
    return Usage(cpu_s=cpu_s, wall_s=2 * cpu_s, peak_memory_bytes=25_000_000)


def test_without_the_folder_it_is_said_what_to_put_where() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "FLOODWAY_PEERS"}
    command = [sys.executable, "-m", "floodway_lab.bench", "peers"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "FLOODWAY_PEERS is not set" in ended.stderr
    assert "peers.toml" in ended.stderr
    assert "docs/peers.md" in ended.stderr


def test_a_manifest_names_builds(folder: Path) -> None:
    peer = manifest(folder)["htsim"]
    assert peer.program == folder / "bin" / "htsim"
    assert called(peer, ["-tm", "a file"]) == [str(peer.program), "-tm", "a file"]


def test_the_manifest_of_the_page_is_one(folder: Path) -> None:
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```text\n(\[\[peer\]\].*?)```", page, flags=re.DOTALL)
    (folder / "peers.toml").write_text(text, encoding="utf-8")
    assert manifest(folder).keys() == {"htsim", "hpcc-ns3"}


def test_a_command_may_set_the_environment(folder: Path) -> None:
    line = 'command = "env LD_LIBRARY_PATH={folder}/lib {program} {arguments}"\n'
    (folder / "peers.toml").write_text(MANIFEST + line, encoding="utf-8")
    command = called(manifest(folder)["htsim"], ["config.txt"])
    assert command == ["env", f"LD_LIBRARY_PATH={folder}/lib", str(folder / "bin" / "htsim"), "config.txt"]


@pytest.mark.parametrize(
    ("text", "key", "said", "nearest"),
    [
        (MANIFEST.replace("commit", "comit"), "peer[1].comit", "did you mean 'commit'?", "commit"),
        (MANIFEST.replace("[[peer]]", "[[peers]]"), "peers", "allowed: peer; did you mean 'peer'?", "peer"),
        (MANIFEST.replace('"htsim"', '"htsin"'), "peer[1].name", "did you mean 'htsim'?", "htsim"),
        (MANIFEST.replace('flags = "-O3"', ""), "peer[1].flags", "is missing", None),
        (MANIFEST.replace('"-O3"', "3"), "peer[1].flags", "must be a text, not 3", None),
        (MANIFEST + MANIFEST, "peer[2].name", "is there twice, not 'htsim'", None),
        (
            MANIFEST + 'command = "{binary}"',
            "peer[1].command",
            "'{binary}' is not a template of {program}",
            None,
        ),
        (MANIFEST + 'command = "{program"', "peer[1].command", "is not a template of {program}", None),
        ("peer = 1", "peer", "needs a [[peer]] for each simulator, not 1", None),
        ("", "peer", "needs a [[peer]] for each simulator", None),
        ("[[peer]", None, "peers.toml: ", None),
    ],
)
def test_a_wrong_manifest_is_refused_with_file_key_and_the_nearest_name(
    folder: Path, text: str, key: str | None, said: str, nearest: str | None
) -> None:
    (folder / "peers.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        manifest(folder)
    assert caught.value.place == str(folder / "peers.toml")
    assert str(caught.value).startswith(f"{folder / 'peers.toml'}: {key or ''}")
    assert said in str(caught.value)
    assert (caught.value.key, caught.value.nearest) == (key, nearest)


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"peers\.toml is missing: docs/peers\.md says"):
        manifest(tmp_path)


def test_what_is_missing_is_skipped_with_a_message(
    folder: Path, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_THERE", raising=False)
    peers = manifest(folder)
    elsewhere = Pair(
        name="c7", what="", peer="htsim", theirs="", ours=pair.ours, reference="${NOT_THERE}/fct.txt"
    )
    assert missing(elsewhere, peers) == "NOT_THERE is not set"
    assert missing(pair, {}) == "peers.toml names no 'htsim'"
    assert missing(pair, peers) is None
    peers["htsim"].program.unlink()
    done, skipped, failed = Turns(ours(tmp_path), count=1, on_message=quiet).every([pair], peers, tmp_path)
    assert (done, failed) == ([], [])
    assert [(each.name, each.reason) for each in skipped] == [
        ("incast", f"{folder / 'bin' / 'htsim'} is not a program")
    ]


def test_theirs_and_ours_take_turns(folder: Path, pair: Pair, tmp_path: Path) -> None:
    told: list[str] = []
    runner = Turns(ours(tmp_path), count=2, on_message=told.append)
    done = runner.paired(pair, manifest(folder)["htsim"], work_folder(tmp_path))
    assert told == [
        "incast: writing the work",
        *("turn 1 of 2: incast, htsim (stand-in)", "turn 1 of 2: incast, floodway, one"),
        *("turn 1 of 2: incast, floodway, two", "turn 2 of 2: incast, htsim (stand-in)"),
        *("turn 2 of 2: incast, floodway, one", "turn 2 of 2: incast, floodway, two"),
    ]
    assert [(each.run.name, len(each.theirs), len(each.ours)) for each in done] == [
        ("one", 2, 2),
        ("two", 2, 2),
    ]
    assert {each.work for each in done} == {"4 flows of 20 packets in all finished in both"}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("fails", "htsim failed with exit code 1: no such strategy"),
        ("is killed", "htsim was killed by SIGKILL"),
        ("leaves one", "htsim finished 3 of 4 flows"),
        ("sends less", "htsim acknowledged 16,000 bytes, and 20,000 were to be sent"),
    ],
)
def test_a_program_that_fails_or_does_other_work_fails_its_pair_alone(
    folder: Path, pair: Pair, tmp_path: Path, how: str, said: str
) -> None:
    behave(folder, how)
    runner = Turns(ours(tmp_path), count=1, on_message=quiet)
    done, skipped, failed = runner.every([pair], manifest(folder), tmp_path)
    assert (done, skipped) == ([], [])
    assert [each.name for each in failed] == ["incast"]
    assert failed[0].reason.startswith(said)


def test_ours_has_to_do_the_same_work(folder: Path, pair: Pair, tmp_path: Path) -> None:
    runner = Turns(ours(tmp_path, flows=3), count=1, on_message=quiet)
    with pytest.raises(OtherWorkError, match=r"floodway finished 3 of 4 flows \(one\)"):
        runner.paired(pair, manifest(folder)["htsim"], work_folder(tmp_path))


def test_a_program_that_is_not_there_could_not_be_started(tmp_path: Path) -> None:
    with pytest.raises(FloodwayError, match="htsim could not be started: nowhere: No such file"):
        used(["nowhere"], folder=tmp_path, name="htsim")


def test_the_peak_of_a_program_is_not_that_of_its_parent(tmp_path: Path) -> None:
    small, printed = used([sys.executable, "-I", "-S", "-c", "print(1)"], folder=tmp_path, name="small")
    assert printed == "1\n"
    assert small.peak_memory_bytes < 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2
    text = "held = bytearray(200_000_000); held[::4096] = bytes(len(held[::4096]))"
    large, _ = used([sys.executable, "-I", "-S", "-c", text], folder=tmp_path, name="large")
    assert large.peak_memory_bytes > 200_000_000


def made_up(folder: Path, pair: Pair) -> Paired:
    return Paired(
        pair=pair,
        run=pair.ours[0],
        peer=manifest(folder)["htsim"],
        work="4 flows",
        theirs=(usage(6.0), usage(9.0), usage(8.0)),
        ours=(usage(1.0), usage(1.0), usage(2.0)),
    )


def test_ratios_are_those_of_each_turn(folder: Path, pair: Pair) -> None:
    new = entry(ROOT, [], {}, [], pairs=[made_up(folder, pair)])
    (kept,) = new["pairs"]
    assert kept["ratio"] == {"min": 4.0, "median": 6.0, "max": 9.0}
    assert kept["theirs"]["cpu_s"] == [6.0, 9.0, 8.0]
    assert (kept["theirs"]["cpu_s_median"], kept["ours"]["wall_s_median"]) == (8.0, 2.0)
    assert kept["peer"] == {
        "name": "htsim",
        "version": "htsim (stand-in)",
        "commit": "0123abc",
        "flags": "-O3",
    }
    block = pairs_block(new)
    row = "| 4 to 1 | htsim (stand-in): PFC | 8.0 s, 25 MB | one | 1.0 s, 25 MB | 4.0 / **6.0** / 9.0 | 3 |"
    assert row in block
    assert "- htsim (stand-in), commit 0123abc, built with `-O3`." in block
    assert "- 4 to 1, one: 4 flows." in block


def test_the_page_shows_the_last_pairs_of_the_history() -> None:
    last = last_pairs(read(ROOT / "benchmarks" / "history.json"))
    assert last is not None
    page = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    assert "<!-- begin: pairs -->" in page
    assert written(page, "pairs", pairs_block(last)) == page


@pytest.fixture
def pages(folder: Path, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Let the command run one pair; return the history and the page that it writes."""
    history, page = tmp_path / "history.json", tmp_path / "page.md"
    page.write_text("<!-- begin: pairs -->\n<!-- end: pairs -->\n", encoding="utf-8")
    monkeypatch.setenv("FLOODWAY_PEERS", str(folder))
    monkeypatch.setattr(program_of_bench, "Listing", lambda _folder: SimpleNamespace(pairs=(pair,)))
    monkeypatch.setattr(program_of_bench, "built", lambda _root: ours(tmp_path))
    for name, file in (("HISTORY", history), ("PAGE", page)):
        monkeypatch.setattr(program_of_bench, name, file)
    return history, page


def test_the_command_keeps_what_was_measured(pages: tuple[Path, Path]) -> None:
    history, page = pages
    assert program_of_bench.app(["peers", "--turns", "1"], standalone_mode=False) == 0
    assert [each["pair"] for each in read(history)[0]["pairs"]] == ["incast", "incast"]
    assert "| 4 to 1 | htsim (stand-in): PFC |" in page.read_text(encoding="utf-8")


def test_the_command_keeps_no_pair_that_failed(
    pages: tuple[Path, Path], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history, page = pages
    before = page.read_text(encoding="utf-8")
    behave(folder, "fails")
    assert program_of_bench.app(["peers", "--turns", "1"], standalone_mode=False) == 1
    assert (read(history), page.read_text(encoding="utf-8")) == ([], before)
    assert "incast: failed, htsim failed with exit code 1: no such strategy" in capsys.readouterr().out


def hops(source: int, destination: int, *, k: int) -> int:
    """Return the links between two hosts of a fat tree that count along its top-of-rack switches."""
    if source // (k // 2) == destination // (k // 2):
        return 2
    return 4 if source // (k * k // 4) == destination // (k * k // 4) else 6


def test_a_matrix_has_the_flows_of_the_scenario_and_crosses_as_many_links() -> None:
    sets = [("topology.fat-tree.k", "4"), ("workload.permutation.permutation.size", "98200B")]
    result = floodway.run(floodway.load(ROOT / "benchmarks" / "line-rate-128.toml", sets=sets))
    head, count, *lines = htsim.connection_matrix(result.flows, hosts=16).splitlines()
    assert (head, count) == ("Nodes 16", "Connections 16")
    pairs = [line.split()[0].split("->") for line in lines]
    assert {line.split(maxsplit=3)[3] for line in lines} == {"start 0 size 100000"}
    crossed = sum(hops(int(source), int(destination), k=4) for source, destination in pairs)
    assert result.outcome.packet_hops == 2 * 100 * crossed


def test_both_runs_of_a_pair_have_the_same_flows() -> None:
    for pair in Listing(ROOT / "benchmarks").pairs:
        if pair.peer != "htsim":
            continue
        flows = []
        for run in pair.ours:
            sets = [(path, value) for path, _, value in (each.partition("=") for each in run.sets)]
            scenario = floodway.load(run.scenario, sets=[*sets, ("limit", "1us")])
            flows.append(floodway.run(scenario).flows.select("source", "destination", "size_bytes"))
        assert flows[0].equals(flows[1]), pair.name


def prepared_ns3(folder: Path) -> tuple[Work, Path]:
    run = Run(name="HPCC", scenario=str(ROOT / "scenarios" / "hpcc" / "config.txt"))
    work = hpcc_ns3.prepared(Pair(name="small", what="", peer="hpcc-ns3", theirs="", ours=(run,)), folder)
    return work, folder / "fct.txt"


def test_completion_times_are_compared_flow_by_flow(tmp_path: Path) -> None:
    work, fct = prepared_ns3(tmp_path)
    assert (work.arguments, work.scenarios) == (("config.txt",), (str(tmp_path / "config.txt"),))
    with pytest.raises(OtherWorkError, match=r"did not write fct\.txt"):
        work.check("")
    expected = (tmp_path / "ours" / "fct.txt").read_text(encoding="utf-8")
    assert work.flows == len(expected.splitlines())
    first, _, rest = expected.partition("\n")
    *flow, time, standalone = first.split()
    later = " ".join([*flow, str(int(time) + 1), standalone])
    fct.write_text(f"{later}\n{rest}", encoding="utf-8")
    done = f"{work.flows} flows finished in both; {work.flows - 1} of theirs to the nanosecond as by floodway"
    assert work.check("") == done
    fct.write_text(rest, encoding="utf-8")
    with pytest.raises(OtherWorkError, match=f"did not finish 1 of {work.flows} flows of floodway"):
        work.check("")
    fct.write_text(expected + first.replace(" 100 ", " 101 ", 1) + "\n", encoding="utf-8")
    with pytest.raises(OtherWorkError, match="finished 1 flows that floodway does not have"):
        work.check("")


def test_the_tree_of_320_hosts_is_written_with_its_flows(tmp_path: Path) -> None:
    whole = floodway.load(ROOT / "benchmarks" / "websearch-320.toml")
    short = whole.replace(sets=[("workload.websearch.until", "10us")])
    write_folder(short, ROOT / "benchmarks" / "websearch-320" / "config.txt", tmp_path)
    lines = (tmp_path / "topology.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "376 56 480"
    assert (lines[2], lines[-1]) == ("0 320 100Gbps 1000ns 0.000000", "359 375 400Gbps 1000ns 0.000000")
    read_again = floodway.load(tmp_path / "config.txt")
    assert len(read_again.native.nodes) == 376
    own, theirs = (floodway.run(each.replace(limit="10us")).flows for each in (short, read_again))
    assert own.sort("start_us")["size_bytes"].to_list() == theirs.sort("start_us")["size_bytes"].to_list()


def test_other_networks_are_not_written(tmp_path: Path) -> None:
    other = floodway.load(ROOT / "benchmarks" / "fat-tree-128.toml")
    with pytest.raises(FloodwayError, match="fat-tree-128 is not on mercury-fat"):
        write_folder(other, tmp_path / "config.txt", tmp_path)


def test_every_simulator_of_the_pairs_has_its_work() -> None:
    peers = {pair.peer for pair in Listing(ROOT / "benchmarks").pairs}
    assert peers == set(turns.PREPARED)
    assert Peer.__dataclass_fields__.keys() >= {"version", "commit", "flags"}

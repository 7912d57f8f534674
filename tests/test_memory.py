"""The cost of a run, estimated before it runs; a run that needs too much memory ends with an error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import floodway as package
from command import environment
from scenarios import BURST, LISTED, SMALL, SPRAYED, written

if TYPE_CHECKING:
    from command import Command

SCENARIOS = Path(__file__).parents[1] / "scenarios"
#: Flows of a byte at half of what two NICs send: 12.5 in a nanosecond.
CROWD = SMALL.replace('"fb-hadoop"', '{ fixed = "1B" }').replace('"2ms"', '"20ms"')


#: Flows of one size: their sum is near its mean, however few they are.
EVEN = SMALL.replace('"fb-hadoop"', '{ fixed = "30KB" }')


def near(scenario: package.Scenario, factor: float) -> None:
    """See to it that the estimate of packet-hops is no more than so many times off."""
    told = scenario.check()["cost"]
    assert isinstance(told, dict)
    ratio = told["packet_hops"] / package.run(scenario).outcome.packet_hops
    assert 1 / factor < ratio < factor, f"{ratio:.2f}"


@pytest.mark.parametrize("text", [EVEN, BURST, LISTED, SPRAYED])
def test_packet_hops_are_reported_before_the_run(text: str) -> None:
    near(package.Scenario.from_toml(text), 1.5)


@pytest.mark.parametrize("name", ["incast", "control-loss", "micro-burst", "tcd-victim"])
def test_packet_hops_of_ready_scenarios_are_reported_before_the_run(name: str) -> None:
    near(package.load(SCENARIOS / f"{name}.toml"), 2)


#: Networks of some shapes, and how their hosts are named.
NETWORKS = {
    "dumbbell": (
        'dumbbell = { left = 4, right = 4, rate = "100G", delay = "1us", bottleneck = { rate = "40G" } }'
    ),
    "leaf-spine": 'leaf-spine = { leaves = 4, spines = 2, hosts = 4, rate = "100G", delay = "1us" }',
    "fat-tree": 'fat-tree = { k = 4, rate = "100G", delay = "500ns" }',
    "two-dc": (
        'two-dc = { fabric.fat-tree = { k = 2 }, rate = "100G", delay = "1us", '
        'long-link = { rate = "100G", length = "20km" } }'
    ),
}
#: What may happen in them. Of flows that are drawn there are 50 at least: the number of fewer is chance.
TRAFFIC = {
    "poisson": 'poisson = { sizes = { fixed = "20KB" }, load = LOAD }\nuntil = "1ms"',
    "small": 'poisson = { sizes = { fixed = "3KB" }, load = LOAD }\nuntil = "300us"',
    "permutation": 'permutation = { size = "1MB" }',
    "all-to-all": 'all-to-all = { size = "100KB" }',
    "incast": 'incast = { to = "h1", size = "200KB" }',
    "endless": 'long-lived = { from = "h1", to = "h2" }',
}


@settings(max_examples=40)
@given(
    network=st.sampled_from(sorted(NETWORKS)),
    traffic=st.lists(st.sampled_from(sorted(TRAFFIC)), min_size=1, max_size=2, unique=True),
    load=st.floats(0.1, 0.8),
    reliability=st.sampled_from(["go-back-n", "irn", "none"]),
    limit=st.sampled_from(["200us", "2ms", "20ms"]),
)
def test_packet_hops_of_any_scenario_are_reported_before_the_run(
    network: str, traffic: list[str], load: float, reliability: str, limit: str
) -> None:
    workloads = [f'[[workload]]\nname = "w{i}"\n{TRAFFIC[kind]}' for i, kind in enumerate(traffic)]
    text = "\n".join(
        [
            f'limit = "{limit}"\ntopology.{NETWORKS[network]}\n[defaults]\nflow-control = "pfc"',
            f'reliability = "{reliability}"\nbuffer.shared = {{ pool = "20MB" }}',
            *(workload.replace("LOAD", f"{load:.3f}") for workload in workloads),
        ]
    )
    near(package.Scenario.from_toml(text), 3)


def test_a_limit_cuts_the_estimate_off_as_it_cuts_the_run() -> None:
    # Of 100 MB an eighth and half pass.
    whole = package.Scenario.from_toml(LISTED)
    for limit in ("1ms", "4ms"):
        near(whole.replace(sets=[("limit", limit)]), 1.5)


def test_check_prints_the_cost_of_a_run(floodway: Command) -> None:
    path = written(floodway.folder, SMALL)
    (line,) = [line for line in floodway("check", path).out.splitlines() if line.startswith("a run: ")]
    assert "packet-hops" in line
    assert line.endswith(" MB of memory")
    cost = json.loads(floodway("check", path, "--json").out)["cost"]
    assert set(cost) == {
        "flows",
        "simulated_us",
        "packet_hops",
        "wall_s",
        "memory_bytes",
        "network_bytes",
    }
    assert 0 < cost["network_bytes"] < cost["memory_bytes"]


#: Jobs of up to a thousand million messages.
JOBS = Path(__file__).parents[1] / "benchmarks" / "jobs"


@pytest.mark.parametrize("name", ["ring-4096", "hierarchical-1024", "ring-1024", "training-4096"])
def test_messages_of_large_jobs_need_no_memory_when_they_are_over(name: str) -> None:
    cost = package.load(JOBS / f"{name}.toml").check()["cost"]
    assert isinstance(cost, dict)
    assert cost["flows"] > 1e6
    assert cost["memory_bytes"] < 2e9


def test_a_run_that_no_machine_has_the_memory_for_is_refused_with_the_number(floodway: Command) -> None:
    path = written(floodway.folder, CROWD.replace('"20ms"', '"90s"'))
    done = floodway("run", path, "--quiet")
    assert (done.code, done.out) == (1, "")
    (line,) = done.err.splitlines()
    assert line.startswith("error: small: about ")
    assert " TB of memory are needed, and " in line
    assert line.endswith("; --force-memory, in Python force_memory=True, runs it anyway")
    assert floodway("check", path).err.startswith("warning: a run would be refused: about ")
    # Nothing was drawn to find that out, and nothing is kept.
    assert not (floodway.folder / "out" / "small").exists()
    with pytest.raises(MemoryError) as caught:
        package.run(package.load(path))
    assert isinstance(caught.value, package.RunError)


#: What a notebook's kernel does: a run under a limit of addresses that is soon reached, then one that fits.
KERNEL = """
import resource, sys
import floodway
floodway.run(floodway.load(sys.argv[2]), threads=1)
status = open("/proc/self/status").read()
size = int(status.split("VmSize:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (size + (400 << 20), resource.RLIM_INFINITY))
try:
    floodway.run(floodway.load(sys.argv[1]), threads=1, force_memory=True)
except floodway.OutOfMemoryError as error:
    print(error)
print(floodway.run(floodway.load(sys.argv[2]), threads=1).outcome.stopped)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what is left")
def test_a_run_that_memory_ran_out_for_leaves_the_process_alive(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    crowd, small = written(tmp_path, CROWD), written(tmp_path / "small", SMALL)
    done = subprocess.run(
        [sys.executable, "-c", KERNEL, str(crowd), str(small)],
        env={**environment(), "POLARS_MAX_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said, stopped = done.stdout.splitlines()
    assert said.startswith("memory ran out: ")
    assert "left to this process, whose memory is limited" in said
    assert stopped == "finished"


#: Each flow asks for credits a hundred thousand million times a second: that takes all memory within one
#: window of 100 us.
GREEDY = """
limit = "10ms"
topology.single-switch = { hosts = 3, rate = "100G", delay = "100us" }
defaults.rate-control = { expresspass = { request-timeout = "10ps" } }
workload = [{ name = "w", all-to-all = { size = "300B" } }]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what is left")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("more", [150, 300, 600])
def test_memory_that_runs_out_within_a_window_is_reported_in_a_line_on_any_thread(
    floodway: Command, threads: int, more: int
) -> None:
    path = written(floodway.folder, GREEDY)
    words = ("run", path, "--threads", str(threads), "--force-threads", "--quiet")
    # What the command needs by itself is known once it has begun.
    code = (
        "import resource, sys, floodway.simulation.run\n"
        "from floodway.cli import main\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        f"resource.setrlimit(resource.RLIMIT_AS, (size + ({more} << 20), resource.RLIM_INFINITY))\n"
        f"sys.argv = {['floodway', *map(str, words)]!r}\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=floodway.folder,
        env={**environment(), "POLARS_MAX_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith("error: memory ran out: ")


#: What reads a scenario where there is room for 300 MB more.
READER = """
import resource
import floodway
floodway.Scenario.from_toml(open("small.toml").read())
status = open("/proc/self/status").read()
size = int(status.split("VmSize:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (size + (300 << 20), resource.RLIM_INFINITY))
try:
    floodway.load("a.toml")
except floodway.ScenarioError as error:
    print(error)
"""


def limited(folder: Path) -> str:
    """What is said of a.toml where memory is limited."""
    written(folder, SMALL)
    done = subprocess.run(
        [sys.executable, "-c", READER],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what is left")
def test_a_list_of_flows_that_memory_cannot_hold_is_refused_before_it_is_read(tmp_path: Path) -> None:
    rows = "h1,h3,1000,0\n" * 1_000_000
    (tmp_path / "list.csv").write_text("source,destination,size_bytes,start_us\n" + rows)
    network = SMALL[: SMALL.index("[[workload]]")]
    (tmp_path / "a.toml").write_text(f'{network}[[workload]]\nname = "w"\nflow-list.file = "list.csv"\n')
    assert "workload.w.flow-list.file: it has 1000001 flows: about " in limited(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what is left")
def test_a_network_that_memory_cannot_hold_is_refused_before_it_is_built(tmp_path: Path) -> None:
    network = 'topology.fat-tree = { k = 40, rate = "100G", delay = "1us" }\n'
    traffic = 'workload = [{ name = "w", flows = [{ from = "h1", to = "h2", size = "1KB" }] }]\n'
    (tmp_path / "a.toml").write_text(network + traffic)
    said = limited(tmp_path)
    assert said.startswith("a.toml:1: topology: about ")
    assert "left to this process, whose memory is limited" in said


def test_threads_that_would_only_wait_are_not_used_and_that_is_said_at_once(floodway: Command) -> None:
    near = SMALL.replace('"1us"', '"30ns"').replace('"2ms"', '"100us"')
    path = written(floodway.folder, near)
    done = floodway("run", path, "--threads", "2")
    assert done.code == 0
    (line,) = [line for line in done.err.splitlines() if line.startswith("warning: 1 thread")]
    assert line.startswith("warning: 1 thread instead of 2: windows are 30ns long, in which hosts receive ")
    timings = json.loads((floodway.folder / "out" / "small" / "run.json").read_text())["timings"]
    assert timings["threads"] == 1
    assert timings["threads_why"] in line
    forced = package.run(package.load(path), threads=2, force_threads=True)
    assert forced.run.timings.threads == 2
    assert forced.flows.equals(package.run(package.load(path), threads=2).flows)
    path = written(floodway.folder, near.replace('"30ns"', '"1ns"'))
    together = "links of less than 20ns hold all nodes together, whose events have one order then"
    for flags in ((), ("--force-threads",)):
        done = floodway("run", path, "--threads", "2", "--force", *flags)
        assert f"warning: 1 thread instead of 2: {together}" in done.err


@pytest.mark.long
def test_a_comparison_and_a_scenario_that_ask_for_threads_hear_of_it_too(floodway: Command) -> None:
    path = written(floodway.folder, SMALL.replace('"2ms"', '"100us"') + "\n[engine]\nthreads = 2\n")
    assert "warning: 1 thread instead of 2: " in floodway("run", path).err
    done = floodway("compare", path, "--vary", "seed=1,2", "--threads", "2")
    assert done.code == 0
    assert done.err.count(": 1 thread instead of 2: ") == 2
    arguments = ("compare", path, "--vary", "seed=1,2", "--threads", "2", "--force-threads", "--force")
    done = floodway(*arguments, "--out", "forced")
    assert done.code == 0
    assert "thread instead of" not in done.err
    runs = [json.loads(file.read_text()) for file in (floodway.folder / "forced").glob("*/run.json")]
    assert [run["timings"]["threads"] for run in runs] == [2, 2]

"""Jobs: collectives, traces, results."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import floodway
from command import Command
from floodway import plot
from floodway import read as reading
from floodway.cli.show_document import show
from floodway.comparison.document import document
from floodway.comparison.extrapolation import Extrapolated, Line
from floodway.plot.compared import pictures
from floodway.results.collectives import bandwidths, collectives_of
from floodway.results.document import document as run_document
from floodway.results.iterations import exposed_of, iterations_of
from floodway_lab.validation.jobs import star
from floodway_lab.validation.jobs.networks import HEADER, PAYLOAD, scenario_of
from scenarios import RAILS


def run(network: str, workload: str, *, reliability: str = "none") -> floodway.Result:
    """Run a job in a network whose packets have nothing but headers in their way."""
    return floodway.run(scenario_of(network, workload, reliability=reliability))


def ends_ns(result: floodway.Result, *kinds: str) -> dict[int, float]:
    """Return when each rank completed the last of its operations of these kinds."""
    operations = result.operations
    assert operations is not None
    if kinds:
        operations = operations.filter(pl.col("kind").cast(pl.String).is_in(kinds))
    last = operations.group_by("rank").agg(pl.col("end_us").max() * 1000)
    return dict(last.iter_rows())


@pytest.fixture(scope="module")
def reference() -> Path:
    folder = os.environ.get("FLOODWAY_REFERENCE")
    if not folder:
        pytest.skip("FLOODWAY_REFERENCE names no folder of reference data")
    runs = Path(folder) / "reference/ai"
    if not runs.is_dir():
        pytest.skip("the folder of reference data has no traces of training")
    return runs


def test_a_ring_written_out_takes_as_long_as_the_generated_one(reference: Path) -> None:
    network = star(8, rate="400G", delay="500ns")
    files = reference / "chakra/custom-ring-8"
    written = run(network, f'trace = {{ format = "chakra", files = "{files}" }}')
    # Its computations take 7 us a step: 131072 bytes at this rate.
    reduce = 'size = "1048576B", reduce-rate = "149796571429bps"'
    generated = run(network, f'collective = {{ op = "all-reduce", algorithm = "ring", {reduce} }}')
    assert ends_ns(written) == pytest.approx(ends_ns(generated), abs=1e-3)


def test_a_schedule_that_never_ends_is_refused(reference: Path) -> None:
    path = reference / "runs/goal/waits-forever.goal"
    with pytest.raises(floodway.ScenarioError, match="rank 0 sends 0 messages with tag 9 to rank 1"):
        run(star(2, rate="8G", delay="1us"), f'trace = {{ format = "goal", files = "{path}" }}')


# ---------------------------------------------------------------------------------------- mistakes, results


#: A rank that receives before it sends.
TURN = "r: recv 5b from {0}\ns: send 5b to {0}\ns requires r"


def goal(tmp_path: Path, text: str) -> str:
    path = tmp_path / "job.goal"
    path.write_text(text, encoding="utf-8")
    return f'trace = {{ format = "goal", files = "{path}" }}'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("num_ranks 2\nrank 0 {\nl1: sent 5b to 1\n}", 'line 3: "sent" is no operation; allowed: send, recv'),
        ("num_ranks 2\nrank 0 {\nsend 5b to 2\n}", '"2" where a rank, from 0 to 1, is expected'),
        ("num_ranks 2\nrank 0 {\nsend 5b to 0\n}", "a rank has no messages to itself"),
        ("num_ranks 2\nrank 0 {\na: calc 5\na requires b\n}", 'no operation above has the label "b"'),
        ("num_ranks 2\nrank 0 {\n}", 'the file ends where "rank" is expected'),
        ("num_ranks 2\nrank 0 {\nsend 5 to 1\n}", '"5" where a size like 1024b is expected'),
        (
            "num_ranks 2\nrank 0 {\na: calc 5\nb: calc 6\na requires b\nb requires a\n}\nrank 1 {\n}",
            "operations of rank 0 wait for each other",
        ),
        (
            f"num_ranks 2\nrank 0 {{\n{TURN.format(1)}\n}}\nrank 1 {{\n{TURN.format(0)}\n}}",
            "ranks wait for each other for ever: rank 0: r",
        ),
        (
            "num_ranks 2\nrank 0 {\nsend 5b to 1\n}\nrank 1 {\nrecv 5b from -1\nrecv 5b from -1\n}",
            "rank 1 receives 2 messages",
        ),
        (
            "num_ranks 3\nrank 0 {\n}\nrank 1 {\n}\nrank 2 {\n}",
            "the trace has 3 ranks, and the network has 2 GPUs",
        ),
    ],
)
def test_schedules_with_mistakes_are_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(floodway.ScenarioError, match=re.escape(why)):
        run(star(2, rate="8G", delay="1us"), goal(tmp_path, text))


def test_messages_that_nobody_receives_are_a_warning(tmp_path: Path) -> None:
    schedule = (
        "num_ranks 2\nrank 0 {\nsend 5b to 1 tag 1\nsend 5b to 1 tag 2\n}\nrank 1 {\nrecv 5b from 0 tag 1\n}"
    )
    text = f'{star(2, rate="8G", delay="1us")}\n[[workload]]\nname = "job"\n{goal(tmp_path, schedule)}\n'
    scenario = floodway.Scenario.from_toml(text)
    assert any("rank 1 never receives a message of rank 0 with tag 2" in text for text in scenario.warnings)
    assert set(ends_ns(floodway.run(scenario))) == {0, 1}


@pytest.mark.parametrize(
    ("workload", "why"),
    [
        ('collective = { op = "all-redice", size = "1MB" }', "all-redice"),
        ('collective = { op = "gather" }', "size: it is missing: write the size of the buffer"),
        (
            'collective = { op = "broadcast", algorithm = "direct", size = "1MB" }',
            'algorithm: "direct" is no algorithm of broadcast; allowed: "ring", "binomial-tree"',
        ),
        ('collective = { op = "all-reduce", size = "1MB", channels = 0 }', "channels: 0 is not a number"),
        (
            'collective = { op = "all-reduce", size = "1MB", window = 2 }',
            'it belongs to algorithm = "pairwise"',
        ),
        (
            'collective = { op = "all-reduce", algorithm = "hierarchical", levels = [3], size = "1MB" }',
            "the product of [3] is not the number of ranks, 4",
        ),
        (
            (
                'collective = { op = "all-to-all", size = "1MB", count = 2, '
                'matrix = [["0B", "2MB"], ["4MB", "0B"]] }'
            ),
            "1MB is not what a rank sends on average by `matrix`, 3MB",
        ),
        (
            (
                'collective = { op = "all-to-all", size = "1MB", count = 2, '
                'matrix = [["0B", "0B"], ["0B", "0B"]] }'
            ),
            "matrix: no rank sends a byte by it",
        ),
        (
            'training = { model = "llama-3-70b", flops = 4e14, pipeline = 4, micro-batches = 100000000 }',
            "micro-batches: a rank has at least 4000000000 operations",
        ),
        ('collective = { op = "all-reduce", size = "1MB", count = 1 }', "a collective of 1 rank"),
        ('collective = { op = "all-reduce", size = "1MB", ranks = "x*" }', '"x*" matches no host'),
        (
            'collective = { op = "all-reduce", size = "1MB", count = 5 }',
            "5 is not a number from 1 to the 4 GPUs",
        ),
        ('trace = { format = "goal", files = "nothing.goal" }', "nothing.goal"),
        ('trace = { format = "goal", files = 3 }', "trace.files: the number 3 where a string is required"),
        (
            'collective = { op = "all-reduce", size = 1000000 }',
            'collective.size: "1000000" is not a size: its unit is missing; write it like "288KB"',
        ),
        (
            'collective = { op = "all-reduce", size = "1MB", rank-file = "ranks.txt", ranks = "h1" }',
            'collective.ranks: it and "rank-file", which has the hosts in their order, are given together',
        ),
        (
            'training = { model = "llama-3-70b", flops = 4e14, rank-file = "a", placement = "node-first" }',
            'training.placement: it and "rank-file", which has the hosts in their order, are given together',
        ),
        (
            'collective = { op = "all-reduce", size = "1MB", ranks = ["h1", "h2", "h1"] }',
            'collective.ranks: "h1" is there twice: it selects a host once',
        ),
        ('collective = { op = "all-reduce", size = "1MB", ranks = [] }', "ranks: [] matches no host"),
        (
            'collective = { op = "all-reduce", size = "1MB", groups = "node" }',
            'collective.groups: "node" makes a group of rank 0 (h1) alone: it needs at least 2 ranks',
        ),
        (
            'collective = { op = "all-gather", size = "1MB", reduce-rate = "1T" }',
            'reduce-rate: it belongs to op = "all-reduce", "reduce-scatter" and "reduce"',
        ),
        (
            'until = "1ms"\ncollective = { op = "all-reduce", size = "1MB" }',
            'until: a job runs to its end: only "limit" ends it before',
        ),
    ],
)
def test_mistakes_name_their_key(workload: str, why: str) -> None:
    with pytest.raises(floodway.ScenarioError) as caught:
        run(star(4, rate="8G", delay="1us"), workload)
    message = str(caught.value).replace("\u202f", " ")
    assert why in message or why.replace("3 B", "3B") in message


def test_results_have_bandwidths_as_nccl_tests_define_them() -> None:
    sizes = '["1MB", "4MB"]'
    result = run(
        star(4, rate="100G", delay="1us"), f'collective = {{ op = "all-reduce", size = {sizes}, repeat = 3 }}'
    )
    assert result.operations is not None
    assert result.collectives is not None
    assert result.collectives.equals(collectives_of(result.operations))
    assert result.collectives["ranks_done"].to_list() == [4] * 6
    table = bandwidths(result.collectives)
    assert table["count"].to_list() == [3, 3]
    for row in table.iter_rows(named=True):
        algorithm = row["bytes"] * 8 / row["mean_us"] / 1e3
        assert row["algbw_gbps"] == pytest.approx(algorithm)
        assert row["busbw_gbps"] == pytest.approx(algorithm * 2 * 3 / 4)
        part = row["bytes"] // 4
        # Six steps, at 12.5 bytes a nanosecond, of which the switch forwards the first packet as a whole.
        step = (part + (-(-part // PAYLOAD)) * HEADER + PAYLOAD + HEADER) / 12.5e3 + 2
        assert row["mean_us"] == pytest.approx(6 * step, rel=1e-9)
    parts = iterations_of(result.operations)
    assert parts.height == 12
    total = parts["compute_us"] + parts["exposed_us"] + parts["idle_us"]
    assert total.to_list() == pytest.approx(parts["time_us"].to_list())
    assert parts["compute_us"].sum() == 0


def test_nobody_is_idle_for_less_than_nothing(floodway: Any, tmp_path: Path) -> None:  # noqa: ANN401 (the command line)
    # Each rank computes for 0.1 us and is done. Three times 0.1 over three is more than 0.1 in binary.
    ranks = "".join(f"rank {i} {{\nc: calc 100 cpu 1\n}}\n" for i in range(3))
    trace = goal(tmp_path, f"num_ranks 3\n{ranks}")
    text = f'{star(3, rate="8G", delay="1us")}\n[[workload]]\nname = "job"\n{trace}\n'
    (floodway.folder / "scenario.toml").write_text(text, encoding="utf-8")
    ran = floodway("run", "scenario.toml", "--out", "out")
    assert ran.code == 0, ran.err
    assert "100 %" in ran.out
    assert "-0.0" not in ran.out
    (iteration,) = reading(floodway.folder / "out").summary().iterations
    assert str(iteration.idle_us) == "0.0"


def test_parts_of_an_iteration_overlap(tmp_path: Path) -> None:
    # Rank 0 computes 10 us; a message of 8 us leaves at the same time, and another one of 8 us after that.
    text = (
        "num_ranks 2\nrank 0 {\nc: calc 10000 cpu 1\ns: send 8000b to 1 tag 1\n"
        "t: send 8000b to 1 tag 2\nt requires s\n}\n"
        "rank 1 {\na: recv 8000b from 0 tag 1\nb: recv 8000b from 0 tag 2\n}"
    )
    trace = goal(tmp_path, text).replace(" }", ', send-completes = "received" }')
    result = run(star(2, rate="8G", delay="100ns"), trace)
    assert result.operations is not None
    parts = iterations_of(result.operations).row(0, named=True)
    assert parts["compute_us"] == pytest.approx(10)
    assert parts["exposed_us"] == pytest.approx(parts["time_us"] - 10)
    assert parts["exposed_us"] > 6


def test_a_job_that_does_not_end_fails_the_run(floodway: Any) -> None:  # noqa: ANN401 (the command line)
    text = (
        f'{star(4, rate="1G", delay="1us")}\nlimit = "1ms"\n[[workload]]\nname = "job"\n'
        'collective = { op = "all-reduce", size = "10MB" }\n'
    )
    (floodway.folder / "job.toml").write_text(text, encoding="utf-8")
    ran = floodway("run", "job.toml", "--out", "out/job")
    assert ran.code == 1
    assert "4 of 4 ranks of job did not complete" in ran.err
    assert "job job: 0 of 4 ranks completed their program" in ran.out


# ---------------------------------------------------------------------------------------- nodes, iterations


def check(text: str) -> floodway.Scenario:
    job = '[[workload]]\nname = "job"\ncollective = { op = "all-reduce", size = "1MB", groups = "node" }\n'
    return floodway.Scenario.from_toml(f"{text}\n{job}")


def switch(hosts: int, nodes: str) -> str:
    """Give hosts of a switch GPU nodes."""
    return (
        f'topology.single-switch = {{ hosts = {hosts}, rate = "100G", delay = "1us" }}\ngpu-nodes = {nodes}'
    )


def rails(nodes: str) -> str:
    """Give two nodes of four GPUs, on rails, these keys of `gpu-nodes`."""
    network = 'nodes = 2, gpus-per-node = 4, spines = 1, rate = "100G", delay = "1us"'
    return f"topology.rail-optimised = {{ {network} }}\ngpu-nodes = {nodes}"


#: Two sites of six hosts, and nodes of four.
ACROSS = """
[topology.two-dc]
fabric.single-switch = { hosts = 6 }
rate = "100G"
delay = "1us"
long-link = { rate = "100G", length = "80km" }
[gpu-nodes]
gpus-per-node = 4
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            switch(8, "{ gpus-per-node = 3 }"),
            "the network has 8 hosts, which are not whole groups of 3 hosts",
        ),
        (
            switch(8, "{ gpus-per-node = 8, gpus-per-nic = 3 }"),
            "3 does not divide the 8 GPUs of a node",
        ),
        (
            rails("{ gpus-per-node = 2 }"),
            "2 is not allowed: the topology has nodes of 4 GPUs",
        ),
        (ACROSS, "the site dc-a has 6 hosts, which are not whole groups of 4 hosts"),
        (
            switch(6, '{ gpus-per-node = 2, scale-up = { rate = "900G", nodes = 2 } }'),
            "the network has 6 hosts, which are not whole groups of 4 hosts",
        ),
    ],
)
def test_nodes_that_are_no_whole_numbers_of_hosts_are_refused(text: str, why: str) -> None:
    with pytest.raises(floodway.ScenarioError, match=re.escape(why)):
        check(text)


def test_gpus_that_share_a_nic_are_ranks_of_a_host() -> None:
    text = rails('{ gpus-per-nic = 2, scale-up = { rate = "900G", latency = "500ns" } }')
    result = floodway.run(check(text))
    assert result.collectives is not None
    # Two nodes of four hosts and eight GPUs, all of whose messages stay in their scale-up domains.
    assert result.collectives["ranks"].to_list() == [8, 8]
    job = result.outcome.jobs[0]
    assert (job.ranks, job.finished, result.outcome.packet_hops) == (16, 16, 0)
    # Seven steps each way of an eighth of the bytes, at both ends at once.
    expected = 14 * (0.5 + 125_000 * 8 / 900e3)
    assert result.collectives["time_us"].to_list() == pytest.approx([expected, expected], rel=1e-6)


@pytest.mark.parametrize(("keys", "stays"), [("", True), ('gpu-nodes.scale-up = "none"', False)])
def test_messages_within_a_node_of_a_published_cluster_take_its_nvlink(keys: str, *, stays: bool) -> None:
    network = f'topology.preset = {{ name = "superpod-h100", nodes = 1 }}\n{keys}'
    job = '[[workload]]\nname = "job"\ncollective = { op = "all-reduce", size = "1MB" }'
    scenario = floodway.Scenario.from_toml(f"{network}\n{job}")
    assert not any("scale-up" in warning for warning in scenario.warnings)
    assert (floodway.run(scenario).outcome.packet_hops == 0) is stays


MODEL = "{ layers = 8, hidden = 64, sequence = 128, parameters = 800000 }"


def test_an_iteration_has_its_bubble_and_its_parts() -> None:
    degrees = 'pipeline = 4, micro-batches = 4, forward = "1ms", backward = "2ms", iterations = 2'
    training = f"training = {{ model = {MODEL}, {degrees} }}"
    result = run(star(4, rate="400G", delay="100ns"), training)
    assert result.operations is not None
    parts = iterations_of(result.operations)
    assert parts.height == 8
    # 1F1B: (m + p - 1)(f + b) with two layers a stage, but for messages of 16 KB; m (f + b) of it computed.
    first = parts.filter(pl.col("iteration") == 0)
    assert first["end_us"].max() == pytest.approx(7 * 6000, rel=1e-3)
    assert first["compute_us"].to_list() == pytest.approx([24_000] * 4)
    assert first["idle_us"].min() == pytest.approx(0, abs=18_100)
    own = result.summary().iterations
    assert [each.iteration for each in own] == [0, 1]
    assert own[0].time_us == pytest.approx(7 * 6000, rel=1e-3)
    assert own[0].compute_us == pytest.approx(24_000)
    # Three of seven slots of a rank are the bubble; the rest of it is messages between stages.
    assert own[0].idle_us + own[0].exposed_us == pytest.approx(3 * 6000, rel=1e-2)
    assert {each.name for each in own[0].exposed} == {"activations"}


def test_exposed_communication_adds_up_by_name() -> None:
    """Each instant counts for the operation that started first, if its rank does not compute."""
    spans = [
        ("compute", "forward", 0, 10),
        ("all-reduce", "tensor", 5, 15),
        ("all-to-all", "dispatch", 12, 30),
        ("compute", "backward", 20, 25),
        ("recv", "activations", 30, 40),
        ("all-gather", "parameters", 41, 44),
        ("all-to-all", "dispatch", 42, 43),
    ]
    operations = pl.DataFrame(
        {
            "workload": ["job"] * len(spans),
            "iteration": [0] * len(spans),
            "rank": [3] * len(spans),
            "operation": list(range(len(spans))),
            "kind": [kind for kind, *_ in spans],
            "name": [name for _, name, *_ in spans],
            "ready_us": [float(start) for *_, start, _ in spans],
            "start_us": [float(start) for *_, start, _ in spans],
            "end_us": [float(end) for *_, end in spans],
        }
    )
    exposed = dict(exposed_of(operations).select("name", "exposed_us").iter_rows())
    assert exposed == {"tensor": 5.0, "dispatch": 10.0, "parameters": 3.0}
    parts = iterations_of(operations).row(0, named=True)
    assert [parts[f"{name}_us"] for name in ("time", "compute", "exposed", "idle")] == [
        44.0,
        15.0,
        18.0,
        11.0,
    ]


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("tensor = 2", "the time of a layer is missing"),
        ('forward = "1ms", flops = 1e14', 'it and "forward" are given together'),
        ('forward = "1ms", pipeline = 9', "9 stages are more than the model's 8 layers"),
        ('forward = "1ms", expert = 2', "the model has no experts"),
        ('forward = "1ms", data = 8', "the degrees make 8 ranks, and the network has 4 GPUs for them"),
        ('forward = "1ms", channels = 300', "training.channels: 300 is not a number from 1 to 256"),
        (
            'forward = "100000s", micro-batches = 10',
            "training: the computations of rank 0 take more than 2^64 ps together, which is 213 days",
        ),
        ('forward = "1ms", layers = 9', "training.layers: 9 is not a number from 1 to 8, the model's"),
        (
            'forward = "1ms", micro-batches = 8, simulated-micro-batches = 9',
            "training.simulated-micro-batches: 9 is not a number from 1 to 8, micro-batches of an iteration",
        ),
        (
            'forward = "1ms", pipeline = 4, micro-batches = 8, simulated-micro-batches = 3',
            "training.simulated-micro-batches: 3 are fewer than the 4 stages of the pipeline",
        ),
        (
            'forward = "1ms", layers = 6, pipeline = 4',
            "training.layers: 6 of 8 layers do not divide evenly into 4 stages",
        ),
        ('forward = "1ms", sequence = 0', "training.sequence: 0 is not a number from 1 to 16777216"),
        (
            'forward = "1ms", micro-batch = 65537',
            "training.micro-batch: 65537 is not a number from 1 to 65536",
        ),
    ],
)
def test_iterations_that_cannot_be_are_refused(keys: str, why: str) -> None:
    with pytest.raises(floodway.ScenarioError, match=re.escape(why)):
        run(star(4, rate="400G", delay="100ns"), f"training = {{ model = {MODEL}, {keys} }}")


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (MODEL.replace("layers", "layer"), 'training.model: "layer" is not a key; allowed: layers, hidden'),
        (MODEL.replace("layers = 8, ", ""), 'training.model: the key "layers" is missing'),
        (MODEL.replace("= 8,", '= "8",'), 'training.model.layers: the string "8" where a whole number'),
        (MODEL.replace("= 8,", "= 0,"), "training.model.layers: 0 is not a number from 1 to 4294967295"),
        (
            MODEL.replace("800000", "8e5"),
            (
                "training.model.parameters: the number 800000 where a whole number of at least 0 is "
                "required: write 800000, without a point or an exponent"
            ),
        ),
        (MODEL.replace("64", "-64"), "training.model.hidden: the number -64 where a whole number"),
        (
            MODEL.replace(" }", ", active-parameters = 800001 }"),
            (
                "training.model.active-parameters: 800001 is not a number from 1 to 800000, the parameters "
                "of the model"
            ),
        ),
        (
            "{ layers = 1, hidden = 16777216, sequence = 16777216, parameters = 1, experts-per-token = 2 }",
            "training.micro-batch: 1 makes activations of 1125899906842624 B",
        ),
        ('"llama-3-70"', 'did you mean "llama-3-70b"?'),
        ("70", "training.model: the number 70 where the name of a model, or { layers, hidden, sequence,"),
    ],
)
def test_a_model_that_cannot_be_names_its_key(model: str, why: str) -> None:
    with pytest.raises(floodway.ScenarioError, match=re.escape(why)):
        run(star(4, rate="400G", delay="100ns"), f'training = {{ model = {model}, forward = "1ms" }}')


def test_the_first_stages_have_the_layers_that_are_left() -> None:
    model = MODEL.replace("layers = 8", "layers = 5")
    training = f'training = {{ model = {model}, pipeline = 4, forward = "1ms", backward = "2ms" }}'
    result = run(star(4, rate="400G", delay="100ns"), training)
    assert result.operations is not None
    parts = iterations_of(result.operations).sort("rank")
    assert parts["compute_us"].to_list() == pytest.approx([6000, 3000, 3000, 3000])


def deep(layers: int | None, micro_batches: int | None = None, *, of: int = 4) -> floodway.Scenario:
    """Return an iteration of some of 32 layers and micro-batches in four stages; a layer takes 3 ms."""
    model = MODEL.replace("layers = 8", "layers = 32")
    keys = f'pipeline = 4, micro-batches = {of}, forward = "1ms", backward = "2ms"'
    some = "" if layers is None else f", layers = {layers}"
    some += "" if micro_batches is None else f", simulated-micro-batches = {micro_batches}"
    workload = f"training = {{ model = {model}, {keys}{some} }}"
    return scenario_of(star(4, rate="400G", delay="100ns"), workload, reliability="none")


def test_an_iteration_of_some_layers_says_so() -> None:
    scenario = deep(8)
    assert any("8 of 32 layers are simulated" in warning for warning in scenario.warnings)
    result = floodway.run(scenario)
    (iteration,) = result.summary().iterations
    # (m + p - 1)(f + b), with two layers a stage.
    assert (iteration.layers, iteration.part) == ((8, 32), "8 of 32 layers")
    assert iteration.time_us == pytest.approx(7 * 6000, rel=1e-3)
    shown = io.StringIO()
    show(run_document(result, "out"), shown, full=True)
    assert re.search(r"job +0 +8 of 32 +42,", shown.getvalue())
    assert "shorter than the whole one" in shown.getvalue()
    (whole,) = floodway.run(deep(None)).summary().iterations
    assert (whole.layers, whole.part) == (None, "")


def test_iterations_of_some_layers_are_extrapolated_to_all(tmp_path: Path) -> None:
    numbers = [4, 8, 16]
    variants = [floodway.Variant(label=f"of {layers}", scenario=deep(layers)) for layers in numbers]
    comparison = floodway.compare(variants, out=tmp_path / "out")
    (found,) = comparison.extrapolated
    (whole,) = floodway.run(deep(None)).summary().iterations
    # Layers that take the same time each are extrapolated exactly.
    assert found.wholes == {"layers": 32}
    assert found.time_us == pytest.approx(whole.time_us, rel=1e-9)
    assert found.error_us == pytest.approx(0, abs=1e-3)
    assert [run.layers for run in found.simulated] == numbers
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "extrapolated, not simulated: an iteration of " in page
    assert "iteration, different parts: time, mean, us" in page
    assert all("simulates another part of an iteration than of 4" in line for line in comparison.findings[:2])
    two = floodway.compare(variants[:2]).extrapolated[0]
    assert two.error_us is None
    assert two.sentence().endswith("its error is not known, a third number of layers gives it")


def test_only_runs_that_are_alike_but_for_layers_are_extrapolated() -> None:
    other = deep(8).replace(sets=[("mtu", "1000B")])
    variants = [
        floodway.Variant(label="of 4", scenario=deep(4)),
        floodway.Variant(label="of 8, 1000 B", scenario=other),
    ]
    assert floodway.compare(variants).extrapolated == ()


def test_the_error_of_an_extrapolation_is_that_of_a_slope_that_changes_again() -> None:
    points = ((4, 40.0), (8, 80.0), (16, 168.0))
    line = Line(unit="layers", points=points, whole=32, errors=(0.0, 0.0, 0.0))
    found = Extrapolated(workload="job", line=line, simulated=())
    # 10 us a layer, then 11.
    assert (line.step_us, found.time_us, found.error_us) == (11.0, 168.0 + 16 * 11.0, 16.0)
    assert "takes 344.0 us, by a line" in found.sentence()
    assert "11.0 us a layer; give or take 16.0 (4.65 %) if the time that a layer adds" in found.sentence()
    # The error of a point that is extrapolated itself is added, with what it tilts the line by.
    tilted = Line(unit="micro_batches", points=points, whole=32, errors=(None, 1.0, 2.0))
    assert tilted.error_us == 16.0 + 2.0 + 3.0 * 16 / 8
    assert found.sentence().startswith("extrapolated, not simulated: ")


def test_an_iteration_of_some_micro_batches_says_so() -> None:
    scenario = deep(None, 8, of=64)
    assert any("8 of 64 micro-batches are simulated" in warning for warning in scenario.warnings)
    (iteration,) = floodway.run(scenario).summary().iterations
    assert (iteration.layers, iteration.micro_batches) == (None, (8, 64))
    assert iteration.part == "8 of 64 micro-batches"
    # (m + p - 1)(f + b), with eight layers a stage.
    assert iteration.time_us == pytest.approx(11 * 24_000, rel=1e-3)


def test_iterations_of_some_micro_batches_are_extrapolated_to_all() -> None:
    numbers = [4, 8, 16]
    variants = [floodway.Variant(label=f"of {some}", scenario=deep(8, some, of=64)) for some in numbers]
    (found,) = floodway.compare(variants).extrapolated
    (whole,) = floodway.run(deep(8, of=64)).summary().iterations
    # The pipeline fills and drains once, however many micro-batches there are.
    assert found.time_us == pytest.approx(whole.time_us, rel=1e-9)
    assert found.error_us == pytest.approx(0, abs=1e-3)
    assert found.part == "8 of 32 layers"
    assert "with all 64 micro-batches, of 8 of 32 layers, takes" in found.sentence()


def test_some_layers_and_some_micro_batches_are_extrapolated_together() -> None:
    variants = [
        floodway.Variant(label=f"{layers}, {some}", scenario=deep(layers, some, of=64))
        for layers in (4, 8, 16)
        for some in (4, 8, 16)
    ]
    comparison = floodway.compare(variants)
    (found,) = comparison.extrapolated
    (whole,) = floodway.run(deep(None, of=64)).summary().iterations
    assert found.wholes == {"layers": 32, "micro_batches": 64}
    assert found.time_us == pytest.approx(whole.time_us, rel=1e-9)
    assert found.error_us == pytest.approx(0, abs=1e-3)
    by = "lines through the last two of those of 4, 8 and 16 layers for each of 4, 8 and 16 micro-batches"
    takes = f"with all 32 layers and 64 micro-batches takes {found.time_us:,.1f} us"
    assert f"{takes}, by {by}" in found.sentence()
    assert document(comparison).data["extrapolated"][0]["micro_batches"] == 64
    # One number of layers for each of micro-batches says nothing of either.
    assert floodway.compare([variants[0], variants[4]]).extrapolated == ()


def test_an_algorithm_that_no_collective_of_a_job_has_is_a_warning() -> None:
    job = f'training = {{ model = {MODEL}, forward = "1ms", data = 4, algorithm = "binomial-tree" }}'
    text = f'{star(4, rate="400G", delay="100ns")}\n[[workload]]\nname = "job"\n{job}\n'
    why = '"binomial-tree" is no algorithm of any of the job\'s collectives: it has no effect'
    assert any(why in warning for warning in floodway.Scenario.from_toml(text).warnings)


#: Two sites of two nodes, each of four GPUs.
FOUR_NODES = ACROSS.replace("hosts = 6", "hosts = 8")
HIERARCHICAL = 'op = "all-reduce", algorithm = "hierarchical", size = "1MB"'


@pytest.mark.parametrize(
    ("text", "keys", "levels"),
    [
        (FOUR_NODES, HIERARCHICAL, "ranks of job: 16; hierarchical, levels from the innermost: 4, 2, 2"),
        (FOUR_NODES, HIERARCHICAL + ', groups = "site"', "levels from the innermost: 4, 2\n"),
        (FOUR_NODES, HIERARCHICAL + ", count = 4", '"hierarchical" has one level here, [4]: it is a ring'),
        (FOUR_NODES, HIERARCHICAL + ", levels = [16]", '"hierarchical" has one level here, [16]'),
        (
            FOUR_NODES,
            HIERARCHICAL + ", count = 6",
            "levels: the ranks of a group are not equally many of each node",
        ),
        (FOUR_NODES, HIERARCHICAL + ", count = 12", "levels: the ranks of a group are not equally many"),
        (
            FOUR_NODES,
            HIERARCHICAL + ', placement = "rail-first"',
            "levels: the ranks of a group are not equally many",
        ),
        (
            switch(8, "{ gpus-per-node = 4 }"),
            'op = "all-reduce", size = "1MB", groups = "site"',
            'groups: "site" makes one group of all 8 ranks, as "all" does',
        ),
    ],
)
def test_levels_and_groups_that_are_found_are_told(
    floodway: Any,  # noqa: ANN401 (the command line)
    text: str,
    keys: str,
    levels: str,
) -> None:
    job = f'{text}\n[[workload]]\nname = "job"\ncollective = {{ {keys} }}\n'
    (floodway.folder / "job.toml").write_text(job, encoding="utf-8")
    done = floodway("check", "job.toml")
    assert levels in done.out + done.err


TWO_JOBS = """\
topology.single-switch = { hosts = 4, rate = "100G", delay = "1us" }

[[workload]]
name = "left"
collective = { op = "all-reduce", size = ["1MB", "2MB"], count = 4 }

[[workload]]
name = "right"
collective = { op = "all-gather", size = ["64KB", "1MB"], count = 2 }
"""


@pytest.fixture(scope="module")
def two_jobs() -> floodway.Result:
    return floodway.run(floodway.Scenario.from_toml(TWO_JOBS))


def test_a_notebook_shows_the_collectives_of_jobs_as_the_terminal_does(two_jobs: floodway.Result) -> None:
    shown = two_jobs._repr_html_()
    for row in two_jobs.summary().collectives:
        assert f"{row.name}</td>" in shown or f"{row.name}</th>" in shown
        assert f">{row.mean_us:,.1f}</td>" in shown
    assert shown.index("<h3>Collectives") < shown.index("<h3>Traffic")


def test_iterations_and_collectives_come_before_flows(two_jobs: floodway.Result) -> None:
    replicas = f'training = {{ model = {MODEL}, data = 2, forward = "1ms" }}'
    scenario = scenario_of(star(2, rate="100G", delay="1us"), replicas, reliability="none")
    iteration = floodway.run(scenario)
    for result, titles in (
        (two_jobs, ["Collectives", "Traffic"]),
        (iteration, ["Iterations", "Exposed communication", "Collectives", "Traffic"]),
    ):
        shown = io.StringIO()
        show(run_document(result, "out"), shown, full=True)
        lines = [line.strip() for line in shown.getvalue().splitlines()]
        assert [line for line in lines if line in titles] == titles
    variants = [floodway.Variant(label=label, scenario=scenario) for label in ("one", "two")]
    rows = [row.label for row in floodway.compare(variants).rows]
    first = ["iteration: time, mean, us", "exposed communication, mean, us", "gradients: time, mean, us"]
    assert rows[:3] == first
    assert rows.index("parameters: bus bandwidth, Gbit/s") < rows.index("measured flows finished")


def test_collectives_of_several_jobs_are_listed_job_by_job(two_jobs: floodway.Result) -> None:
    assert two_jobs.collectives is not None
    started = two_jobs.collectives["workload"].cast(pl.String).to_list()
    assert started == ["left", "right", "right", "left"]
    rows = [(row.workload, row.name) for row in two_jobs.summary().collectives]
    assert rows == [
        ("left", "all-reduce 1MB"), ("left", "all-reduce 2MB"),
        ("right", "all-gather 64KB"), ("right", "all-gather 1MB"),
    ]  # fmt: skip


def test_pictures_of_jobs_name_jobs_shades_and_sizes(two_jobs: floodway.Result) -> None:
    sources = [plot.Source(label="two", results=(two_jobs,))]
    drawing = plot.timeline(sources)
    axes = drawing.figure.axes[0]
    assert [label.get_text() for label in axes.child_axes[0].get_yticklabels()] == ["left", "right"]
    # Ranks count from 0 in each job.
    assert [axes.yaxis.get_major_formatter()(row, None) for row in range(6)] == [*"0123", *"01"]
    assert "Dark and light" in drawing.figure.legends[0].get_title().get_text()
    alone = plot.timeline(sources, workloads=["right"])
    assert alone.figure.axes[0].get_ylabel() == "rank of right"
    sizes = plot.busbw(sources).figure.axes[0].get_xticklabels()
    assert [label.get_text() for label in sizes] == ["64 KB", "1 MB", "2 MB"]


#: Ten nodes of eight GPUs on rails, whose reductions take no time.
MANY = RAILS.replace("nodes = 4", "nodes = 10").replace(', reduce-rate = "900G"', "")


@pytest.fixture(scope="module")
def many() -> floodway.Result:
    return floodway.run(floodway.Scenario.from_toml(MANY))


def test_a_timeline_of_many_ranks_has_shares_of_all_and_rows_of_some(many: floodway.Result) -> None:
    drawing = plot.timeline([plot.Source(label="many", results=(many,))])
    shares, rows = drawing.figure.axes
    assert shares.get_title(loc="left") == "many: 80 ranks"
    names = [label.get_text() for label in rows.get_yticklabels()]
    assert many.collectives is not None
    assert len(names) == 12
    assert {"0", "79", str(many.collectives["straggler"][0])} <= set(names)
    data = drawing.data
    parts = data.filter(pl.col("kind") == "share of ranks").pivot("name", index="start_us", values="share")
    ending = many.collectives["end_us"][0]
    # Within nodes, between them, and within nodes again.
    within, between = parts.filter(pl.col("start_us") < 5), parts.filter(pl.col("start_us").is_between(8, 15))
    assert within["message"].sum() == 0
    assert within["other"].to_list() == pytest.approx([1.0] * len(within))
    assert all(share > 0.5 for share in between["message"])
    assert parts.filter(pl.col("start_us") > ending - 2)["message"].sum() == 0
    assert parts["computing"].sum() == 0
    messages = data.filter(pl.col("kind") == "message")
    # A ring of ten nodes, there and back, of each rank that has a row.
    assert messages.group_by("rank").len()["len"].to_list() == [18] * 12


def test_a_timeline_shows_a_critical_path_with_its_phases(many: floodway.Result, tmp_path: Path) -> None:
    path = many.critical_path("job:0")
    drawing = plot.timeline([plot.Source(label="many", results=(many,))], paths=[path])
    panel = drawing.figure.axes[2]
    assert panel.get_title(loc="left") == "critical path of job:0"
    assert [text.get_text() for text in panel.texts] == [
        "within nodes,\n7 steps", "between nodes,\n18 steps", "within nodes,\n7 steps",
    ]  # fmt: skip
    steps = drawing.data.filter(pl.col("kind") == "critical path")
    assert steps["rank"].to_list() == [step.rank for step in path.steps]
    assert panel.get_xlim() == pytest.approx((path.start_ps / 1e6, path.end_ps / 1e6))
    with pytest.raises(floodway.PlotError, match="1 path for 2 results: give one for each"):
        plot.timeline([plot.Source(label=label, results=(many,)) for label in "ab"], paths=[path])
    many.save(tmp_path / "many")
    command = Command(tmp_path)
    done = command("plot", "timeline", "many", "--path", "job", "--out", "path.png", "--quiet")
    assert (done.code, done.err) == (0, "")
    written = pl.read_csv(tmp_path / "path.csv").filter(pl.col("kind") == "critical path")
    assert written["rank"].to_list() == steps["rank"].to_list()
    done = command("plot", "timeline", "many", "--path", "jop:0")
    assert (done.code, "did you mean 'job:0'?" in done.err) == (2, True)
    done = command("plot", "fct", "many", "--path", "job:0")
    assert (done.code, "does not apply to fct; only to timeline" in done.err) == (2, True)


def test_a_path_of_few_ranks_is_in_their_rows(two_jobs: floodway.Result) -> None:
    sources = [plot.Source(label="two", results=(two_jobs,))]
    plain = plot.timeline(sources).figure.axes
    paths = plot.timeline(sources, paths=[two_jobs.critical_path("left:0")]).figure.axes
    assert [len(axes) for axes in (plain, paths)] == [1, 1]
    assert [len(axes[0].collections) for axes in (plain, paths)] == [3, 4]


def test_the_page_of_a_comparison_has_pictures_of_jobs(two_jobs: floodway.Result) -> None:
    files = [picture.file for picture in pictures(["one", "two"], [[two_jobs], [two_jobs]], None)]
    assert files[:2] == ["busbw.png", "timeline.png"]


def test_what_has_no_bytes_has_no_bandwidth() -> None:
    network = star(4, rate="100G", delay="1us")
    for keys, least_us in (('op = "barrier"', 8.0), ('op = "all-reduce", size = "0B"', 0.0)):
        collectives = run(network, f"collective = {{ {keys} }}").collectives
        assert collectives is not None
        rows = bandwidths(collectives)
        assert rows.select("algbw_gbps", "busbw_gbps").row(0) == (0.0, 0.0)
        assert float(rows["mean_us"][0]) >= least_us


def nodes_of_gpus(nodes: int, gpus: int, op: str, **keys: str) -> str:
    more = "".join(f", {key.replace('_', '-')} = {value}" for key, value in keys.items())
    return f"""
mtu = "4096B"
topology.single-switch = {{ hosts = {nodes * gpus}, rate = "100G", delay = "1us" }}
[gpu-nodes]
gpus-per-node = {gpus}
scale-up = {{ rate = "1200G", latency = "500ns" }}
[[workload]]
name = "nccl"
collective = {{ op = "{op}", flows = false{more} }}
"""


def busbw_gbps(text: str) -> float:
    result = floodway.run(floodway.Scenario.from_toml(text))
    assert result.collectives is not None
    return float(bandwidths(result.collectives)["busbw_gbps"][0])


@pytest.mark.parametrize("op", ["all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce"])
def test_bus_bandwidth_grows_with_the_nics_of_a_node(op: str) -> None:
    # NVIDIA/nccl #569: nodes of one, two and four GPUs, each with a NIC of its own; 8 ranks in all.
    one, two, four = (busbw_gbps(nodes_of_gpus(8 // gpus, gpus, op, size='"16MB"')) for gpus in (1, 2, 4))
    least = 0.9 if op in {"broadcast", "reduce"} else 0.98
    assert one > 85
    # A step within a node is shorter than one between two.
    assert 2 * least < two / one < 2.1
    assert 4 * least < four / one < 4.2


@pytest.mark.parametrize("cross_nic", ["same", "alternate", "next"])
def test_a_ring_takes_all_nics_by_each_way_out_of_a_node(cross_nic: str) -> None:
    text = nodes_of_gpus(4, 2, "all-reduce", size='"64MB"', cross_nic=f'"{cross_nic}"')
    assert busbw_gbps(text) > 0.93 * 2 * 100
    checked: Any = floodway.Scenario.from_toml(text).check()
    assert checked["workloads"][0]["rings"] == {"count": 2, "cross_nic": cross_nic}


def test_trees_take_all_nics() -> None:
    one, four = (
        busbw_gbps(
            nodes_of_gpus(8 // gpus, gpus, "all-reduce", size='"64MB"', algorithm='"double-binary-tree"')
        )
        for gpus in (1, 4)
    )
    assert four > 3 * one


def two_nodes_on_rails(op: str, **keys: str) -> str:
    """Return two nodes of eight GPUs: rail switches with two NICs of 400G each, and 200G to the spine."""
    more = "".join(f", {key} = {value}" for key, value in keys.items())
    return f"""
mtu = "4096B"
gpu-nodes.scale-up = {{ rate = "3600G", latency = "500ns" }}
[topology.rail-optimised]
nodes = 2
spines = 1
rate = "400G"
delay = "500ns"
rail-spine = {{ rate = "200G" }}
[defaults]
flow-control = "lossy"
buffer.static = {{ size = "256MB" }}
[[workload]]
name = "nccl"
collective = {{ op = "{op}", size = "64MB", flows = false{more} }}
"""


def spine_bytes(result: floodway.Result) -> int:
    """Return the bytes that the spine sends."""
    return int(result.counters.filter(pl.col("node") == "c1")["tx_bytes"].sum())


def test_an_all_to_all_with_pxn_takes_the_nics_and_no_spine() -> None:
    # Eight of sixteen parts of a rank leave its node, each by a NIC: busbw = 15/16 S / (8/16 S / B).
    payload = 4096 / (4096 + 78)
    result = floodway.run(floodway.Scenario.from_toml(two_nodes_on_rails("all-to-all")))
    assert result.collectives is not None
    assert 0.97 < bandwidths(result.collectives)["busbw_gbps"][0] / (15 / 8 * 400 * payload) < 1
    assert spine_bytes(result) == 0
    # Without it seven of these eight cross the spine: those of two GPUs over 200G of their rail switch.
    result = floodway.run(floodway.Scenario.from_toml(two_nodes_on_rails("all-to-all", pxn="false")))
    assert result.collectives is not None
    assert 0.97 < bandwidths(result.collectives)["busbw_gbps"][0] / (15 / 14 * 200 * payload) < 1
    assert spine_bytes(result) > 7 / 8 * 16 * 32e6


@pytest.mark.parametrize("op", ["gather", "scatter", "send-receive"])
def test_messages_from_rank_to_rank_take_no_spine(op: str) -> None:
    scenario = floodway.Scenario.from_toml(two_nodes_on_rails(op))
    checked: Any = scenario.check()
    assert checked["workloads"][0]["pxn"] is True
    assert spine_bytes(floodway.run(scenario)) == 0
    without = floodway.Scenario.from_toml(two_nodes_on_rails(op, pxn="false"))
    assert spine_bytes(floodway.run(without)) > 0


SWEPT = nodes_of_gpus(2, 2, "all-reduce", size='"1MB"')
LOG = """\
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 4194304 step: 4(factor) warmup iters: 5 iters: 20
# Collective test starting: all_reduce_perf
# Using devices
#  Rank  0 Group  0 Pid  1 on node1 device  0 [0x18] NVIDIA H100
#  Rank  1 Group  0 Pid  2 on node2 device  0 [0x18] NVIDIA H100
#
#                                                              out-of-place                       in-place
#   size         count      type   redop    root     time   algbw   busbw #wrong   time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
   1048576        262144     float     sum      -1    60.00   17.48   17.48  0    61.10   17.16   17.16      0
   4194304       1048576     float     sum      -1   200.00   20.97   20.97  0   210.00   19.97   19.97    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 19.2
"""


def rows_of_nccl_tests(printed: str) -> list[list[str]]:
    """The rows of their table, which is last."""
    table = printed.partition("As nccl-tests report:\n")[2]
    return [line.split() for line in table.splitlines() if not line.startswith("#")]


def test_a_sweep_answers_with_the_largest_bandwidth_and_the_largest_sizes(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(SWEPT)
    words = ("plot", "busbw", "pair.toml", "-b", "8", "-e", "1M", "-f", "4", "--quiet", "--out", "out")
    done = Command(tmp_path)(*words)
    assert done.code == 0, done.err
    title, _, answer, *_ = done.out.splitlines()
    assert title == "all-reduce of pair, 4 ranks, simulated"
    assert answer.startswith("The bus bandwidth is at most ")
    assert done.out.endswith("1 smaller sizes: --full\n")
    printed = json.loads(Command(tmp_path)(*words, "--json", "--force").out)
    assert printed["answer"] == answer
    assert [row["bytes"] for row in printed["rows"]] == [8 * 4**power for power in range(9)]
    refused = Command(tmp_path)("plot", "fct", "out", "--json")
    assert "--json: does not apply to fct; only to busbw" in refused.err


def test_a_sweep_prints_the_table_of_nccl_tests(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(SWEPT)
    (tmp_path / "measured.log").write_text(LOG)
    words = ("plot", "busbw", "pair.toml", "measured.log", "-b", "8", "-e", "8K", "-f", "32", "--quiet")
    done = Command(tmp_path)(*words, "--out", "out", "--full")
    assert done.code == 0, done.err
    rows = rows_of_nccl_tests(done.out)
    assert [row[:5] for row in rows] == [
        ["8", "2", "float", "sum", "-1"], ["256", "64", "float", "sum", "-1"],
        ["8192", "2048", "float", "sum", "-1"],
    ]  # fmt: skip
    drawn = pl.read_csv(tmp_path / "out/busbw.csv")
    assert drawn["result"].unique(maintain_order=True).to_list() == ["pair", "measured"]
    assert float(rows[2][7]) == pytest.approx(drawn["busbw_gbps"][2] / 8, abs=0.005)
    assert drawn.filter(pl.col("result") == "measured")["busbw_gbps"].to_list() == [17.48 * 8, 20.97 * 8]
    assert drawn["kind"].unique().to_list() == ["all-reduce"]


def test_a_sweep_prints_what_was_measured_in_its_sizes_and_the_ratio(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(SWEPT)
    (tmp_path / "measured.log").write_text(LOG)
    (tmp_path / "other.log").write_text(LOG.replace("all_reduce", "all_gather"))
    words = ("plot", "busbw", "pair.toml", "measured.log", "other.log", "-b", "1M", "-e", "2M", "--quiet")
    done = Command(tmp_path)(*words, "--out", "out", "--full")
    assert done.code == 0, done.err
    shown, names = [line for line in done.out.splitlines() if line.startswith("#")][:2]
    assert shown == "# last columns: as measured in measured; ratio: simulated busbw over measured"
    assert names.split()[-3:] == ["time", "busbw", "ratio"]
    there, missing = rows_of_nccl_tests(done.out)
    assert there[8:10] == ["60.00", "17.48"]
    assert float(there[10]) == pytest.approx(float(there[7]) / 17.48, abs=0.006)
    assert missing[8:] == ["-", "-", "-"]


def test_the_sizes_of_a_sweep_are_whole_elements(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(SWEPT)
    for words, sizes in [
        (("-b", "1000", "-e", "1003", "-i", "1"), ["1000"]),
        (("-b", "1000", "-e", "1010", "-i", "5"), ["1000", "1004", "1008"]),
        (("-b", "8", "-e", "24", "-i", "8"), ["8", "16", "24"]),
        (("-b", "9", "-e", "40", "-f", "2"), ["8", "16", "36"]),
    ]:
        of_all = ("--quiet", "--full", "--out", "out", "--force")
        done = Command(tmp_path)("plot", "busbw", "pair.toml", *words, *of_all)
        assert done.code == 0, done.err
        rows = rows_of_nccl_tests(done.out)
        assert [row[0] for row in rows] == sizes
        assert all(int(row[0]) == 4 * int(row[1]) for row in rows)


def test_a_log_alone_is_drawn_and_one_of_other_runs_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(SWEPT)
    (tmp_path / "measured.log").write_text(LOG)
    command = Command(tmp_path)
    done = command("plot", "busbw", "measured.log", "--out", "alone")
    assert (done.code, done.err) == (0, "")
    cut = LOG.replace("all_reduce", "all_gather").replace("#  Rank  1", "# rank  1").partition("# Avg")[0]
    (tmp_path / "cut.log").write_text(cut)
    done = command("plot", "busbw", "pair.toml", "cut.log", "-b", "8", "--out", "both")
    assert done.code == 0
    assert [line for line in done.err.splitlines() if line.startswith("warning: cut")] == [
        "warning: cut: the log has no average at its end; it may be cut",
        "warning: cut is of all-gather, and what is drawn beside it of all-reduce",
        "warning: cut has 1 rank, and what is drawn beside it 4",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pair.toml",), "-b: give the sizes in which the collective of pair.toml is run"),
        (("pair.toml", "-b", "8x"), "-b: "),
        (("pair.toml", "-b", "8K", "-e", "8"), "-e: 8 is less than -b 8K"),
        (("pair.toml", "-b", "1", "-e", "1M", "-i", "1"), "there are more than 1,000 sizes"),
        (("pair.toml", "-b", "8", "-f", "2", "-i", "8"), "-f: it and -i are given together: give one"),
        (("pair.toml", "-b", "8", "--workload", "other"), "those are: nccl"),
        (("none.toml", "-b", "8"), "none has no workload with a collective"),
        (("measured.log", "-b", "8"), "-b: it is for scenarios"),
        (("absent.toml", "-b", "8"), "absent.toml: cannot read it: No such file"),
        (("absent.log", "pair.toml", "-b", "8"), "absent.log: cannot read it: No such file"),
        (("short.log",), "short.log, line 10: the row ends before its bandwidths"),
        (("none.log",), "none.log is no output of nccl-tests"),
        (("nan.log",), "nan.log, line 10: 1048576 60.00 17.48 nan is no size, time and bandwidths"),
        (("pair.toml", "-b", "1G", "-e", "1M", "--out", "taken.png"), "-e: 1M is less than -b 1G"),
        (("-e", "8", "pair.toml"), "-b: it is missing"),
    ],
)
def test_what_cannot_be_swept_or_read_is_said(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "pair.toml").write_text(SWEPT)
    (tmp_path / "none.toml").write_text(
        SWEPT[: SWEPT.index("[[workload]]")]
        + '[[workload]]\nname = "w"\nflows = [{ from = "h1", to = "h2", size = "1KB" }]\n'
    )
    (tmp_path / "measured.log").write_text(LOG)
    (tmp_path / "short.log").write_text("\n".join(LOG.splitlines()[:10])[:-70] + "\n")
    (tmp_path / "none.log").write_text("size count\n8 2\n")
    (tmp_path / "nan.log").write_text(LOG.replace("17.48   17.48", "17.48   nan"))
    (tmp_path / "taken.png").write_bytes(b"")
    done = Command(tmp_path)("plot", "busbw", *words, *(() if "--out" in words else ("--out", "out")))
    assert done.code == 2
    assert said in done.err, done.err

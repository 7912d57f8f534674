"""Critical paths of collectives and iterations."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

import floodway as package
from floodway.common.errors import InputError, UnknownNameError
from floodway.simulation.critical_path import PATH_CAUSES, target_of, targets_of
from scenarios import RAILS, SMALL, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command
    from floodway import Result

#: Two rings of four ranks one after another, beside flows that disturb them, and with a rank that reduces.
RING = """\
mtu = "1000B"
limit = "20ms"

[topology.dumbbell]
left = 2
right = 2
rate = "100G"
delay = "1us"
bottleneck = { rate = "100G", delay = "1us" }

[defaults]
flow-control.pfc = { xoff = "30KB" }
buffer.static = { size = "auto" }

[[workload]]
name = "gradients"
collective = { op = "all-reduce", algorithm = "ring", size = ["400KB", "1MB"], reduce-rate = "400G" }

[[workload]]
name = "others"
burst = { from = ["h1", "h2", "h4"], to = "h3", size = "400KB" }
"""
#: Four stages of a pipeline.
STAGES = """\
mtu = "4000B"
topology.single-switch = { hosts = 4, rate = "400G", delay = "100ns" }

[defaults]
flow-control = "lossy"
buffer.static = { size = "10MB" }

[[workload]]
name = "job"

[workload.training]
model = { layers = 8, hidden = 64, sequence = 128, parameters = 800000 }
pipeline = 4
micro-batches = 4
forward = "1ms"
backward = "2ms"
iterations = 2
"""


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return package.run(package.load(written(tmp_path_factory.mktemp("ring"), RING)))


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return package.run(package.load(written(tmp_path_factory.mktemp("stages"), STAGES)))


@pytest.mark.parametrize("number", [0, 1])
def test_the_steps_add_up_to_what_the_table_says(ring: Result, number: int) -> None:
    path = ring.critical_path(f"gradients:{number}")
    assert ring.collectives is not None
    row = ring.collectives.row(number, named=True)
    assert (path.start_ps / 1e6, path.end_ps / 1e6) == (row["start_us"], row["end_us"])
    assert sum(step.time_ps for step in path.steps) == path.time_ps
    assert (path.steps[0].from_ps, path.steps[-1].to_ps) == (path.start_ps, path.end_ps)
    assert path.steps[-1].rank == row["straggler"]
    for before, after in zip(path.steps, path.steps[1:], strict=False):
        assert (before.to_ps, before.rank) == (after.from_ps, after.began_at)
    for step in path.steps:
        assert sum(part.time_ps for part in step.parts) == step.time_ps
        assert {part.cause for part in step.parts} <= set(PATH_CAUSES)
    assert sum(part.time_ps for part in path.parts) == path.time_ps
    assert path.frame["share"].sum() == pytest.approx(1.0)


def test_messages_have_the_causes_of_their_flows(ring: Result) -> None:
    assert ring.critical_path("gradients").target.name == "gradients:1"
    path = ring.critical_path("gradients:0")
    flows = ring.flows.filter(pl.col("workload").cast(pl.String) == "gradients")
    compared = 0
    for step in path.steps[1:]:
        its = flows.filter(
            (pl.col("start_us") == step.from_ps / 1e6) & (pl.col("finish_receiver_us") == step.to_ps / 1e6)
        )
        if step.kind == "message" and len(its) == 1:
            assert ring.why(str(its["flow_id"][0])).parts == step.parts
            compared += 1
    assert compared > 0
    assert "paused" in path.by_cause()


def test_an_iteration_is_its_computations_and_messages(stages: Result) -> None:
    path = stages.critical_path("job:iteration-0")
    assert sum(step.time_ps for step in path.steps) == path.time_ps
    computing = sum(part.time_ps for part in path.by_cause()["computation"])
    # 1F1B: (m + p - 1)(f + b), with two layers a stage.
    assert computing == 7 * 6_000 * 10**6
    assert path.summary().startswith("computation 100.0 %, network 0.0 % (serialisation 0.0 %")
    assert {step.kind for step in path.steps} == {"computation", "message"}
    assert all(step.of_target for step in path.steps)
    names = [(phase.name, phase.place) for phase in path.phases]
    assert sorted(names) == [
        ("activations", "between nodes"), ("backward", "computation"), ("forward", "computation"),
    ]  # fmt: skip
    # The last stage begins its next iteration while others are at this one.
    path = stages.critical_path("job:iteration-1")
    assert sum(step.time_ps for step in path.steps) == path.time_ps
    assert [step.of_target for step in path.steps].count(False) > 0
    assert path.summary().endswith("had begun their part") or path.summary().endswith("had begun its part")


def test_phases_are_the_levels_of_a_hierarchical_collective(tmp_path: Path) -> None:
    path = package.run(package.load(written(tmp_path, RAILS))).critical_path("job:0")
    places = ["within nodes", "between nodes", "within nodes"]
    assert [(phase.name, phase.place) for phase in path.phases] == [("all-reduce 1MB", own) for own in places]
    # A ring of n ranks has n - 1 steps, and along the rails there and back.
    messages = [sum(step.kind == "message" for step in phase.steps) for phase in path.phases]
    assert messages == [7, 6, 7]
    # What arrives is added up on the way there alone.
    reductions = [sum(step.kind == "reduction" for step in phase.steps) for phase in path.phases]
    assert reductions == [7, 3, 0]
    assert sum(phase.time_ps for phase in path.phases) == path.time_ps
    assert [phase.from_ps for phase in path.phases[1:]] == [phase.to_ps for phase in path.phases[:-1]]


def test_a_path_that_changes_often_has_a_phase_for_each_place(tmp_path: Path) -> None:
    text = RAILS.replace('"hierarchical"', '"ring"')
    path = package.run(package.load(written(tmp_path, text))).critical_path("job:0")
    assert {phase.place for phase in path.phases} == {"within nodes", "between nodes"}
    assert all(phase.stretches > 1 for phase in path.phases)
    assert sum(phase.time_ps for phase in path.phases) == path.time_ps


def test_messages_over_a_long_link_are_a_phase_between_sites(tmp_path: Path) -> None:
    sites = 'fabric.single-switch = { hosts = 1 }, rate = "100G", delay = "1us"'
    text = RAILS.replace(
        'topology.rail-optimised = { nodes = 4, spines = 2, rate = "400G", delay = "500ns" }',
        f'topology.two-dc = {{ {sites}, long-link = {{ rate = "100G", length = "80km", count = 1 }} }}',
    ).replace('gpu-nodes.scale-up = { rate = "3600G", latency = "500ns" }\n', "")
    text = text.replace(', algorithm = "hierarchical"', "")
    path = package.run(package.load(written(tmp_path, text))).critical_path("job:0")
    assert [phase.place for phase in path.phases] == ["between sites"]


def test_names_are_those_of_tables(ring: Result, stages: Result) -> None:
    assert [target.name for target in targets_of(ring)] == [
        "gradients:0", "gradients:1", "gradients:iteration-0",
    ]  # fmt: skip
    assert target_of(ring, "all-reduce 400KB").name == "gradients:0"
    assert target_of(ring, "gradients all-reduce 1MB").name == "gradients:1"
    assert target_of(stages, "job:iteration-1").iteration == 1


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gradients:00", r"'gradients:00' is no collective or iteration .* did you mean 'gradients:0'\?"),
        ("gradient:0", r"'gradient:0' is no collective or iteration .* did you mean 'gradients:0'\?"),
        (
            "gradients:7",
            r"has 3 from 'gradients:0' to 'gradients:iteration-0'; did you mean 'gradients:\d'\?",
        ),
        ("all-reduce 2MB", r"did you mean 'all-reduce 1MB'\?"),
    ],
)
def test_what_is_no_collective_is_reported_with_the_nearest(ring: Result, name: str, why: str) -> None:
    with pytest.raises(UnknownNameError, match=why):
        ring.critical_path(name)


def test_runs_without_jobs_and_collectives_that_are_not_complete(tmp_path: Path, ring: Result) -> None:
    small = package.run(package.load(written(tmp_path, SMALL)))
    with pytest.raises(UnknownNameError, match="the run has no jobs"):
        small.critical_path("rpc")
    assert ring.operations is not None
    ends = ring.operations.filter(pl.col("sequence") == 1)["end_us"].sort()
    limit = f'"{(ends[0] + ends[-1]) / 2:.3f}us"'
    cut = package.run(package.load(written(tmp_path, RING), sets=[("limit", limit)]))
    assert cut.critical_path("gradients:0").time_ps == ring.critical_path("gradients:0").time_ps
    waits = r"ranks of gradients had not finished, waiting for rank \d, iteration 0: all-reduce 1MB"
    with pytest.raises(
        InputError, match=rf"gradients:1 was not complete at all its ranks when .* us; .*{waits}"
    ):
        cut.critical_path("gradients:1")
    with pytest.raises(InputError, match=f"'all-reduce 1MB' was complete at all its ranks when .*{waits}"):
        cut.critical_path("all-reduce 1MB")
    early = package.run(package.load(written(tmp_path, RING), sets=[("limit", "10us")]))
    for name, said in (("gradients:0", "was complete at no rank"), ("gradients", "at all its ranks")):
        with pytest.raises(InputError, match=f"{said} when the run ended at 10.0 us; 4 of 4 ranks"):
            early.critical_path(name)
    with pytest.raises(UnknownNameError, match="which has none that is complete"):
        early.critical_path("others")
    with pytest.raises(InputError, match=r"gradients:iteration-0 was not complete"):
        cut.critical_path("gradients:iteration-0")


def test_the_command_prints_path_causes_and_summary(tmp_path: Path, floodway: Command, ring: Result) -> None:
    ring.save(tmp_path / "out")
    done = floodway("why", tmp_path / "out", "gradients:0", "--quiet", "--full")
    assert done.code == 0, done.err
    assert "gradients:0, all-reduce 400KB of 4 ranks, started at 0.000 us" in done.out
    assert "message of rank " in done.out
    assert done.out.index("between nodes") < done.out.index("Steps")
    assert "whole path" in done.out
    assert re.match(r"\S+ [mu]s: computation ", done.out.splitlines()[2])
    assert len(floodway("why", tmp_path / "out", "gradients:0", "--quiet").out.splitlines()) < 20
    done = floodway("why", tmp_path / "out", "gradients:0", "--json", "--quiet")
    document = json.loads(done.out)
    assert sum(phase["time_ps"] for phase in document["phases"]) == document["time_ps"]
    parts = [part["time_ps"] for step in document["steps"] for part in step["parts"]]
    assert sum(parts) == document["time_ps"]
    done = floodway("why", tmp_path / "out", "gradents")
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'gradients'?" in done.err

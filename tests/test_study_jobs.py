"""The numbers of jobs that studies compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import floodway
from floodway.results.collectives import bandwidths
from floodway.results.iterations import iterations_of
from floodway.study import load_study
from floodway.study.metrics.kinds import KINDS
from floodway.study.metrics.selection import Options
from studies import study_file

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.study.metrics.kinds import Value

JOBS = """\
mtu = "4KB"
topology.single-switch = { hosts = 8, rate = "100G", delay = "1us" }
limit = "LIMIT"

[[workload]]
name = "sums"
collective = { op = "all-reduce", size = ["1MB", "4MB"], count = 4, repeat = 2 }

[[workload]]
name = "model"

[workload.training]
model = { layers = 2, hidden = 512, sequence = 256, parameters = 4000000 }
tensor = 2
data = 2
forward = "50us"
iterations = 2
ranks = ["h5", "h6", "h7", "h8"]
"""


def run(limit: str = "1s") -> floodway.Result:
    return floodway.run(floodway.Scenario.from_toml(JOBS.replace("LIMIT", limit)))


@pytest.fixture(scope="module")
def jobs() -> floodway.Result:
    return run()


def number(result: floodway.Result, kind: str, **options: Any) -> Value:  # noqa: ANN401 (any option)
    return KINDS[kind].compute(result, Options(**options))


def test_times_and_bandwidths_of_collectives_are_those_of_nccl_tests(jobs: floodway.Result) -> None:
    assert jobs.collectives is not None
    table = bandwidths(jobs.collectives)
    (row,) = [row for row in table.to_dicts() if row["workload"] == "sums" and row["bytes"] == 4_000_000]
    chosen = {"workload": ("sums",), "smallest_bytes": 4_000_000}
    found = {kind: number(jobs, kind, **chosen).value for kind in ("collective-mean", "collective-max")}
    assert found == {"collective-mean": row["mean_us"], "collective-max": row["most_us"]}
    for kind in ("algbw", "busbw"):
        assert number(jobs, kind, **chosen).value == pytest.approx(row[f"{kind}_gbps"])
    # Six quarters of the buffer pass each link.
    assert row["busbw_gbps"] == pytest.approx(1.5 * row["algbw_gbps"])
    assert number(jobs, "straggler", workload=("sums",)).value == pytest.approx(0, abs=5)


def test_collectives_are_chosen_by_operation_and_size(jobs: floodway.Result) -> None:
    both = number(jobs, "collective-max", workload=("sums",)).value
    small = number(jobs, "collective-max", workload=("sums",), largest_bytes=1_000_000).value
    assert both is not None
    assert small is not None
    assert both > small
    assert number(jobs, "busbw", workload=("sums",), operation=("all-to-all",)).value is None
    gathers = number(jobs, "collective-mean", operation=("all-gather",)).value
    assert gathers == number(jobs, "collective-mean", workload=("model",), operation=("all-gather",)).value
    assert gathers is not None


def test_an_iteration_is_at_least_its_computation_and_exposed_communication(jobs: floodway.Result) -> None:
    assert jobs.operations is not None
    parts = iterations_of(jobs.operations).filter(workload="model")
    time_us = number(jobs, "iteration-mean", workload=("model",)).value
    exposed_us = number(jobs, "exposed-mean", workload=("model",)).value
    assert exposed_us == pytest.approx(parts["exposed_us"].mean())
    assert time_us is not None
    assert exposed_us is not None
    # Two layers forward, and back in twice the time.
    assert time_us >= 2 * (50 + 100) + exposed_us > 300


def test_a_job_that_does_not_finish_says_how_many_ranks_did_not() -> None:
    cut = run("150us")
    assert number(cut, "collective-mean", workload=("sums",)).unfinished == 4
    assert number(cut, "busbw").unfinished == 8
    assert number(cut, "collective-max", workload=("sums",), smallest_bytes=4_000_000).value is None


def test_without_a_job_there_is_no_number() -> None:
    plain = floodway.run(
        floodway.Scenario.from_toml(
            'topology.single-switch = { hosts = 2, rate = "100G", delay = "1us" }\n'
            '[[workload]]\nname = "one"\nflows = [{ from = "h1", to = "h2", size = "1MB", start = "0us" }]\n'
        )
    )
    for kind in ("collective-mean", "collective-max", "algbw", "busbw", "straggler"):
        assert number(plain, kind).value is None
    for kind in ("iteration-mean", "exposed-mean"):
        assert number(plain, kind).value is None


def test_a_study_selects_collectives_by_operation(tmp_path: Path) -> None:
    text = 'title = "t"\nscenario = "s.toml"\n[metric.bandwidth]\nkind = "busbw"\noperation = "all-reduce"\n'
    (tmp_path / "s.toml").write_text(JOBS.replace("LIMIT", "1s"), encoding="utf-8")
    file = tmp_path / "study.toml"
    file.write_text(text, encoding="utf-8")
    metric = load_study(file).metrics["bandwidth"]
    assert metric.options.operation == ("all-reduce",)
    with pytest.raises(floodway.StudyError, match='"operation" is not an option of fct-mean'):
        load_study(study_file(tmp_path, text.replace("busbw", "fct-mean")))

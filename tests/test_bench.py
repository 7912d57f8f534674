from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from floodway.common.errors import FloodwayError
from floodway_lab.bench import __main__ as program_of_bench
from floodway_lab.bench import command as calling
from floodway_lab.bench import scaling
from floodway_lab.bench.history import add, entry, kind, last_pairs, of_cases, read
from floodway_lab.bench.listing import Listing, chosen
from floodway_lab.bench.measure import NO_VALGRIND, counted, measured
from floodway_lab.bench.model import Case, Count, Scaling
from floodway_lab.bench.page import benchmarks_block, scaling_block, written
from floodway_lab.bench.program import Program
from floodway_lab.bench.tables import case_rows
from floodway_lab.bench.verdict import changes, last_of_kind, last_two

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parent.parent
#: Stands for the program that measures: a run of it takes the threads' part of a second.
STAND_IN = """
import json, sys
arguments = sys.argv[1:]
if "broken" in arguments[0]:
    sys.exit("it is broken")
threads = int(arguments[arguments.index("--threads") + 1]) if "--threads" in arguments else 1
hops = 3000 if "long" in " ".join(arguments) else 1000
hops += threads if "racy" in arguments[0] else 0
print(json.dumps({
    "case": arguments[0], "threads": threads, "hosts": 16, "switches": 20, "links": 48, "read_s": 0.5,
    "build_s": 0.25, "wall_s": 1 / threads, "built_memory_bytes": 4000000, "peak_memory_bytes": 8000000,
    "packet_hops": hops, "simulated_us": 100.0, "flows_finished": 16,
    "events_per_packet_hop": {"packet arrival": 1.0, "departure": 0.25},
}))
"""
CPU = "a processor"


@pytest.fixture
def stand_in(tmp_path: Path) -> Program:
    file = tmp_path / "stand_in.py"
    file.write_text(STAND_IN, encoding="utf-8")
    return Program((sys.executable, str(file)))


def case(scenario: str) -> Case:
    return Case(name=scenario.strip("${}"), what="", scenario=scenario)


def made_up(
    rates: dict[str, int], *, cpu: str = CPU, revision: str = "a", counts: dict[str, float] | None = None
) -> dict[str, Any]:
    cases = [{"case": name, "threads": 1, "packet_hops_per_s": rate} for name, rate in rates.items()]
    machine = {"cpu": cpu, "cores": 2, "kernel": "6.1"}
    return {
        "date": "2026-01-01T00:00:00+00:00",
        "revision": revision,
        "machine": machine,
        "cases": cases,
        "instructions": counts or {},
    }


def quiet(_line: str) -> None:
    pass


def test_runs_of_cases_take_turns(stand_in: Program) -> None:
    told: list[str] = []
    results, skipped = measured(
        stand_in, [case("one"), case("two")], runs=2, threads=[1, 2], on_message=told.append
    )
    assert [line.partition(": ")[2] for line in told] == 2 * [
        "one, 1 thread",
        "one, 2 threads",
        "two, 1 thread",
        "two, 2 threads",
    ]
    assert [(each.case, each.threads, each.rate, len(each.runs)) for each in results] == [
        ("one", 1, 1000.0, 2),
        ("one", 2, 2000.0, 2),
        ("two", 1, 1000.0, 2),
        ("two", 2, 2000.0, 2),
    ]
    assert not skipped


def test_a_case_whose_folder_is_not_named_is_skipped(
    stand_in: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_THERE", raising=False)
    results, skipped = measured(
        stand_in, [case("${NOT_THERE}"), case("one")], runs=1, threads=[1], on_message=quiet
    )
    assert [each.case for each in results] == ["one"]
    assert [(each.name, each.reason) for each in skipped] == [("NOT_THERE", "NOT_THERE is not set")]


def test_runs_that_simulate_different_things_are_refused(stand_in: Program) -> None:
    with pytest.raises(FloodwayError, match=r"racy on 2 threads came to .* not deterministic"):
        measured(stand_in, [case("racy")], runs=1, threads=[1, 2], on_message=quiet)


def test_a_run_that_fails_says_why(stand_in: Program) -> None:
    with pytest.raises(FloodwayError, match="failed: it is broken"):
        stand_in.run("broken")


def test_counts_are_skipped_without_valgrind(stand_in: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    count = Count(name="one", what="", scenario="one", short=(), long=())
    found, skipped = counted(stand_in, [count], on_message=quiet)
    assert not found
    assert [(each.name, each.reason) for each in skipped] == [("one", NO_VALGRIND)]


def test_counts_are_differences(stand_in: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: "/bin/valgrind")
    monkeypatch.setattr(
        stand_in,
        "instructions",
        lambda _scenario, sets: ({"packet_hops": 3000}, 9_000) if sets else ({"packet_hops": 1000}, 5_000),
    )
    count = Count(name="one", what="", scenario="one", short=(), long=("a=b",))
    assert counted(stand_in, [count], on_message=quiet) == ({"one": 2.0}, [])


def test_instructions_are_counted_for_every_case() -> None:
    listing = Listing(ROOT / "benchmarks")
    counted_too = {count.scenario: count for count in listing.counts}
    assert [case.name for case in listing.cases if case.scenario not in counted_too] == []
    assert all(count.short != count.long for count in listing.counts)


def test_a_count_whose_folder_is_not_named_is_skipped(
    stand_in: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_THERE", raising=False)
    monkeypatch.setattr("shutil.which", lambda _name: "/bin/valgrind")
    count = Count(name="one", what="", scenario="${NOT_THERE}/a", short=(), long=("a=b",))
    found, skipped = counted(stand_in, [count], on_message=quiet)
    assert not found
    assert [(each.name, each.reason) for each in skipped] == [("one", "NOT_THERE is not set")]


def test_the_history_keeps_medians_single_runs_and_the_machine(stand_in: Program, tmp_path: Path) -> None:
    results, skipped = measured(stand_in, [case("one")], runs=3, threads=[1], on_message=quiet)
    new = entry(ROOT, results, {"one": 600.0}, skipped)
    file = tmp_path / "history.json"
    add(file, new)
    add(file, new)
    assert read(file) == [new, new]
    assert len(file.read_text(encoding="utf-8").splitlines()) == 4
    assert set(new["machine"]) == {"cpu", "cores", "kernel"}
    (one,) = new["cases"]
    assert (one["packet_hops_per_s"], one["wall_s_median"], one["wall_s"]) == (1000, 1.0, [1.0, 1.0, 1.0])
    assert new["instructions"] == {"one": 600.0}


def test_what_is_no_history_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "history.json"
    file.write_text("{", encoding="utf-8")
    with pytest.raises(FloodwayError, match=r"history\.json.* is not a history"):
        read(file)


def test_a_loss_of_eleven_percent_is_flagged_and_one_of_nine_is_not() -> None:
    before, after = made_up({"one": 1000, "two": 1000}), made_up({"one": 890, "two": 910})
    assert [(change.name, change.flagged) for change in changes(before, after)] == [
        ("one, 1 thread", True),
        ("two, 1 thread", False),
    ]


def test_three_percent_more_instructions_are_flagged_and_one_percent_is_not() -> None:
    before = made_up({}, counts={"one": 1000.0, "two": 1000.0, "gone": 1.0})
    after = made_up({}, counts={"one": 1030.0, "two": 1010.0, "new": 1.0})
    assert [(change.name, change.flagged) for change in changes(before, after)] == [
        ("one", True),
        ("two", False),
    ]


def test_other_machines_are_not_compared() -> None:
    here, there = made_up({"one": 1000}), made_up({"one": 100}, cpu="another one")
    with pytest.raises(FloodwayError, match="cannot be compared"):
        changes(here, there)
    with pytest.raises(FloodwayError, match="no earlier entry is of such a machine"):
        last_two([here, there])
    again = made_up({"one": 990}, revision="b")
    assert last_two([here, there, again]) == (here, again)
    assert last_of_kind([here, there], again) == here
    assert kind(here) == (CPU, 2)


def test_entries_of_pairs_alone_are_not_compared() -> None:
    one, pairs = made_up({"one": 1000}), made_up({}) | {"pairs": [{"pair": "htsim-128"}]}
    assert of_cases([one, pairs]) == [one]
    assert last_pairs([one, pairs, one]) == pairs
    assert last_pairs([one]) is None


@pytest.mark.parametrize(("rate", "code"), [(890, 1), (910, 0)])
def test_the_comparison_ends_as_it_found(
    rate: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "history.json"
    add(file, made_up({"one": 1000}))
    add(file, made_up({"one": rate}))
    monkeypatch.setattr(program_of_bench, "HISTORY", file)
    assert program_of_bench.app(["compare"], standalone_mode=False) == code
    assert ("worse: one, 1 thread: -11.0%" in capsys.readouterr().out) == (code == 1)


def test_every_case_of_the_set_is_a_scenario_of_the_folder() -> None:
    listing = Listing(ROOT / "benchmarks")
    files = [case.scenario for case in listing.cases]
    files += [run.scenario for pair in listing.pairs for run in pair.ours]
    files += [count.scenario for count in listing.counts]
    own = {Path(file).stem for file in files if not file.startswith("$")}
    assert own == {file.stem for file in (ROOT / "benchmarks").glob("*.toml")} - {"set"}
    assert [case.name for case in chosen(listing.cases, ["two-dc-80km"])] == ["two-dc-80km"]
    with pytest.raises(FloodwayError, match="did you mean 'two-dc-80km'"):
        chosen(listing.cases, ["two-dc-80"])


def test_the_page_shows_an_entry_between_its_marks(stand_in: Program) -> None:
    listing = Listing(ROOT / "benchmarks")
    results, _ = measured(stand_in, [case("fat-tree-128")], runs=1, threads=[1, 2], on_message=quiet)
    new = entry(ROOT, results, {"permutation": 600.0}, [])
    block = benchmarks_block(new, listing)
    page = written("a\n<!-- begin: benchmarks -->\nold\n<!-- end: benchmarks -->\nz\n", "benchmarks", block)
    assert page.startswith("a\n<!-- begin: benchmarks -->\n\n")
    assert page.endswith("|\n\n<!-- end: benchmarks -->\nz\n")
    assert "old" not in page
    assert [row[4] for row in case_rows(new, listing)] == ["", "2.00"]
    assert "| permutation | k = 4, DCQCN, 400 packets a flow and 1,200 | 600 |" in page


def test_growing_networks_are_measured_and_drawn(stand_in: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    networks = Scaling(scenario="one", ports=(4, 6), payload=982, most_hosts_simulated=16)
    data = pl.DataFrame(list(scaling.measure(stand_in, networks, runs=1, on_message=quiet)))
    assert data["ns_per_packet_hop"].to_list() == [1e6, 1e6]
    assert data["packets_per_host"].to_list() == [20_000, 14_814]
    assert "| 16 | 20 | 48 | 20,000 | 1000000 | not counted |" in scaling_block(data)
    assert scaling.drawing(data).data.equals(data)


def test_what_a_further_run_costs_is_what_twenty_more_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def timed(call: Sequence[str]) -> calling.Timed:
        seeds = int(call[-1]) if "--seeds" in call else 0
        return calling.Timed(wall_s=1.0 + 0.5 * seeds, processor_s=2.0 + 0.25 * seeds)

    monkeypatch.setattr(calling, "_timed", timed)
    found = calling.measure(runs=3, on_message=lambda _: None)
    assert found["--help"] == calling.Timed(1.0, 2.0)
    assert found["each further run of a study"] == calling.Timed(0.5, 0.25)
    # Two variants have each seed.
    assert found["each further run of compare"] == calling.Timed(0.25, 0.125)
    assert next(iter(calling.rows(found))) == ("--help", "1.000", "2.000")

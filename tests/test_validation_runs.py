from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import floodway as package
from floodway.common.errors import ScenarioError
from floodway_lab.validation import Case, validate
from floodway_lab.validation import validation as validating
from floodway_lab.validation.running import scenario_of
from hpcc_cases import CONFIG

ROOT = os.environ.get("FLOODWAY_REFERENCE")
REFERENCE = Path(ROOT or ".", "reference", "ns3")
needs_reference = pytest.mark.skipif(
    ROOT is None, reason="FLOODWAY_REFERENCE names no folder with the HPCC simulator's results"
)

TOPOLOGY = """\
5 1 4
4
0 4 100Gbps 1us 0
1 4 100Gbps 1us 0
2 4 100Gbps 1us 0
3 4 100Gbps 1us 0
"""
FLOWS = """\
4
0 3 3 100 300000 2.000000000
1 3 3 100 200000 2.000000700
2 3 3 100 900 2.000011000
0 1 3 100 50000 2.000020000
"""
#: TIMELY, which is not in the configuration that cases share.
MORE = """\
RATE_AI 100Mb/s
RATE_HAI 500Mb/s
MIN_RATE 1000Mb/s
HAS_WIN 0
L2_ACK_INTERVAL 1
ACK_HIGH_PRIO 1
BUFFER_SIZE 1
PMAX_MAP 2 25000000000 0.2 100000000000 0.2
SIMULATOR_STOP_TIME 2.05
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """Return a case whose reference is our own export of it."""
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "topology.txt").write_text(TOPOLOGY, encoding="utf-8")
    (folder / "flow.txt").write_text(FLOWS, encoding="utf-8")
    config = folder / "config_timely.txt"
    config.write_text(CONFIG.format(tag="timely", mode=7, kmin=400) + MORE, encoding="utf-8")
    sets = [("records.pauses", "true"), ("records.queue-histogram", "{}")]
    scenario = package.load(config).replace(sets=sets)
    package.run(scenario).export_hpcc(tmp_path / "export", scenario=scenario)
    for name in ("fct", "pfc", "qlen"):
        (tmp_path / "export" / f"{name}.txt").rename(folder / f"{name}_timely.txt")
    return folder


def test_a_run_keeps_within_every_bound_of_its_own_export(case: Path, tmp_path: Path) -> None:
    found = validate(case, out=tmp_path / "out")
    (result,) = found.cases
    assert found.verdict == "pass"
    assert {row.key: row.typical for row in result.rows}["fct.equal"] == 1
    assert not [row.key for row in result.rows if row.difference]
    assert any(row.key.startswith("queue.4-4.") for row in result.rows)
    kept = tmp_path / "out" / "case-timely" / "seed-1"
    assert package.read(kept).flows["finished"].all()
    assert (kept / "fct.txt").read_bytes() == (case / "fct_timely.txt").read_bytes()


def test_a_reference_that_differs_fails(case: Path) -> None:
    file = case / "fct_timely.txt"
    *lines, last = file.read_text(encoding="utf-8").splitlines()
    words = last.split()
    words[6] = str(int(words[6]) * 2)
    file.write_text("\n".join([*lines, " ".join(words)]) + "\n", encoding="utf-8")
    found = validate(case)
    assert found.verdict == "fail"
    assert {row.key for row in found.cases[0].rows if row.verdict == "fail"} == {"fct.equal"}
    assert found.cases[0].first is not None
    assert words[4] in str(found.cases[0].first).replace(",", "")
    (bounded,) = validate(case, other_build=True).cases
    assert {row.key for row in bounded.rows if row.verdict == "fail"} == {"fct.close", "fct.largest"}


def test_what_is_not_there_yet_is_not_run(case: Path) -> None:
    config = case / "config_timely.txt"
    config.write_text(config.read_text(encoding="utf-8").replace("CC_MODE 7", "CC_MODE 10"), encoding="utf-8")
    found = validate(case)
    assert found.verdict == "not run"
    assert "config_timely.txt:7: CC_MODE" in found.cases[0].not_run


@pytest.mark.parametrize(
    ("name", "text"), [("topology.txt", "5 1\n"), ("flow.txt", "4\n0 3 3\n"), ("flow.txt", None)]
)
def test_a_garbled_or_missing_file_of_a_case_is_reported(case: Path, name: str, text: str | None) -> None:
    if text is None:
        (case / name).unlink()
    else:
        (case / name).write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError, match=name):
        validate(case)


@needs_reference
def test_every_algorithm_equals_the_reference_to_the_nanosecond(tmp_path: Path) -> None:
    found = validate(REFERENCE, quick=True, out=tmp_path / "out")
    run = {result.case.label: result for result in found.cases if not result.not_run}
    cases = ("c1_incast", "c1_incast_pfc", "c7_fattree16")
    assert {f"{case}/{tag}" for case in cases for tag in ("dcqcn", "hpcc", "timely")} <= set(run)
    assert {"c9_irn_leafspine64/irn", "c9_pfc_leafspine64/pfc"} <= set(run)
    assert {label: result.equal for label, result in run.items()} == dict.fromkeys(run, True)
    assert {result.seeds for result in run.values()} == {(1,)}
    assert found.verdict == "pass"
    written = json.loads((tmp_path / "out" / "validate.json").read_text(encoding="utf-8"))
    assert all(case["equal"] for case in written["cases"] if not case["not_run"])


@needs_reference
def test_a_fat_tree_of_128_hosts_whose_senders_cut_often_equals_the_reference() -> None:
    (result,) = validate(REFERENCE / "c8_fat128").cases
    assert (result.equal, result.kind, len(result.reference.side.flows)) == (True, "equal", 1523)


@needs_reference
@pytest.mark.parametrize(
    ("key", "value", "case"),
    [
        ("defaults.rate-control.dcqcn.timers", "asleep", "c9_irn_leafspine64"),
        ("semantics.rate-timers", "look", "c9_irn_leafspine64"),
        ("semantics.link-control", "first", "c9_pfc_leafspine64"),
        ("semantics.visit", "descending", "c9_pfc_leafspine64"),
    ],
)
def test_without_one_rule_of_its_simulator_a_case_fails_at_its_first_difference(
    key: str, value: str, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(case: Case) -> package.Scenario:
        return scenario_of(case).replace(sets=[(key, value)])

    monkeypatch.setattr(validating, "scenario_of", without)
    (result,) = validate(REFERENCE / case).cases
    assert (result.kind, result.verdict, len(result.seeds)) == ("equal", "fail", 1)
    assert result.first is not None
    assert result.first.before >= 200


@needs_reference
def test_the_hash_chooses_the_paths_of_the_reference(tmp_path: Path) -> None:
    folder = copied("c7_fattree16", tmp_path / "c7", "topology.txt", "flow.txt", "*_hpcc.txt")
    (result,) = validate(folder).cases
    assert (result.reference.chance, result.kind, result.equal) == ("hashed", "equal", True)


@needs_reference
def test_another_seed_is_distinguished_from_the_reference(tmp_path: Path) -> None:
    folder = copied("c1_incast_pfc", tmp_path / "case", "topology.txt", "flow.txt", "*_dcqcn.txt")
    scenario = (
        package.load(folder / "config_dcqcn.txt").with_seed(2).replace(sets=[("records.pauses", "true")])
    )
    package.run(scenario).export_hpcc(tmp_path / "export", scenario=scenario)
    (tmp_path / "export" / "fct.txt").replace(folder / "fct_dcqcn.txt")
    (tmp_path / "export" / "pfc.txt").replace(folder / "pfc_dcqcn.txt")
    (result,) = validate(folder, seeds=3).cases
    assert (result.equal, result.verdict, result.seeds) == (False, "fail", (1,))
    (bounded,) = validate(folder, seeds=3, other_build=True).cases
    assert (bounded.equal, bounded.kind, bounded.seeds) == (False, "random", (1, 2, 3))


def copied(case: str, folder: Path, *patterns: str) -> Path:
    """Copy files of a case of the reference."""
    folder.mkdir()
    for file in (file for pattern in patterns for file in (REFERENCE / case).glob(pattern)):
        shutil.copyfile(file, folder / file.name)
    return folder


@needs_reference
def test_drops_packets_and_marks_of_conweaves_simulator_are_the_references(tmp_path: Path) -> None:
    found = validate(REFERENCE / "c5_irn_incast", out=tmp_path / "out")
    totals = {}
    for result in found.cases:
        rows = {row.key: row for row in result.rows}
        totals[result.case.tag] = [
            (rows[key].reference, *rows[key].ours)
            for key in ("packets.dropped", "packets.sent", "packets.marked")
            if key in rows
        ]
        assert result.equal
        assert rows["standalone.equal"].ours == (1.0,)
    assert totals == {
        "irn": [(685, 685), (17387, 17387)],
        "irn_9MB": [(0, 0), (16000, 16000), (4557, 4557)],
        "pfc": [(385, 385), (17235, 17235)],
        "pfc_9MB": [(0, 0), (16000, 16000), (8546, 8546)],
    }
    line = (tmp_path / "out" / "c5_irn_incast-irn" / "seed-1" / "fct.txt").read_text(encoding="utf-8")
    assert line.splitlines()[0] == "1 2 10001 100 1000000 2000000000 92692 88000"

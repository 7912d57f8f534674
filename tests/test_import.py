"""Configurations of the HPCC simulator: imported, and taken where a scenario is."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import floodway as package

if TYPE_CHECKING:
    from command import Command

TOPOLOGY = """\
4 1 3
2
0 2 100Gbps 1000ns 0
3 2 100Gbps 1000ns 0
1 2 100Gbps 1000ns 0
"""
FLOWS = """\
2
0 3 3 100 100000 2.000000000
1 3 3 100 100000 2.000001000
"""
CONFIG = """\
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
SIMULATOR_STOP_TIME 2.25
CC_MODE 1
RP_TIMER 300
EWMA_GAIN 0.00390625
RATE_AI 20Mb/s
RATE_HAI 200Mb/s
L2_ACK_INTERVAL 1
HAS_WIN 0
KMAX_MAP 1 100000000000 1600
KMIN_MAP 1 100000000000 400
PMAX_MAP 1 100000000000 0.2
"""


def folder(place: Path, *, config: str = CONFIG, topology: str = TOPOLOGY, flows: str = FLOWS) -> Path:
    """Write a folder of the simulator; return its configuration."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "topology.txt").write_text(topology)
    (place / "flow.txt").write_text(flows)
    (place / "config.txt").write_text(config)
    return place / "config.txt"


def test_import_prints_the_scenario_with_paths_from_here(floodway: Command, tmp_path: Path) -> None:
    folder(tmp_path / "mix", config=CONFIG + "PAUSE_TIME 5\n")
    done = floodway("import", "hpcc", "mix/config.txt")
    assert done.code == 0
    keys = tomllib.loads(done.out)
    assert keys["profile"] == "hpcc-ns3"
    assert (keys["origin"], keys["limit"]) == ("2s", "250ms")
    assert keys["topology"]["hpcc"]["file"] == "mix/topology.txt"
    assert keys["workload"][0]["flow-list"] == {"file": "mix/flow.txt", "format": "hpcc"}
    assert done.err == (
        "warning: mix/config.txt:14: PAUSE_TIME: has no effect: a pause lasts until the resume, as in that "
        "simulator\n"
    )


def test_keys_without_effect_share_a_warning_but_where_they_are_explained(
    floodway: Command, tmp_path: Path
) -> None:
    config = folder(tmp_path / "mix", config=CONFIG + "PAUSE_TIME 5\nTRACE_FILE trace.txt\n")
    done = floodway("import", "hpcc", "mix/config.txt")
    assert [line.split(": ")[2] for line in done.err.splitlines()] == ["PAUSE_TIME", "TRACE_FILE"]
    (shared,) = package.load(config).warnings
    assert shared.endswith(
        "config.txt: no effect here, by their lines: PAUSE_TIME (14), TRACE_FILE (15); `floodway import "
        "hpcc` says why"
    )


def test_what_follows_the_counted_flows_is_not_read(tmp_path: Path) -> None:
    scenario = package.load(folder(tmp_path, flows=FLOWS.replace("2\n", "1\n", 1)))
    (warning,) = scenario.warnings
    assert "FLOW_FILE: more flows follow the 1 that are counted, in " in warning
    assert "flow.txt:3: they are not read" in warning
    assert package.run(scenario).flows.height == 1


def test_import_writes_a_file_and_does_not_replace_it_unasked(floodway: Command, tmp_path: Path) -> None:
    folder(tmp_path / "mix")
    (tmp_path / "scenarios").mkdir()
    arguments = ("import", "hpcc", "mix/config.txt", "--out", "scenarios/a.toml")
    done = floodway(*arguments)
    message = "scenarios/a.toml: From config.txt, a configuration of the HPCC simulator.\n"
    assert (done.code, done.out, done.err) == (0, message, "")
    written = (tmp_path / "scenarios" / "a.toml").read_text()
    assert tomllib.loads(written)["topology"]["hpcc"]["file"] == "../mix/topology.txt"
    again = floodway(*arguments)
    assert (again.code, again.out) == (2, "")
    assert again.err == "error: scenarios/a.toml: is there already; --force replaces it\n"
    assert floodway(*arguments, "--force").code == 0
    assert floodway("import", "hpcc", "mix/config.txt", "--out", "new/a.toml").code == 0
    assert (tmp_path / "new" / "a.toml").read_text() == written
    nowhere = floodway("import", "hpcc", "mix/config.txt", "--out", "new/a.toml/b.toml")
    assert nowhere.err == "error: new/a.toml/b.toml: cannot be written: File exists\n"


FAULTS = {
    "missing file": (
        {"config": CONFIG.replace("flow.txt", "flows.txt")},
        (
            'config.txt:2: FLOW_FILE: "flows.txt" is not found in its folder, in the 3 folders above it, or '
            'in the current folder; did you mean "flow.txt"?'
        ),
    ),
    "too few flows": (
        {"flows": FLOWS.replace("2\n", "3\n", 1)},
        (
            "flow.txt:3: FLOW_FILE: the text ends here, but flow 3 of 3: source, destination, priority "
            "group, port, bytes and seconds is required"
        ),
    ),
    "unknown node": (
        {"flows": FLOWS.replace("1 3 3", "9 3 3")},
        "flow.txt:3: FLOW_FILE: there is no host 9",
    ),
    "unsorted": (
        {"flows": FLOWS.replace("2.000001", "1.9")},
        "flow.txt:3: FLOW_FILE: it starts before the flow in line 2: flows are sorted by start",
    ),
    "unconnected host": (
        {"topology": TOPOLOGY.replace("4 1 3", "5 1 3")},
        "topology.txt:1: TOPOLOGY_FILE: host 4 has no link",
    ),
    "HPCC-PINT": (
        {"config": CONFIG + "CC_MODE 10\n"},
        (
            "config.txt:14: CC_MODE: HPCC-PINT (10) is not supported; allowed: 1 (DCQCN), 3 (HPCC), "
            "7 (TIMELY), 8 (DCTCP)"
        ),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("verb", [("import", "hpcc"), ("check",), ("run",)])
def test_faults_are_reported_in_a_line(
    floodway: Command, tmp_path: Path, verb: tuple[str, ...], fault: str
) -> None:
    parts, message = FAULTS[fault]
    folder(tmp_path, **parts)
    done = floodway(*verb, "config.txt")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: {message}\n"


def test_a_configuration_is_loaded_as_the_scenario_that_it_means(tmp_path: Path) -> None:
    scenario = package.load(folder(tmp_path, config=CONFIG + "PAUSE_TIME 5\n"))
    assert scenario.name == "config"
    assert scenario.origin_ns == 2_000_000_000
    assert scenario.resolved()["origin"] == "2s"
    assert any("PAUSE_TIME: has no effect" in warning for warning in scenario.warnings)


def test_a_configuration_runs(floodway: Command, tmp_path: Path) -> None:
    folder(tmp_path)
    done = floodway("run", "config.txt", "--quiet")
    assert (done.code, done.err) == (0, "")
    flows = package.read(tmp_path / "out" / "config").flows
    assert flows.height == 2
    assert flows["finished"].all()


@pytest.mark.parametrize("case", ["c1_incast", "c1_incast_pfc", "c2_mercury_small", "c7_fattree16"])
def test_every_reference_folder_is_loaded(case: str) -> None:
    reference = os.environ.get("FLOODWAY_REFERENCE")
    if reference is None:
        pytest.skip("FLOODWAY_REFERENCE names no folder of reference data")
    configs = sorted((Path(reference) / "reference" / "ns3" / case).glob("config_*.txt"))
    assert len(configs) == 3
    for config in configs:
        assert package.load(config).origin_ns == 2_000_000_000

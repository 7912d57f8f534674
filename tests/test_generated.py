from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest

import floodway
from floodway import _floodway
from floodway.cli.catalog.entries import entries, find, page_of
from floodway.common.errors import UnknownNameError

if TYPE_CHECKING:
    from command import Command

ROOT = Path(__file__).parent.parent


def generated() -> dict[str, str]:
    """Generate all files in a process of its own: this one may know mechanisms of other tests."""
    lines = (
        "import json, sys",
        "from pathlib import Path",
        "from floodway_lab.generate.code import code",
        "from floodway_lab.generate.documents import documents",
        "print(json.dumps({**code(), **documents(Path(sys.argv[1]))}))",
    )
    command = [sys.executable, "-c", "; ".join(lines), str(ROOT)]
    files: dict[str, str] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return files


GENERATED = generated()
SCENARIOS = sorted((ROOT / "scenarios").rglob("*.toml"))


@pytest.mark.parametrize("name", GENERATED)
def test_what_is_generated_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == GENERATED[name], "run `make generate`"


def test_no_page_is_left_of_a_removed_mechanism() -> None:
    there = {f"docs/mechanisms/{file.name}" for file in (ROOT / "docs" / "mechanisms").glob("*.md")}
    assert there <= set(GENERATED)


def test_no_two_definitions_of_the_schema_have_one_name() -> None:
    names = set(json.loads(_floodway.schema_json())["$defs"])
    # A second definition of a name gets a number, and pages would show the parameters of the first.
    assert not {name for name in names if name[-1].isdigit() and name.rstrip("0123456789") in names}


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(_floodway.schema_json())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_the_schema_accepts_every_ready_scenario(
    file: Path, validator: jsonschema.Draft202012Validator
) -> None:
    validator.validate(tomllib.loads(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"mtu": 1000}, "mtu"),
        ({"defaults": {"flow-contorl": "pfc"}}, "defaults"),
        ({"defaults": {"flow-control": "pcf"}}, "defaults.flow-control"),
        ({"defaults": {"flow-control": {"pfc": {"xof": "1KB"}}}}, "defaults.flow-control"),
        ({"topology": {"dumbel": {}}}, "topology"),
        ({"limit": "10 parsecs"}, "limit"),
        ({"seed": -1}, "seed"),
    ],
)
def test_the_schema_refuses_what_the_simulator_refuses(
    keys: dict[str, object], path: str, validator: jsonschema.Draft202012Validator
) -> None:
    written = tomllib.loads((ROOT / "scenarios" / "incast.toml").read_text(encoding="utf-8")) | keys
    found = {".".join(map(str, error.absolute_path)) for error in validator.iter_errors(written)}
    assert path in found
    with pytest.raises(floodway.ScenarioError):
        floodway.Scenario.from_dict(written)


def test_every_mechanism_and_parameter_is_described() -> None:
    slots = {Path(name).name.split(".")[0] for name in GENERATED if name.startswith("docs/mechanisms/")}
    for entry in entries():
        if entry.slot in slots and f"docs/mechanisms/{entry.full_name}.md" not in GENERATED:
            continue  # A class of another test.
        assert entry.summary, entry.full_name
        for parameter in [*entry.parameters, *(key for table in entry.tables for key in table.parameters)]:
            assert parameter.text, f"{entry.full_name}: {parameter.key}"
            assert parameter.form, f"{entry.full_name}: {parameter.key}"
        assert page_of(entry).startswith(f"# {entry.name}\n")


def test_a_name_that_two_slots_share_finds_both_and_one_with_its_slot() -> None:
    assert [entry.slot for entry in find("dcqcn")] == ["notification", "rate-control"]
    assert [entry.slot for entry in find("rate-control.dcqcn")] == ["rate-control"]


def test_a_name_that_nothing_has_is_answered_with_the_nearest(floodway: Command) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'bifrost'"):
        find("bifrots")
    done = floodway("explain", "bifrots")
    kinds = "mechanism, topology, workload, model, chip, paper or term"
    assert (done.code, done.err) == (2, f"error: 'bifrots' is not a {kinds}; did you mean 'bifrost'?\n")


def test_explain_shows_parameters_with_their_defaults(floodway: Command) -> None:
    shown = floodway("explain", "deficit-round-robin").out
    assert "| `quantum` | size | one MTU |" in shown
    (entry,) = json.loads(floodway("explain", "pfc", "--json").out)
    assert {"key": "react", "form": '"ieee-802.3" or "nvidia" or time'}.items() <= next(
        of for of in entry["parameters"] if of["key"] == "react"
    ).items()


@pytest.mark.parametrize("what", ["mechanisms", "topologies", "workloads", "models", "chips", "papers"])
def test_all_that_is_listed_can_be_explained(what: str, floodway: Command) -> None:
    listed = json.loads(floodway("list", what, "--json").out)
    lines = floodway("list", what).out.splitlines()
    for entry in listed:
        assert find(f"{entry['slot']}.{entry['name']}")
        assert any(entry["name"] in line.split() for line in lines)


def test_chips_models_and_papers_are_explained(floodway: Command) -> None:
    for name in ("tomahawk-4", "TH4", "bcm56990"):
        page = floodway("explain", name).out
        assert "Broadcom Tomahawk 4: cells of 254 B, 113 MB of buffer." in page
        assert "TH4, BCM56990" in page
    listed = next(line for line in floodway("list", "models").out.splitlines() if "llama-3-70b" in line)
    assert "80 layers of 8192, 70 billion parameters, sequences of 8,192 tokens." in listed
    assert "arXiv:2407.21783, table 3" in listed
    page = floodway("explain", "llama-3-70b").out
    assert "{ layers = 80, hidden = 8192, sequence = 8192, parameters = 70000000000 }" in page
    assert "arXiv:2407.21783, table 3" in page
    assert (
        "a token passes 37 billion, 8 of 256 experts for each token" in floodway("explain", "deepseek-v3").out
    )
    # A paper that has the name of its mechanism is asked for with its kind.
    assert [entry.kind for entry in find("swing")] == ["mechanism"]
    page = floodway("explain", "paper.swing").out
    assert "Chen et al., IEEE TPDS 34(1), 2023" in page
    assert "`floodway reproduce swing`" in page
    done = floodway("explain", "TH9")
    assert (done.code, "did you mean 'TH" in done.err) == (2, True)


def test_published_networks_are_listed_with_their_size_and_source(floodway: Command) -> None:
    lines = floodway("list", "topologies").out.splitlines()
    (line,) = (line for line in lines if "hpn-pod" in line.split())
    assert "15,360 hosts, 360 switches, 200G, 400G" in line
    assert "SIGCOMM 2024" in line
    listed = json.loads(floodway("list", "topologies", "--json").out)
    presets = [entry for entry in listed if entry["kind"] == "preset"]
    assert all(entry["source"] and "hosts" in entry["size"] for entry in presets)
    page = floodway("explain", "meta-24k").out
    assert "24,576 hosts, 1,692 switches, 391.837G, 400G" in page
    assert "Assumed: " in page
    assert 'topology.preset = { name = "meta-24k", nodes = … }' in page


def test_ready_scenarios_are_listed_with_what_they_show(floodway: Command) -> None:
    listed = json.loads(floodway("list", "scenarios", str(ROOT / "scenarios"), "--json").out)
    assert {Path(entry["file"]).name for entry in listed} == {file.name for file in SCENARIOS}
    assert all(entry["description"] for entry in listed)
    missing = floodway("list", "scenarios", "nowhere")
    assert (missing.code, missing.err) == (2, "error: 'nowhere' is not a folder of scenarios\n")
    (floodway.folder / "empty").mkdir()
    without = floodway("list", "scenarios", "empty")
    text = "error: 'empty' has no scenarios: no file there ends in .toml\n"
    assert (without.code, without.out, without.err) == (2, "", text)
    assert floodway("list", "topologies", "scenarios").code == 2


def test_the_schema_that_is_printed_is_the_one_of_the_documentation(floodway: Command) -> None:
    assert floodway("schema").out == GENERATED["docs/scenario.schema.json"]

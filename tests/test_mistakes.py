"""Frequent mistakes, and the line with which each is answered, word for word.

Lists of what is allowed come from the grammar: they grow with it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import floodway as package
from floodway import _floodway

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

SCHEMA = json.loads(_floodway.schema_json())
CATALOG = json.loads(_floodway.catalog_json())


def keys(definition: str) -> str:
    """The keys of a table, as messages list them."""
    return ", ".join(SCHEMA["$defs"][definition]["properties"])


def choices(slot: str) -> str:
    """The mechanisms of a slot, as messages list them."""
    return ", ".join(entry["name"] for entry in CATALOG["mechanisms"] if entry["slot"] == slot)


TOP = ", ".join(SCHEMA["properties"])
SIZES = ", ".join(sizes["name"] for sizes in CATALOG["sizes"])
KINDS = ", ".join(CATALOG["workloads"])
PRESETS = ", ".join(preset["name"] for preset in CATALOG["presets"])
TOPOLOGIES = ", ".join(form["required"][0] for form in SCHEMA["$defs"]["Topology"]["oneOf"])
RATES = "bps, K, M, G, T, Kbps, Mbps, Gbps, Tbps"
BYTES = "B, KB, MB, GB, TB, KiB, MiB, GiB"

NETWORK = 'topology.dumbbell = { left = 2, right = 2, rate = "100G", delay = "1us" }'
TRAFFIC = 'poisson = { sizes = "websearch", load = 0.7, from = { tag = "left" }, to = { tag = "right" } }'
RIGHT = f"""\
mtu = "1000B"
limit = "5ms"
{NETWORK}

[defaults]
flow-control.pfc = {{ xoff = "320KB" }}
buffer.static = {{ size = "1MB" }}
rate-control = "dcqcn"
congestion-point.red = {{ kmin = "100KB" }}
reliability = "go-back-n"

[[override]]
name = "middle"
links = {{ tag = "bottleneck" }}
rate = "40G"

[[workload]]
name = "web"
{TRAFFIC}
until = "1ms"
"""

#: What stands in the right scenario, what somebody wrote instead, and the answer.
MISTAKES = {
    "a size without its unit": (
        '"1000B"',
        "1000",
        'a.toml:1: mtu: "1000" is not a size: its unit is missing; write it like "288KB"',
    ),
    "a size without quotation marks": (
        '"1000B"',
        "1000B",
        (
            "a.toml:1: not TOML: 1000B is neither a number nor true or false: "
            'a string needs quotation marks, "1000B"'
        ),
    ),
    "bits in the unit of a rate": (
        '"100G"',
        '"100Gb"',
        (
            f'a.toml:3: topology.dumbbell.rate: "100Gb" is not a rate: the unit "Gb" is not one of {RATES}; '
            'write it like "100G"'
        ),
    ),
    "a unit of lower case": (
        "320KB",
        "320kb",
        (
            'a.toml:6: defaults.flow-control.pfc.xoff: "320kb" is not a size: '
            f'the unit "kb" is not one of {BYTES}; '
            'write it like "320KB", "auto", { fixed, alpha }, or { total }'
        ),
    ),
    "a Greek letter": (
        '"1us"',
        '"1µs"',
        (
            'a.toml:3: topology.dumbbell.delay: "1µs" is not a time: '
            'the unit "µs" is not one of ps, ns, us, ms, s; write it like "1us"'
        ),
    ),
    "a length as a delay": (
        '"1us"',
        '"10 km"',
        (
            'a.toml:3: topology.dumbbell.delay: "10 km" is not a time: '
            'the unit "km" is not one of ps, ns, us, ms, s; write it like "10us"'
        ),
    ),
    "a length beside a delay": (
        'delay = "1us"',
        'delay = "1us", length = "1km"',
        "a.toml:3: topology.dumbbell.length: give either the delay or the length, not both",
    ),
    "a negative time": (
        '"5ms"',
        '"-5ms"',
        'a.toml:2: limit: "-5ms" is not a time: it is negative; write it like "10us"',
    ),
    "a seed that is too large": (
        'limit = "5ms"',
        "seed = 18446744073709551616",
        "a.toml:2: seed: 18446744073709551616 is too large: the maximum is 18446744073709551615",
    ),
    "a number in quotation marks": (
        'limit = "5ms"',
        'seed = "7"',
        (
            'a.toml:2: seed: the string "7" where a whole number of at least 0 is required: '
            "write 7, without quotation marks"
        ),
    ),
    "an unknown key of the top level": (
        "limit =",
        "limits =",
        f'a.toml:2: "limits" is not a key; allowed: {TOP}; did you mean "limit"?',
    ),
    "a table misspelled": (
        "[defaults]",
        "[default]",
        f'a.toml:5: "default" is not a key; allowed: {TOP}; did you mean "defaults"?',
    ),
    "a slot misspelled": (
        "flow-control.pfc",
        "flow_control.pfc",
        (
            f'a.toml:6: defaults: "flow_control" is not a key; allowed: {keys("Defaults")}; '
            'did you mean "flow-control"?'
        ),
    ),
    "a mechanism misspelled": (
        "flow-control.pfc",
        "flow-control.pcf",
        (
            f'a.toml:6: defaults.flow-control: "pcf" is not a choice; allowed: {choices("flow-control")}; '
            'did you mean "pfc"?'
        ),
    ),
    "a parameter misspelled": (
        "xoff =",
        "x-off =",
        (
            f'a.toml:6: defaults.flow-control.pfc: "x-off" is not a key; allowed: {keys("Pfc")}; '
            'did you mean "xoff"?'
        ),
    ),
    "a parameter without its key": (
        '{ size = "1MB" }',
        '"1MB"',
        (
            'a.toml:7: defaults.buffer.static: the string "1MB" where a table is required, with these keys: '
            f"{keys('StaticBuffer')}"
        ),
    ),
    "a preset of a mechanism misspelled": (
        '"dcqcn"',
        '{ dcqcn = { preset = "papre" } }',
        (
            'a.toml:8: defaults.rate-control.dcqcn.preset: "papre" is not a choice; '
            'allowed: paper, tcd, mellanox, hpcc, hpcc-paper, hpcc-config, swing; did you mean "paper"?'
        ),
    ),
    "a network of somebody's without its whole name": (
        NETWORK,
        'topology.preset = "swing"',
        f'a.toml:3: topology.preset: "swing" is not a choice; allowed: {PRESETS}; did you mean "swing-2dc"?',
    ),
    "a profile without its whole name": (
        'limit = "5ms"',
        'profile = "swing"',
        (
            'a.toml:2: profile: "swing" is not a choice; allowed: swing-ns3, hpcc-ns3, conweave-ns3; '
            'did you mean "swing-ns3"?'
        ),
    ),
    "a network misspelled": (
        "topology.dumbbell",
        "topology.dumbell",
        f'a.toml:3: topology: "dumbell" is not a choice; allowed: {TOPOLOGIES}; did you mean "dumbbell"?',
    ),
    "a network without its size": (
        NETWORK,
        'topology = "dumbbell"',
        'a.toml:3: topology: "dumbbell" needs keys of its own: write { dumbbell = { ... } }',
    ),
    "a network without its delay": (
        ', delay = "1us"',
        "",
        'a.toml:3: topology.dumbbell: the key "delay" is missing',
    ),
    "a matrix that is not square": (
        NETWORK,
        (
            'topology.multi-dc = { sites = 3, fabric.fat-tree = { k = 2 }, rate = "100G", delay = "1us", '
            'long-links = { rate = "400G", lengths = [["", "80km"], ["80km", ""]] } }'
        ),
        "a.toml:3: topology.multi-dc.long-links.lengths: it has 2 rows for 3 sites",
    ),
    "a site misspelled": (
        NETWORK,
        (
            'topology.multi-dc = { sites = [{ name = "paris" }, { name = "rome" }], '
            'fabric.fat-tree = { k = 2 }, rate = "100G", delay = "1us", '
            'long-links = [{ between = ["paris", "rom"], rate = "400G", length = "80km" }] }'
        ),
        (
            'a.toml:3: topology.multi-dc.long-links.1.between: no site is named "rom"; allowed: paris, rome; '
            'did you mean "rome"?'
        ),
    ),
    "a tag misspelled": (
        '"bottleneck"',
        '"botleneck"',
        'a.toml:14: middle.links: { tag = "botleneck" } matches nothing; did you mean "bottleneck"?',
    ),
    "a tag as a name": (
        '{ tag = "bottleneck" }',
        '"bottleneck"',
        'a.toml:14: middle.links: "bottleneck" matches nothing; did you mean { tag = "bottleneck" }?',
    ),
    "a link that there is not": (
        '{ tag = "bottleneck" }',
        '"s1-s3"',
        'a.toml:14: middle.links: "s1-s3" matches nothing; did you mean "s1-s2"?',
    ),
    "an override of nothing": (
        'links = { tag = "bottleneck" }\n',
        "",
        "a.toml:12: middle: it needs exactly one of: links, switches, hosts, flows",
    ),
    "one bracket where two are due": (
        "[[workload]]",
        "[workload]",
        (
            "a.toml:17: workload: a table where a list is required: put [ ] around it, or "
            "[[ ]] around its header"
        ),
    ),
    "a workload of nothing": (
        f"{TRAFFIC}\n",
        "",
        f"a.toml:17: workload.web: it has no flows; name one of: {KINDS}",
    ),
    "a workload of two kinds": (
        'until = "1ms"',
        'burst = { to = "h3", size = "1KB" }',
        'a.toml:17: workload.web: "poisson" and "burst" are given together: give one',
    ),
    "a distribution without its whole name": (
        '"websearch"',
        '"hadoop"',
        (
            f'a.toml:19: workload.web.poisson.sizes: "hadoop" is not a distribution; allowed: {SIZES}; '
            'did you mean "fb-hadoop"?'
        ),
    ),
    "a percentage": (
        "0.7",
        "70%",
        "a.toml:19: not TOML: 70% is neither a number nor true or false: write 0.7",
    ),
    "a percentage in quotation marks": (
        "0.7",
        '"70%"',
        (
            'a.toml:19: workload.web.poisson.load: the string "70%" where a number is required: '
            "write 0.7, without quotation marks"
        ),
    ),
    "a host that there is not": (
        TRAFFIC,
        'flows = [{ from = "h1", to = "h9", size = "1MB" }]',
        'a.toml:19: workload.web.flows.1: no node is named "h9"; did you mean "h1"?',
    ),
    "a file that is not there": (
        TRAFFIC,
        'flow-list = { file = "nothing.csv" }',
        (
            'a.toml:19: workload.web.flow-list.file: cannot read "nothing.csv": '
            "No such file or directory (os error 2)"
        ),
    ),
    "a rate control without its ACKs": (
        'rate-control = "dcqcn"\ncongestion-point.red = { kmin = "100KB" }\nreliability = "go-back-n"',
        'rate-control = "static-window"\nreliability = "none"',
        (
            'a.toml:8: defaults.rate-control: "static-window" needs acknowledgements, '
            'and reliability is "none" (defaults, a.toml:9)'
        ),
    ),
    "a quotation mark that is not closed": (
        '"40G"',
        '"40G',
        'a.toml:15: not TOML: invalid basic string, expected `"`',
    ),
    "a key twice": (
        'rate = "40G"',
        'rate = "40G"\nrate = "50G"',
        "a.toml:16: not TOML: duplicate key, at rate",
    ),
    "a colon": (
        'rate = "40G"',
        'rate: "40G"',
        'a.toml:15: not TOML: key with no value, expected `=`, at "40G"',
    ),
}

#: What is set beside the right scenario, and the answer.
SET = {
    ("default.flow-control", "lossy"): (
        '"default" is not a key or the name of an override; '
        f'allowed: middle, {TOP.replace("override, ", "")}; did you mean "defaults"?'
    ),
    ("middel.rate", "10G"): (
        '"middel" is not a key or the name of an override; '
        f'allowed: middle, {TOP.replace("override, ", "")}; did you mean "middle"?'
    ),
    ("middle", "10G"): '"middle" is an override: set one of its keys, middle.<key>',
    ("workload.wbe.until", "1ms"): ('"wbe" is not the name of a workload; allowed: web; did you mean "web"?'),
    ("workload.web.poisson.laod", "0.3"): (
        f'workload.web.poisson: "laod" is not a key; allowed: {keys("Poisson")}; did you mean "load"?'
    ),
    ("defaults.flow-control", "bifrst"): (
        f'defaults.flow-control: "bifrst" is not a choice; allowed: {choices("flow-control")}; '
        'did you mean "bifrost"?'
    ),
}


def test_the_right_scenario_is_right() -> None:
    assert package.Scenario.from_toml(RIGHT).warnings == ()
    assert len(MISTAKES) + len(SET) >= 40


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_in_a_line_that_helps(mistake: str) -> None:
    right, wrong, answer = MISTAKES[mistake]
    assert right in RIGHT
    with pytest.raises(package.ScenarioError) as caught:
        package.Scenario.from_toml(RIGHT.replace(right, wrong, 1), name="a.toml")
    assert str(caught.value) == answer


@pytest.mark.parametrize("setting", SET, ids="=".join)
def test_a_value_set_by_mistake_is_answered_in_a_line_that_helps(setting: tuple[str, str]) -> None:
    with pytest.raises(package.ScenarioError) as caught:
        package.Scenario.from_toml(RIGHT, name="a.toml", sets=[setting])
    assert str(caught.value) == f"--set {'='.join(setting)}: {SET[setting]}"


def test_a_column_misspelled_is_answered_with_its_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("source,destinaton,size_bytes,start_us\nh1,h3,1000,0\n")
    scenario = tmp_path / "a.toml"
    scenario.write_text(RIGHT.replace(TRAFFIC, 'flow-list = { file = "list.csv" }'))
    with pytest.raises(package.ScenarioError) as caught:
        package.load(scenario)
    assert str(caught.value) == (
        'list.csv:1: workload.web: "destinaton" is not a column; allowed: source, destination, size_bytes, '
        "start_us, start_ns, class, source_port, destination_port, path, ack_path, id, after, wait_us; "
        'did you mean "destination"?'
    )


def test_a_load_of_seventy_is_odd() -> None:
    scenario = package.Scenario.from_toml(RIGHT.replace("0.7", "70"), name="a.toml")
    assert scenario.warnings == (
        "a.toml:19: workload.web.poisson.load: 70 is more than all of the capacity, which is 1; 70 % is 0.7",
    )


def test_several_mistakes_are_answered_together(floodway: Command, tmp_path: Path) -> None:
    wrong = RIGHT.replace('"100G"', '"100Gb"').replace("xoff", "xof").replace("until =", "untill =")
    (tmp_path / "a.toml").write_text(wrong)
    done = floodway("check", "a.toml")
    assert (done.code, done.out) == (2, "")
    places = [line.removeprefix("error: ").split(": ")[:2] for line in done.err.splitlines()]
    assert places == [
        ["a.toml:3", "topology.dumbbell.rate"],
        ["a.toml:6", "defaults.flow-control.pfc"],
        ["a.toml:20", "workload.web"],
    ]


DEEP = {
    "lists": "topology.x = " + "[" * 1000 + "1" + "]" * 1000,
    "tables": "topology.x = " + "{ a = " * 1000 + "1" + " }" * 1000,
    "keys": "topology" + ".a" * 200 + " = 1",
    "keys of a study": "[[variant]]\nname" + ".a" * 200 + " = 1",
}
TOO_DEEP = "tables and lists are nested too deeply: the maximum is 64"


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("verb", ["run", "check", "study", "plan"])
def test_a_file_that_nests_too_deep_is_answered_by_every_verb(
    floodway: Command, tmp_path: Path, verb: str, kind: str
) -> None:
    (tmp_path / "a.toml").write_text(DEEP[kind])
    done = floodway(verb, "a.toml")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: a.toml:")
    assert done.err.endswith(f": {TOO_DEEP}\n")


def test_a_value_that_nests_too_deep_is_answered_where_it_varies(floodway: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(RIGHT)
    deep = "[" * 1000 + "1" + "]" * 1000
    done = floodway("compare", "a.toml", "--vary", f"limit=1ms,{deep}")
    assert (done.code, done.out) == (2, "")
    assert "bug" not in done.err

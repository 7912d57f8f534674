from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import floodway as package
from floodway.comparison.variants import differing
from scenarios import SMALL, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

BOTH = ("--variant", "plain=", "--variant", "irn=defaults.flow-control=lossy, defaults.reliability = irn")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return written(tmp_path, SMALL)


def buffer_of(scenario: package.Scenario) -> object:
    defaults = scenario.to_dict()["defaults"]
    assert isinstance(defaults, dict)
    return defaults["buffer"]


def test_a_named_variant_changes_several_keys_at_once(floodway: Command, small: Path) -> None:
    done = floodway("compare", small, *BOTH, "--json", "--out", "out")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    assert [variant["label"] for variant in printed["variants"]] == ["plain", "irn"]
    assert printed["differs"] == [
        {"key": "defaults.flow-control", "values": {"plain": "-", "irn": "lossy"}},
        {"key": "defaults.reliability", "values": {"plain": "-", "irn": "irn"}},
    ]
    scenarios = {
        name: package.read(small.parent / "out" / name).run.scenario["scenario"] for name in ("plain", "irn")
    }
    defaults = scenarios["irn"]["defaults"]
    assert (defaults["flow-control"], defaults["reliability"]) == ("lossy", "irn")
    assert scenarios["plain"] == package.load(small).to_dict() | {"seed": 1}


def test_named_variants_are_combined_with_every_value_that_varies(small: Path) -> None:
    tables = "{ static = { size = '1MB' } }"
    variants = package.vary(
        small,
        [("mtu", ["1000B", "4096B"])],
        named=[("one", [("defaults.buffer", tables), ("defaults.rate-control", "dcqcn")]), ("two", [])],
        sets=[("limit", "1ms")],
    )
    labels = [variant.label for variant in variants]
    assert labels == ["one, mtu=1000B", "one, mtu=4096B", "two, mtu=1000B", "two, mtu=4096B"]
    assert dict(differing(variants)) == {
        "defaults.buffer": (tables, tables, "-", "-"),
        "defaults.rate-control": ("dcqcn", "dcqcn", "-", "-"),
        "mtu": ("1000B", "4096B", "1000B", "4096B"),
    }
    buffers = [
        buffer_of(scenario) for scenario in (*(each.scenario for each in variants), package.load(small))
    ]
    assert buffers[0] == buffers[1] == {"static": {"size": "1MB"}}
    assert buffers[2] == buffers[3] == buffers[4]


def test_one_named_variant_is_enough_where_something_varies(floodway: Command, small: Path) -> None:
    given = ("--variant", "short=limit=1ms", "--vary", "seed=1,2", "--out", "out", "--json")
    printed = json.loads(floodway("compare", small, *given).out)
    assert [variant["label"] for variant in printed["variants"]] == ["short, seed=1", "short, seed=2"]


@pytest.mark.parametrize(
    ("named", "others", "message"),
    [
        (["a"], [], "invalid value for --variant: 'a' is not NAME='KEY.PATH=VALUE, ...'"),
        (["=mtu=1B"], [], "invalid value for --variant: '=mtu=1B' is not NAME='KEY.PATH=VALUE, ...'"),
        (["a=mtu"], [], "invalid value for --variant a: 'mtu' is not KEY.PATH=VALUE"),
        (["a=mtu=1000B,"], [], "--variant a: 'mtu=1000B,': a value is missing"),
        (["a=mtu=[1"], [], "--variant a: 'mtu=[1': a bracket or quote does not match"),
        (["a=mtu=1000B"], [], "a: the only variant; give a second one: NAME= is the scenario as it is"),
        (["a=mtu=1000B, mtu=2000B", "b="], [], "variant a: mtu is given twice"),
        (["a=", "a=mtu=1000B"], [], "a: two variants have this name"),
        (["a=mtu=1", "b="], [], "variant a: --variant mtu=1: mtu: "),
        (["a=nothing=1", "b="], [], 'variant a: --variant nothing=1: "nothing" is not a key'),
        (["a=seed=3", "b="], ["--seeds", "2"], "--variant seed and --seeds both choose the seeds"),
        (["a=mtu=1000B", "b="], ["--set", "mtu=2000B"], "variant a: mtu is also set for all variants"),
        (["a=mtu=1000B", "b="], ["--vary", "mtu=1000B,2000B"], "variant a: mtu also varies"),
        (["a=mtu=1000B", "b="], ["other.toml"], "--variant is of one scenario, and 2 are given"),
    ],
)
def test_wrong_variants_are_reported_in_a_line(
    floodway: Command, small: Path, named: list[str], others: list[str], message: str
) -> None:
    written(small.parent, SMALL, name="other")
    done = floodway("compare", small, *(f"--variant={each}" for each in named), *others)
    (line,) = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert line.removeprefix("error: ").startswith(message)

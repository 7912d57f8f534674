from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import pytest

import floodway
from floodway.builders import (
    Bifrost,
    ByTag,
    Defaults,
    Dumbbell,
    FabricKindPreset,
    FatTree,
    FixedSize,
    LongLink,
    Override,
    PartKeys,
    Pfc,
    Poisson,
    RecordKeys,
    Red,
    SharedBuffer,
    StaticBuffer,
    TwoDc,
    Workload,
    XoffParts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

BY_HAND = """\
name = "two"
mtu = "1000B"
limit = "20ms"
seed = 5
records.buckets = 50

[topology.two-dc]
fabric.fat-tree = { k = 4 }
rate = "100G"
delay = "1us"
long-link = { rate = "400G", length = "40km", count = 2 }

[defaults]
flow-control.pfc = { xoff = { alpha = 0.25 } }
buffer.shared = { pool = "10MB", reserve = "288KB" }
congestion-point = [{ red = { preset = "swing" } }]
rate-control = ["dcqcn"]
reliability = "go-back-n"

[[override]]
name = "long-haul"
links = { tag = "long-haul" }
flow-control = "bifrost"
buffer.static = { size = "auto" }

[[workload]]
name = "messages"
until = "1ms"

[workload.poisson]
sizes = { fixed = "100KB" }
load = 0.3
of = { tag = "long-haul" }
from = { tag = "dc-a" }
to = { tag = "dc-b" }
"""


def built(name: str = "two") -> floodway.Scenario:
    return floodway.Scenario(
        name=name,
        mtu="1000B",
        limit="20ms",
        seed=5,
        topology=TwoDc(
            fabric=FatTree(k=4),
            rate="100G",
            delay="1us",
            long_link=LongLink(rate="400G", length="40km", count=2),
        ),
        records=RecordKeys(buckets=50),
        defaults=Defaults(
            flow_control=Pfc(xoff=XoffParts(alpha=0.25)),
            buffer=SharedBuffer(pool="10MB", reserve="288KB"),
            congestion_point=[Red(preset="swing")],
            rate_control=["dcqcn"],
            reliability="go-back-n",
        ),
        override=[
            Override(
                name="long-haul",
                links=ByTag(tag="long-haul"),
                flow_control=Bifrost(),
                buffer=StaticBuffer(size="auto"),
            )
        ],
        workload=[
            Workload(
                name="messages",
                poisson=Poisson(
                    sizes=FixedSize(fixed="100KB"),
                    load=0.3,
                    of=ByTag(tag="long-haul"),
                    from_=ByTag(tag="dc-a"),
                    to=ByTag(tag="dc-b"),
                ),
                until="1ms",
            )
        ],
    )


def bytes_of(scenario: floodway.Scenario) -> list[bytes]:
    """Run a scenario and return the files of its tables."""
    result = floodway.run(scenario)
    files = []
    for table in (result.flows, result.latency, result.series, result.counters):
        files.append(BytesIO())
        table.write_parquet(files[-1])
    return [file.getvalue() for file in files]


def test_a_scenario_from_builders_and_one_by_hand_give_the_same_bytes() -> None:
    by_hand = floodway.Scenario.from_toml(BY_HAND, name="scenario")
    assert bytes_of(by_hand) == bytes_of(built())


def test_a_scenario_survives_the_way_through_text_and_dictionaries() -> None:
    scenario = built()
    assert floodway.Scenario.from_toml(scenario.to_toml()).to_dict() == scenario.to_dict()
    assert floodway.Scenario.from_dict(scenario.to_dict()) == scenario
    by_hand = floodway.Scenario.from_toml(BY_HAND).to_dict()
    assert by_hand["topology"] == scenario.to_dict()["topology"]


@pytest.mark.parametrize(
    "fabric",
    [
        FabricKindPreset(preset=PartKeys(name="superpod-h100", nodes=2)),
        FabricKindPreset(preset="mercury-fat"),
    ],
)
def test_a_published_network_may_be_a_site(fabric: FabricKindPreset) -> None:
    topology = TwoDc(
        fabric=fabric, rate="100G", delay="1us", long_link=LongLink(rate="400G", length="40km", count=2)
    )
    scenario = built().replace(topology=topology)
    assert floodway.Scenario.from_toml(scenario.to_toml()).to_dict() == scenario.to_dict()


def test_replacing_gives_another_scenario_and_leaves_the_first() -> None:
    first = built()
    second = first.replace(seed=9, limit="5ms", sets=[("long-haul.length", "80km")])
    assert (first.seed, second.seed) == (5, 9)
    assert (first.limit_us, second.limit_us) == (20_000, 5_000)
    assert second == built().replace(limit="5ms", sets=[("long-haul.length", "80km")]).replace(seed=9)
    assert first != second
    assert {first, built()} == {first}
    topology = Dumbbell(left=2, right=1, rate="100G", delay="1us")
    with pytest.raises(floodway.ScenarioError) as caught:
        first.replace(topology=topology)
    assert str(caught.value) == 'scenario: long-haul.links: { tag = "long-haul" } matches nothing'


def test_another_seed_is_as_if_it_had_been_written() -> None:
    assert bytes_of(built().with_seed(9)) == bytes_of(built().replace(seed=9)) != bytes_of(built())


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (["limit"], "scenario: limit: "),
        (["defaults", "flow-control"], "scenario: defaults.flow-control: "),
        (["workload", 0, "poisson", "load"], "scenario: workload.messages.poisson.load: "),
    ],
)
def test_faults_of_dictionaries_name_the_key(keys: Sequence[str | int], text: str) -> None:
    document = built().to_dict()
    place: object = document
    for key in keys[:-1]:
        place = place[key]  # type: ignore[index]
    place[keys[-1]] = "nonsense"  # type: ignore[index]
    with pytest.raises(floodway.ScenarioError) as caught:
        floodway.Scenario.from_dict(document)
    assert str(caught.value).startswith(text)
    assert (caught.value.file, caught.value.line) == ("scenario", None)


def test_what_no_scenario_can_hold_is_refused() -> None:
    with pytest.raises(floodway.ScenarioError, match="null is not a value"):
        floodway.Scenario.from_dict({"limit": [None]})
    with pytest.raises(floodway.InputError, match=r"^defaults\.pipeline: <object object"):
        floodway.Scenario.from_dict({"defaults": {"pipeline": object()}})
    with pytest.raises(floodway.InputError, match=r"^limit: nan is not a valid value"):
        floodway.Scenario.from_dict({"limit": float("nan")})
    with pytest.raises(floodway.InputError, match=r"^expected keys with their values, got a list$"):
        floodway.Scenario.from_dict([1])  # type: ignore[arg-type]
    for seed in (-1, 2**64):
        with pytest.raises(floodway.ScenarioError, match="seed"):
            built().with_seed(seed)
    with pytest.raises(TypeError, match="a str is not a Scenario"):
        floodway.run("demo.toml")  # type: ignore[arg-type]


def test_numbers_of_other_libraries_are_numbers() -> None:
    assert built().replace(seed=np.int64(9)).seed == 9  # type: ignore[arg-type]


def test_another_seed_is_kept_in_what_is_written() -> None:
    other = built().with_seed(9)
    assert other.replace(limit="1ms").seed == 9
    assert other.to_dict()["seed"] == 9
    assert floodway.Scenario.from_toml(other.to_toml()).seed == 9
    assert other.resolved()["scenario"]["seed"] == 9  # type: ignore[index]


@pytest.mark.parametrize("name", ["", ".", "..", "../out", "/out"])
def test_a_name_is_that_of_a_folder(name: str) -> None:
    with pytest.raises(floodway.ScenarioError, match="is not a name: the results get a folder of this name"):
        built(name)


@pytest.mark.parametrize("name", ["a\x00b", "a\x1b[31m"])
def test_a_name_can_be_shown(name: str) -> None:
    with pytest.raises(floodway.ScenarioError, match="which cannot be shown"):
        built(name)


@pytest.mark.parametrize("sets", [{"mtu": "1KB"}, ["mtu"], [("mtu", 1000)], [("mtu", "1KB", "2KB")]])
def test_sets_that_are_not_pairs_of_strings_show_the_form(sets: object) -> None:
    text = 'topology.single-switch = { hosts = 2, rate = "100G", delay = "1us" }'
    with pytest.raises(TypeError, match=r"sets: expected pairs of strings, such as"):
        floodway.Scenario.from_toml(text, sets=sets)  # type: ignore[arg-type]

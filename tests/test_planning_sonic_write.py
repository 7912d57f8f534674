"""Files for SONiC as they are written: valid by its models, read again as they were, or refused."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import yang_models
from floodway.common.errors import OutputError, PlanError
from floodway.planning.sonic import Configuration, LosslessPort, lint, snippets, write
from floodway.planning.sonic.judge import read
from floodway.planning.sonic.writing import FILES, lookup_text, tables

if TYPE_CHECKING:
    from pathlib import Path

G = 1_000_000_000
LARGEST = 2**64 - 1

#: A row of Arista's 7800R3 and its pool.
PORT = LosslessPort(
    name="Ethernet0",
    rate_bps=400 * G,
    length_m=80_000,
    size=0,
    xon=2560,
    xoff=53_305_344,
    xon_offset=1_454_025,
    dynamic_th=-5,
    port_lanes="1,2,3,4,5,6,7,8",
)
WHOLE = Configuration(
    ports=(PORT, replace(PORT, name="Ethernet8", port_lanes="9,10,11,12,13,14,15,16")),
    classes=(3, 4),
    pool_bytes=6_441_610_000,
    headroom_pool_bytes=1_056_256_819,
    mark_from_bytes=2_000_000,
    mark_to_bytes=10_000_000,
    mark_percent=5,
)


def with_port(**changes: Any) -> Configuration:  # noqa: ANN401 (any field)
    return replace(WHOLE, ports=(replace(PORT, **changes),))


@st.composite
def configurations(draw: st.DrawFn) -> Configuration:
    sizes = st.integers(0, LARGEST)
    kinds = draw(
        st.lists(
            st.tuples(st.integers(1, 1_600_000), st.integers(1, 40_000_000)),
            min_size=1,
            max_size=3,
            unique=True,
        )
    )
    profiles: dict[tuple[int, int], dict[str, Any]] = {
        kind: {
            **{key: draw(sizes) for key in ("size", "xon", "xoff")},
            "xon_offset": draw(st.none() | sizes),
            "dynamic_th": draw(st.integers(-8, 7)),
        }
        for kind in kinds
    }
    ports = tuple(
        LosslessPort(
            name=f"Ethernet{number}",
            rate_bps=mbps * 1_000_000,
            length_m=metres,
            port_lanes=str(number),
            **profiles[mbps, metres],
        )
        for number, (mbps, metres) in enumerate(
            draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5))
        )
    )
    low, high = sorted((draw(sizes), draw(sizes)))
    return Configuration(
        ports=ports,
        classes=tuple(draw(st.lists(st.integers(0, 7), min_size=1, max_size=7, unique=True))),
        pool_bytes=draw(sizes),
        headroom_pool_bytes=draw(sizes),
        mark_from_bytes=low,
        mark_to_bytes=high,
        mark_percent=draw(st.integers(0, 100)),
        detection_ms=draw(st.integers(100, 5000)),
        restoration_ms=draw(st.integers(100, 60_000)),
        action=draw(st.sampled_from(("drop", "forward", "alert"))),
    )


@settings(max_examples=40)
@given(configurations())
def test_whatever_is_written_is_valid_by_sonic_s_models(configuration: Configuration) -> None:
    yang_models.validate(tables(configuration))


def test_every_table_that_is_written_has_its_model() -> None:
    made = yang_models.instance(tables(WHOLE))
    names = {table for module in made.values() for table in module}
    assert names == set(tables(WHOLE))
    assert names == {
        "PORT",
        "CABLE_LENGTH",
        "BUFFER_POOL",
        "BUFFER_PROFILE",
        "BUFFER_PG",
        "DSCP_TO_TC_MAP",
        "TC_TO_QUEUE_MAP",
        "TC_TO_PRIORITY_GROUP_MAP",
        "MAP_PFC_PRIORITY_TO_QUEUE",
        "PORT_QOS_MAP",
        "WRED_PROFILE",
        "QUEUE",
        "PFC_WD",
    }


def test_published_configurations_are_instances_of_the_same_models() -> None:
    """So the conversion to JSON of the models was not made for what is written here."""
    folder = yang_models.published().parent / "json"
    for name in ("buffers-mellanox4600c-t1.json", "qos-arista7060x6.json"):
        content = json.loads((folder / name).read_text())
        known = {table: rows for table, rows in content.items() if yang_models.has(table)}
        assert len(known) >= 4
        ports = {
            key.partition("|")[0] for table in known.values() for key in table if key.startswith("Ethernet")
        }
        known["PORT"] = {
            port: {"lanes": "1", "speed": "100000"}
            for port in ports | set(content.get("CABLE_LENGTH", {}).get("AZURE", {}))
        }
        yang_models.validate(known)


#: Table, row, field and a value that its model refuses, with the change of a plan that would write it.
REFUSED: tuple[tuple[tuple[str, str, str], str, Configuration], ...] = (
    (("BUFFER_PROFILE", PORT.profile, "dynamic_th"), "8", with_port(dynamic_th=8)),
    (("BUFFER_PROFILE", PORT.profile, "dynamic_th"), "-9", with_port(dynamic_th=-9)),
    (("BUFFER_PROFILE", PORT.profile, "size"), "-1", with_port(size=-1)),
    (("BUFFER_PROFILE", PORT.profile, "xon"), str(2**64), with_port(xon=2**64)),
    (("BUFFER_PROFILE", PORT.profile, "xoff"), "-1", with_port(xoff=-1)),
    (("BUFFER_PROFILE", PORT.profile, "xon_offset"), "-1", with_port(xon_offset=-1)),
    (("BUFFER_POOL", "ingress_lossless_pool", "size"), "-1", replace(WHOLE, pool_bytes=-1)),
    (("BUFFER_POOL", "ingress_lossless_pool", "xoff"), str(2**64), replace(WHOLE, headroom_pool_bytes=2**64)),
    (("CABLE_LENGTH", "AZURE", "Ethernet0"), "-3m", with_port(length_m=-3)),
    (("PORT", "Ethernet0", "speed"), "1600001", with_port(rate_bps=1_600_001_000_000)),
    (("PORT", "Ethernet0", "lanes"), "1" * 129, with_port(port_lanes="1" * 129)),
    (("PORT_QOS_MAP", "Ethernet0", "pfc_enable"), "8", replace(WHOLE, classes=(8,))),
    (
        ("WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold"),
        "1999999",
        replace(WHOLE, mark_to_bytes=1_999_999),
    ),
    (("WRED_PROFILE", "AZURE_LOSSLESS", "green_drop_probability"), "101", replace(WHOLE, mark_percent=101)),
    (("PFC_WD", "Ethernet0", "detection_time"), "99", replace(WHOLE, detection_ms=99)),
    (("PFC_WD", "Ethernet0", "detection_time"), "5001", replace(WHOLE, detection_ms=5001)),
    (("PFC_WD", "Ethernet0", "restoration_time"), "99", replace(WHOLE, restoration_ms=99)),
    (("PFC_WD", "Ethernet0", "restoration_time"), "60001", replace(WHOLE, restoration_ms=60_001)),
    (("PFC_WD", "Ethernet0", "action"), "stop", replace(WHOLE, action="stop")),
)


@pytest.mark.parametrize(("path", "value", "configuration"), REFUSED)
def test_what_a_model_refuses_is_refused_before_anything_is_written(
    tmp_path: Path, path: tuple[str, str, str], value: str, configuration: Configuration
) -> None:
    with pytest.raises(PlanError) as caught:
        write(configuration, tmp_path / "new")
    assert caught.value.key is not None
    assert str(caught.value).startswith((f"{caught.value.key}: ", "Ethernet0: "))
    assert not (tmp_path / "new").exists()
    forced = copy.deepcopy(tables(WHOLE))
    table, row, field = path
    assert field in forced[table][row]
    yang_models.validate(forced)
    forced[table][row][field] = value
    with pytest.raises(yang_models.Invalid):
        yang_models.validate(forced)


@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        (replace(WHOLE, ports=()), "ports: no port is given"),
        (replace(WHOLE, ports=(PORT, PORT)), "ports: Ethernet0 is given twice"),
        (with_port(name="Ethernet0|3"), "is not the name of a port"),
        (with_port(name="x" * 129), "is not the name of a port"),
        (with_port(length_m=0), r"length_m: 0 is not from 1 to 40000000 \(sonic-cable-length: length\)"),
        (with_port(rate_bps=400 * G + 1), "is not a whole number of Mb/s"),
        (replace(WHOLE, classes=(3, 3)), "are not priorities from 0 to 7, each once"),
        (replace(WHOLE, classes=()), "are not priorities from 0 to 7, each once"),
        (replace(WHOLE, classes=tuple(range(8))), "one must be left for other traffic"),
        (replace(WHOLE, action="dorp"), "did you mean 'drop'"),
        (
            replace(WHOLE, ports=(PORT, replace(PORT, name="Ethernet8", xoff=1))),
            "Ethernet8: xoff: 1, but Ethernet0 of the same speed and length has 53305344",
        ),
    ],
)
def test_what_sonic_could_not_use_is_refused(configuration: Configuration, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        tables(configuration)


def test_both_files_are_read_again_as_they_were_written(tmp_path: Path) -> None:
    files = write(WHOLE, tmp_path / "sonic")
    assert tuple(file.name for file in files) == FILES
    config, lookup = (read(file) for file in files)
    for row in (*config.rows, *lookup.rows):
        assert (row.rate_bps, row.length_m, row.size, row.xon) == (400 * G, 80_000, 0, 2560)
        assert (row.xoff, row.threshold, row.xon_offset) == (53_305_344, -5, 1_454_025)
    assert [row.classes for row in config.rows] == [(3, 4), (3, 4)]
    assert {row.headroom_pool for row in config.rows} == {1_056_256_819}
    assert config.notes == ()
    assert config.not_judged == ("BUFFER_QUEUE (not in the file)",)
    assert not any(row.faults or row.warnings for row in config.rows)
    (judged,) = lint(files[1], asic="jericho-2", mix="dnx").rows
    assert judged.fit is not None
    assert judged.fit.formula.startswith("DNX")


@given(configurations())
def test_a_lookup_has_a_line_for_each_speed_and_length(configuration: Configuration) -> None:
    lines = [line.split() for line in lookup_text(configuration).splitlines() if not line.startswith("#")]
    kinds = [(line[0], line[1]) for line in lines]
    assert len(set(kinds)) == len(kinds)
    assert set(kinds) == {(str(port.mbps), f"{port.length_m}m") for port in configuration.ports}
    columns = {(str(port.mbps), f"{port.length_m}m"): port.xon_offset is None for port in configuration.ports}
    assert [len(line) for line in lines] == [6 if columns[kind] else 7 for kind in kinds]


def test_all_values_are_texts() -> None:
    fields = [fields for rows in tables(WHOLE).values() for fields in rows.values()]
    assert all(isinstance(value, str) for each in fields for value in each.values())


def test_without_lanes_no_port_is_written() -> None:
    """Lanes made up here would break the switch's own ports when the file is loaded."""
    written = tables(with_port(port_lanes=""))
    assert "PORT" not in written
    written["PORT"] = {"Ethernet0": {"lanes": "1", "speed": "400000"}}
    yang_models.validate(written)


def test_without_a_headroom_pool_the_pool_has_none() -> None:
    pool = tables(replace(WHOLE, headroom_pool_bytes=0))["BUFFER_POOL"]["ingress_lossless_pool"]
    assert "xoff" not in pool


def test_lossless_classes_are_ranges_of_neighbours_and_have_their_own_dscp() -> None:
    written = tables(replace(WHOLE, classes=(6, 0, 1), dscps=((6, 50), (6, 51))))
    assert [key for key in written["BUFFER_PG"] if key.startswith("Ethernet0|")] == [
        "Ethernet0|0-1",
        "Ethernet0|6",
    ]
    assert written["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "0,1,6"
    dscp = written["DSCP_TO_TC_MAP"]["AZURE"]
    lossless = {key: value for key, value in dscp.items() if value in {"0", "1", "6"}}
    # The class selectors of RFC 2474, as captures write them, where none is given.
    assert lossless == {"0": "0", "8": "1", "50": "6", "51": "6"}
    assert dscp["48"] == "2"
    # Without another DSCP the class of CNPs is theirs.
    assert tables(replace(WHOLE, classes=(6, 0)))["DSCP_TO_TC_MAP"]["AZURE"]["48"] == "6"
    assert tables(WHOLE)["DSCP_TO_TC_MAP"]["AZURE"]["48"] == "6"
    groups = written["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]
    assert all(groups[each] == each for each in ("0", "1", "6"))
    assert all(groups[each] == "2" for each in ("2", "3", "4", "5", "7"))


@pytest.mark.parametrize(
    ("dscps", "message"),
    [
        (((5, 26),), "dscp: class 5 is not lossless here; lossless: 3, 4"),
        (((3, 64),), r"dscp: 64 is not from 0 to 63 \(sonic-dscp-tc-map: dscp\)"),
        (((3, 48),), "dscp: 48 of class 3 is that of CNPs"),
        (((3, 32),), "dscp: 32 of class 4 is that of class 3"),
    ],
)
def test_a_dscp_that_cannot_be_is_refused(dscps: tuple[tuple[int, int], ...], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        tables(replace(WHOLE, dscps=dscps))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        write(WHOLE, tmp_path / "file" / "sonic")


def test_snippets_say_first_that_they_were_not_tried_and_where_they_are_from() -> None:
    found = snippets(WHOLE, xoff_bytes=2_000_000, xon_bytes=545_975, mtu_bytes=4166)
    assert set(found) == {"nx-os.txt", "nvue.txt", "junos.txt"}
    for text in found.values():
        first, second, *_ = text.splitlines()
        assert first[2:].startswith("Not tried on a device.")
        assert second[2:].startswith("Source: ")
        assert max(map(len, text.splitlines())) <= 110
    assert (
        "    pause buffer-size 55305344 pause-threshold 2000000 resume-threshold 545975\n"
        in found["nx-os.txt"]
    )
    assert "  class type queuing c-in-q3\n" in found["nx-os.txt"]
    assert "nv set qos pfc floodway cable-length 80000\n" in found["nvue.txt"]
    assert "nv set qos pfc floodway switch-priority 3,4\n" in found["nvue.txt"]
    assert "input cable-length 80000\n" in found["junos.txt"]
    assert "code-point 011000 pfc mru 4184\n" in found["junos.txt"]


def test_a_cable_longer_than_nvue_takes_is_not_given_to_it() -> None:
    far = with_port(length_m=120_000)
    text = snippets(far, xoff_bytes=2_000_000, xon_bytes=1_990_000, mtu_bytes=4166)["nvue.txt"]
    assert "floodway cable-length" not in text
    assert "# No cable-length: it takes up to 100000 m, and this cable has 120000 m." in text

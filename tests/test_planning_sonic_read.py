"""Files of SONiC as they are read, and what is said of those with a mistake."""

from __future__ import annotations

import copy
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floodway.common.errors import PlanError
from floodway.planning.sonic.config_db import FIELDS, READ
from floodway.planning.sonic.judge import read

G = 1_000_000_000

INI = """\
# PG lossless profiles.
# speed cable size    xon  xoff    threshold  xon_offset
  10000   5m    56368   18432 55120   -3         2288
 400000  80000m 0 2560 53305344 -5 1454025   # two sites
"""

PROFILE = "pg_lossless_100000_300m_profile"
CONFIG: dict[str, Any] = {
    "PORT": {
        "Ethernet0": {"lanes": "1,2", "speed": "100000", "mtu": "9100"},
        "Ethernet4": {"lanes": "5,6", "speed": "400000"},
    },
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "300m", "Ethernet4": "300m"}},
    "BUFFER_POOL": {
        "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "1000000", "xoff": "200000"}
    },
    "BUFFER_PROFILE": {
        PROFILE: {
            "pool": "ingress_lossless_pool",
            "size": "1248",
            "xon": "2288",
            "xoff": "268736",
            "xon_offset": "2288",
            "dynamic_th": "-3",
        },
        "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"},
    },
    "BUFFER_PG": {
        "Ethernet0,Ethernet4|3-4": {"profile": PROFILE},
        "Ethernet0|0": {"profile": "ingress_lossy_profile"},
    },
}


def written(folder: Path, content: str | dict[str, Any], name: str = "file") -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def changed(path: tuple[str, ...], value: object) -> dict[str, Any]:
    """Return the configuration with another value, or without one."""
    content = copy.deepcopy(CONFIG)
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return content


def sonic() -> Path:
    reference = os.environ.get("FLOODWAY_REFERENCE")
    if not reference:
        pytest.skip("FLOODWAY_REFERENCE is not set: it names the folder with SONiC's files")
    return Path(reference) / "reference" / "sonic"


def test_rows_of_a_lookup_are_read_by_their_order(tmp_path: Path) -> None:
    file = written(tmp_path, INI)
    first, second = read(file).rows
    assert (first.rate_bps, first.length_m, first.size, first.xon, first.xoff) == (
        10 * G,
        5,
        56368,
        18432,
        55120,
    )
    assert (first.threshold, first.xon_offset, first.place) == (-3, 2288, f"{file}:3")
    assert (second.rate_bps, second.length_m, second.xoff) == (400 * G, 80_000, 53_305_344)


def test_the_offset_of_xon_may_be_left_out(tmp_path: Path) -> None:
    (row,) = read(written(tmp_path, "100000 300m 1248 2288 268736 -3")).rows
    assert row.xon_offset is None


@given(
    st.lists(
        st.tuples(
            st.integers(1, 1_600_000),
            st.integers(0, 40_000_000),
            *(st.integers(0, 2**64 - 1) for _ in range(3)),
            st.integers(-8, 7),
            st.integers(0, 2**64 - 1),
        ),
        min_size=1,
        unique_by=lambda row: row[:2],
    ),
    st.sampled_from((" ", "\t", "   ")),
)
def test_what_is_written_in_a_lookup_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, ...]], gap: str
) -> None:
    lines = [gap.join((str(row[0]), f"{row[1]}m", *map(str, row[2:]))) for row in rows]
    found = read(
        written(tmp_path_factory.mktemp("rows"), "# PG lossless profiles.\n" + "\n".join(lines))
    ).rows
    assert [
        (row.rate_bps // 1_000_000, row.length_m, row.size, row.xon, row.xoff, row.threshold, row.xon_offset)
        for row in found
    ] == rows


@pytest.mark.parametrize(
    ("line", "place", "key", "said"),
    [
        ("100000 300m 1248 2288 268736", ":1", "threshold", "the column is missing; SONiC reads speed cable"),
        ("100000 300m 1248 2288", ":1", "xoff", "the column is missing"),
        ("100000 300m 1 2 3 -3 4 5", ":1", None, "8 columns; SONiC reads speed cable"),
        ("\n100000 300m 1248 2288 big -3", ":2", "xoff", "'big' is not a whole number"),
        ("100000 300m 1248 2288 -5 -3", ":1", "xoff", "-5 is not a number of bytes"),
        ("100000 -300m 1248 2288 268736 -3", ":1", "cable", "'-300m' is negative"),
        ("100000 300 1248 2288 268736 -3", ":1", "cable", "'300' is not a length; write whole metres"),
        ("100000 1e9m 1248 2288 268736 -3", ":1", "cable", "is not a length"),
        ("0 300m 1248 2288 268736 -3", ":1", "speed", "0 is not a speed of a port"),
        ("10000 5m 1 2 3 0\n10000 5m 1 2 4 0", ":2", "cable", "10000 Mb/s over 5m is in"),
        ("{% set x = 1 %}\n10000 5m 1 2 3 0", ":1", None, "a template of jinja; render it first"),
    ],
)
def test_a_mistake_in_a_lookup_is_named_with_its_line(
    tmp_path: Path, line: str, place: str, key: str | None, said: str
) -> None:
    file = written(tmp_path, line)
    with pytest.raises(PlanError, match=re.escape(said)) as caught:
        read(file)
    assert caught.value.place == f"{file}{place}"
    assert caught.value.key == key
    assert str(caught.value).startswith(f"{file}{place}: ")


def test_a_table_without_a_column_names_it_and_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="xoff: the column is missing") as caught:
        read(written(tmp_path, "platform\tspeed_mbps\tcable\tsize\txon\txof\nA\t100000\t5m\t1\t2\t3\n"))
    assert (caught.value.key, caught.value.nearest) == ("xoff", "xof")


def test_a_line_of_a_table_has_a_field_for_each_column(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="4 fields; the first line names 5 columns"):
        read(written(tmp_path, "speed_mbps\tcable\tsize\txon\txoff\n100000\t5m\t1\t2\n"))


def test_classes_of_ports_have_the_numbers_of_their_profile(tmp_path: Path) -> None:
    file = written(tmp_path, CONFIG)
    first, second = read(file).rows
    assert (first.group, first.rate_bps, first.length_m, first.classes) == ("Ethernet0", 100 * G, 300, (3, 4))
    assert (first.size, first.xon, first.xoff, first.threshold) == (1248, 2288, 268_736, -3)
    assert (first.headroom_pool, first.xon_offset, first.remark) == (200_000, 2288, "")
    assert first.place == second.place == f"{file}: BUFFER_PG|Ethernet0,Ethernet4|3-4"
    assert (second.group, second.rate_bps) == ("Ethernet4", 400 * G)
    assert second.remark == "the profile is named for 100000 Mb/s and 300m, the port has 400000 and 300m"


def test_without_ports_and_cables_the_name_of_a_profile_tells_speed_and_length(tmp_path: Path) -> None:
    content = {name: CONFIG[name] for name in ("BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG")}
    assert {(row.rate_bps, row.length_m) for row in read(written(tmp_path, content)).rows} == {(100 * G, 300)}


@pytest.mark.parametrize(
    ("path", "value", "named", "said"),
    [
        (("BUFFER_PROFILES",), {}, ("BUFFER_PROFILES", "BUFFER_PROFILE"), "no table of SONiC"),
        (("CABLE_LENGHT",), {}, ("CABLE_LENGHT", "CABLE_LENGTH"), "no table of SONiC"),
        (
            ("BUFFER_PG", "Ethernet0|0", "profile"),
            "[BUFFER_PROFILE|ingress_lossy_profile]",
            ("profile", "ingress_lossy_profile"),
            'is how old versions of SONiC refer; write "ingress_lossy_profile"',
        ),
        (
            ("BUFFER_PG", "Ethernet0|0", "profile"),
            "ingres_lossy_profile",
            ("profile", "ingress_lossy_profile"),
            "BUFFER_PROFILE has no 'ingres_lossy_profile'",
        ),
        (
            ("BUFFER_PROFILE", "ingress_lossy_profile", "pool"),
            "ingress_losless_pool",
            ("pool", "ingress_lossless_pool"),
            "BUFFER_POOL has no 'ingress_losless_pool'",
        ),
        (
            ("PORT", "Ethernet0", "speed"),
            None,
            ("speed", None),
            "PORT|Ethernet0: speed: the field is missing",
        ),
        (
            ("BUFFER_PROFILE", PROFILE, "xonn_offset"),
            "2288",
            ("xonn_offset", "xon_offset"),
            "no field of SONiC; did you mean 'xon_offset'?",
        ),
        (
            ("PORT_QOS_MAP",),
            {"Ethernet0": {"pfc_enabled": "3"}},
            ("pfc_enabled", "pfc_enable"),
            "PORT_QOS_MAP|Ethernet0: pfc_enabled: no field of SONiC; did you mean 'pfc_enable'?",
        ),
        (("PORT", "Ethernet4"), None, ("Ethernet4", "Ethernet0"), "PORT has no such port"),
        (("CABLE_LENGTH", "AZURE", "Ethernet0"), "-3m", ("Ethernet0", None), "is negative"),
        (("CABLE_LENGTH", "AZURE", "Ethernet0"), "near", ("Ethernet0", None), "is not a length"),
        (("PORT", "Ethernet0", "speed"), "fast", ("speed", None), "is not a whole number"),
        (("BUFFER_PROFILE", PROFILE, "xoff"), "many", ("xoff", None), "is not a whole number"),
        (("BUFFER_PROFILE", PROFILE, "size"), None, ("size", None), "the field is missing"),
        (("BUFFER_PG", "Ethernet0|9"), {"profile": "NULL"}, ("key", None), "write PORT|3 or PORT|3-4"),
        (("BUFFER_PG", "Ethernet0|4-3"), {"profile": "NULL"}, ("key", None), "ends before it begins"),
        (("PORT", "Ethernet0"), "100G", ("PORT|Ethernet0", None), "it has no fields"),
    ],
)
def test_a_mistake_in_a_configuration_is_named_with_table_and_key(
    tmp_path: Path, path: tuple[str, ...], value: object, named: tuple[str, str | None], said: str
) -> None:
    file = written(tmp_path, changed(path, value))
    with pytest.raises(PlanError, match=re.escape(said)) as caught:
        read(file)
    assert (caught.value.key, caught.value.nearest) == named
    assert str(caught.value).startswith(str(file))


@pytest.mark.parametrize("content", ["[1, 2]", '{"PORT": 3}', '{"PORT": }'])
def test_what_is_no_configuration_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(PlanError, match=r"not a CONFIG_DB|not JSON"):
        read(written(tmp_path, content))


def test_what_is_not_read_or_not_judged_is_told(tmp_path: Path) -> None:
    missing = "of all lossless classes: if all pause at once, 874,944 bytes are missing"
    content = changed(("BUFFER_PG", "Ethernet0|5"), {"profile": "NULL"})
    content["SNMP"] = {}
    content["BUFFER_PROFILE"]["spare"] = {"pool": "ingress_lossless_pool", "size": "0", "xoff": "9"}
    sheet = read(written(tmp_path, content))
    assert [row.unknown for row in sheet.rows if row.is_computed] == [
        "the switch takes its headroom from pg_profile_lookup.ini: judge that file"
    ]
    assert sheet.notes == (
        "tables that are not read: SNMP",
        "lossless profiles that no port uses, not judged: spare",
    )
    assert sheet.warnings == (
        f"BUFFER_POOL|ingress_lossless_pool: xoff 200,000 is less than the 1,074,944 {missing}",
    )


def test_a_cable_of_no_length_has_no_lossless_classes(tmp_path: Path) -> None:
    sheet = read(written(tmp_path, changed(("CABLE_LENGTH", "AZURE", "Ethernet0"), "0m")))
    assert [row.group for row in sheet.rows] == ["Ethernet4"]
    assert any("the cable of Ethernet0 has 0m" in note for note in sheet.notes)


def test_parts_that_do_not_agree_are_told(tmp_path: Path) -> None:
    content = copy.deepcopy(CONFIG)
    content["WRED_PROFILE"] = {"A": {"green_min_threshold": "20", "green_max_threshold": "10"}}
    content["PFC_WD"] = {"Ethernet0": {"detection_time": "50", "restoration_time": "400"}}
    content["BUFFER_PG"] = {}
    notes = "\n".join(read(written(tmp_path, content)).warnings)
    assert "WRED_PROFILE|A: green_max_threshold 10 is below green_min_threshold 20" in notes
    assert "PFC_WD|Ethernet0: detection_time 50 is not from 100 to 5000 ms" in notes
    assert "restoration_time" not in notes


def test_published_configurations_are_read() -> None:
    files = sorted((sonic() / "json").glob("*.json"))
    assert len(files) == 5
    sheets = {file.name: read(file) for file in files}
    assert all(sheet.form == "CONFIG_DB" and sheet.notes for sheet in sheets.values())
    dynamic = sheets["buffers-mellanox4600c-t1-dynamic.json"]
    assert dynamic.pattern is not None
    assert (dynamic.pattern.mtu, dynamic.pattern.small_percent) == (1024, 50)


@pytest.mark.parametrize("content", [INI, CONFIG])
def test_a_mark_of_the_encoding_before_a_file_is_not_read(
    tmp_path: Path, content: str | dict[str, Any]
) -> None:
    plain = written(tmp_path, content)
    before = read(plain)
    plain.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes())
    assert read(plain) == before


def test_no_field_of_sonic_is_taken_for_a_slip(tmp_path: Path) -> None:
    models = [(file.stem, file.read_text()) for file in (sonic() / "yang").glob("*.yang")]
    checked, told = 0, []
    for table in FIELDS:
        own = [text for _, text in models if re.search(rf"container {table}\s*\{{", text)]
        assert own, table
        for leaf in {leaf for text in own for leaf in re.findall(r"leaf(?:-list)? (\w+)", text)}:
            checked += 1
            # Another error, about the value, is not one about the name.
            try:
                read(written(tmp_path, {table: {"Ethernet0": {leaf: "1"}}}))
            except PlanError as error:
                told.append(str(error))
    assert checked > 80
    assert not [text for text in told if "no field of SONiC" in text]


def test_no_table_of_sonic_is_taken_for_a_slip(tmp_path: Path) -> None:
    models = sonic() / "yang"
    names = {
        found[1]
        for file in models.glob("*.yang")
        for found in re.finditer(
            r"^(?:\t| {2}| {4})(?:\t| {2}| {4})container ([A-Z][A-Z0-9_]+)", file.read_text(), re.MULTILINE
        )
    }
    assert len(names) > 150
    assert names.issuperset(READ)
    content: dict[str, Any] = {name: {} for name in names}
    assert read(written(tmp_path, content)).rows == ()


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "# speed cable size xon xoff threshold\n", "platform\tspeed_mbps\tcable\tsize\txon\txoff\n"],
)
def test_a_file_without_rows_is_no_answer(tmp_path: Path, text: str) -> None:
    with pytest.raises(PlanError, match=r"there is no row to judge|is missing"):
        read(written(tmp_path, text))


def test_a_configuration_of_other_tables_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="none of the tables that are judged: BUFFER_PG"):
        read(written(tmp_path, '{"VLAN": {"Vlan7": {}}}'))


#: A port with a lossless class in a pool of headroom.
PORT = {
    "PORT": {"Ethernet0": {"speed": "100000"}},
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "300m"}},
    "BUFFER_POOL": {"pool": {"type": "ingress", "mode": "dynamic", "size": "9000000", "xoff": "300000"}},
    "BUFFER_PROFILE": {"p": {"pool": "pool", "size": "0", "xoff": "200000", "dynamic_th": "0"}},
    "BUFFER_PG": {"Ethernet0|3": {"profile": "p"}},
}


def test_groups_in_two_rows_and_headroom_beyond_its_pool_are_told(tmp_path: Path) -> None:
    assert read(written(tmp_path, json.dumps(PORT))).notes == ()
    both = PORT | {"BUFFER_PG": {"Ethernet0|3-4": {"profile": "NULL"}, "Ethernet0|3": {"profile": "p"}}}
    (told,) = read(written(tmp_path, json.dumps(both))).warnings
    assert "priority group 3 of Ethernet0 is in" in told
    many = PORT | {"BUFFER_PG": {"Ethernet0|3-4": {"profile": "p"}}}
    (told,) = read(written(tmp_path, json.dumps(many))).warnings
    assert "xoff 300,000 is less than the 400,000 of all lossless classes" in told


@pytest.mark.parametrize(
    ("table", "rows", "message"),
    [
        (
            "BUFFER_PROFILE",
            {"p": {"pool": "pool", "size": "0", "xoff": "1", "dynamic_th": "99"}},
            "from -8 to 7",
        ),
        ("WRED_PROFILE", {"w": {"green_drop_probability": "200"}}, "'200' is not from 0 to 100"),
        ("PORT_QOS_MAP", {"Ethernet0": {"tc_to_pg_map": "NOPE"}}, "TC_TO_PRIORITY_GROUP_MAP has no 'NOPE'"),
    ],
)
def test_values_out_of_range_and_maps_that_are_not_there_are_refused(
    tmp_path: Path, table: str, rows: dict[str, dict[str, str]], message: str
) -> None:
    tables = {"TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "3"}}} | PORT | {table: rows}
    with pytest.raises(PlanError, match=re.escape(message)):
        read(written(tmp_path, json.dumps(tables)))

"""Classes of a CONFIG_DB from end to end: what is lossless holds, what is not fails, and says why."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from floodway.common.errors import PlanError
from floodway.planning.asics import asic, chip_of
from floodway.planning.formulas import nvidia_profile
from floodway.planning.sonic import lint
from floodway.planning.sonic.config_db import NEEDED
from floodway.planning.sonic.verdict import Level

if TYPE_CHECKING:
    from command import Command
    from floodway.planning.sonic import Lint

Tables = dict[str, Any]
EIGHT = {str(each): str(each) for each in range(8)}
PORTS = ("Ethernet0", "Ethernet8")
PROFILE = "pg_lossless_100000_40m_profile"
MAPS = {
    "dscp_to_tc_map": "AZURE",
    "tc_to_pg_map": "AZURE",
    "tc_to_queue_map": "AZURE",
    "pfc_to_queue_map": "AZURE",
    "pfc_enable": "3,4",
    "pfcwd_sw_enable": "3,4",
}
#: A switch with two ports, on which classes 3 and 4 are lossless: nothing is missing, nothing is wrong.
GOOD: Tables = {
    "DEVICE_METADATA": {"localhost": {"hwsku": "Arista-7060X6-64PE-B-P64", "type": "LeafRouter"}},
    "PORT": {name: {"lanes": "1,2,3,4", "speed": "100000", "mtu": "9100"} for name in PORTS},
    "CABLE_LENGTH": {"AZURE": dict.fromkeys(PORTS, "40m")},
    "BUFFER_POOL": {
        "ingress_lossless_pool": {
            "type": "ingress",
            "mode": "dynamic",
            "size": "60000000",
            "xoff": "2000000",
        },
        "egress_lossless_pool": {"type": "egress", "mode": "static", "size": "60000000"},
        "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "40000000"},
    },
    "BUFFER_PROFILE": {
        PROFILE: {
            "pool": "ingress_lossless_pool",
            "size": "0",
            "xon": "0",
            "xon_offset": "3556",
            "xoff": "300000",
            "dynamic_th": "0",
        },
        "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"},
        "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "static_th": "60000000"},
        "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "3"},
    },
    "BUFFER_PG": {
        **{f"{name}|3-4": {"profile": PROFILE} for name in PORTS},
        **{f"{name}|0": {"profile": "ingress_lossy_profile"} for name in PORTS},
    },
    "BUFFER_QUEUE": {
        **{f"{name}|3-4": {"profile": "egress_lossless_profile"} for name in PORTS},
        **{f"{name}|0-2": {"profile": "egress_lossy_profile"} for name in PORTS},
        **{f"{name}|5-7": {"profile": "egress_lossy_profile"} for name in PORTS},
    },
    "DSCP_TO_TC_MAP": {
        "AZURE": {str(each): {3: "3", 4: "4", 26: "3", 48: "6"}.get(each, "0") for each in range(64)}
    },
    "TC_TO_PRIORITY_GROUP_MAP": {
        "AZURE": {str(each): str(each) if each in {3, 4} else "0" for each in range(8)}
    },
    "TC_TO_QUEUE_MAP": {"AZURE": dict(EIGHT)},
    "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": dict(EIGHT)},
    "PORT_QOS_MAP": {name: dict(MAPS) for name in PORTS},
    "WRED_PROFILE": {
        "AZURE_LOSSLESS": {
            "ecn": "ecn_all",
            "wred_green_enable": "true",
            "green_min_threshold": "1000000",
            "green_max_threshold": "3000000",
            "green_drop_probability": "5",
        }
    },
    "QUEUE": {f"{name}|3-4": {"wred_profile": "AZURE_LOSSLESS"} for name in PORTS},
    "PFC_WD": {
        "GLOBAL": {"POLL_INTERVAL": "100"},
        **{name: {"action": "drop", "detection_time": "200", "restoration_time": "400"} for name in PORTS},
    },
}

FIRST = "Ethernet0"
#: What is changed: a path and a value, none to remove it. A class is lossless no more then.
FAULTS: dict[str, tuple[tuple[str, ...], Any]] = {
    "no group": (("BUFFER_PG", f"{FIRST}|3-4"), None),
    "lossy group": (("BUFFER_PG", f"{FIRST}|3-4", "profile"), "ingress_lossy_profile"),
    "one group of two": (("BUFFER_PG",), {f"{name}|3": {"profile": PROFILE} for name in PORTS}),
    "no pause": (("PORT_QOS_MAP", FIRST, "pfc_enable"), "3"),
    "no pause at all": (("PORT_QOS_MAP", FIRST, "pfc_enable"), ""),
    "no row of maps": (("PORT_QOS_MAP", FIRST), None),
    "no tc_to_pg_map": (("PORT_QOS_MAP", FIRST, "tc_to_pg_map"), None),
    "no tc_to_queue_map": (("PORT_QOS_MAP", FIRST, "tc_to_queue_map"), None),
    "no dscp_to_tc_map": (("PORT_QOS_MAP", FIRST, "dscp_to_tc_map"), None),
    "class in lossy group": (("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "4"), "0"),
    "no dscp of class": (("DSCP_TO_TC_MAP", "AZURE"), {"3": "3"}),
    "groups crossed": (("TC_TO_PRIORITY_GROUP_MAP", "AZURE"), {"3": "4", "4": "3"}),
    "pause stops another queue": (("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE", "4"), "5"),
    "class in another queue": (("TC_TO_QUEUE_MAP", "AZURE", "3"), "1"),
    "no queue profile": (("BUFFER_QUEUE", f"{FIRST}|3-4"), None),
    "lossy queue": (("BUFFER_QUEUE", f"{FIRST}|3-4", "profile"), "egress_lossy_profile"),
    "queue of ingress": (("BUFFER_PROFILE", "egress_lossless_profile", "pool"), "ingress_lossless_pool"),
    "queue with less": (("BUFFER_PROFILE", "egress_lossless_profile", "static_th"), "1000000"),
    "queue of a small pool": (("BUFFER_POOL", "egress_lossless_pool", "size"), "10000"),
    "queue of an empty pool": (("BUFFER_POOL", "egress_lossless_pool", "size"), "0"),
    "reserve of a queue": (("BUFFER_PROFILE", "egress_lossless_profile", "size"), "60000001"),
    "reserve of a group": (("BUFFER_PROFILE", PROFILE, "size"), "60000001"),
    "empty pool": (("BUFFER_POOL", "ingress_lossless_pool", "size"), "0"),
    "pool below its headroom": (("BUFFER_POOL", "ingress_lossless_pool", "size"), "1999999"),
    "lossy beside lossless": (("BUFFER_PG", f"{FIRST}|3"), {"profile": "ingress_lossy_profile"}),
    "queue of two rows": (("BUFFER_QUEUE", f"{FIRST}|3"), {"profile": "egress_lossy_profile"}),
    "group of egress": (("BUFFER_PROFILE", PROFILE, "pool"), "egress_lossless_pool"),
    "drops instead of marks": (("WRED_PROFILE", "AZURE_LOSSLESS", "ecn"), "ecn_none"),
    "marks of other colours": (("WRED_PROFILE", "AZURE_LOSSLESS", "ecn"), "ecn_yellow_red"),
    "headroom below its pool": (("BUFFER_POOL", "ingress_lossless_pool", "xoff"), "200000"),
    "no headroom": (("BUFFER_PROFILE", PROFILE, "xoff"), "1000"),
    "headroom for small packets": (("BUFFER_PROFILE", PROFILE, "xoff"), "90000"),
    "longer cable": (("CABLE_LENGTH", "AZURE", FIRST), "2000m"),
    "no cable": (("CABLE_LENGTH", "AZURE", FIRST), "0m"),
    "faster port": (("PORT", FIRST, "speed"), "800000"),
}
SAID = {
    "no group": "pauses are sent for priority 3, 4 without a lossless priority group: no headroom",
    "lossy group": "pauses are sent for priority 3, 4 without a lossless priority group",
    "one group of two": "pauses are sent for priority 4 without a lossless priority group",
    "no pause": "no pause is sent for priority 4: pfc_enable is '3'",
    "no pause at all": "no pause is sent for priority 3: pfc_enable is ''",
    "no row of maps": "no pause is sent for priority 3: pfc_enable is ''",
    "no tc_to_pg_map": "the port has no tc_to_pg_map",
    "no tc_to_queue_map": "the port has no tc_to_queue_map",
    "no dscp_to_tc_map": "the port has no dscp_to_tc_map",
    "class in lossy group": "no traffic class is in priority group 4 (TC_TO_PRIORITY_GROUP_MAP|AZURE)",
    "no dscp of class": "no DSCP is in traffic class 4 (DSCP_TO_TC_MAP|AZURE)",
    "groups crossed": "traffic class 4 leaves by queue 4, which a pause for priority 3 does not stop",
    "pause stops another queue": "traffic class 4 leaves by queue 4, which a pause for priority 4 does not",
    "class in another queue": "traffic class 3 leaves by queue 1, which a pause for priority 3 does not stop",
    "no queue profile": "queue 3 has no profile at egress (BUFFER_QUEUE)",
    "lossy queue": "queue 3 drops from 35,555,555 bytes on (egress_lossy_profile of egress_lossy_pool)",
    "queue of ingress": "ingress_lossless_pool, which is a pool of ingress",
    "queue with less": "queue 3 drops from 1,000,000 bytes on",
    "queue of a small pool": "queue 3 drops from 10,000 bytes on (egress_lossless_profile of"
    " egress_lossless_pool), and 60,000,000 may come in (ingress_lossless_pool)",
    "queue of an empty pool": "queue 3's pool egress_lossless_pool is empty (BUFFER_POOL: size)",
    "reserve of a queue": "queue 3's profile egress_lossless_profile reserves 60,000,001 bytes, more than the"
    " 60,000,000 of egress_lossless_pool",
    "reserve of a group": f"its profile {PROFILE} reserves 60,000,001 bytes, more than the 60,000,000 of",
    "empty pool": "its pool ingress_lossless_pool is empty (BUFFER_POOL: size)",
    "pool below its headroom": "its pool ingress_lossless_pool has 1,999,999 bytes, less than its own",
    "lossy beside lossless": "priority group 3 is lossy in BUFFER_PG|Ethernet0|3 (ingress_lossy_profile)",
    "queue of two rows": "queue 3 drops from 35,555,555 bytes on (egress_lossy_profile of egress_lossy_pool)",
    "group of egress": "its pool egress_lossless_pool is one of egress",
    "drops instead of marks": "drops green packets of queue 3 instead of marking them: ecn is ecn_none",
    "marks of other colours": "drops green packets of queue 3 instead of marking them: ecn is ecn_yellow_red",
    "headroom below its pool": "the pool of headroom has 200,000 bytes (BUFFER_POOL: xoff)",
    "no headroom": "below propagation",
    "headroom for small packets": "bytes short for frames of any size",
    "longer cable": "bytes short of that",
    "no cable": "pauses are sent for priority 3, 4 without a lossless priority group",
    "faster port": "bytes short for frames of any size",
}


def changed(*changes: tuple[tuple[str, ...], Any], of: Tables = GOOD) -> Tables:
    """Return tables with other values; none removes one."""
    content = copy.deepcopy(of)
    for path, value in changes:
        inner = content
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        if value is None:
            del inner[path[-1]]
        else:
            inner[path[-1]] = copy.deepcopy(value)
    return content


def linted(folder: Path, content: Tables, **options: Any) -> Lint:  # noqa: ANN401 (any option)
    file = folder / "config_db.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return lint(file, **options)


def worst(found: Lint) -> str:
    return found.rows[0].text


def test_a_switch_on_which_nothing_is_wrong_holds_and_nothing_is_left_out(tmp_path: Path) -> None:
    found = linted(tmp_path, GOOD, latency="0us")
    assert found.holds
    assert (found.text, found.not_judged) == ("every lossless class holds", ())
    assert [each.row.classes for each in found.rows] == [(3, 4), (3, 4)]
    assert [each.row.dscps for each in found.rows] == [(3, 4, 26), (3, 4, 26)]
    assert {each.text for each in found.rows} == {"holds for frames of any size"}
    assert found.notes == ("the chip is that of hwsku Arista-7060X6-64PE-B-P64: Broadcom Tomahawk 5",)


@pytest.mark.parametrize("kind", FAULTS)
def test_a_class_that_is_not_lossless_fails_and_its_row_says_why(tmp_path: Path, kind: str) -> None:
    found = linted(tmp_path, changed(FAULTS[kind]))
    assert not found.holds
    assert found.text.startswith("fails: ")
    assert SAID[kind] in worst(found)


OTHER = {
    "pauses that no map leads elsewhere": (("PORT_QOS_MAP", FIRST, "pfc_to_queue_map"), None),
    "the map of the whole switch": (
        ("PORT_QOS_MAP",),
        {
            "global": {"dscp_to_tc_map": "AZURE"},
            **{name: {k: v for k, v in MAPS.items() if k != "dscp_to_tc_map"} for name in PORTS},
        },
    ),
    "a map one to one": (("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",), {"AZURE": EIGHT}),
    "a queue that may have nearly all": (
        ("BUFFER_PROFILE", "egress_lossless_profile"),
        {"pool": "egress_lossless_pool", "size": "7000000", "dynamic_th": "3"},
    ),
    "a limit beyond its pool": (("BUFFER_PROFILE", "egress_lossless_profile", "static_th"), "99000000"),
    "queues of one key": (
        ("BUFFER_QUEUE",),
        {f"{','.join(PORTS)}|0-7": {"profile": "egress_lossless_profile"}},
    ),
    "queues of a chassis": (
        ("BUFFER_QUEUE",),
        {f"lc3|Asic0|{name}|3-4": {"profile": "egress_lossless_profile"} for name in PORTS},
    ),
    "marks off": (("WRED_PROFILE", "AZURE_LOSSLESS"), {"ecn": "ecn_none", "wred_green_enable": "false"}),
    "small packets": (("PORT", FIRST, "mtu"), "1500"),
    "headroom of its own": (("BUFFER_POOL", "ingress_lossless_pool", "xoff"), None),
}


@pytest.mark.parametrize("kind", OTHER)
def test_what_is_written_otherwise_and_is_lossless_holds(tmp_path: Path, kind: str) -> None:
    found = linted(tmp_path, changed(OTHER[kind]))
    assert found.holds, [each.text for each in found.rows]
    assert not found.warned


#: Published pools: ingress with its headroom, egress, and the limit of a queue (sonic-buildimage).
PUBLISHED_POOLS = {
    "Broadcom Trident 3": ("", 26_284_032, 6_291_456, 32_575_488, {"static_th": "32575488"}),
    "Broadcom Trident 2": ("", 12_766_208, 0, 12_766_208, {"static_th": "12766208"}),
    "Broadcom Tomahawk": ("", 10_875_072, 4_194_112, 15_982_720, {"static_th": "15982720"}),
    "NVIDIA Spectrum-3": ("spectrum-3", 44_130_304, 8_790_016, 60_817_392, {"dynamic_th": "7"}),
}


@pytest.mark.parametrize("name", PUBLISHED_POOLS)
def test_a_queue_needs_what_the_ingress_pool_and_its_headroom_hold_to_the_byte(
    tmp_path: Path, name: str
) -> None:
    chip, size, xoff, egress, limit = PUBLISHED_POOLS[name]
    content = changed(
        (("DEVICE_METADATA",), None),
        (
            ("BUFFER_POOL", "ingress_lossless_pool"),
            {"type": "ingress", "mode": "dynamic", "size": str(size)} | ({"xoff": str(xoff)} if xoff else {}),
        ),
        (("BUFFER_POOL", "egress_lossless_pool", "size"), str(egress)),
        (
            ("BUFFER_PROFILE", "egress_lossless_profile"),
            {"pool": "egress_lossless_pool", "size": "0"} | limit,
        ),
    )
    assert not any(each.row.faults for each in linted(tmp_path, content, asic=chip or None).rows)
    # NVIDIA's pools have their headroom beside their size.
    needed = size + (xoff if chip else 0)
    own = content["BUFFER_PROFILE"]["egress_lossless_profile"]
    own.pop("dynamic_th", None)
    for most, faults in ((needed, 0), (needed - 1, 4)):
        own["static_th"] = str(most)
        found = linted(tmp_path, content, asic=chip or None)
        assert sum(bool(each.row.faults) for each in found.rows) == faults
        if faults:
            beside = " and its headroom" if chip else ""
            told = f"and {needed:,} may come in (ingress_lossless_pool{beside})"
            assert f"queue 3 drops from {most:,} bytes on" in worst(found)
            assert told in worst(found)


def test_priorities_and_groups_of_other_numbers_are_followed_by_their_maps(tmp_path: Path) -> None:
    """Priority 5 pauses group 3, its traffic is class 2 in queue 6."""
    content = changed(
        (("PORT_QOS_MAP",), {name: MAPS | {"pfc_to_pg_map": "AZURE", "pfc_enable": "5"} for name in PORTS}),
        (("PORT_QOS_MAP", FIRST, "pfcwd_sw_enable"), "5"),
        (("PORT_QOS_MAP", PORTS[1], "pfcwd_sw_enable"), "5"),
        (("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",), {"AZURE": {"5": "3"}}),
        (("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE"), {"5": "6"}),
        (("TC_TO_QUEUE_MAP", "AZURE"), {"2": "6", "0": "0"}),
        (("TC_TO_PRIORITY_GROUP_MAP", "AZURE"), {"2": "3", "0": "0"}),
        (("DSCP_TO_TC_MAP", "AZURE"), {"24": "2", "0": "0"}),
        (("BUFFER_QUEUE",), {f"{name}|6": {"profile": "egress_lossless_profile"} for name in PORTS}),
        (("BUFFER_PG",), {f"{name}|3": {"profile": PROFILE} for name in PORTS}),
    )
    found = linted(tmp_path, content)
    assert found.holds, worst(found)
    assert {each.row.dscps for each in found.rows} == {(24,)}
    led_away = changed((("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE", "5"), "2"), of=content)
    found = linted(tmp_path, led_away)
    told = "\n".join(each.text for each in found.rows)
    assert "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE leads none of them to group 3" in told
    assert "pauses are sent for priority 5 without a lossless priority group" in told
    assert not found.holds


WARNINGS = {
    "marks never come": (
        (("WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold"), "70000000"),
        (("WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold"), "80000000"),
    ),
    "marks after pauses": (
        (("WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold"), "31000000"),
        (("WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold"), "32000000"),
    ),
    "no watchdog": ((("PFC_WD", FIRST), None),),
    "not watched": ((("PORT_QOS_MAP", FIRST, "pfcwd_sw_enable"), "3"),),
    "none watched": ((("PORT_QOS_MAP", FIRST, "pfcwd_sw_enable"), None),),
    "too short": ((("PFC_WD", FIRST, "detection_time"), "50"),),
    "shorter than its poll": ((("PFC_WD", "GLOBAL", "POLL_INTERVAL"), "300"),),
    "no detection": ((("PFC_WD", FIRST, "detection_time"), None),),
    "unknown action": ((("PFC_WD", FIRST, "action"), "reset"),),
    "alpha of another chip": (
        (("BUFFER_POOL", "egress_lossless_pool", "size"), "61000000"),
        (
            ("BUFFER_PROFILE", "egress_lossless_profile"),
            {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "6"},
        ),
    ),
    "resumes above its limit": ((("BUFFER_PROFILE", PROFILE, "xon"), "30000001"),),
    "default traffic": ((("DSCP_TO_TC_MAP", "AZURE", "0"), "3"),),
    "notifications": ((("DSCP_TO_TC_MAP", "AZURE", "48"), "4"),),
    "a lossy class stops as well": ((("TC_TO_QUEUE_MAP", "AZURE", "1"), "3"),),
}
WARNED = {
    "marks never come": "more than the pool of 60,000,000 bytes can hold, so that they never come",
    "marks after pauses": "marks of queue 3 begin at 31,000,000 bytes (WRED_PROFILE|AZURE_LOSSLESS), PFC",
    "no watchdog": "no watchdog: PFC_WD has no row for the port",
    "not watched": "the watchdog does not watch priority 4 (pfcwd_sw_enable)",
    "none watched": "the watchdog watches no priority: the port has no pfcwd_sw_enable",
    "too short": "detection_time 50 is not from 100 to 5000 ms",
    "shorter than its poll": "detection_time 200 ms is shorter than POLL_INTERVAL, 300 ms",
    "no detection": "detection_time is missing",
    "unknown action": "action 'reset' is not one of drop, forward, alert",
    "alpha of another chip": "dynamic_th 6 of egress_lossless_profile is not from -7 to 3, which Broadcom's",
    "resumes above its limit": f"xon 30,000,001 of {PROFILE} is more than the 30,000,000 bytes that a group",
    "default traffic": "DSCP 0 leads to the class, which is that of all traffic that is not marked",
    "notifications": "DSCP 48 leads to the class, which is that of CNPs",
    "a lossy class stops as well": "traffic class 1 of priority group 0 shares queue 3 and stops with it",
}


@pytest.mark.parametrize("kind", WARNINGS)
def test_what_loses_nothing_and_is_not_as_it_should_be_is_a_warning_at_its_row(
    tmp_path: Path, kind: str
) -> None:
    found = linted(tmp_path, changed(*WARNINGS[kind]))
    assert found.holds
    assert found.warned > 0
    assert "with a warning" in found.text
    assert any(WARNED[kind] in told for each in found.rows for told in each.row.warnings)
    assert any(WARNED[kind] in each.text for each in found.rows)


#: The configuration of the first example of docs/lint.md: one of two ports has no lossless groups.
EXAMPLE = changed(
    (("BUFFER_PROFILE", PROFILE, "xoff"), "180000"),
    (("BUFFER_PG", f"{PORTS[1]}|3-4"), None),
)


def test_the_first_example_of_its_page_is_what_the_command_prints(floodway: Command, tmp_path: Path) -> None:
    (tmp_path / "config_db.json").write_text(json.dumps(EXAMPLE), encoding="utf-8")
    done = floodway("lint", "config_db.json", "--latency", "0us")
    page = (Path(__file__).parent.parent / "docs" / "lint.md").read_text(encoding="utf-8")
    shown = page.split("```text\n")[2].partition("```")[0]
    printed = [line.rstrip() for line in done.out.splitlines() if line.strip()]
    assert [line for line in shown.splitlines() if line.strip()] == printed
    assert done.code == 1


#: What is changed, and the warning of the file, which is of no class.
OF_FILE = {
    "marks end before they begin": (
        (("WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold"), "999999"),
        "green_max_threshold 999999 is below green_min_threshold 1000000, which SONiC refuses",
    ),
    "watchdog of no port": (
        (("PFC_WD", "Ethernet4"), {"detection_time": "200"}),
        "PFC_WD|Ethernet4: PORT has no such port; did you mean 'Ethernet8'?",
    ),
    "maps of no port": ((("PORT_QOS_MAP", "Ethernet4"), {}), "PORT_QOS_MAP|Ethernet4: PORT has no such port"),
    "two lengths": (
        (("CABLE_LENGTH", "OTHER"), {FIRST: "300m"}),
        "CABLE_LENGTH: Ethernet0 has 40m in AZURE, 300m in OTHER: judged by 300m",
    ),
    "a group in two rows": (
        (("BUFFER_PG", f"{FIRST}|3"), {"profile": PROFILE}),
        "priority group 3 of Ethernet0 is in",
    ),
    "headroom for some classes": (
        (("BUFFER_POOL", "ingress_lossless_pool", "xoff"), "1199999"),
        "xoff 1,199,999 is less than the 1,200,000 of all lossless classes: if all pause at once, 1 byte is",
    ),
}


@pytest.mark.parametrize("kind", OF_FILE)
def test_what_does_not_agree_and_is_of_no_class_is_a_warning_of_the_file(tmp_path: Path, kind: str) -> None:
    change, said = OF_FILE[kind]
    found = linted(tmp_path, changed(change))
    assert not any(each.row.warnings for each in found.rows)
    (told,) = found.warnings
    assert said in told
    assert found.text.endswith("; 1 warning of the file")
    assert found.to_dict()["warnings"] == [told]
    assert found.holds


def test_headroom_that_not_all_classes_can_have_at_once_is_a_condition_of_the_verdict(
    floodway: Command, tmp_path: Path
) -> None:
    path = ("BUFFER_POOL", "ingress_lossless_pool", "xoff")
    assert linted(tmp_path, changed((path, "1200000"))).text == "every lossless class holds"
    found = linted(tmp_path, changed((path, "1199999")))
    assert found.text.startswith("every lossless class holds if not all classes pause at once; ")
    part = changed((path, "1199999"), (("QUEUE",), None))
    told = linted(tmp_path, part).text
    assert told.startswith("holds if not all classes pause at once, as far as it is judged; ")
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps(changed((path, "1199999"))), encoding="utf-8")
    assert (floodway("lint", file).code, floodway("lint", file, "--strict").code) == (0, 1)
    assert "warning: BUFFER_POOL|ingress_lossless_pool: xoff" in floodway("lint", file).out


def test_a_cable_with_two_lengths_is_judged_by_the_longer(tmp_path: Path) -> None:
    for tables in (("AZURE", "OTHER"), ("OTHER", "AZURE")):
        lengths = {tables[0]: dict.fromkeys(PORTS, "2000m"), tables[1]: dict.fromkeys(PORTS, "40m")}
        found = linted(tmp_path, changed((("CABLE_LENGTH",), lengths)))
        assert {each.row.length_m for each in found.rows} == {2000}
        assert len(found.warnings) == 2
    same = {name: dict.fromkeys(PORTS, "40m") for name in ("AZURE", "OTHER")}
    assert linted(tmp_path, changed((("CABLE_LENGTH",), same))).warnings == ()


def test_marks_begin_before_pauses_to_the_byte(tmp_path: Path) -> None:
    """Alpha is 1: a group that is alone has half of 60 MB."""
    for begins, warned in ((30_000_000, 0), (30_000_001, 4)):
        path = ("WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold")
        most = (("WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold"), "60000000")
        assert linted(tmp_path, changed((path, str(begins)), most)).warned == warned


@pytest.mark.parametrize("table", sorted(set(GOOD) & set(NEEDED)))
def test_a_table_that_is_not_in_the_file_is_named(tmp_path: Path, table: str) -> None:
    content = copy.deepcopy(GOOD)
    del content[table]
    if table == "PORT":
        assert linted(tmp_path, content).rows[0].assumed.mtu_bytes == 4096
    found = linted(tmp_path, content)
    assert f"{table} (not in the file)" in found.not_judged
    assert not found.holds or f"{table} (not in the file)" in found.text


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(sorted(FAULTS)),
    removed=st.sets(st.sampled_from(sorted(set(GOOD) - {"DEVICE_METADATA"})), min_size=1, max_size=3),
)
def test_no_removed_table_turns_a_failure_into_a_pass_without_being_named(
    tmp_path: Path, kind: str, removed: set[str]
) -> None:
    content = changed(FAULTS[kind])
    for table in removed:
        content.pop(table, None)
    try:
        found = linted(tmp_path, content)
    except PlanError:
        return
    if found.holds:
        assert any(told.startswith(tuple(removed)) for told in found.not_judged)
        assert "not judged: " in found.text


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mtu=st.integers(300, 9216), xoff=st.integers(20_000, 320_000))
def test_a_port_is_judged_by_its_own_mtu(tmp_path: Path, mtu: int, xoff: int) -> None:
    """A packet of 9,100 bytes has 22 around it on the link, a payload of RDMA has 78."""
    path = (("BUFFER_PROFILE", PROFILE, "xoff"), str(xoff))
    own = linted(tmp_path, changed(path, *((("PORT", name, "mtu"), str(mtu)) for name in PORTS)))
    asked = linted(tmp_path, changed(path, *((("PORT", n, "mtu"), "68") for n in PORTS)), mtu=f"{mtu - 56}B")
    assert [each.verdict for each in own.rows] == [each.verdict for each in asked.rows]
    assert not asked.warned


def test_packets_of_9100_bytes_do_not_fit_where_those_of_4096_do(tmp_path: Path) -> None:
    path = (("BUFFER_PROFILE", PROFILE, "xoff"), "150000")
    assert (
        linted(tmp_path, changed(path)).rows[0].bounds
        != linted(tmp_path, changed(path), mtu="4096B").rows[0].bounds
    )
    found = linted(tmp_path, changed(path), mtu="4096B")
    assert "the port takes frames of 9,122 bytes (PORT: mtu), judged for 4,174 as asked" in worst(found)
    without = changed((("PORT", FIRST), {"speed": "100000"}))
    assert {each.assumed.largest_frame for each in linted(tmp_path, without).rows} == {9122}


@pytest.mark.parametrize("form", ["flat", "redis"])
@pytest.mark.parametrize("kind", ["good", "no group", "lossy queue"])
def test_a_flat_dump_is_judged_as_the_same_configuration(tmp_path: Path, form: str, kind: str) -> None:
    content = GOOD if kind == "good" else changed(FAULTS[kind])
    flat: Tables = {
        f"{table}|{key}": fields for table, rows in content.items() for key, fields in rows.items()
    }
    if form == "redis":
        flat = {
            key: {"type": "hash", "value": fields or {"NULL": "NULL"}, "ttl": -0.001, "expireat": 1.7e9}
            for key, fields in flat.items()
        }
        flat["CONFIG_DB_INITIALIZED"] = {"type": "string", "value": "1", "ttl": -0.001, "expireat": 1.7e9}
    nested, found = linted(tmp_path, content), linted(tmp_path, flat)
    assert found.to_dict() == nested.to_dict()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"PORT": {"Ethernet0": {"speed": "1"}}, "PORT": {}}', "PORT: the key is in the file twice"),
        ('{"PORT": {"Ethernet0": {}, "Ethernet0": {}}}', "PORT|Ethernet0: the key is in the file twice"),
        ('{"PORT": {"E0": {"mtu": "1", "mtu": "1"}}}', "PORT|E0|mtu: the key is in the file twice"),
        ('{"PORT|E0": {"mtu": "1"}, "PORT|E0": {}}', "PORT|E0: the key is in the file twice"),
        ('{"PORT|E0": {"mtu": "1"}, "PORT": {"E0": {}}}', "PORT|E0: the row is in the file twice"),
        ('{"BUFFER_PG_TABLE:Ethernet0:3-4": {"profile": "x"}}', "a row of APPL_DB; dump CONFIG_DB instead"),
        ('{"PORT": {}, "PORT_QOS_MAP": {"E0": {"pfc_enable": "3;4"}}}', "pfc_enable: '3;4' is not a list of"),
        ('{"PORT": {}, "PORT_QOS_MAP": {"E0": {"pfc_enable": "3,9"}}}', "pfc_enable: '3,9' is not a list of"),
        ('{"PORT": {}, "BUFFER_QUEUE": {"E0|3": {"profile": ["p"]}}}', "profile: ['p'] is not a text"),
        ('{"PORT": {}, "BUFFER_QUEUE": {"E0|x": {}}}', "BUFFER_QUEUE|E0|x: key: write PORT|3 or PORT|3-4"),
        (
            json.dumps(GOOD).replace('"26": "3"', '"64": "3"', 1),
            "DSCP_TO_TC_MAP|AZURE: 64: 64 is not a DSCP, 0 to 63",
        ),
        (
            json.dumps(GOOD).replace('"26": "3"', '"26": "8"', 1),
            "DSCP_TO_TC_MAP|AZURE: 26: 8 is not a traffic class, 0 to 7",
        ),
        (
            json.dumps(changed((("TC_TO_QUEUE_MAP", "OTHER"), {"9": "1"}))),
            "TC_TO_QUEUE_MAP|OTHER: 9: 9 is not a traffic class, 0 to 7",
        ),
        (
            json.dumps(changed((("BUFFER_PROFILE", PROFILE, "static_th"), "1"))),
            "static_th: dynamic_th is given as well, and only one of them counts: remove one",
        ),
        (
            json.dumps(changed((("BUFFER_PROFILE", "egress_lossless_profile", "static_th"), None))),
            "dynamic_th: the field is missing, and so is static_th: one of them is the limit",
        ),
        (
            json.dumps(changed((("BUFFER_PROFILE", "egress_lossless_profile", "dynamic_th"), "8"))),
            "only one of them counts",
        ),
        (
            json.dumps(GOOD).replace('"mtu": "9100"', '"mtu": "x"', 1),
            "PORT|Ethernet0: mtu: 'x' is not a whole number",
        ),
    ],
)
def test_a_mistake_in_a_database_is_one_error_that_names_it(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "config_db.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        lint(file)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


#: The same switch with headroom that it computes itself.
DYNAMIC = changed(
    (
        ("DEVICE_METADATA", "localhost"),
        {"hwsku": "ACS-MSN4600C", "buffer_model": "dynamic"},
    ),
    # NVIDIA's pool has its headroom beside its size.
    (("BUFFER_POOL", "egress_lossless_pool", "size"), "62000000"),
    (("BUFFER_PROFILE", "egress_lossless_profile", "static_th"), "62000000"),
    (("BUFFER_PG",), {f"{name}|3-4": {"profile": "NULL"} for name in PORTS}),
    (("LOSSLESS_TRAFFIC_PATTERN",), {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}}),
    (
        ("DEFAULT_LOSSLESS_BUFFER_PARAMETER",),
        {"AZURE": {"default_dynamic_th": "0", "over_subscribe_ratio": "2"}},
    ),
)


@pytest.mark.parametrize(("percent", "xoff", "holds"), [(100, 121_856, True), (50, 51_200, False)])
def test_headroom_that_a_switch_computes_is_computed_and_judged(
    tmp_path: Path, percent: int, xoff: int, *, holds: bool
) -> None:
    """100G over 40 m on Spectrum-3; with half of the packets small it is 51,200 (sonic-swss #3235)."""
    path = (("LOSSLESS_TRAFFIC_PATTERN", "AZURE", "small_packet_percentage"), str(percent))
    found = linted(tmp_path, changed(path, of=DYNAMIC))
    assert {each.row.xoff for each in found.rows} == {xoff}
    made = nvidia_profile(
        asic("spectrum-3"),
        rate_bps=10**11,
        length_m=40,
        lossless_mtu=1024,
        small_percent=percent,
        shared_headroom=True,
    )
    assert made.xoff == xoff
    assert all(each.row.is_computed for each in found.rows)
    assert found.holds == holds
    assert any("NVIDIA's plug-in for Spectrum-3" in note for note in found.notes)


NOT_COMPUTED = {
    "another maker's chip": (
        (("DEVICE_METADATA", "localhost", "hwsku"), "Arista-7060X6-64PE"),
        "is not known",
    ),
    "an unknown chip": (
        (("DEVICE_METADATA", "localhost", "hwsku"), "Acme-1"),
        "its chip is not known (--asic)",
    ),
    "no pattern": ((("LOSSLESS_TRAFFIC_PATTERN",), None), "LOSSLESS_TRAFFIC_PATTERN is not in the file"),
    "looked up": (
        (("DEVICE_METADATA", "localhost", "buffer_model"), "traditional"),
        "pg_profile_lookup.ini: judge that file",
    ),
    "no reaction": ((("PORT", FIRST, "speed"), "1000"), "no reaction time is known"),
    "no cable": ((("CABLE_LENGTH", "AZURE", FIRST), None), "are not in the file"),
}


@pytest.mark.parametrize("kind", NOT_COMPUTED)
def test_headroom_that_cannot_be_computed_is_not_passed(tmp_path: Path, kind: str) -> None:
    change, said = NOT_COMPUTED[kind]
    found = linted(tmp_path, changed(change, of=DYNAMIC))
    assert found.rows[0].verdict.level is Level.NOT_JUDGED
    assert said in worst(found)
    assert not found.holds


def test_a_profile_with_its_own_limit_is_computed_as_well(tmp_path: Path) -> None:
    content = changed(
        (
            ("BUFFER_PROFILE", "own"),
            {"headroom_type": "dynamic", "dynamic_th": "-2", "pool": "ingress_lossless_pool"},
        ),
        (("BUFFER_PG", f"{FIRST}|3-4", "profile"), "own"),
        of=DYNAMIC,
    )
    rows = {each.row.group: each.row for each in linted(tmp_path, content).rows}
    assert {row.xoff for row in rows.values()} == {121_856}
    assert [rows[name].threshold for name in PORTS] == [-2, 0]


def test_a_queue_of_the_dynamic_model_with_a_share_of_a_pool_as_large_is_lossy(tmp_path: Path) -> None:
    """Without sizes, pools are of the same size."""
    content = changed(
        (("BUFFER_POOL", "ingress_lossless_pool", "size"), None),
        (("BUFFER_POOL", "egress_lossy_pool", "size"), None),
        of=DYNAMIC,
    )
    assert linted(tmp_path, content).holds
    content["BUFFER_QUEUE"][f"{FIRST}|3-4"]["profile"] = "egress_lossy_profile"
    found = linted(tmp_path, content)
    assert "queue 3 drops before its ingress pool is full" in worst(found)


def test_ports_that_pause_in_a_file_without_any_group_are_not_passed(tmp_path: Path) -> None:
    found = linted(tmp_path, changed((("BUFFER_PG",), None)))
    assert [each.verdict.level for each in found.rows] == [Level.NOT_JUDGED] * 2
    assert "BUFFER_PG is not in the file" in worst(found)
    assert found.text.startswith("fails: of 2 rows 2 cannot be judged")
    lossy = {f"{name}|0": {"profile": "ingress_lossy_profile"} for name in PORTS}
    found = linted(tmp_path, changed((("BUFFER_PG",), lossy)))
    assert "SONiC makes them from pg_profile_lookup.ini when a port comes up" in worst(found)
    assert not found.holds


@pytest.mark.parametrize(
    ("hwsku", "chip"),
    [
        ("ACS-MSN4600C", "spectrum-3"),
        ("Mellanox-SN5640-C448O16", "spectrum-5"),
        ("ACS-SN5600", "spectrum-4"),
        ("Arista-7060X6-64PE-B-O128", "tomahawk-5"),
        ("DellEMC-Z9332f-O32", "tomahawk-3"),
        ("Nokia-IXR7250E-36x400G", "jericho-2"),
        ("Force10-S6000", ""),
        ("", ""),
    ],
)
def test_the_chip_is_that_of_the_hwsku(hwsku: str, chip: str) -> None:
    assert chip_of(hwsku) == chip


def test_every_chip_of_a_switch_is_known() -> None:
    for hwsku in ("ACS-MSN2700", "x-7260CX3", "SN6600"):
        assert asic(chip_of(hwsku))


def test_a_chip_that_is_asked_comes_before_the_hwsku(tmp_path: Path) -> None:
    found = linted(tmp_path, GOOD, asic="spectrum-4")
    assert (found.assumed.asic, found.assumed.cell_bytes) == ("spectrum-4", 192)
    assert any("judged as spectrum-4, as asked" in note for note in found.notes)
    unknown = linted(tmp_path, changed((("DEVICE_METADATA", "localhost", "hwsku"), "Acme-1")))
    assert (
        "the chip of hwsku Acme-1 is not known: --asic or --cell says how large its cells are"
        in unknown.notes
    )
    assert "if memory counts bytes" in worst(unknown)


def test_latency_is_counted_both_ways_and_is_a_condition_where_it_is_not_given(tmp_path: Path) -> None:
    without, with_none = linted(tmp_path, GOOD), linted(tmp_path, GOOD, latency="0us")
    assert "if FEC, gearbox, retimer and MACsec add no delay (--latency counts theirs)" in worst(without)
    assert worst(with_none) == "holds for frames of any size"
    assert without.rows[0].bounds == with_none.rows[0].bounds
    more = linted(tmp_path, GOOD, latency="1us").rows[0].bounds
    least = without.rows[0].bounds
    assert more is not None
    assert least is not None
    # 100G carries 12,500 bytes in a microsecond; it is there and back.
    assert more.least - least.least == 2 * 12_500
    assert more.propagation == least.propagation
    assert not linted(tmp_path, GOOD, latency="10us").holds


def test_the_command_says_by_its_code_whether_classes_are_lossless(floodway: Command, tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"

    def code(content: Tables, *options: str) -> int:
        file.write_text(json.dumps(content), encoding="utf-8")
        return floodway("lint", file, *options).code

    assert code(GOOD) == code(GOOD, "--strict") == 0
    shown = floodway("lint", file, "--full").out
    rows = [line for line in shown.splitlines() if "BUFFER_PG|Ethernet0|3-4 and 1 more" in line]
    assert any(" 3-4,26 " in row for row in rows)
    assert code(changed(FAULTS["no group"])) == 1
    assert code(changed(*WARNINGS["marks never come"])) == 0
    assert code(changed(*WARNINGS["marks never come"]), "--strict") == 1
    missing = changed((("PFC_WD",), None))
    assert (code(missing), code(missing, "--strict")) == (0, 1)
    assert code(changed((("BUFFER_PROFILE", PROFILE, "xoff"), "many"))) == 2
    assert code(GOOD, "--latency", "fast") == 2
    file.write_text(json.dumps(changed(FAULTS["lossy queue"])), encoding="utf-8")
    done = floodway("lint", file)
    assert "\nfails: of 3 rows 2 do not hold" in done.out
    assert floodway("plan", "lint", file).out == done.out
    document = json.loads(floodway("lint", file, "--json").out)
    assert (document["holds"], document["rows"][0]["level"]) == (False, "not-lossless")
    assert "queue 3 drops" in document["rows"][0]["faults"][0]

"""Cases of the Ultra Ethernet Consortium's simulator."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from floodway.common.errors import ValidationError
from floodway_lab.validation.uet import is_of_uet, scenario_of, uet_cases_of, validate_uet

if TYPE_CHECKING:
    from command import Command

ROOT = os.environ.get("FLOODWAY_REFERENCE")
REFERENCE = Path(ROOT or ".", "reference", "uet")
COMMAND = (
    "htsim_uec -tm connections.cm -sender_cc_only -load_balancing_algo oblivious -paths 1 -end 1000 -o log"
)
FLOWS = "name\tflow_id\tsize_bytes\trx_done_ps\tack_done_ps"
#: Cases of the reference that are equal, or within its spread.
EQUAL = 44
#: 489 full packets of 332,000 ps and one of 160,800, five more hops of 332,000, and 6 us; the ACK takes 6 us
#: and six hops of 5,120 ps.
RECEIVED, ACKNOWLEDGED = 170_168_800, 176_199_520
PATHS = """flow_id\tkind\tqueue\tfirst_ps
1000000001\tdata\tLS0->US1(0)\t1332000
1000000001\tdata\tUS1->CS3(0)\t2664000
1000000001\tdata\tCS3->US7(0)\t3996000
1000000001\tdata\tUS7->LS_6(0)\t5328000
1000000001\tdata\tLS6->DST13(0)\t6660000
"""


def case(
    folder: Path, *, command: str = COMMAND, received: int = RECEIVED, acknowledged: int = ACKNOWLEDGED
) -> Path:
    """Write a case of one flow through six links."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "command.txt").write_text(command + "\n", encoding="utf-8")
    matrix = "Nodes 16\nConnections 1\n0->13 start 0 size 2000000\n"
    (folder / "connections.cm").write_text(matrix, encoding="utf-8")
    row = f"Uec_0_13\t1000000001\t2000000\t{received}\t{acknowledged}"
    (folder / "flows.tsv").write_text(f"{FLOWS}\n{row}\n", encoding="utf-8")
    (folder / "paths.tsv").write_text(PATHS, encoding="utf-8")
    return folder


@pytest.mark.skipif(ROOT is None, reason="FLOODWAY_REFERENCE names no folder of reference data")
def test_cases_without_chance_are_equal_to_the_picosecond() -> None:
    validation = validate_uet(REFERENCE, jobs=1)
    assert [str(result.differences[0]) for result in validation.failed] == []
    equal = [result.case.label for result in validation.results if result.verdict == "pass"]
    assert len(equal) == EQUAL


def test_one_flow_takes_the_time_of_its_packets_and_of_its_last_ack(tmp_path: Path) -> None:
    validation = validate_uet(case(tmp_path / "one"))
    assert [result.verdict for result in validation.results] == ["pass"]
    assert validation.complete
    assert not validation.failed


def test_the_first_difference_names_the_flow_and_both_times(tmp_path: Path) -> None:
    validation = validate_uet(case(tmp_path / "one", received=RECEIVED + 1))
    (result,) = validation.failed
    text = "received at 170,168,801 ps in the reference, at 170,168,800 ps here"
    assert str(result.differences[0]) == f"at 170,168,800 ps: flow 0->13, 2,000,000 bytes: {text}"


def test_a_folder_of_cases_is_known_by_its_files_and_run_from_the_command_line(
    tmp_path: Path, floodway: Command
) -> None:
    case(tmp_path / "cases" / "one")
    case(tmp_path / "cases" / "wide" / "two", received=1)
    assert is_of_uet(tmp_path / "cases")
    assert not is_of_uet(tmp_path / "cases" / "wide" / "three")
    done = floodway("validate", tmp_path / "cases", "--json", "--out", tmp_path / "out")
    assert done.code == 1
    shown = json.loads(done.out)
    assert [(each["case"], each["verdict"]) for each in shown["cases"]] == [
        ("one", "pass"),
        ("wide/two", "fail"),
    ]
    assert "error: wide/two: at 1 ps" in done.err


@pytest.mark.parametrize(("received", "verdict"), [(ACKNOWLEDGED, "pass"), (ACKNOWLEDGED + 1, "fail")])
def test_one_run_in_which_chance_decides_has_to_be_within_the_spread_of_ours(
    tmp_path: Path, received: int, verdict: str
) -> None:
    # One flow takes as long on all paths, so that all runs are equal.
    folder = case(tmp_path / "one", command=COMMAND.replace("-paths 1", "-paths 64"), acknowledged=received)
    (folder / "paths.tsv").unlink()
    (result,) = validate_uet(folder).results
    assert (result.verdict, result.seeds) == (verdict, 10)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("-pcie 1.1", "-pcie (taken: -tm, -topo, -tiers"),
        ("-strat ecmp_ar", "-strat ecmp_ar (taken: ecmp_host)"),
        ("-sender_cc_algo dctcp", "-sender_cc_algo dctcp (taken: nscc)"),
        ("-sleek -target_q_delay 5", "-target_q_delay with -sleek (taken: one of them)"),
        ("-trimsize 32", "-trimsize 32 (taken: 64 to 4150)"),
    ],
)
def test_an_option_that_is_not_taken_is_named_with_what_is(
    tmp_path: Path, options: str, reason: str, floodway: Command
) -> None:
    folder = case(tmp_path / "one", command=f"{COMMAND} {options}")
    (result,) = validate_uet(folder).results
    assert result.verdict == "not run"
    assert result.reason.startswith(f"not modelled: {reason}")
    done = floodway("validate", folder, "--out", tmp_path / "out")
    assert done.code == 1
    assert f"error: one has not run: not modelled: {reason}" in done.err.replace("\n", " ")


#: Switches that two flows and their replies pass from two pods to a host of a third.
TWO_TO_ONE = {
    1000000001: "LS0 US1 CS1 US7 LS6 DST13",
    1000000003: "LS2 US3 CS1 US7 LS6 DST13",
    1000000002: "LS6 US6 CS2 US0 LS0 DST0",
    1000000004: "LS6 US6 CS0 US2 LS2 DST4",
}
#: Likewise, but they meet one switch later, and at the host's port.
ONE_LATER = {**TWO_TO_ONE, 1000000003: "LS2 US3 CS3 US7 LS6 DST13"}
LATE = {**TWO_TO_ONE, 1000000003: "LS2 US2 CS0 US6 LS6 DST13"}
TWO_TIERS = {
    1000000001: "LS0 US0 LS3 DST7",
    1000000003: "LS1 US0 LS3 DST7",
    1000000002: "LS3 US1 LS0 DST0",
    1000000004: "LS3 US0 LS1 DST2",
}
NSCC, RCCC, BOTH = "-sender_cc_only", "-receiver_cc_only", "-receiver_cc"


def two_to_one(
    folder: Path,
    options: str,
    *,
    ends: tuple[int, int, int, int],
    paths: dict[int, str] = TWO_TO_ONE,
    topology: str | None = None,
) -> Path:
    """Write a case of two flows to one host; `ends` are those at the receiver and at the sender of each."""
    folder.mkdir(parents=True)
    command = (
        f"htsim_uec -tm connections.cm -load_balancing_algo oblivious -paths 1 -end 8000 {options} -o log"
    )
    if topology is not None:
        (folder / "topology.topo").write_text(topology, encoding="utf-8")
        command += " -topo topology.topo"
    (folder / "command.txt").write_text(f"{command}\nenvironment: UEC_COIN\n", encoding="utf-8")
    nodes, first, second, to = (8, 0, 2, 7) if paths is TWO_TIERS else (16, 0, 4, 13)
    flows = f"{first}->{to} start 0 size 2000000\n{second}->{to} start 1 size 2000000\n"
    (folder / "connections.cm").write_text(f"Nodes {nodes}\nConnections 2\n{flows}", encoding="utf-8")
    rows = [
        f"Uec\t{1000000001 + 2 * place}\t2000000\t{ends[2 * place]}\t{ends[2 * place + 1]}"
        for place in (0, 1)
    ]
    (folder / "flows.tsv").write_text("\n".join([FLOWS, *rows, ""]), encoding="utf-8")
    queues = [
        f"{flow}\t{'data' if flow % 2 else 'reply'}\t{first}->{second}(0)\t0"
        for flow, path in paths.items()
        for first, second in pairwise(path.split())
    ]
    head = "flow_id\tkind\tqueue\tfirst_ps"
    (folder / "paths.tsv").write_text("\n".join([head, *queues, ""]), encoding="utf-8")
    return folder


# The ends are those that the simulator prints, where full queues cut the arriving packet.
@pytest.mark.parametrize(
    ("options", "paths", "ends"),
    [
        (f"{NSCC} -mtu 2112 -ecn 9 9 -q 40", LATE, (407_125_120, 413_155_840, 203_400_320, 209_431_040)),
        (
            f"{RCCC} -trimsize 128 -ecn 9 9 -q 40",
            TWO_TO_ONE,
            (331_934_720, 337_965_440, 332_759_520, 338_790_240),
        ),
        (
            f"{NSCC} -linkspeed 400000 -ecn 9 9 -q 40",
            TWO_TO_ONE,
            (60_220_800, 66_228_480, 166_371_960, 172_379_640),
        ),
        (
            f"{BOTH} -hop_latency 0.5 -ecn 9 9 -q 40",
            LATE,
            (326_860_800, 329_891_520, 329_677_600, 332_708_320),
        ),
        (
            f"{NSCC} -switch_latency 0.5 -ecn 9 9 -q 40",
            ONE_LATER,
            (214_142_880, 222_673_600, 385_709_760, 394_240_480),
        ),
        (f"{NSCC} -cwnd 10 -ecn 9 9 -q 40", TWO_TO_ONE, (342_459_680, 348_490_400, 356_150_400, 362_181_120)),
        (f"{BOTH} -cwnd 10 -ecn 9 9 -q 40", TWO_TO_ONE, (350_427_680, 356_458_400, 353_908_480, 359_939_200)),
        (
            f"{NSCC} -target_q_delay 5.5 -ecn 9 9 -q 40",
            TWO_TO_ONE,
            (265_002_080, 271_032_800, 361_928_960, 367_959_680),
        ),
        (
            f"{NSCC} -sack_threshold 8192 -ecn 9 9 -q 40",
            TWO_TO_ONE,
            (237_131_200, 243_161_920, 356_380_800, 362_411_520),
        ),
        (
            f"{NSCC} -disable_trim -ecn 9 9 -q 40",
            TWO_TO_ONE,
            (306_355_520, 312_386_240, 356_648_320, 362_679_040),
        ),
        (
            f"{NSCC} -disable_trim -sleek -ecn 30 30 -q 40",
            TWO_TO_ONE,
            (221_965_920, 227_996_640, 398_223_680, 404_254_400),
        ),
        (
            f"{NSCC} -tiers 2 -ecn 9 9 -q 40",
            TWO_TIERS,
            (310_024_960, 314_045_440, 334_526_720, 338_547_200),
        ),
    ],
)
def test_two_flows_to_one_host_end_when_they_do_in_the_simulator(
    tmp_path: Path, options: str, paths: dict[int, str], ends: tuple[int, int, int, int]
) -> None:
    (result,) = validate_uet(two_to_one(tmp_path / "two", options, ends=ends, paths=paths)).results
    assert (result.verdict, [str(one) for one in result.differences]) == ("pass", [])


TOPOLOGY = """Nodes 16
Tiers 3
Podsize 4
# Half as many links up from the first tier as down
Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 1
Oversubscribed 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 2000
Switch_Latency_ns 300
Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 3000
"""


def test_topologies_in_files_have_their_tiers_delays_and_links(tmp_path: Path) -> None:
    paths = {1000000001: "LS0 US0 CS1 US3 LS6 DST13", 1000000002: "LS6 US3 CS1 US0 LS0 DST0"}
    folder = two_to_one(tmp_path / "two", NSCC, ends=(1, 1, 1, 1), paths=paths, topology=TOPOLOGY)
    (read,) = uet_cases_of(folder)
    scenario: Any = scenario_of(read).to_dict()
    tree = scenario["topology"]["fat-tree"]
    keys = ("pods", "tors-per-pod", "aggs-per-pod", "cores-per-agg", "hosts-per-tor")
    assert [tree[key] for key in keys] == [4, 2, 1, 2, 2]
    delays = {
        override["direction"]: override["delay"] for override in scenario["override"] if "delay" in override
    }
    # A switch's delay is on the links to it.
    assert delays == {"tor>agg": "2300000ps", "core>agg": "3300000ps"}
    assert scenario["workload"][0]["flows"][0]["path"] == "h1,t1,a1,c2,a4,t7,h14"


@pytest.mark.parametrize(
    ("topology", "text"),
    [
        (
            TOPOLOGY.replace("Radix_Up 1", "Radix_Upp 1"),
            r"topology.topo:8: Radix_Upp is not a key of topologies",
        ),
        (
            TOPOLOGY.replace("Podsize 4", "Podsize four"),
            r"topology.topo:3: expected a whole number behind Podsize",
        ),
        (TOPOLOGY.replace("Radix_Down 2", "Bundle 2\nRadix_Down 2"), "bundles of links are not modelled"),
        (
            TOPOLOGY.replace("Gbps 100", "Gbps 400"),
            r"links of 400 Gbit/s to hosts of 100000 Mbit/s \(-linkspeed\)",
        ),
    ],
)
def test_a_topology_that_cannot_be_used_is_refused(tmp_path: Path, topology: str, text: str) -> None:
    folder = two_to_one(tmp_path / "two", NSCC, ends=(1, 1, 1, 1), topology=topology)
    (read,) = uet_cases_of(folder)
    with pytest.raises(ValidationError, match=text):
        scenario_of(read)


def test_connections_start_at_whole_microseconds_and_may_have_ids(tmp_path: Path) -> None:
    folder = case(tmp_path / "one")
    matrix = "# one flow\nNodes 16\nConnections 1\n0->13 id 7 start 2.7 size 2000000\n"
    (folder / "connections.cm").write_text(matrix, encoding="utf-8")
    (folder / "paths.tsv").write_text(PATHS.replace("1000000001", "7"), encoding="utf-8")
    (read,) = uet_cases_of(folder)
    assert [(flow.start_us, flow.number) for flow in read.connections] == [(2, 7)]
    assert [key for key, _ in read.paths.items()] == [(0, "data")]


def test_triggers_of_a_connection_matrix_are_not_modelled(tmp_path: Path) -> None:
    folder = case(tmp_path / "one")
    matrix = "Nodes 16\nConnections 1\n0->13 id 7 trigger 1 size 2000000\ntrigger id 1 oneshot\n"
    (folder / "connections.cm").write_text(matrix, encoding="utf-8")
    (result,) = validate_uet(folder).results
    assert result.verdict == "not run"
    assert "trigger in " in result.reason


def test_where_chance_decides_the_mean_of_several_runs_has_to_be_within_the_spread(tmp_path: Path) -> None:
    (case(tmp_path / "b1-one-nscc") / "paths.tsv").unlink()
    head = "case\tvariant\tseed\tmean_fct_us\tlast_fct_us"
    for center, verdict in ((176.2, "pass"), (180.0, "fail")):
        rows = [f"one\tnscc\t{seed}\t{center + seed / 10}\t{center - seed / 10}" for seed in (-1, 1)]
        (tmp_path / "seeds.tsv").write_text("\n".join([head, *rows, ""]), encoding="utf-8")
        (result,) = validate_uet(tmp_path, seeds=2).results
        assert (result.verdict, result.seeds) == (verdict, 2)


def test_constants_follow_from_the_network(tmp_path: Path) -> None:
    (read,) = uet_cases_of(case(tmp_path / "one"))
    scenario: Any = scenario_of(read).to_dict()
    assert scenario["defaults"]["buffer"]["output-queue"]["size"] == "178450B"
    red = scenario["defaults"]["congestion-point"]["red"]
    assert (red["kmin"], red["kmax"]) == ("37350B", "145250B")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (f"{COMMAND} -sleeep", "'-sleeep' is not an option that floodway knows"),
        (f"{COMMAND} -q", "-q has no value"),
        (f"{COMMAND} -q many", "-q is 'many': expected a whole number"),
        ('htsim_uec -tm "connections.cm', "No closing quotation"),
    ],
)
def test_a_command_line_that_cannot_be_read_is_refused(tmp_path: Path, command: str, text: str) -> None:
    with pytest.raises(ValidationError, match=text):
        uet_cases_of(case(tmp_path / "one", command=command))


def test_a_line_that_is_no_connection_is_refused(tmp_path: Path) -> None:
    folder = case(tmp_path / "one")
    (folder / "connections.cm").write_text("Nodes 16\nConnections 1\n0 to 13\n", encoding="utf-8")
    with pytest.raises(ValidationError, match=r"connections\.cm:3: expected SOURCE->DESTINATION start"):
        uet_cases_of(folder)

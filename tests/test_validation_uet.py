"""Cases of the Ultra Ethernet Consortium's simulator."""

from __future__ import annotations

import json
import os
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


def test_an_option_that_is_not_modelled_is_named(tmp_path: Path) -> None:
    (result,) = validate_uet(case(tmp_path / "one", command=f"{COMMAND} -trimsize 80")).results
    assert (result.verdict, result.reason) == ("not run", "not modelled: -trimsize")


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

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import polars as pl
import pytest

from floodway.common.errors import ValidationError
from floodway_lab.validation import Reference, cases_of
from floodway_lab.validation.counts import Counts, counts_equal, read_counts, reference_counts, write_counts
from floodway_lab.validation.files import read_flows, read_pauses, read_queues
from floodway_lab.validation.queues import Port, samples_of
from hpcc_cases import case_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_addresses_and_numbers_of_nodes_name_the_same_nodes(tmp_path: Path) -> None:
    file = tmp_path / "fct.txt"
    file.write_text("0b010301 0b00ff01 10000 100 1 2 3 4\n", encoding="utf-8")
    hexadecimal = read_flows(file)
    file.write_text("259 255 10000 100 1 2 3 4\n", encoding="utf-8")
    assert hexadecimal.equals(read_flows(file))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2 3 4 5 6 7\n", ":1: expected 8 columns (source destination source_port"),
        ("\n1 2 3 4 5 6 7 x\n", ":2: expected a whole number, got 'x'"),
        ("1 2 3 4 5 6 -7 8\n", ":1: expected a whole number, got '-7'"),
        ("0b0000g1 2 3 4 5 6 7 8\n", ":1: expected an address of eight hexadecimal digits, got '0b0000g1'"),
        ("1 2 3 4 5 6 0 8\n", ":1: expected a completion time of at least 1 ns, got 0 ns"),
        (f"1 2 3 4 5 6 {2**63} 8\n", f": expected a whole number, got '{2**63}'"),
    ],
)
def test_a_garbled_line_of_flows_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "fct.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValidationError) as caught:
        read_flows(file)
    assert f"{file}{message}" in str(caught.value) or message in str(caught.value)
    assert str(caught.value.place).startswith(f"{file}:")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"fct\.txt: cannot be read: No such file"):
        read_flows(tmp_path / "fct.txt")
    (tmp_path / "fct.txt").write_bytes(b"\xff")
    with pytest.raises(ValidationError, match=r"fct\.txt: is not text in UTF-8"):
        read_flows(tmp_path / "fct.txt")


def test_a_pause_is_one_or_zero(tmp_path: Path) -> None:
    file = tmp_path / "pfc.txt"
    file.write_text("5 7 0 1 1\n3 7 0 1 0\n", encoding="utf-8")
    assert read_pauses(file)["time_ns"].to_list() == [3, 5]
    file.write_text("5 7 0 1 2\n", encoding="utf-8")
    with pytest.raises(ValidationError, match=r"pfc\.txt:1: expected 0 or 1 as is_pause, got '2'"):
        read_pauses(file)


def test_both_forms_of_queues_say_the_same(tmp_path: Path) -> None:
    own, table = tmp_path / "own.txt", tmp_path / "table.txt"
    own.write_text("time: 1\n16 1 9 1\n16 2 9\ntime: 2\n16 1 90 3 0 5\n16 2 95\n", encoding="utf-8")
    table.write_text("# port,KB_bin,samples\n1,1,3\n1,3,5\n", encoding="utf-8")
    port = Port(switch=None, port=1)
    assert read_queues(own)["switch"].to_list() == [16, 16]
    assert samples_of(read_queues(own), port).equals(samples_of(read_queues(table), port))
    assert samples_of(read_queues(table), Port(switch=16, port=1)).rows() == [(1, 3), (3, 5)]
    assert read_queues(own).filter(pl.col("port") == 2).is_empty()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time: 1\n16\n", r":2: expected switch, port and samples, got 16"),
        ("1,2\n", r":1: expected 3 columns \(port kb samples\), got 2"),
        ("1,2,a\n", r":1: expected a whole number, got 'a'"),
    ],
)
def test_a_garbled_line_of_queues_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "qlen.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValidationError, match=message):
        read_queues(file)


def test_a_folder_is_a_case_or_holds_cases(tmp_path: Path) -> None:
    case_in(tmp_path / "b", tag="x")
    case_in(tmp_path / "b", tag="a_b")
    case_in(tmp_path / "a")
    (tmp_path / "other").mkdir()
    assert [case.label for case in cases_of(tmp_path)] == ["a/hpcc", "b/a_b", "b/x"]
    assert [case.label for case in cases_of(tmp_path / "a")] == ["a/hpcc"]


def test_what_the_configuration_calls_its_outputs_comes_before_the_tag(tmp_path: Path) -> None:
    folder = case_in(tmp_path)
    (case,) = cases_of(folder)
    assert (case.flows, case.pauses, case.queues) == (folder / "fct_hpcc.txt", folder / "pfc_hpcc.txt", None)
    (folder / "mix").mkdir()
    shutil.move(folder / "fct_hpcc.txt", folder / "mix" / "fct_hpcc.txt")
    (folder / "qlen_hpcc.txt").write_text("1,1,1\n", encoding="utf-8")
    (case,) = cases_of(folder)
    assert (case.flows, case.queues) == (folder / "mix" / "fct_hpcc.txt", folder / "qlen_hpcc.txt")


@pytest.mark.parametrize(
    ("mode", "kmin", "marks"),
    [(1, 400, True), (8, 400, True), (8, 1600, True), (3, 400, False), (7, 1, False)],
)
def test_marks_are_random_where_senders_heed_them(tmp_path: Path, mode: int, kmin: int, marks: bool) -> None:  # noqa: FBT001
    (case,) = cases_of(case_in(tmp_path, mode=mode, kmin=kmin))
    assert case.marks == marks


def test_one_threshold_for_all_marks_is_no_chance(tmp_path: Path) -> None:
    folder = case_in(tmp_path, mode=8, kmin=1600)
    config = folder / "config_hpcc.txt"
    config.write_text(config.read_text(encoding="utf-8").replace(" 100 1", " 400 1"), encoding="utf-8")
    (case,) = cases_of(folder)
    assert not case.marks


def test_paths_are_known_where_there_is_one_way_or_a_list(tmp_path: Path) -> None:
    folder = case_in(tmp_path)
    assert [case.pinned for case in cases_of(folder)] == [True]
    (folder / "topology.txt").write_text("4 2 4\n", encoding="utf-8")
    (case,) = cases_of(folder)
    assert (case.pinned, Reference.of(case).chance) == (False, "hashed")
    (folder / "paths.txt").write_text("", encoding="utf-8")
    assert [case.pinned for case in cases_of(folder)] == [True]
    (folder / "paths.txt").unlink()
    (folder / "topology.txt").unlink()
    assert [case.pinned for case in cases_of(folder)] == [False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "fct_hpcc.txt").unlink(), r"missing: fct_hpcc\.txt is not beside it"),
        (lambda folder: (folder / "config_hpcc.txt").unlink(), "contains no case"),
        (lambda folder: append(folder, "RATE_AI\n"), r"config_hpcc\.txt:10: RATE_AI has no value"),
        (lambda folder: append(folder, "hello 1\n"), r"config_hpcc\.txt:10: 'hello' is not a key"),
        (
            lambda folder: append(folder, "RATE_AI fast\n"),
            r"config_hpcc\.txt:10: RATE_AI: expected a number, got fast",
        ),
        (lambda folder: append(folder, "CC_MODE 1.5\n"), r"CC_MODE: expected whole numbers, got 1\.5"),
        (
            lambda folder: append(folder, "KMIN_MAP 2 1 2\n"),
            "KMIN_MAP: expected 4 values after its count, got 2",
        ),
    ],
)
def test_a_folder_that_is_none_is_reported(
    tmp_path: Path, change: Callable[[Path], object], message: str
) -> None:
    folder = case_in(tmp_path / "case")
    change(folder)
    with pytest.raises(ValidationError, match=message):
        cases_of(folder)


def append(folder: Path, line: str) -> None:
    with (folder / "config_hpcc.txt").open("a", encoding="utf-8") as config:
        config.write(line)


def test_a_mistyped_folder_is_answered_with_the_nearest(tmp_path: Path) -> None:
    case_in(tmp_path / "incast")
    with pytest.raises(ValidationError, match=r"no such folder; did you mean .*incast\?"):
        cases_of(tmp_path / "incats")


def test_a_reference_without_a_finished_flow_is_none(tmp_path: Path) -> None:
    (case,) = cases_of(case_in(tmp_path, flows=""))
    with pytest.raises(ValidationError, match="no flow has finished"):
        Reference.of(case)


TABLE = """\
# A case

| config | mode | drops (switch) | data packets sent (3 needed) |
|---|---|---|---|
| config_other.txt | a | 7 | 8 |
| config_hpcc.txt | b | {drops} | 1,234 |

| config | of another table |
"""


@pytest.mark.parametrize(
    ("drops", "expected"),
    [("5 (**lost**)", Counts(drops=5, packets=1234)), ("0", Counts(drops=0, packets=1234, marked=42))],
)
def test_totals_come_from_the_readmes_table_and_marks_where_nothing_was_dropped(
    tmp_path: Path, drops: str, expected: Counts
) -> None:
    folder = case_in(tmp_path / "case")
    (folder / "README.md").write_text(TABLE.format(drops=drops), encoding="utf-8")
    (folder / "cnp_hpcc.txt").write_text("2000 0 40 3 41\n3000 1 2 0 2\n", encoding="utf-8")
    (case,) = cases_of(folder)
    assert reference_counts(case) == expected
    assert Reference.of(case).side.counts == expected


def test_a_case_without_a_table_has_no_totals(tmp_path: Path) -> None:
    folder = case_in(tmp_path / "case")
    (folder / "cnp_hpcc.txt").write_text("2000 0 40 3 41\n", encoding="utf-8")
    (case,) = cases_of(folder)
    assert reference_counts(case) is None
    assert counts_equal(None, Counts(drops=1))


def test_a_garbled_line_of_cnps_is_reported(tmp_path: Path) -> None:
    folder = case_in(tmp_path / "case")
    (folder / "README.md").write_text(TABLE.format(drops=0), encoding="utf-8")
    (folder / "cnp_hpcc.txt").write_text("2000 0 40\n", encoding="utf-8")
    (case,) = cases_of(folder)
    with pytest.raises(ValidationError, match=r"cnp_hpcc.txt:1: expected time, node, and CNPs"):
        reference_counts(case)


def test_totals_are_read_as_they_are_written_and_unknown_ones_are_not_compared(tmp_path: Path) -> None:
    ours = Counts(drops=5, packets=9, marked=3)
    write_counts(ours, tmp_path)
    assert read_counts(tmp_path / "counts.txt") == ours
    assert counts_equal(Counts(drops=5), ours)
    assert not counts_equal(Counts(drops=5, packets=8), ours)
    assert not counts_equal(Counts(drops=5), None)

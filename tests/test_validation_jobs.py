"""Times of jobs in tables of other simulators, compared."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from floodway.common.errors import ScenarioError, ValidationError
from floodway_lab.validation.jobs import is_of_jobs, validate_jobs
from floodway_lab.validation.jobs.goal import longest_chain

if TYPE_CHECKING:
    from command import Command

ROOT = os.environ.get("FLOODWAY_REFERENCE")
REFERENCE = Path(ROOT or ".", "reference", "ai", "runs")
HEAD = "schedule\tL_ns\tG_ns_per_byte\trank\tLogGOPSim_ns\tatlahs_ns\tlast_op\tcompare_with"
#: A message of 10,000 bytes: 1 us of latency, and 9,999 ns.
SCHEDULE = "num_ranks 2\nrank 0 {\nsend 10000b to 1\n}\nrank 1 {\nrecv 10000b from 0\n}\n"


def folder_of(place: Path, *lines: str, head: str = HEAD, schedule: str = SCHEDULE) -> Path:
    """Write a table of schedules, and the one that it names."""
    (place / "goal").mkdir()
    (place / "goal" / "one.goal").write_text(schedule, encoding="utf-8")
    (place / "goal-compare.tsv").write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    return place


def line(
    finish: int | str = 10_999, *, rank: int = 1, last: str = "recv", compare: str = "LogGOPSim+atlahs"
) -> str:
    return f"one\t1000\t1\t{rank}\t{finish}\t{finish}\t{last}\t{compare}"


@pytest.mark.skipif(ROOT is None, reason="FLOODWAY_REFERENCE names no folder of reference data")
def test_all_rows_that_packets_can_meet_are_met() -> None:
    validation = validate_jobs(REFERENCE, jobs=1)
    assert [row.label for row in validation.failed] == []
    met = {each.name: len(each.judged) for each in validation.sets}
    assert met == {
        "ASTRA-sim, collectives": 246,
        "ASTRA-sim, traces of several nodes": 32,
        "LogGOPSim and ATLAHS, GOAL schedules": 112,
    }
    for each in validation.sets:
        assert len(each.judged) + sum(each.reasons.values()) == len(each.rows)


def test_a_message_is_met_within_its_headers_and_packets(tmp_path: Path) -> None:
    validation = validate_jobs(folder_of(tmp_path, line(), line(0, rank=0, last="send")))
    met, issued = validation.sets[0].rows
    # Three packets, headers of 48 bytes, the first one twice; the first byte takes its time, too.
    assert met.ours_ns == pytest.approx(1000 + 10_000 + 3 * 48 + 4048)
    assert met.met
    assert (issued.expected, issued.reason) == (None, "a rank that ends with a send, whose issue is recorded")
    assert (validation.runs, validation.complete, validation.failed) == (1, True, ())


def test_a_row_that_is_not_met_fails(tmp_path: Path, floodway: Command) -> None:
    folder = folder_of(tmp_path, line(), line(5_000))
    done = floodway("validate", folder, "--out", tmp_path / "out", "--jobs", "1")
    assert done.code == 1, done.err
    assert "error: one L 1000 ns rank 1: 15,192 ns, allowed 4,999 to " in done.err
    assert "1 of 2 rows that a packet simulator can meet are met; runs: 1" in done.out
    document = json.loads((tmp_path / "out" / "validate.json").read_text(encoding="utf-8"))
    assert [row["verdict"] for row in document["sets"][0]["each"]] == ["pass", "fail"]
    assert document["verdict"] == "fail"


def test_a_table_is_written_into_a_page(tmp_path: Path, floodway: Command) -> None:
    folder, page = folder_of(tmp_path, line(), line(compare="none")), tmp_path / "page.md"
    done = floodway("validate", folder, "--out", tmp_path / "out", "--report", page, "--jobs", "1")
    assert done.code == 0, done.err
    text = page.read_text(encoding="utf-8")
    assert "| LogGOPSim and ATLAHS, GOAL schedules | 2 | 1 | 0 | 1 | +38.12% |" in text
    assert "| LogGOPSim and ATLAHS, GOAL schedules | times that neither program has right | 1 |" in text
    page.write_text("# Page\n", encoding="utf-8")
    done = floodway("validate", folder, "--out", tmp_path / "out", "--report", page, "--force")
    assert done.code == 2, done.err
    assert "has no lines <!-- begin: jobs --> and <!-- end: jobs -->" in done.err


@pytest.mark.parametrize(
    ("lines", "head", "why"),
    [
        ([line("soon")], HEAD, r"goal-compare\.tsv:2: atlahs_ns is 'soon': expected a whole number"),
        ([line(), "one\t1"], HEAD, r"goal-compare\.tsv:3: 2 cells where the first line has 8"),
        (
            [line()],
            HEAD.replace("last_op", "last"),
            "has no column 'last_op'; its first line names: schedule,",
        ),
        (
            [line().replace("one", "two")],
            HEAD,
            r"goal-compare\.tsv:2: its schedule cannot be read: .*two\.goal",
        ),
    ],
)
def test_malformed_tables_are_errors(tmp_path: Path, lines: list[str], head: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        validate_jobs(folder_of(tmp_path, *lines, head=head))


def test_a_malformed_schedule_is_an_error_of_its_line(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, line(), schedule="num_ranks two\nrank x {\nsend\na requires b\n}\n")
    with pytest.raises(ScenarioError, match=r"one\.goal"):
        validate_jobs(folder)


def test_a_folder_without_tables_is_an_error(tmp_path: Path, floodway: Command) -> None:
    assert not is_of_jobs(tmp_path)
    with pytest.raises(ValidationError, match=r"has no times of jobs: expected astra-times\.tsv"):
        validate_jobs(tmp_path)
    done = floodway("validate", tmp_path)
    assert done.code == 2, done.err
    assert "or tables of times of jobs, such as astra-times.tsv" in done.err


def test_options_of_other_cases_are_refused(tmp_path: Path, floodway: Command) -> None:
    done = floodway("validate", folder_of(tmp_path, line()), "--plot")
    assert done.code == 2, done.err
    assert "--plot is for cases of the HPCC simulator" in done.err
    done = floodway("validate", tmp_path, "--only", "one L 1000 ns rnk 1")
    assert done.code == 2, done.err
    assert "matches none of the 1 rows, such as 'one L 1000 ns rank 1'; did you mean" in done.err


def test_the_longest_chain_of_a_schedule_crosses_ranks() -> None:
    answer = "num_ranks 2\nrank 0 {\na: send 5b to 1\nb: recv 5b from 1\n}\nrank 1 {\n"
    assert longest_chain(answer + "a: recv 5b from 0\nb: send 5b to 0\nb requires a\n}\n") == 2
    assert longest_chain(answer + "a: recv 5b from 0\nb: send 5b to 0\n}\n") == 1
    # A cycle is left to the reader of schedules.
    assert longest_chain("num_ranks 1\nrank 0 {\na: calc 5\nb: calc 5\na requires b\nb requires a\n}\n") == 0

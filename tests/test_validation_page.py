from __future__ import annotations

from pathlib import Path

import pytest
from semantics import BEGIN, CASES, END, SCENARIOS, Case, results_of, written

PAGE = Path(__file__).parent.parent / "docs" / "validation.md"


def lines_of(page: str) -> list[list[str]]:
    """Return the cells of the rows of the table of minimal cases."""
    block = page[page.index(BEGIN) : page.index(END)]
    rows = [line for line in block.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


@pytest.mark.parametrize("place", range(len(CASES)), ids=[case.key for case in CASES])
def test_a_minimal_case_gives_what_the_page_says(place: int) -> None:
    case, cells = CASES[place], lines_of(PAGE.read_text(encoding="utf-8"))[place]
    assert cells[0] == f"`{case.key.removeprefix('defaults.')} = {case.value}`"
    assert tuple(cells[3:]) == results_of(case), "run `make validation`"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_a_minimal_case_tells_the_two_choices_apart(case: Case) -> None:
    cells = next(
        row
        for row in lines_of(PAGE.read_text(encoding="utf-8"))
        if f"`{case.key.removeprefix('defaults.')} =" in row[0]
    )
    assert cells[3] != cells[4]


def test_every_scenario_of_the_semantics_is_in_the_table_and_names_its_option() -> None:
    assert {case.file for case in CASES} == {file.stem for file in SCENARIOS.glob("*.toml")}
    for case in CASES:
        text = (SCENARIOS / f"{case.file}.toml").read_text(encoding="utf-8")
        assert f"--set {case.key}=" in text


def test_the_table_is_written_between_its_marks() -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, after = page[: page.index(BEGIN)], page[page.index(END) :]
    again = written(f"before\n{BEGIN}\nstale line\n{END}\nafter\n")
    assert "stale line" not in again
    assert again.startswith(f"before\n{BEGIN}\n| option |")
    assert again.endswith(f"|\n{END}\nafter\n")
    assert BEGIN not in before + after

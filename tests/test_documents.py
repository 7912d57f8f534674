"""Documents: one order and one set of texts on the terminal, on pages, in JSON and in files of tables."""

from __future__ import annotations

import io
import re

from floodway.cli.show_document import show
from floodway.common.documents import Cell, Document, Picture, Section, Table, as_json
from floodway.common.documents.html import body, page
from floodway.common.documents.table_files import table_files

DOCUMENT = Document(
    title="links of 400G",
    answer="No: 64 MB carry 2 of your 8 links.",
    tone="bad",
    table=Table(
        columns=("flow control", Cell(text="needs", marks=(2,)), "verdict"),
        rows=(
            ("PFC", "207 MB", Cell(text="not enough", tone="bad")),
            ("50 % & <more>", Cell(text="20 MB", detail="a relay"), Cell(text="enough", tone="good")),
        ),
        words=frozenset({"verdict"}),
    ),
    simulated=("18 runs",),
    warnings=("of the chip", "of the size"),
    sections=(
        Section(title="Behind it", lines=("All of it.",), verbatim=("  a  b",)),
        Section(title="Nothing", tables=(Table(columns=("a",), rows=()),)),
    ),
    data={"answers": ["PFC"], "answer_of_old": 1},
)


def printed(*, full: bool = False) -> list[str]:
    text = io.StringIO()
    show(DOCUMENT, text, full=full)
    return text.getvalue().splitlines()


def test_the_terminal_has_the_answer_first_and_sections_only_in_full() -> None:
    short, full = printed(), printed(full=True)
    assert short[2] == DOCUMENT.answer
    assert full[: len(short)] == short
    assert "Behind it:" not in short
    assert full[full.index("Behind it:") + 1 :] == ["All of it.", "  a  b"]
    # A warning has a number where a cell has the same.
    assert "warning: of the chip" in short
    assert "warning [2]: of the size" in short
    assert any("needs [2]" in line for line in short)


def test_a_page_has_the_same_order_and_marks_what_is_enough() -> None:
    picture = Picture(file="a.png", caption="A picture", png=b"png")
    shown = page(DOCUMENT, [picture, picture], links={"Runs": "report.html"}, foot="the end")
    parts = (DOCUMENT.answer, "A picture", "207 MB", "18 runs", "of the chip", "More pictures", "Behind it")
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)
    assert "✗ not enough" in shown
    assert "✓ enough" in shown
    assert "&lt;more&gt;" in shown
    assert re.search(r"needs<sup>2</sup>", shown)
    assert "@media print" in shown
    assert "Nothing" not in shown
    assert DOCUMENT.answer in body(DOCUMENT)
    assert "<style>" not in body(DOCUMENT)


def test_json_has_the_answer_and_all_that_a_command_gives() -> None:
    assert as_json(DOCUMENT) == {"answer": DOCUMENT.answer, "answers": ["PFC"], "answer_of_old": 1}


def test_files_of_a_table_are_latex_and_markdown() -> None:
    files = table_files(DOCUMENT)
    assert r"50 \% \& $<$more$>$ & 20 MB (a relay) & enough \\" in files["table.tex"].splitlines()
    assert r"\begin{tabular}{lrl}" in files["table.tex"]
    assert "| flow control | needs | verdict |" in files["table.md"]
    assert table_files(Document(title="", answer="")) == {}

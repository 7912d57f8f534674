from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from floodway.cli.catalog.entries import entries
from floodway_lab.generate.numbering import (
    SOURCES,
    UNNUMBERED,
    Citation,
    citations,
    mechanisms,
    page,
    unparsed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parent.parent
MODULES = mechanisms(ROOT)
CITATIONS = citations(ROOT)

#: The numbers of each source that floodway does, listed by hand from its text: the modules that do them, the
#: name by which other mechanisms cite it, the last equation, and for each algorithm its lines.
#: - RCM numbers six formulas and no algorithm.
#: - SWING numbers six equations: four of PFC's theory, which `pfc` does, and two of the relay.
#: - Bifrost numbers no equation. Algorithm 1 has 16 lines; its text goes by these.
#: - Mercury numbers no equation. Lines 1 and 14 of Algorithm 2 are comments (switch, sender).
#: - CASL numbers neither.
#: - HPCC numbers four equations in section 3.2; Algorithm 1 has 27 lines.
#: - DCQCN numbers four equations of the reaction point in section 3.1; later ones are of its fluid model.
#: - DCTCP numbers two in section 3.1; later ones are of its analysis.
COMPLETE: dict[str, tuple[list[str], str, int, dict[str, Iterable[int]]]] = {
    "RCM": (["rcm"], "", 6, {}),
    "SWING": (["swing", "pfc"], "SWING", 6, {}),
    "Bifrost": (["bifrost"], "", 0, {"Algorithm 1": range(1, 17)}),
    "Mercury": (
        ["mercury", "mercury_window"],
        "",
        0,
        {"Algorithm 1": range(1, 25), "Algorithm 2": [*range(2, 14), *range(15, 21)]},
    ),
    "HPCC": (["hpcc"], "", 4, {"Algorithm 1": range(1, 28)}),
    "DCQCN": (["dcqcn"], "", 4, {}),
    "DCTCP": (["dctcp"], "", 2, {}),
}


def places(modules: Iterable[str], name: str) -> list[Citation]:
    """Return the citations of a source, which is the modules' own, or is cited by name."""
    own = [citation for citation in CITATIONS if citation.module in modules and not citation.source]
    return own + [citation for citation in CITATIONS if name and citation.source == name]


@pytest.mark.parametrize("name", MODULES)
def test_a_mechanism_has_citations_or_a_reason_why_not(name: str) -> None:
    cited = [citation for citation in CITATIONS if citation.module == MODULES[name]]
    assert bool(cited) != (name in UNNUMBERED)


def test_mechanisms_are_those_of_the_registry() -> None:
    assert set(MODULES) <= {entry.full_name for entry in entries() if entry.kind == "mechanism"}
    pages = {file.stem for file in (ROOT / "docs" / "mechanisms").glob("*.*.md")}
    assert set(MODULES) == pages
    assert set(UNNUMBERED) <= set(MODULES)


def test_every_citation_is_of_a_mechanism_and_stands_in_a_function_or_constant() -> None:
    assert {citation.module for citation in CITATIONS} <= set(MODULES.values())
    assert [citation for citation in CITATIONS if not citation.function] == []


def test_every_source_that_has_a_name_is_cited() -> None:
    assert {citation.source for citation in CITATIONS} - {""} == set(SOURCES)


def test_no_comment_cites_a_number_in_a_form_that_the_page_would_miss() -> None:
    assert unparsed(ROOT) == []


def test_the_page_shows_every_citation_and_every_reason() -> None:
    shown = page(ROOT, "").splitlines()
    assert sum(line.count("`: `") for line in shown) == len(CITATIONS)
    for name, reason in UNNUMBERED.items():
        slot, _, short = name.partition(".")
        assert reason in shown[shown.index(f"### [{short}]({slot}.{short}.md)") :]


def test_rows_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    numbers = [
        "Theorem 1",
        "Algorithm 1, lines 1 and 2",
        "Algorithm 1, line 3",
        "Algorithm 1, lines 10 to 12",
    ]
    numbers += ["Eq. 2", "Eq. 10", "Section 3.2", "Section 3.10", "SWING, Eq. 1"]
    comments = [f"    // {number}: words." for number in sorted(numbers)]
    root = tree(tmp_path, "\n".join(["fn cut() {", *comments, "    let y = 2;", "}", ""]))
    assert [line.split(" | ")[0][2:] for line in page(root, "").splitlines() if "`: `" in line] == numbers


@pytest.mark.parametrize("source", COMPLETE)
def test_all_equations_and_lines_that_a_source_numbers_are_cited(source: str) -> None:
    modules, name, last, algorithms = COMPLETE[source]
    found = places(modules, name)
    equations = {citation.place for citation in found if citation.place.startswith("Eq.")}
    assert equations == {f"Eq. {number}" for number in range(1, last + 1)}
    lines = {line for citation in found for line in citation.covered}
    assert lines == {(algorithm, line) for algorithm, numbers in algorithms.items() for line in numbers}


def tree(folder: Path, code: str, **others: str) -> Path:
    """Write a file of a mechanism, `pfc.rs`, below a folder; return that folder."""
    sources = folder / "crates" / "mechanisms" / "src"
    sources.mkdir(parents=True)
    for name, text in {"pfc": code, "registry": "flow_controls! {\n    Pfc => pfc,\n}\n", **others}.items():
        (sources / f"{name}.rs").write_text(text, encoding="utf-8")
    return folder


def test_a_citation_names_what_it_stands_in_or_above(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        """\
// Eq. 1: a constant.
#[allow(dead_code)]
pub(super) const LEAST: u64 = 1;

impl<'a> Trait<'a> for Sender {
    // Section 3.2: a method.
    fn on_frame(&mut self) {
        if true {
            // Algorithm 1, lines 6 and 7: deep inside.
            // IEEE 802.3, Annex 31B.3.7: of another source.
            let step = |x: u64| x;
        }
    }
}

pub fn alone() -> u64 {
    // InfiniBand's own form follows.
    // C9-110: is it a duplicate?
    0
}

#[cfg(test)]
mod tests {
    // Eq. 9: no line that does it.
}
""",
    )
    found = [(citation.number, citation.function, citation.line) for citation in citations(root)]
    assert found == [
        ("Eq. 1", "LEAST", 1),
        ("Section 3.2", "Sender::on_frame", 6),
        ("Algorithm 1, lines 6 and 7", "Sender::on_frame", 9),
        ("IEEE 802.3, Annex 31B.3.7", "Sender::on_frame", 10),
        ("C9-110", "alone", 18),
    ]
    assert [citation.covered for citation in citations(root)][2] == [("Algorithm 1", 6), ("Algorithm 1", 7)]
    assert unparsed(root) == []


@pytest.mark.parametrize(
    "comment",
    [
        "// Algorithm 1, lines 4 and 5.",
        "// Eq. 4",
        "// Eq 4: without a point. (section 3)",
        "// (Alg. 1, line 10, with its clamp).",
        "// Nobody, Eq. 4: a source without an entry.",
        "// see section 3.1 of the paper",
        "/// Wc falls (eq. 5).",
        "let x = 1; // Eq. 5: beside the code.",
        "// Clause 36.2 of the standard: in words.",
        "// §36.2: in a sign.",
    ],
)
def test_other_forms_are_found(comment: str, tmp_path: Path) -> None:
    root = tree(tmp_path, f"fn cut() {{\n    {comment}\n    let y = 2;\n}}\n")
    assert len(unparsed(root)) == 1
    assert citations(root) == []


@pytest.mark.parametrize(
    "text",
    [
        "/// Least rate.\n/// Source: Zhu et al., section 3.1,\n/// Eq. 4.\npub struct Params {}",
        "pub struct Params {\n    /// As Algorithm 1 is written.\n    pub rate: u64,\n}",
        "//! Known differences: line 13 of Algorithm 1.",
    ],
)
def test_references_of_parameters_and_heads_are_no_citations(text: str, tmp_path: Path) -> None:
    assert unparsed(tree(tmp_path, f"{text}\n")) == []


def test_files_of_tests_are_left_out(tmp_path: Path) -> None:
    for code, count in [("mod tests;\n", 1), ("#[cfg(test)]\nmod tests;\n", 0)]:
        root = tree(tmp_path / str(count), code)
        tests = root / "crates" / "mechanisms" / "src" / "pfc" / "tests.rs"
        tests.parent.mkdir()
        tests.write_text("fn target() {\n    // Section 3.5: base.\n}\n", encoding="utf-8")
        assert len(citations(root)) == count

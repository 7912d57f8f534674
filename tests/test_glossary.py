"""The glossary: every term is defined once, and can be explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodway.cli.catalog.entries import entries, find
from floodway.common.errors import UnknownNameError
from floodway.common.glossary import Term, terms

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def test_terms_are_in_order_and_have_one_definition_each() -> None:
    names = [term.name for term in terms()]
    assert names == sorted(names, key=str.casefold)
    spellings = [spelling.casefold() for term in terms() for spelling in term.names]
    assert len(spellings) == len(set(spellings))


def test_what_a_term_refers_to_is_there() -> None:
    known = {term.name for term in terms()}
    for term in terms():
        for other in term.see:
            assert other in known or (DOCS / other).is_file(), (term.name, other)
            assert other != term.name


@pytest.mark.parametrize("term", terms(), ids=lambda term: term.name)
def test_a_term_is_explained_under_each_of_its_names(term: Term) -> None:
    mechanisms = {entry.name for entry in entries()}
    for spelling in term.names:
        (entry, *_) = find(spelling)
        assert entry.kind == "term" or spelling.casefold() in mechanisms
        if entry.kind == "term":
            assert entry.name == term.name


def test_a_term_that_is_misspelt_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        UnknownNameError,
        match="is not a mechanism, topology, workload, model, chip, paper or term; did you mean 'headroom'",
    ):
        find("hedroom")


def test_pages_link_the_glossary() -> None:
    page = (DOCS / "glossary.md").read_text(encoding="utf-8")
    for term in terms():
        assert f"### {term.name}\n" in page
    for name in (
        "README.md",
        "docs/index.md",
        "docs/concepts.md",
        "docs/scenario.md",
        "docs/results.md",
        "docs/faq.md",
    ):
        assert "glossary.md" in (ROOT / name).read_text(encoding="utf-8"), name

"""Pages of HTML and Markdown: what users write is text there, and browsers run nothing but floodway's own."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import floodway as package
import floodway_lab as laboratory
from command import Command
from floodway.common.markdown import Markdown, plain, table
from floodway.comparison.comparison import compare
from floodway.comparison.variants import Variant
from floodway.simulation.report import report
from floodway.study import conduct, load_study, plan_of
from floodway_lab.bench.page import pairs_block
from floodway_lab.markdown import code, formatted
from floodway_lab.reproduction.mutants import Mutant, MutantResult, Worse
from floodway_lab.reproduction.pages import (
    Provenance,
    mutants_page,
    overview_page,
    results_page,
    statements_of,
)
from floodway_lab.reproduction.paper import judge, take_in
from floodway_lab.study.report.glance import COLUMNS as GLANCE
from floodway_lab.validation.page import write_block
from scenarios import SMALL
from studies import BRIEF, study_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

#: A tag, the end of a script, a comment, code, a formula, links and pictures of each form.
EVIL = (
    "<img src=x onerror=pwn()></script><script>pwn()</script>--><!-- `$x^2$` [a](javascript:alert(1)) "
    "![p](http://evil/p.png) [r][s] <http://evil> http://evil www.evil.net a@evil.net \\input | "
    "{: onclick=x} *b*"
)
#: As notes, which are Markdown: with a definition that links refer to, and a block that stays open.
NOTES = f"{EVIL}\n\n[s]: javascript:alert(2)\n[a\nb]: http://evil\n\n<div>\n\n> <b>quoted</b>\n\n```\nopen"
#: Elements that a report has for itself.
OWN = {
    *("p", "h1", "h2", "h3", "h4", "table", "thead", "tbody", "tr", "th", "td"),
    *("ul", "li", "code", "pre", "em", "strong", "a", "img", "blockquote", "details", "summary"),
}


def tokens(text: str) -> Iterator[Token]:
    """Read Markdown as one that lets HTML through does."""
    for block in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text):
        yield block
        yield from block.children or ()


#: What folds tables of a page.
FOLDED = re.compile(r'(<details markdown="1"><summary>\d+ claims? and readings</summary>|</details>)\n')


def inert(text: str, *, own_links: re.Pattern[str]) -> None:
    """Find no HTML, and no link or picture but those that are floodway's own."""
    found = list(tokens(text))
    tags = [each.content for each in found if each.type.startswith("html")]
    assert [each for each in tags if not FOLDED.fullmatch(each)] == []
    links = [
        str(each.attrs.get("href", each.attrs.get("src")))
        for each in found
        if each.attrs and each.tag in "a img"
    ]
    assert [link for link in links if not own_links.fullmatch(link)] == []
    assert {each.tag for each in found if each.tag} <= OWN | {"s", "br", "ol", "hr"}


OWN_LINKS = re.compile(r"(?:[\w.%-]+/)*[\w.%-]+")


class Elements(HTMLParser):
    """The elements of a page, with their attributes, and what its scripts say."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def self_contained(page: str) -> None:
    """Find a policy before all else, no foreign element, and nothing that is loaded."""
    found = Elements(page).found
    heads = [tag for tag, _ in found]
    policies = [
        (at, own["content"])
        for at, (tag, own) in enumerate(found)
        if tag == "meta" and own.get("http-equiv") == "Content-Security-Policy"
    ]
    ((place, policy),) = policies
    assert set(heads[:place]) <= {"html", "head", "meta"}
    assert policy is not None
    directives = dict(each.strip().partition(" ")[::2] for each in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert "'unsafe-inline'" not in directives.get("script-src", "")
    assert directives["img-src"] == "data:"
    for tag, own in found:
        assert not [name for name in own if name.startswith("on")], tag
        assert tag in OWN | {
            *(
                "html",
                "head",
                "meta",
                "title",
                "style",
                "body",
                "div",
                "span",
                "figure",
                "figcaption",
                "main",
            ),
            *("noscript", "script", "b", "br", "hr", "ol", "details", "summary", "sup"),
        }, tag
        assert own.get("src", "data:") is not None
        assert str(own.get("src", "data:")).startswith("data:")
        assert OWN_LINKS.fullmatch(str(own.get("href", "report.html")))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the report of a study all of whose texts are hostile."""
    folder = tmp_path_factory.mktemp("evil")
    quoted, of_study = json.dumps(EVIL), ("title", "shows", "source")
    head = "".join(f"{key} = {quoted}\n" for key in of_study) + f"notes = {json.dumps(NOTES)}"
    text = (
        BRIEF.replace('title = "Pools"', head)
        .replace("seeds = 2", "seeds = 1", 1)
        .replace('label = "10 MB"', f"label = {quoted}")
        .replace('key = "workload.rpc.poisson.load"', f'key = "workload.rpc.poisson.load"\nlabel = {quoted}')
    )
    text = re.sub(r"says = .*", lambda _: f"says = {quoted}\nsource = {quoted}\nremark = {quoted}", text)
    text += f"[[reading]]\nname = {quoted}\nsays = {quoted}\n"
    text += f'[[plot]]\nname = "own"\ntitle = {quoted}\nkind = "bars"\n'
    text += 'metric = "fct-mean"\nat = { load = 0.2 }\n'
    study_file(folder, text)
    done = Command(folder)("study", "pools.toml", "--quick", "--quiet", "--out", "out")
    assert done.code == 0, done.err
    return folder / "out"


@pytest.fixture(scope="module")
def kept(results: Path) -> dict[str, Any]:
    """Judge the same study at full size by the numbers that are kept of it."""
    folder, study = results.parent / "full", load_study(results.parent / "pools.toml")
    conduct(plan_of([study]), out=folder, jobs=2, report=False)
    page, said = folder / "docs" / "pools", list[str]()
    take_in(study, folder, page, date="2026-01-01", revision=EVIL, several=False, on_message=said.append)
    found = judge([study], page)
    assert found is not None
    return found


def test_the_report_of_a_study_has_no_element_of_its_texts(results: Path) -> None:
    text = (results / "report.md").read_text(encoding="utf-8")
    assert text.count("onerror") > 6
    inert(text, own_links=OWN_LINKS)
    self_contained((results / "index.html").read_text(encoding="utf-8"))


def test_what_notes_leave_open_ends_with_them(results: Path) -> None:
    headings = [
        each.content
        for each in tokens((results / "report.md").read_text(encoding="utf-8"))
        if each.type == "inline"
    ]
    assert "Numbers" in headings
    assert "Versions" in headings


def test_the_page_of_a_reproduction_has_no_element_of_its_texts(kept: dict[str, Any]) -> None:
    made = Provenance(command="floodway reproduce `x`", date="2026-01-01", revision="abc")
    page = results_page("pools", kept, kept, made)
    assert page.count("onerror") > 6
    inert(page, own_links=re.compile(r"pools/(?:numbers/)?[\w.%-]+|not-reproduced\.md"))


def test_the_page_of_all_papers_has_the_statements_of_those_that_are_judged(kept: dict[str, Any]) -> None:
    row = dict.fromkeys(GLANCE, EVIL)
    full = {**kept, "lacks": [EVIL], "counts": [EVIL], "glance": [row]}
    page = overview_page(
        {"casl": statements_of(full, Provenance(command="x", date="2026-01-01", revision="abc"))}
    )
    assert page.count("onerror") > 6
    assert page.count("of an earlier rule") == 4
    links = re.compile(r"[a-z]+\.md|not-(reproduced|judged)\.md|\.\./studies\.md#the-rule-of-a-verdict")
    inert(page, own_links=links)


def test_the_page_of_mutants_has_no_element_of_its_texts() -> None:
    mutant = Mutant(name=EVIL, fault=EVIL, studies=(EVIL,), variants=(EVIL,), sets=((EVIL, EVIL),))
    worse = Worse(study=EVIL, published=True, says=EVIL, before="agrees", after="differs")
    made = Provenance(command="make mutants", date="2026-01-01", revision="abc")
    inert(mutants_page({EVIL: [MutantResult(mutant=mutant, worse=(worse,))]}, made), own_links=OWN_LINKS)


def test_a_block_of_pairs_has_no_element_of_what_the_manifest_says() -> None:
    side = {"name": EVIL, "cpu_s_median": 1.0, "peak_memory_bytes_median": 1e6}
    pair = {
        "what": EVIL,
        "work": EVIL,
        "theirs": side,
        "ours": side,
        "turns": 3,
        "ratio": {"min": 1.0, "median": 2.0, "max": 3.0},
        "peer": {"version": EVIL, "commit": EVIL, "flags": EVIL},
    }
    entry = {
        "machine": {"cpu": EVIL, "cores": 2},
        "rustc": EVIL,
        "date": "2026-01-01T00:00:00",
        "revision": "abc",
        "changed": False,
        "pairs": [pair],
        "skipped": {EVIL: EVIL},
    }
    block = pairs_block(entry)
    assert block.count("onerror") > 6
    assert "1.0 / **2.0** / 3.0" in block
    inert(block, own_links=OWN_LINKS)


def test_every_page_has_a_policy_and_no_element_of_its_texts(tmp_path: Path) -> None:
    scenario = package.Scenario.from_toml(
        SMALL.replace("mtu", f"description = {EVIL!r}\nmtu".replace("\\\\", "\\"), 1)
    )
    variants = [Variant(label=label, scenario=scenario, differs=((EVIL, EVIL),)) for label in (EVIL, "other")]
    compared = compare(variants, out=tmp_path / "compared")
    assert compared.folder is not None
    pages = {"comparison": (tmp_path / "compared" / "index.html").read_text(encoding="utf-8")}
    pages["runs"] = report({EVIL: compared.results[0][0]}, title=EVIL, flows=[])
    done = Command(tmp_path)("plan", "--rate", "100G", "--length", "1km", "--out", "plan", "--quiet")
    assert done.code == 0, done.err
    pages["plan"] = (tmp_path / "plan" / "index.html").read_text(encoding="utf-8")
    for page in pages.values():
        self_contained(page)
    assert pages["comparison"].count("onerror") > 1


def test_the_script_of_a_page_of_runs_is_the_one_that_its_policy_allows() -> None:
    page = report({"run": package.run(package.Scenario.from_toml(SMALL))}, flows=[])
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    assert re.findall(r"script-src ([^;]*)", page)[0] == f"'sha256-{allowed}'"
    # A browser makes one of these of any other end of a line, before it computes the hash.
    assert "\r" not in script


def test_no_code_makes_a_page_without_a_policy() -> None:
    roots = [Path(each.__file__ or "").parent for each in (package, laboratory)]
    templates = [each for root in roots for each in root.rglob("*") if each.suffix in {".py", ".jinja"}]
    pages = [each for each in templates if "<!doctype html>" in each.read_text(encoding="utf-8")]
    assert len(pages) >= 3
    assert [each for each in pages if "policy(" not in each.read_text(encoding="utf-8")] == []


def shown(text: str) -> str:
    """Return what a reader of Markdown shows of a paragraph."""
    (_, inline, _) = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    assert all(child.type in {"text", "text_special"} for child in inline.children or ())
    return "".join(child.content for child in inline.children or ())


@given(st.text())
@example(EVIL)
@example("# a")
@example("1. a")
@example("1) a")
@example("- a")
@example("---")
@example("===")
@example("+ a")
@example("~~~")
@example("> a")
@example("a\n---")
@example("__a__ _b_ c_d")
@example("&lt; &#60;")
@example("a\\")
def test_a_plain_text_is_shown_as_it_is(text: str) -> None:
    line = " ".join(text.split())
    if line:
        assert shown(plain(text)).replace("\ufffd", "\0") == line.replace("\ufffd", "\0")
        assert shown(plain(f"{line} b")).endswith(" b")
    (cell,) = [
        each.children or []
        for each in list(tokens(table(("head",), [[text]])))
        if each.type == "inline" and each.content != "head"
    ] or [[]]
    assert "".join(child.content for child in cell).replace("\ufffd", "\0") == line.replace("\ufffd", "\0")


@given(st.text(alphabet=st.sampled_from("`a |<\\*"), max_size=12))
def test_code_is_shown_as_it_is(text: str) -> None:
    (_, inline, _) = MarkdownIt("commonmark").parse(f"a {code(text)} b")
    (_, own, _) = inline.children or []
    assert own.type == "code_inline"
    assert own.content.strip() == " ".join(text.split()).strip()


@given(st.text(alphabet=st.sampled_from("<>!/ab[]():`\n ~#-*_\\{}"), max_size=60))
@example(NOTES)
@example("[a]: http://b\n\n[a]")
@example("[a]:\nhttp://b\n\n[a]")
@example("<!-- a")
@example("~~~\n<b>")
def test_formatted_text_has_no_html_no_link_and_no_end_that_is_open(text: str) -> None:
    found = list(tokens(f"{formatted(text)}\n\nthe end"))
    assert not [each for each in found if each.type.startswith("html") or each.tag in {"a", "img"}]
    assert [each.content for each in found if each.type == "inline"][-1] == "the end"


def test_formatted_text_keeps_its_formatting() -> None:
    code = "`<b> [a](b)` and\n\n```\n<b> http://c\n```\n\n~~~ x\n[a](b)\n~~~"
    assert formatted(code) == code
    assert formatted("\\`<b>`") == "\\`&lt;b>`"
    assert formatted("*a* **b** `c`\n\n* d\n* e <= 3, f[0] (g)") == "*a* **b** `c`\n\n* d\n* e <= 3, f[0] (g)"
    assert table(("a",), [[Markdown("[b](c)")]]).endswith("| [b](c) |")


def test_a_block_of_a_validation_ends_no_mark(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    write_block(page, "jobs", plain("<!-- end: jobs -->"))
    write_block(page, "jobs", "second")
    assert page.read_text(encoding="utf-8").count("<!-- end: jobs -->") == 1

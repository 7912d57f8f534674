"""Words: names and phrases that were replaced by those of the field do not come back."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

#: Identifiers of Rust and Python that are gone, with what replaced them.
IDENTIFIERS = {
    "Agenda": "Events",
    "Culprit": "HarmfulFlow",
    "FLYING": "IN_FLIGHT",
    "Fate": "Effect",
    "GRAVEST": "BY_SEVERITY",
    "Notice": "Cnp",
    "RegionNotice": "CongestionNotification",
    "Spread": "DestinationPattern",
    "Told": "CnpLimiter",
    "Unheard": "Unobservable",
    "bears_unpaused": "tolerates_unpaused",
    "caveats": "warnings",
    "charge_unheard": "charge_on_fast_path",
    "crowd": "added_heap",
    "hasty_timers": "early_timeout_warning",
    "hears": "observes",
    "heeds_cnps": "reacts_to_cnp",
    "is_culprit": "is_harmful",
    "kick": "try_transmit",
    "lane": "port_class",
    "lanes": "port_classes",
    "look_ahead": "prefetch",
    "looked_at": "on_poll",
    "may_tell": "may_notify",
    "on_notice": "on_cnp",
    "quiet_below": "fast_path_below",
    "quiet_up_to": "fast_path_up_to",
    "quits": "leaves_queue",
    "recounts": "reports_waiting",
    "sends_unheard": "sends_on_fast_path",
    "settle_ideals": "compute_changed_ideals",
    "tells_of_gap": "reports_gap",
    "tells_of_marks": "reports_marks",
    "unheard": "on the fast path",
    "usual_way": "usual_port",
    "work_off": "drive",
}

#: Modules that are gone, of Rust and of Python.
RUST_FILES = (
    *(
        "agenda",
        "ahead",
        "border",
        "crossing",
        "culprits",
        "floor",
        "lanes",
        "pays",
        "ring",
        "spread",
        "told",
    ),
    *("ways", "whole", "words"),
)
PYTHON_FILES = (
    *("arriving", "asking", "conduct", "judged", "look", "needs", "older", "place", "reading", "telling"),
    *("words", "written"),
)

#: Words that no heading and no message has.
PHRASES = (
    *("culprit", "heed", "hold its peace", "reckon", "send word", "unheard", "whoever", "whom"),
    *("elsewise", "is none that", "for want of", "native half", "the least is", "is no time"),
)


#: Words that say nothing of what a variable holds.
NO_NOUNS = {"asked", "each", "found", "given", "here", "kept", "known", "least", "made", "named", "own"}
NO_NOUNS |= {"said", "there", "told", "wanted", "what", "which"}


@cache
def tracked(pattern: str) -> tuple[Path, ...]:
    """Return the files of the repository that match a pattern of git."""
    done = subprocess.run(
        ["git", "ls-files", "--", pattern],  # noqa: S607 (whichever git there is)
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip("no checkout of git")
    return tuple(path for name in done.stdout.splitlines() if (path := ROOT / name).is_file())


def python_files() -> tuple[Path, ...]:
    """Return the files of both packages of Python."""
    return (*tracked("python/**/*.py"), *tracked("lab/**/*.py"))


def lines_with(pattern: re.Pattern[str], *files: Path, code: bool) -> list[str]:
    """Find lines with a pattern, in code without its comments, or anywhere."""
    return [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in files
        for number, line in enumerate(lines(file, code=code), start=1)
        if pattern.search(line)
    ]


@cache
def lines(file: Path, *, code: bool) -> list[str]:
    """Return the lines of a file, of code without its comments."""
    text = file.read_text(encoding="utf-8")
    return (re.sub(r"(//|#).*$", "", text, flags=re.MULTILINE) if code else text).splitlines()


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_an_old_name_is_not_in_code(name: str) -> None:
    files = (*tracked("crates/**/*.rs"), *tracked("examples/**/*.rs"), *python_files())
    found = lines_with(re.compile(rf"(?<![\w\"']){name}(?![\w\"'])"), *files, code=True)
    assert not found, f"{name} is now {IDENTIFIERS[name]}:\n" + "\n".join(found)


def test_a_variable_is_named_by_the_noun_of_what_it_holds() -> None:
    """Of functions; parameters and fields that users spell are left out."""
    names = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {node.id}"
        for file in python_files()
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NO_NOUNS
    ]
    assert names == []


def test_a_module_and_a_constant_are_named_by_a_noun_of_the_field() -> None:
    no_nouns = NO_NOUNS | {"alone", "called", "elsewhere", "meant", "nothing", "others", "together", "words"}
    constants = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {node.id}"
        for file in python_files()
        for statement in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        if node.id.isupper() and node.id.strip("_").lower() in no_nouns
    ]
    assert constants == []
    assert [str(file) for file in python_files() if file.stem in no_nouns] == []


def test_no_file_has_an_old_name() -> None:
    rust = [file for file in tracked("crates/**/*.rs") if file.stem in RUST_FILES]
    python = [file for file in python_files() if file.stem in PYTHON_FILES]
    assert not [*rust, *python]


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_heading_has_an_old_word(phrase: str) -> None:
    pages = (*tracked("docs/*.md"), *tracked("docs/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md")
    found = lines_with(re.compile(rf"^#+ .*\b{phrase}\b", flags=re.IGNORECASE), *pages, code=False)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_message_has_an_old_word(phrase: str) -> None:
    files = [file for file in tracked("crates/**/*.rs") if "/tests" not in file.as_posix()]
    files += python_files()
    found = lines_with(re.compile(rf"\"[^\"]*\b{phrase}\b[^\"]*\"", flags=re.IGNORECASE), *files, code=True)
    assert not found, "\n".join(found)

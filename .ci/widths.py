"""Find comments and text that are wider than their formatter's width, which no formatter wraps.

    python .ci/widths.py [--fix] [FILE ...]     all files that git knows where none is named

A line of a comment (Rust, TOML, YAML, Makefile, Dockerfile, shell) has at most the width of rustfmt.toml, a
line of prose in Markdown at most 120 characters. Tables, code between fences, headings, and words that are
wider by themselves stay as they are. Ruff checks Python. `--fix` wraps the paragraphs that have such a line.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
#: Characters of a line of prose in Markdown.
MARKDOWN = 120
#: Spaces before a line that is code.
INDENTED_CODE = 4
#: In the place of a space at which a line must not break.
JOINED = "\0"
#: Characters of a line of a comment.
CODE = int(tomllib.loads((ROOT / "rustfmt.toml").read_text(encoding="utf-8"))["max_width"])
#: What is not checked yet. To switch a folder on: `--fix` its files, then remove it here.
NOT_YET = ("tests/",)
#: Pages that `make generate`, `make mutants` and `make reproduced` write.
GENERATED = re.compile(
    r"docs/(mechanisms/.*|reproduced/(?!not-).*|cli|glossary|(?:study-)?keys|mutants|topologies|workloads)\.md"
)

_RUST = re.compile(r"\s*//[/!]? ?")
_HASH = re.compile(r"\s*# ?")
_NONE = re.compile(r"")
#: A line that is not wrapped: a heading, a row of a table, HTML, a rule, a link's definition, a picture, a
#: command.
_ALONE = re.compile(
    r"#{1,6} |\||<(?!https?:)|---|\[[^\]]+\]: |!\[|(floodway|make|cargo|python3?) [a-z]+ \S*[-./=]"
)
_ITEM = re.compile(r"\s*([-*+]|\d+\.) +(\[[ x]\] +)?")
#: Code in a line, which stays on one.
_SPAN = re.compile(r"`[^`]+`")
#: Characters of the longest one.
LONGEST_SPAN = 60
#: What must not come to stand at the beginning of a line: Markdown would take it for something else.
_MARKED = re.compile(r"([-+*>|#]|\d+[.)])(\s|$)|\||<(?!https?:)|={2,}$")


@dataclass
class Paragraph:
    """Lines that are wrapped together: those of one marker, one indentation, one item of a list."""

    start: int
    marker: str
    indent: str
    texts: list[str] = field(default_factory=list)

    def wrapped(self, width: int) -> list[str] | None:
        """Return its lines at a width, or nothing if no way of wrapping it means the same."""
        item = _ITEM.match(self.texts[0])
        first = item.group() if item else self.indent
        hanging = " " * len(first)
        words = " ".join(text.strip() for text in self.texts)[len(first.strip()) :].strip()
        words = _SPAN.sub(lambda span: _joined(span.group()), words)
        for narrower in range(20):
            lines = textwrap.wrap(
                words,
                width - len(self.marker) - narrower,
                initial_indent=first,
                subsequent_indent=hanging,
                break_long_words=False,
                break_on_hyphens=False,
            )
            if not any(_MARKED.match(line.strip()) for line in lines[1:]):
                return [f"{self.marker}{line}".replace(JOINED, " ").rstrip() for line in lines]
        return None


def _joined(span: str) -> str:
    return span.replace(" ", JOINED) if len(span) <= LONGEST_SPAN else span


def width_of(name: str) -> tuple[int, re.Pattern[str]] | None:
    """Return the width of a file and what its comments begin with, or nothing if it is not checked."""
    if GENERATED.fullmatch(name) or name.endswith(".lock"):
        return None
    suffix = Path(name).suffix
    if suffix == ".md":
        return MARKDOWN, _NONE
    if suffix == ".rs":
        return CODE, _RUST
    if suffix in {".toml", ".yml", ".yaml", ".cff", ".sh"} or Path(name).name in {"Makefile", "Dockerfile"}:
        return CODE, _HASH
    return None


def paragraphs(lines: list[str], marker: re.Pattern[str]) -> list[Paragraph]:
    """Return the paragraphs of comments, or of a page of Markdown."""
    found: list[Paragraph] = []
    for number, own, text in _prose(lines, marker):
        last = found[-1] if found else None
        is_item = _ITEM.match(text) is not None
        goes_on = last is not None and last.start + len(last.texts) == number and last.marker == own
        indent = text[: len(text) - len(text.lstrip())]
        if last is not None and goes_on and not is_item:
            last.texts.append(text)
        elif is_item or len(indent) < INDENTED_CODE:
            found.append(Paragraph(start=number, marker=own, indent=indent, texts=[text]))
    return found


def _prose(lines: list[str], marker: re.Pattern[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the number of each line of text, what its comment begins with, and the text."""
    is_code = is_generated = False
    for number, line in enumerate(lines):
        # What a command writes into a page stays as that writes it.
        is_generated = "<!-- begin: " in line or (is_generated and "<!-- end: " not in line)
        if is_generated:
            continue
        begins = marker.match(line)
        if begins is None:
            is_code = False
            continue
        own = begins.group()
        text = line[len(own) :]
        if text.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and text.strip() and _ALONE.match(text.lstrip()) is None:
            yield number, own, text


def too_wide(lines: list[str], width: int, marker: re.Pattern[str]) -> list[Paragraph]:
    """Return the paragraphs that have a line which is wider and has more than one word."""
    return [
        each
        for each in paragraphs(lines, marker)
        if any(
            len(each.marker) + len(text) > width and " " in _ITEM.sub("", text, count=1).strip()
            for text in each.texts
        )
    ]


def fixed(lines: list[str], width: int, marker: re.Pattern[str]) -> list[str]:
    """Return the lines with those paragraphs wrapped."""
    lines = list(lines)
    for each in reversed(too_wide(lines, width, marker)):
        wrapped = each.wrapped(width)
        if wrapped is not None:
            lines[each.start : each.start + len(each.texts)] = wrapped
    return lines


def held(names: list[str]) -> list[str]:
    """Return the files that are held: those named, or all that git knows but those of `NOT_YET`."""
    if names:
        return names
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S607
    return [name for name in listed.stdout.splitlines() if not name.startswith(NOT_YET)]


def main(arguments: list[str]) -> int:
    """Print a line for each place, or wrap it; returns how many files have one."""
    fix = "--fix" in arguments
    count = 0
    for name in held([each for each in arguments if each != "--fix"]):
        rule = width_of(name)
        path = ROOT / name
        if rule is None or not path.is_file():
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        if fix:
            path.write_text("\n".join(fixed(lines, *rule)) + "\n", encoding="utf-8")
            lines = path.read_text(encoding="utf-8").splitlines()
        wide = too_wide(lines, *rule)
        count += bool(wide)
        for each in wide:
            number = max(range(each.start, each.start + len(each.texts)), key=lambda at: len(lines[at]))
            sys.stdout.write(f"{name}:{number + 1}: {len(lines[number])} characters; at most {rule[0]}\n")
    return count


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))

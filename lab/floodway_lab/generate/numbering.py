"""Citations of papers in `crates/mechanisms`, and their page: where each number of a paper is in the code.

A citation is a comment line of its own above the statement that implements the number:

    // Eq. 4: Rt = Rt + Rai.
    // Algorithm 1, lines 6 and 7: the busiest link.
    // IEEE 802.3, Annex 31D: a time of 0 ends the pause.

A name before the number is a key of `SOURCES`; without one the number is of the mechanism's own source.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.cli.catalog.entries import SLOTS, cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["SOURCES", "UNNUMBERED", "Citation", "citations", "mechanisms", "page", "unparsed"]

#: Sources that a citation names, if they are not the mechanism's own.
SOURCES = {
    "CASL": 'Hu, Li and Wang, "Congestion-Aware Semi-Lossless Transport in Datacenter networks"',
    "DCQCN": 'Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015',
    "DCTCP": 'Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010',
    "ECN or Delay": (
        'Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016'
    ),
    "IEEE 802.1Qbb": 'IEEE Std 802.1Qbb-2011, "Priority-based Flow Control"',
    "IEEE 802.3": 'IEEE Std 802.3, "Ethernet"',
    "SWING": (
        'Chen et al., "Swing: Providing Long-Range Lossless RDMA via PFC-Relay", IEEE TPDS 34(1), 2023'
    ),
    "UEC": 'Ultra Ethernet Consortium, "Ultra Ethernet Specification", 1.0.3, 2026',
}

#: Mechanisms without a citation, and why.
UNNUMBERED = {
    "buffer.static": "No published mechanism.",
    "congestion-point.bfc": "Written from an account of the paper, which gives no numbers.",
    "congestion-point.pacc": "A reconstruction: its five steps are floodway's own.",
    "congestion-point.tcd": "Written from the simulator of its authors, which gives no numbers.",
    "congestion-point.themis-pnp": "Written from the simulator of its authors, which gives no numbers.",
    "congestion-point.themis-trp": "Written from the simulator of its authors, which gives no numbers.",
    "link-retry.none": "No published mechanism.",
    "notification.none": "No published mechanism.",
    "notification.tcd": "Written from the simulator of its authors, which gives no numbers.",
    "reliability.none": "No published mechanism.",
    "routing.spray": "One uniform draw; the paper's text was not available to look for a number.",
    "scheduler.deficit-round-robin": "The paper's text was not available; its numbers are not checked.",
    "scheduler.round-robin": "No published mechanism.",
}

ABOUT = """\
This page lists the equations, lines of algorithms, figures, sections and clauses of the sources, and the
function that implements each of them. Each row is a comment in `crates/mechanisms/src`, above the statement
that it describes. A number without a name before it refers to the mechanism's own source, which is listed
under *References* on its page; the other sources are listed at the [end](#other-sources). Differences from a
source are listed under *Known differences* on the mechanism's page.

The numbers of Bifrost, CASL, Mercury, RCM and SWING are checked against the texts of these papers. Where the
parts of a section or the lines of an algorithm could not be checked, only the section or the algorithm is
named."""

MECHANISMS = Path("crates", "mechanisms", "src")
#: The slot of a macro of the registry.
MACROS = {
    "flow_controls": "flow-control",
    "link_retries": "link-retry",
    "buffers": "buffer",
    "routings": "routing",
    "schedulers": "scheduler",
    "congestion_points": "congestion-point",
    "notifications": "notification",
    "reactions": "rate-control",
    "reliabilities": "reliability",
}

LINES = r"lines? \d+(?: (?:to|and) \d+)?"
PLACE = "|".join(
    (
        r"Theorem \d+",
        rf"Algorithm \d+(?:, {LINES})?",
        r"Eq\. \d+[a-z]?",
        r"Figure \d+",
        r"Section (?:\d+(?:\.\d+)*|[IVX]+(?:-[A-Z])?)",
        r"Clause \d+(?:\.\d+)*",
        r"Annex \d+[A-Z](?:\.\d+)*",
        # Compliance statements of InfiniBand.
        r"[Co]\d+-\d+",
    )
)
SOURCE = "|".join(re.escape(name) for name in SOURCES)
CITATION = re.compile(rf"\s*// (?:(?P<source>{SOURCE}), )?(?P<place>{PLACE}): (?P<words>\S.*\.|\S.*\?)")
#: A text that looks like the number of a source, in any form.
NUMBER = re.compile(
    r"\b(?:Eqs?\.|[Ee]quations?|Alg\.|Algorithms?|Figs?\.|[Ff]igures?|[Ss]ections?|[Cc]lauses?|Annex|Theorem|Lemma"
    r"|[Ll]ines?)\s+(?:\d|[IVX]+\b)|§|\b[Co]\d+-\d+\b|\b31[A-D]\.\d|\beq\.\s*\d"
)
PUBLIC = r"(?:pub(?:\([^)]*\))? )?"
FUNCTION = re.compile(rf"\s*{PUBLIC}(?:const )?fn (?P<name>\w+)")
ITEM = re.compile(rf"\s*{PUBLIC}(?:const fn|fn|const|static|struct|enum|type|trait) (?P<name>\w+)")
PARAMETER = re.compile(r"\s*pub \w+:")
TYPE = re.compile(r"impl\b(?:<[^>]*>)?\s+(?:[\w:<>', ]+ for )?(?:\w+::)*(?P<name>\w+)")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*\n\s*mod (?P<name>\w+)(?P<end>;| \{)")
REGISTERED = re.compile(r"(?P<macro>\w+)! \{\n(?P<lines>(?:    \w+ => \w+,\n)+)\}")


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A number of a source, with its place in the code.

    Attributes
    ----------
    file
        The file below the sources of the mechanisms.
    line
        Its line there, from 1.
    source
        A key of `SOURCES`, or nothing for the mechanism's own.
    place
        The number, such as `Eq. 4`.
    words
        The description behind the number.
    function
        The function or constant, with its type where it has one.
    """

    file: str
    line: int
    source: str
    place: str
    words: str
    function: str

    @property
    def number(self) -> str:
        """The number with the name of its source."""
        return f"{self.source}, {self.place}" if self.source else self.place

    @property
    def module(self) -> str:
        """The module of the mechanism."""
        return Path(self.file).parts[0].removesuffix(".rs")

    @property
    def covered(self) -> list[tuple[str, int]]:
        """The lines of an algorithm that it cites, such as `("Algorithm 1", 6)`."""
        algorithm, _, lines = self.place.partition(", ")
        numbers = [int(number) for number in re.findall(r"\d+", lines)]
        if not numbers:
            return []
        return [(algorithm, line) for line in range(numbers[0], numbers[-1] + 1)]


class _Source:
    """The text of a file, up to its tests."""

    def __init__(self, text: str) -> None:
        tests = next((match for match in TESTS.finditer(text) if match["end"] == " {"), None)
        self.lines = (text[: tests.start()] if tests else text).splitlines()

    def comments(self) -> Iterator[int]:
        """Yield the places of plain comments that stand alone."""
        for at, line in enumerate(self.lines):
            if re.match(r"\s*//(?![/!])", line):
                yield at

    def remarks(self) -> Iterator[tuple[int, str]]:
        """Yield comments beside code, and documentation of no parameter, up to the word `Source:`."""
        is_source = False
        for at, line in enumerate(self.lines):
            text = line.strip()
            if not text.startswith("///"):
                is_source = False
                _, beside, comment = line.partition("; // ")
                if beside:
                    yield at, comment
                continue
            before, marker, _ = text.partition("Source:")
            if not is_source and not PARAMETER.match(self._below(at)):
                yield at, before
            is_source = is_source or bool(marker)

    def _below(self, at: int) -> str:
        """Return the first line of code from this one on."""
        return next((line for line in self.lines[at:] if not re.match(r"\s*(?://.*|#\[.*|)$", line)), "")

    def function(self, comment: int) -> str:
        """Return the function or constant that a comment is in, or above."""
        indent = _indent(self.lines[comment])
        item = ITEM.match(self._below(comment))
        if item is None:
            above = (line for line in reversed(self.lines[:comment]) if _indent(line) < indent)
            item = next(filter(None, map(FUNCTION.match, above)), None)
        if item is None:
            return ""
        outer = (line for line in reversed(self.lines[:comment]) if line and not line[0].isspace())
        # An attribute of an item outside of types follows what closes the type before it.
        owner = TYPE.match(next(outer, "")) if _indent(item.string) else None
        return f"{owner['name']}::{item['name']}" if owner else item["name"]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 1_000


def _sources(root: Path) -> Iterator[tuple[str, _Source]]:
    """Yield the files of the mechanisms, but for those of tests."""
    folder = root / MECHANISMS
    texts = {file: file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.rs"))}
    tests = {
        (file.parent if file.stem in {"lib", "mod"} else file.with_suffix("")) / f"{match['name']}.rs"
        for file, text in texts.items()
        for match in TESTS.finditer(text)
    }
    for file, text in texts.items():
        if file not in tests:
            yield file.relative_to(folder).as_posix(), _Source(text)


def citations(root: Path) -> list[Citation]:
    """Return all citations below `root`, the repository, file by file."""
    entries = []
    for file, source in _sources(root):
        for at in source.comments():
            match = CITATION.fullmatch(source.lines[at])
            if match is not None:
                entries.append(
                    Citation(
                        file=file,
                        line=at + 1,
                        source=match["source"] or "",
                        place=match["place"],
                        words=match["words"],
                        function=source.function(at),
                    )
                )
    return entries


def unparsed(root: Path) -> list[str]:
    """Return the comments that seem to cite a number in another form, which the page would miss."""
    comments = []
    for file, source in _sources(root):
        plain = ((at, source.lines[at]) for at in source.comments())
        missed = [(at, line) for at, line in plain if NUMBER.search(line) and not CITATION.fullmatch(line)]
        missed += [(at, text) for at, text in source.remarks() if NUMBER.search(text)]
        comments += [f"{file}:{at + 1}: {text.strip()}" for at, text in sorted(missed)]
    return comments


def mechanisms(root: Path) -> Mapping[str, str]:
    """Return the module of each mechanism by its full name, such as `rate-control.dcqcn`."""
    registry = (root / MECHANISMS / "registry.rs").read_text(encoding="utf-8")
    return {
        f"{MACROS[block['macro']]}.{_kebab(name)}": module
        for block in REGISTERED.finditer(registry)
        for name, module in re.findall(r"(\w+) => (\w+),", block["lines"])
    }


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def page(root: Path, written: str) -> str:
    """Return the page of all numbers; `written` says that it is generated."""
    groups: dict[str, list[Citation]] = defaultdict(list)
    for citation in citations(root):
        groups[citation.module].append(citation)
    modules = mechanisms(root)
    parts = ["# Equations and sections in the code", written, ABOUT]
    for slot in SLOTS:
        parts.append(f"## {slot}")
        for name in (name for name in modules if name.startswith(f"{slot}.")):
            parts.append(f"### [{name.removeprefix(f'{slot}.')}]({name}.md)")
            parts.append(_table(groups[modules[name]]) or UNNUMBERED.get(name, ""))
    rows = [f"| {name} | {cell(reference)} |" for name, reference in SOURCES.items()]
    parts.append("\n".join(["## Other sources", "", "| name | source |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _table(entries: Iterable[Citation]) -> str:
    rows = [
        f"| {citation.number} | {cell(citation.words)} | `{citation.file}`: `{citation.function}` |"
        for citation in sorted(entries, key=_order)
    ]
    return "\n".join(["| number | what it is | file and function |", "|---|---|---|", *rows]) if rows else ""


def _order(citation: Citation) -> tuple[str, int, list[tuple[int, str]], str, int]:
    """Order by source, its own first, then by kind and number."""
    kinds = ("Theorem", "Algorithm", "Eq.", "Figure", "Section", "Clause", "Annex")
    kind = next((at for at, kind in enumerate(kinds) if citation.place.startswith(kind)), len(kinds))
    place = citation.place.replace("lines", "line")
    numbers = [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", place)]
    return citation.source, kind, numbers, citation.file, citation.line

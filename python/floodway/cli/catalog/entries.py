"""Entries of the catalog: everything that a scenario can name; and their pages in Markdown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from floodway import _floodway
from floodway.cli.catalog.model import Entry, Section, parameters_of, sections_of
from floodway.common.errors import UnknownNameError
from floodway.common.glossary import terms
from floodway.common.names import nearest
from floodway.planning.asics import asics
from floodway.results.quantities import bytes_text, counted
from floodway.scenarios.grammar import Grammar, is_table, reference, tagged
from floodway.scenarios.own_code import meanings_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from floodway.cli.catalog.model import Parameter
    from floodway.common.glossary import Term
    from floodway.planning.asics import Asic
    from floodway.study.format.model import Study
    from floodway.study.format.read import Paper

__all__ = [
    "SLOTS",
    "body_of",
    "cell",
    "chips",
    "entries",
    "find",
    "known_names",
    "left_out",
    "page_of",
    "paper_entries",
    "paper_names",
    "parameter_table",
]


@cache
def entries() -> tuple[Entry, ...]:
    """Return everything that a scenario can name, mechanisms first, slot by slot."""
    grammar, catalog = Grammar.current(), _catalog()
    return (
        *(_mechanism(grammar, entry) for entry in catalog["mechanisms"]),
        *_topologies(grammar, catalog["topologies"]),
        *(_preset(preset) for preset in catalog["presets"]),
        *(_workload(grammar, kind) for kind in catalog["workloads"]),
        *(_sizes(sizes) for sizes in catalog["sizes"]),
        *(_model(model) for model in catalog["models"]),
    )


def left_out() -> tuple[tuple[str, str], ...]:
    """Return the published networks that are not presets, each with the reason."""
    return tuple((network["name"], network["description"]) for network in _catalog()["left_out"])


def find(name: str) -> tuple[Entry, ...]:
    """Return the entries with a name: several if slots share it, and all of a slot for the slot's name.

    Names in scenarios come first. A chip or a paper is returned if nothing in a scenario has its name, and a
    term of the glossary if no chip or paper has it.

    Raises
    ------
    UnknownNameError
        If there is no such entry; the error has the nearest name.
    """
    folded = name.casefold()
    matches = tuple(entry for entry in entries() if folded in (entry.name, entry.full_name, entry.slot))
    matches = matches or tuple(entry for entry in chips() if folded in _spellings(entry))
    if not matches and folded in (
        spelled for paper in paper_names() for spelled in (paper, f"paper.{paper}")
    ):
        matches = tuple(entry for entry in paper_entries() if folded in _spellings(entry))
    matches = matches or tuple(_term(term) for term in terms() if folded in map(str.casefold, term.names))
    if matches:
        return matches
    near = nearest(name, known_names())
    hint = f"; did you mean {near!r}?" if near else ""
    text = f"{name!r} is not a mechanism, topology, workload, model, chip, paper or term{hint}"
    raise UnknownNameError(text, given=name, nearest=near)


def known_names() -> tuple[str, ...]:
    """Return every name that `find` knows."""
    catalog = (*entries(), *chips())
    names = [name for entry in catalog for name in (entry.name, entry.full_name, *entry.other_names)]
    papers = [f"paper.{paper}" for paper in paper_names()]
    return (*names, *papers, *(spelling for term in terms() for spelling in term.names))


def _spellings(entry: Entry) -> tuple[str, ...]:
    return tuple(name.casefold() for name in (entry.name, entry.full_name, *entry.other_names))


@cache
def _catalog() -> Mapping[str, Any]:
    catalog: Mapping[str, Any] = json.loads(_floodway.catalog_json())
    return catalog


def _mechanism(grammar: Grammar, entry: Mapping[str, str]) -> Entry:
    summary, sections = _head(entry["head"])
    mechanism = Entry(
        kind="mechanism",
        name=entry["name"],
        slot=entry["slot"],
        summary=summary,
        sections=sections,
        **parameters_of(grammar, entry["definition"]),
    )
    meanings = meanings_of(mechanism.full_name)
    if not meanings:
        return mechanism
    explained = (
        replace(parameter, text=meanings.get(parameter.key, parameter.text))
        for parameter in mechanism.parameters
    )
    return replace(mechanism, parameters=tuple(explained))


def _topologies(grammar: Grammar, heads: Mapping[str, str]) -> Iterator[Entry]:
    for form in grammar.definitions["Topology"]["oneOf"]:
        tag = tagged(form)
        target = reference(form["properties"][tag]) if tag else None
        if tag and target and is_table(grammar.definitions[target]):
            # The first paragraph of the module's comment is a longer form of the summary.
            summary, _, more = _flowing(heads[tag]).partition("\n\n")
            yield Entry(
                kind="topology",
                name=tag,
                slot="topology",
                summary=summary,
                sections=sections_of({"": more}),
                **parameters_of(grammar, target),
            )


def _flowing(text: str) -> str:
    """Join the lines of each paragraph."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _workload(grammar: Grammar, kind: str) -> Entry:
    form = grammar.definitions["Workload"]["properties"][kind]
    target = reference(form) or reference(form.get("items", {}))
    about = grammar.definitions[target].get("description", "") if target else ""
    return Entry(
        kind="workload",
        name=kind,
        slot="workload",
        summary=form.get("description", ""),
        sections=sections_of({"What it does": about}),
        **(parameters_of(grammar, target) if target else {}),
    )


def _preset(preset: Mapping[str, Any]) -> Entry:
    counts, rates = preset["size"], ", ".join(preset["size"]["rates"])
    size = f"{counted(counts['hosts'], 'host')}, {counted(counts['switches'], 'switch')}, {rates}"
    sections = {"Source": preset["source"], "Size": f"{size}.", "Notes": preset.get("notes") or ""}
    return Entry(
        kind="preset",
        name=preset["name"],
        slot="topology.preset",
        summary=preset["description"],
        sections=sections_of(sections),
        size=size,
        source=preset["source"],
        has_parts=preset["size"]["parts"],
    )


def _sizes(sizes: Mapping[str, Any]) -> Entry:
    return Entry(
        kind="sizes",
        name=sizes["name"],
        slot="sizes",
        summary=f"{sizes['what']}; {sizes['mean_bytes']:,.0f} bytes on average.",
        sections=sections_of({"Source": sizes["source"]}),
    )


def _model(model: Mapping[str, Any]) -> Entry:
    numbers = model["numbers"]
    summary = (
        f"{numbers['layers']} layers of {numbers['hidden']}, {_billions(numbers['parameters'])} parameters"
    )
    if "active-parameters" in numbers:
        active = _billions(numbers["active-parameters"])
        experts = f"{numbers['experts-per-token']} of {numbers['experts']}"
        summary += f" of which a token passes {active}, {experts} experts for each token"
    table = ", ".join(f"{key} = {number}" for key, number in numbers.items())
    sections = {
        "Source": f"{model['source']}.",
        "Numbers": f"As a table, to change one: `training.model = {{ {table} }}`.",
        "Notes": model["notes"] or "",
    }
    return Entry(
        kind="model",
        name=model["name"],
        slot="training.model",
        summary=f"{summary}, sequences of {numbers['sequence']:,} tokens.",
        sections=sections_of(sections),
        source=model["source"],
    )


def _billions(number: int) -> str:
    return f"{number / 1e9:,g} billion"


def _term(term: Term) -> Entry:
    return Entry(
        kind="term",
        name=term.name,
        slot="glossary",
        summary=term.meaning_in_full,
        sections=sections_of({"Source": term.source, "See also": ", ".join(term.see)}),
    )


def _head(text: str) -> tuple[str, tuple[Section, ...]]:
    """Split a module's comment into its summary and its sections, of which the first has no title."""
    before, *parts = re.split(r"^# (.+)$", text, flags=re.MULTILINE)
    summary, _, rest = before.strip().partition("\n\n")
    texts = {"": rest} | dict(zip(parts[::2], parts[1::2], strict=True))
    return " ".join(summary.split()), sections_of({title: text.strip() for title, text in texts.items()})


@cache
def chips() -> tuple[Entry, ...]:
    """Return the switch chips that plans can name."""
    return tuple(map(_chip, asics().values()))


def paper_entries() -> tuple[Entry, ...]:
    """Return the papers whose figures can be reproduced; empty if there are no studies."""
    return tuple(map(_paper, _papers()))


def paper_names() -> tuple[str, ...]:
    """Return the names of these papers, without reading their studies."""
    return tuple(paper.name for paper in _papers())


def _chip(chip: Asic) -> Entry:
    memory = "memory unknown" if chip.buffer_bytes is None else f"{bytes_text(chip.buffer_bytes)} of buffer"
    cells = "counts bytes" if chip.cell_bytes == 1 else f"cells of {chip.cell_bytes} B"
    firm = "" if chip.firm else " (quoted; it may count other memory, too)"
    sections = {
        "Use": f"`floodway plan --asic {chip.name}`, and of `floodway plan lint`.",
        "Other names": ", ".join(chip.aliases),
        "Source": f"Of the memory: {chip.source}{firm}." if chip.source else "",
    }
    return Entry(
        kind="chip",
        name=chip.name,
        slot="chip",
        summary=f"{chip.label}: {cells}, {memory}.",
        sections=sections_of(sections),
        other_names=chip.aliases,
    )


def _papers() -> tuple[Paper, ...]:
    # Imported here: studies take longer to import than the rest of the catalog.
    from floodway.study.format.read import papers  # noqa: PLC0415

    try:
        return papers()
    except UnknownNameError:
        return ()


def _titles(studies: Iterable[Study]) -> str:
    """Return the titles of studies as a text: the first, and how many more there are."""
    first, *others = (study.title for study in studies)
    return f"{first}, and {len(others)} more" if others else first


def _paper(paper: Paper) -> Entry:
    from floodway.study.format.read import load_study  # noqa: PLC0415 (as above)

    studies = {file.stem: load_study(file) for file in paper.files}
    figures = "\n".join(f"- `{name}`: {study.title}" for name, study in studies.items())
    sources = dict.fromkeys(study.paper for study in studies.values() if study.paper)
    return Entry(
        kind="paper",
        name=paper.name,
        slot="paper",
        summary=f"{'; '.join(sources) or _titles(studies.values())}.",
        sections=sections_of(
            {"Use": f"`floodway reproduce {paper.name}`, or a figure of it.", "Figures": figures}
        ),
    )


#: Purposes of the slots, in the order of the registry.
SLOTS = {
    "flow-control": "link flow control, for each direction and class of a link",
    "link-retry": "retry of the frames that a link damages, for each direction of a link",
    "buffer": "admission to a switch's buffer, for each ingress port and class",
    "congestion-point": "detection and marking at an egress port; a list of several is possible",
    "routing": "choice among equal-cost ports, for each switch",
    "scheduler": "order of the classes at an egress port",
    "notification": "CNPs of a receiver, for each queue pair",
    "rate-control": "rate and window of a sender, for each queue pair; a list of several is possible",
    "reliability": "recovery from losses, for each queue pair",
}

#: Descriptions of entries that are values of a workload's keys, by slot or kind.
DESCRIPTIONS = {
    "sizes": "A published distribution of flow sizes",
    "model": "A published language model, in a `[[workload]]`",
}
#: Descriptions of entries that scenarios do not name, by kind.
OUTSIDE = {
    "term": "A term of the glossary.",
    "chip": "A switch chip, for plans.",
    "paper": "A paper whose figures can be reproduced.",
}


def page_of(entry: Entry) -> str:
    """Return the page of an entry in Markdown."""
    parts = [f"# {entry.name}", entry.summary, _slot_text(entry), *body_of(entry, "##")]
    return "\n\n".join(parts) + "\n"


def _slot_text(entry: Entry) -> str:
    match entry.kind:
        case "mechanism":
            return (
                f'Slot `{entry.slot}`: {SLOTS[entry.slot]}. In a scenario: `{entry.slot} = "{entry.name}"`'
                + (
                    f", or `{entry.slot}.{entry.name} = {{ … }}` with parameters."
                    if entry.parameters
                    else "."
                )
            )
        case "topology":
            return f"In a scenario: `topology.{entry.name} = {{ … }}`."
        case "preset":
            whole = f'In a scenario: `topology.preset = "{entry.name}"`'
            part = f', or `topology.preset = {{ name = "{entry.name}", nodes = … }}` for a part of it'
            return f"{whole}{part if entry.has_parts else ''}."
        case "workload":
            return f"A pattern of a workload's flows: key `{entry.name}` of `[[workload]]`."
        case "sizes" | "model":
            return f'{DESCRIPTIONS[entry.kind]}: `{entry.slot} = "{entry.name}"`.'
        case kind:
            return OUTSIDE[kind]


def body_of(entry: Entry, level: str) -> list[str]:
    """Return the parts of a page below its summary; `level` is the mark of their titles, such as `##`."""
    sections = {section.title: section.text for section in entry.sections}
    # Parameters follow the sections on behaviour and reasons.
    first = [title for title in sections if title in ("What it is", "What it does", "Why", "Symbols")]
    parts = [sections.pop("")] if "" in sections else []
    parts += [f"{level} {title}\n\n{sections[title]}" for title in first if sections[title]]
    if entry.parameters:
        parts.append(f"{level} Parameters\n\n{parameter_table(entry.parameters)}")
        parts += [
            f"{level}# `{table.name}`\n\n{table.text}\n\n{parameter_table(table.parameters)}"
            for table in entry.tables
        ]
    elif entry.kind == "mechanism":
        parts.append(f"{level} Parameters\n\nNone.")
    parts += [f"{level} {title}\n\n{text}" for title, text in sections.items() if title not in first]
    return parts


def parameter_table(parameters: Sequence[Parameter]) -> str:
    """Return keys as a table in Markdown."""
    has_source = any(parameter.source for parameter in parameters)
    titles = ["key", "form", "default", "meaning", *(["source"] if has_source else [])]
    rows = [titles, ["---"] * len(titles)]
    for parameter in parameters:
        default = "must be given" if parameter.required else parameter.default or ""
        option_texts = (f'`"{option.value}"`: {option.text}' for option in parameter.options)
        meaning = " ".join([parameter.text, *option_texts])
        cells = [f"`{parameter.key}`", parameter.form, default, meaning]
        rows.append([*cells, *([parameter.source or ""] if has_source else [])])
    return "\n".join("| " + " | ".join(cell(text) for text in row) + " |" for row in rows)


def cell(text: str) -> str:
    """Return a text escaped for a cell of a table in Markdown."""
    return " ".join(text.split()).replace("|", "\\|")

"""An entry of the catalog as a page in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.cli.catalog.model import Entry, Parameter

__all__ = ["SLOTS", "body_of", "cell", "page_of", "parameter_table"]

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
        cells = [f"`{parameter.key}`", parameter.form, default, _meaning(parameter)]
        rows.append([*cells, *([parameter.source or ""] if has_source else [])])
    return "\n".join("| " + " | ".join(cell(text) for text in row) + " |" for row in rows)


def _meaning(parameter: Parameter) -> str:
    option_texts = [f'`"{option.value}"`: {option.text}' for option in parameter.options]
    return " ".join([parameter.text, *option_texts])


def cell(text: str) -> str:
    """Return a text escaped for a cell of a table in Markdown."""
    return " ".join(text.split()).replace("|", "\\|")

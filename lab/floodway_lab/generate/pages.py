"""Pages of the documentation about mechanisms, topologies, workloads and keys."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from floodway import _floodway
from floodway.cli.catalog.entries import SLOTS, body_of, cell, entries, left_out, page_of, parameter_table
from floodway.cli.catalog.model import Entry, Parameter, TableOf, table_of
from floodway.scenarios.grammar import Grammar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["WRITTEN", "mechanism_table", "pages"]

WRITTEN = "<!-- Written by `make generate` from the definitions in the code. -->"

ABOUT_MECHANISMS = """\
Mechanisms are selected in `[defaults]` and in overrides, by the key of their [slot](../glossary.md#slot).
`floodway explain NAME` shows the page of a mechanism in the terminal. [Equations and sections in the
code](numbering.md) lists the functions that implement the numbered parts of each source."""
ABOUT_TOPOLOGIES = """\
A scenario has one topology, under the key `topology`. Rates and delays (or lengths of fibre, at 5 µs/km)
apply to all links, except to tiers that have their own. A link is named after its ends in the order of the
topology (`h3-t2`, `x1-x2`), parallel links `x1-x2#1`, `x1-x2#2`. Overrides select links by name, with `*`
and `?`, or by tag."""
ABOUT_WORKLOADS = """\
Each `[[workload]]` has a name, exactly one of the patterns below, which defines its flows, and these keys:"""


ABOUT_PRESETS = """\
Published networks, by name: `topology.preset = "mercury-fat"`. AI clusters may be smaller than published:
`topology.preset = { name = "superpod-h100", nodes = 8 }` has eight nodes, and at each tier the
oversubscription of the whole. `segments` and `pods` spread the nodes over several of these. As a site of
several: `fabric.preset`. `floodway explain NAME` says what is published and what is assumed."""


def pages() -> Mapping[str, str]:
    """Return every page: its text by its path in the repository."""
    grammar = Grammar.current()
    mechanism_pages = {
        f"docs/mechanisms/{entry.full_name}.md": f"{WRITTEN}\n\n{page_of(entry)}"
        for entry in _entries_of("mechanism")
    }
    return {
        **mechanism_pages,
        "docs/mechanisms/index.md": _mechanisms(),
        "docs/topologies.md": _topologies(),
        "docs/workloads.md": _workloads(grammar),
        "docs/keys.md": _keys(grammar),
        "docs/study-keys.md": _study_keys(Grammar(json.loads(_floodway.study_schema_json()))),
    }


def mechanism_table(*, folder: str) -> str:
    """Return a table of all mechanisms; their pages are in `folder`, as the page with the table sees it."""
    rows = [
        f"| `{entry.slot}` | [`{entry.name}`]({folder}{entry.full_name}.md) | {cell(entry.summary)} |"
        for entry in _entries_of("mechanism")
    ]
    return "\n".join(["| slot | name | what it is |", "|---|---|---|", *rows])


def _entries_of(kind: str) -> Iterable[Entry]:
    return (entry for entry in entries() if entry.kind == kind)


def _mechanisms() -> str:
    groups: dict[str, list[Entry]] = defaultdict(list)
    for entry in _entries_of("mechanism"):
        groups[entry.slot].append(entry)
    parts = [
        "# Mechanisms",
        WRITTEN,
        ABOUT_MECHANISMS,
    ]
    for slot, members in groups.items():
        rows = [f"| [`{entry.name}`]({entry.full_name}.md) | {cell(entry.summary)} |" for entry in members]
        table = "\n".join(["| name | what it is |", "|---|---|", *rows])
        parts.append(f"## {slot}\n\n{SLOTS[slot][0].upper()}{SLOTS[slot][1:]}.\n\n{table}")
    return "\n\n".join(parts) + "\n"


def _topologies() -> str:
    parts = [
        "# Topologies",
        WRITTEN,
        ABOUT_TOPOLOGIES,
    ]
    for entry in _entries_of("topology"):
        parts += [f"## {entry.name}", entry.summary, *body_of(entry, "###")]
    presets = [entry for entry in entries() if entry.kind == "preset"]
    if presets:
        rows = [
            f"| `{entry.name}` | {cell(entry.summary)} | {cell(entry.size)} | {cell(entry.source)} |"
            for entry in presets
        ]
        table = "\n".join(["| name | what it is | size | source |", "|---|---|---|---|", *rows])
        others = "\n".join(f"- `{name}`: {why}" for name, why in left_out())
        parts += ["## Presets", ABOUT_PRESETS, table]
        parts += ["Not available:", others]
    return "\n\n".join(parts) + "\n"


def _workloads(grammar: Grammar) -> str:
    parts = [
        "# Workloads",
        WRITTEN,
        ABOUT_WORKLOADS,
        parameter_table(_common(table_of(grammar, "Workload"))),
    ]
    for entry in _entries_of("workload"):
        parts += [f"## {entry.name}", entry.summary, *body_of(entry, "###")]
    rows = [
        f"| `{entry.name}` | {cell(entry.summary)} | {cell(entry.sections[0].text)} |"
        for entry in _entries_of("sizes")
    ]
    table = "\n".join(["| name | what it is | source |", "|---|---|---|", *rows])
    parts += ["## Distributions of sizes", "Published distributions of flow sizes, by name.", table]
    models = [
        f"| `{entry.name}` | {cell(entry.summary)} | {cell(entry.source)} |" for entry in _entries_of("model")
    ]
    table = "\n".join(["| name | what it is | source |", "|---|---|---|", *models])
    parts += ["## Language models", "Published models, by name: `training.model`.", table]
    return "\n\n".join(parts) + "\n"


def _common(table: TableOf) -> list[Parameter]:
    kinds = {entry.name for entry in _entries_of("workload")}
    return [parameter for parameter in table.parameters if parameter.key not in kinds]


def _study_keys(grammar: Grammar) -> str:
    document = _with_top(grammar)
    about = (
        "Every key of a study's file. [Studies](studies.md) says what a study is, how a verdict is reached, "
        "and what the metrics are."
    )
    parts = ["# Keys of a study", WRITTEN, about]
    for name, title in STUDY_TITLES.items():
        table = table_of(document, name)
        elsewhere = IN_STUDIES.get(name, {})
        keys = parameter_table([_short(parameter, elsewhere) for parameter in table.parameters])
        parts.append(f"## {title}\n\n{table.text}\n\n{keys}")
    return "\n\n".join(parts) + "\n"


def _with_top(grammar: Grammar) -> Grammar:
    """Return a grammar whose top level is a table like the others."""
    return Grammar({**grammar.document, "$defs": {**grammar.definitions, "Document": dict(grammar.document)}})


def _keys(grammar: Grammar) -> str:
    document = _with_top(grammar)
    parts = ["# Keys", WRITTEN, "Every key of a scenario that is not a topology, a mechanism or a workload."]
    tables = (
        "Document",
        "Defaults",
        "Override",
        "SemanticsKeys",
        "RecordKeys",
        "ShareKeys",
        "HistogramKeys",
        "CaptureKeys",
        "Faults",
        "Period",
        "Pause",
        "ErrorRates",
    )
    for name in tables:
        table = table_of(document, name)
        keys = parameter_table([_short(parameter) for parameter in table.parameters])
        parts.append(f"## {TITLES.get(name, name)}\n\n{table.text}\n\n{keys}")
    return "\n\n".join(parts) + "\n"


TITLES = {
    "Document": "Top level",
    "Defaults": "`[defaults]`",
    "Override": "`[[override]]`",
    "SemanticsKeys": "`semantics`",
    "RecordKeys": "`records`",
    "ShareKeys": "`records.shares`",
    "HistogramKeys": "`records.queue-histogram`",
    "CaptureKeys": "`records.capture`",
    "Faults": "`faults`",
    "Period": "`faults.down`",
    "Pause": "`faults.pause`",
    "ErrorRates": "`faults.error-rate`",
}

#: Keys whose forms have pages of their own.
KEYS_WITH_PAGES = {
    "topology": "see [Topologies](topologies.md)",
    "workload": "list of tables, see [Workloads](workloads.md)",
    "defaults": "table, below",
    "override": "list of tables, below",
    "semantics": "table, below",
    "records": "table, below",
    "faults": "table, below",
    **dict.fromkeys(SLOTS, "see [Mechanisms](mechanisms/index.md)"),
}

STUDY_TITLES = {
    "Document": "Top level",
    "Axis": "`[[axis]]`",
    "AxisPoint": "`[[axis.point]]`",
    "Variant": "`[[variant]]`",
    "Without": "`[[without]]`",
    "Half": "`halves` of `[[without]]`",
    "Reading": "`[[reading]]`",
    "Metric": "`[metric.NAME]`",
    "Claim": "`[[claim]]`",
    "AblationKeys": "`without` of a claim",
    "Cause": "`cause` of a claim",
    "Plot": "`[[plot]]`",
    "Theory": "`[[plot.theory]]`",
    "Mark": "`[[plot.published]]`",
    "Quick": "`[quick]`",
}

#: By table, keys of studies whose forms are tables further down, or stand on another page.
IN_STUDIES: Mapping[str, Mapping[str, str]] = {
    "Document": {
        **dict.fromkeys(("axis", "variant", "without", "reading", "claim", "plot"), "list of tables, below"),
        "metric": "tables, below",
        "quick": "table, below",
    },
    "Axis": {"point": "list of tables, below"},
    "Without": {"halves": "list of tables, below"},
    "Metric": {"kind": "a name, see [metrics](studies.md#metrics)"},
    "Claim": {"without": "text, list of text, or table, below", "cause": "table, below"},
    "Plot": {"theory": "list of tables, below", "published": "list of tables, below"},
}


def _short(parameter: Parameter, elsewhere: Mapping[str, str] = KEYS_WITH_PAGES) -> Parameter:
    form = elsewhere.get(parameter.key, parameter.form)
    return Parameter(**{**parameter.__dict__, "form": form})

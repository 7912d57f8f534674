"""The catalog of what scenarios and commands can name, and of ready scenarios, with their documentation."""

from floodway.cli.catalog.chips_and_papers import chips, paper_entries
from floodway.cli.catalog.entries import entries, find, known_names, left_out
from floodway.cli.catalog.model import Entry, Parameter, Section, TableOf
from floodway.cli.catalog.pages import page_of
from floodway.cli.catalog.ready import ReadyScenario, ready_scenarios

__all__ = [
    "Entry",
    "Parameter",
    "ReadyScenario",
    "Section",
    "TableOf",
    "chips",
    "entries",
    "find",
    "known_names",
    "left_out",
    "page_of",
    "paper_entries",
    "ready_scenarios",
]

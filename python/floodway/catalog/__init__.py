"""The catalog of mechanisms, topologies, workloads and ready scenarios, with their documentation."""

from floodway.catalog.entries import entries, find, left_out
from floodway.catalog.model import Entry, Parameter, Section, TableOf
from floodway.catalog.pages import page_of
from floodway.catalog.ready import ReadyScenario, ready_scenarios

__all__ = [
    "Entry",
    "Parameter",
    "ReadyScenario",
    "Section",
    "TableOf",
    "entries",
    "find",
    "left_out",
    "page_of",
    "ready_scenarios",
]

"""Comparisons of variants of a scenario: runs, numbers, findings, the page."""

from floodway.comparison.comparison import Comparison, compare
from floodway.comparison.document import document
from floodway.comparison.folder import PAGE_FILE
from floodway.comparison.groups import Group
from floodway.comparison.metrics import Cell, Row
from floodway.comparison.shown_link import ShownLink
from floodway.comparison.variant_warnings import VariantWarning, merged_warnings
from floodway.comparison.variants import Variant, files, folder_names, split_values, vary
from floodway.simulation.execution import Task, cores

__all__ = [
    "PAGE_FILE",
    "Cell",
    "Comparison",
    "Group",
    "Row",
    "ShownLink",
    "Task",
    "Variant",
    "VariantWarning",
    "compare",
    "cores",
    "document",
    "files",
    "folder_names",
    "merged_warnings",
    "split_values",
    "vary",
]
